// Verifies child counts: the number that each account counts against the accounts that name it as parent.
// While a child joins or leaves, one side counts it before the other; the dedup id of the effect between them
// shows which side has committed.

import { type Account, stageOf } from "../../../actors/account/state.ts";
import type { AccountId } from "../../../actors/ids.ts";
import { actorRef } from "../../../actors/index.ts";
import { actorName } from "../../runtime/actor.ts";
import type { AuditView } from "../../store/audit.ts";
import type { Findings } from "./findings.ts";

/** Collects all accounts, then reports wrong child counts. */
export interface Families {
  /**
   * Adds an account at the end of its ledger. Null means that it cannot be replayed; then no counts are
   * reported at all.
   */
  enter(account: Account | null): Promise<void>;
  /** Reports findings; called after the last account. */
  report(findings: Findings): void;
}

/** Commits to read per dedup id; a sound ledger has fewer. */
const HOLDERS_MAX = 10;

/** Creates the check of child counts. */
export function createFamilies(audit: AuditView): Families {
  /** Unexplained children by parent; parents with zero are not kept. */
  const rest = new Map<AccountId, number>();
  let isWhole = true;

  function count(parent: AccountId, children: number): void {
    const sum = (rest.get(parent) ?? 0) + children;
    if (sum === 0) rest.delete(parent);
    else rest.set(parent, sum);
  }

  async function knows(id: AccountId, mark: string): Promise<boolean> {
    const name = actorName(actorRef.account(id));
    return (await audit.holders(mark, HOLDERS_MAX)).some(({ actor }) => actor === name);
  }

  return {
    async enter(account) {
      if (account === null) {
        isWhole = false;
        return;
      }
      const { id, profile, children, owing, leaving, move } = account;
      count(id, children);
      if (profile !== null && profile.parent !== null && stageOf(account) !== "closed")
        count(profile.parent, -1);
      for (const notice of leaving.values()) {
        if (!(await knows(notice.parent, notice.id))) count(notice.parent, -1);
      }
      for (const transfer of owing.values()) {
        if (transfer.child !== null && !(await knows(transfer.to, transfer.id))) count(id, -1);
      }
      if (move?.stage === "asked" && (await knows(move.to, `${move.id}:join`))) count(move.to, -1);
    },
    report(findings) {
      if (!isWhole) return;
      for (const [id, more] of rest) {
        findings.add(
          "children",
          actorName(actorRef.account(id)),
          `it counts ${more > 0 ? `${more} too many` : `${-more} too few`}`,
        );
      }
    },
  };
}
