// Writes a line of the operation log for each transfer that AutoQuota made, on the node that owns the
// account. The node is notified after the commit, so a crash in between loses a line of the log, never one of
// the ledger.

import { type QuotaMove, quotaTopic } from "../../actors/account/auto-quota.ts";
import type { AccountId } from "../../actors/ids.ts";
import { actorRef, type Protocol } from "../../actors/index.ts";
import { formatUsd } from "../../actors/money.ts";
import type { ActorSystem } from "../runtime/system.ts";

interface Line {
  readonly action: "auto_quota";
  readonly operator: AccountId;
  readonly subject: { readonly type: "user"; readonly id: AccountId; readonly dna: string };
  readonly details: string;
  readonly ip: string;
  readonly status: "success";
}

/**
 * Subscribes to AutoQuota transfers and calls `write` for each; `write` must not reject. Returns a function
 * that stops it.
 */
export function logQuotaMoves(
  system: Pick<ActorSystem<Protocol>, "subscribe" | "owns">,
  write: (line: Line) => Promise<void>,
): () => void {
  return system.subscribe(quotaTopic(">"), (_topic, body) => {
    const { id, dna, from, amount } = body as QuotaMove;
    if (!system.owns(actorRef.account(id))) return;
    void write({
      action: "auto_quota",
      operator: id,
      subject: { type: "user", id, dna },
      details: `AutoQuota: ${formatUsd(amount)} USD from account ${from}`,
      ip: "",
      status: "success",
    });
  });
}
