// Recharging and refunding: the giver decides, and the answer waits until the credit is there, so that whoever asked
// sees it in every list. A crash in between leaves nothing undone: the giver owes it, and the runtime delivers.

import { type AccountId, ROOT } from "../../actors/ids.ts";
import { type Protocol, to } from "../../actors/index.ts";
import type { Nano } from "../../actors/money.ts";
import { actorName } from "../runtime/actor.ts";
import { type Clock, sleep } from "../runtime/clock.ts";
import { type ActorSystem, Refused, Unavailable } from "../runtime/system.ts";
import type { Store } from "../store/store.ts";

export interface TransferParts {
  readonly system: ActorSystem<Protocol>;
  readonly store: Store;
  readonly clock: Clock;
}

/** A transfer's mark and when it was minted: the same on every repeat. */
export interface Minted {
  readonly id: string;
  /** Wall ms. */
  readonly bornAt: number;
}

export interface Recharge extends Minted {
  /** The direct parent, or Root, who makes the credit. */
  readonly from: AccountId;
  readonly to: AccountId;
  readonly amount: Nano;
  readonly days: number;
  /** The Owner's UserMinBalance, which the parent must keep. */
  readonly keep: Nano;
}

/** How long a transfer may be under way before its outcome is left open. */
const ARRIVAL_MS = 5_000;
const PAUSE_MS = 20;

/**
 * Gives credit to a child. Refuses insufficient_parent_balance, and user_not_found when the child is gone meanwhile; then
 * the giver has it back. Throws `Unavailable` while nobody knows: repeat with the same id.
 */
export async function recharge(parts: TransferParts, { from, ...order }: Recharge): Promise<void> {
  const { id, bornAt } = order;
  await parts.system.ask(to.account(from), "give", { ...order, kind: "transfer_in" }, { id, bornAt });
  await arrival(parts, from, order.to, id);
}

/** Takes credit from an account back to its parent. Refuses insufficient_balance; otherwise as `recharge`. */
export async function refund(
  parts: TransferParts,
  { from, ...order }: Minted & { readonly from: AccountId; readonly amount: Nano },
): Promise<void> {
  const { profile } = await parts.system.ask(to.account(from), "profile", {});
  const { id, bornAt } = order;
  await parts.system.ask(to.account(from), "giveBack", order, { id, bornAt });
  await arrival(parts, from, profile.parent ?? ROOT, id);
}

/** Resolves when the receiver's ledger has the transfer, and refuses when the giver has it back. */
async function arrival(
  { system, store, clock }: TransferParts,
  giver: AccountId,
  receiver: AccountId,
  id: string,
): Promise<void> {
  const until = clock.mono() + ARRIVAL_MS;
  for (;;) {
    const { owes } = await system.ask(to.account(giver), "affairs", {});
    if (!owes.includes(id)) break;
    if (clock.mono() > until)
      throw new Unavailable(actorName(to.account(receiver)), "the credit is under way");
    await sleep(clock, PAUSE_MS);
  }
  // Nothing is owed any more: it is there, or it came back.
  if (await store.marked(actorName(to.account(receiver)), id)) return;
  throw new Refused({
    code: "user_not_found",
    message: `Account ${receiver} could not take the credit; account ${giver} has it back.`,
  });
}
