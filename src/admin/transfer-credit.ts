// Recharging and refunding: the giver decides, and the answer waits until the credit is there, so that whoever asked
// sees it in every list. A crash in between leaves nothing undone: the giver owes it, and the runtime delivers.

import { type AccountId, ROOT } from "../../actors/ids.ts";
import { actorRef, type Protocol } from "../../actors/index.ts";
import type { Nano } from "../../actors/money.ts";
import { type Clock, sleep } from "../base/clock.ts";
import { RefusedError, UnavailableError } from "../base/errors.ts";
import { actorName } from "../runtime/actor.ts";
import type { ActorSystem } from "../runtime/system.ts";
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
/** Giver and receiver: more commits do not carry one transfer's mark. */
const BOTH = 2;

/**
 * Gives credit to a child. Refuses insufficient_parent_balance, invalid_parameter for a child that cannot hold so much; and,
 * when the giver has it back, user_not_found for a child that is gone meanwhile, invalid_parameter for one that is full
 * meanwhile. Throws `Unavailable` while nobody knows: repeat with the same id.
 */
export async function recharge(parts: TransferParts, { from, ...order }: Recharge): Promise<void> {
  const { id, bornAt } = order;
  const { room } = await parts.system.ask(actorRef.account(order.to), "margins", {});
  const gift = { ...order, room, kind: "transfer_in" } as const;
  await parts.system.ask(actorRef.account(from), "give", gift, { id, bornAt });
  await arrived(parts, { from, to: order.to, id });
}

/** Takes credit from an account back to its parent. Refuses insufficient_balance; otherwise as `recharge`. */
export async function refund(
  parts: TransferParts,
  { from, ...order }: Minted & { readonly from: AccountId; readonly amount: Nano },
): Promise<void> {
  const { id, bornAt } = order;
  const { parent } = await parts.system.ask(actorRef.account(from), "affairs", {});
  const { room } = await parts.system.ask(actorRef.account(parent ?? ROOT), "margins", {});
  await parts.system.ask(actorRef.account(from), "giveBack", { ...order, room }, { id, bornAt });
  await arrived(parts, { from, to: parent ?? ROOT, id });
}

/** As `arrival`; who is still there has refused it for its size, or is not the giver's child or parent any more. */
async function arrived(
  parts: TransferParts,
  { from, to: receiver, id }: { readonly from: AccountId; readonly to: AccountId; readonly id: string },
): Promise<void> {
  try {
    await arrival(parts, from, id);
  } catch (error) {
    if (!(error instanceof RefusedError)) throw error;
    const { stage } = await parts.system.ask(actorRef.account(receiver), "affairs", {});
    if (stage !== "open") throw error;
    const why = `it holds too much since, or is not next to that account any more`;
    const message = `Account ${receiver} did not take the credit, account ${from} has it back: ${why}.`;
    throw new RefusedError({ code: "invalid_parameter", message });
  }
}

/**
 * Resolves when another ledger has the transfer, and refuses when the giver has it back. Whose ledger is the transfer's
 * own business: the giver may have another parent since.
 */
async function arrival({ system, store, clock }: TransferParts, giver: AccountId, id: string): Promise<void> {
  const name = actorName(actorRef.account(giver));
  const until = clock.mono() + ARRIVAL_MS;
  for (;;) {
    const { owes } = await system.ask(actorRef.account(giver), "affairs", {});
    if (!owes.includes(id)) break;
    if (clock.mono() > until) throw new UnavailableError(name, "the credit is under way");
    await sleep(clock, PAUSE_MS);
  }
  // Nothing is owed any more: it is there, or it came back.
  if ((await store.commitsByDedupId(id, BOTH)).some(({ actor }) => actor !== name)) return;
  throw new RefusedError({
    code: "user_not_found",
    message: `The account that it was for could not take the credit; account ${giver} has it back.`,
  });
}
