// Recharges and refunds credit. The giver decides, and the answer waits until the credit has arrived, so that
// the caller sees it in every list. A crash in between loses nothing: the giver has a pending effect, which
// the runtime delivers.

import type { AccountEvent } from "../../actors/account/state.ts";
import { type AccountId, ROOT } from "../../actors/ids.ts";
import { actorRef, type Protocol } from "../../actors/index.ts";
import type { Nano } from "../../actors/money.ts";
import { type Clock, sleep } from "../base/clock.ts";
import { RefusedError, UnavailableError } from "../base/errors.ts";
import { actorName } from "../runtime/actor.ts";
import type { ActorSystem } from "../runtime/system.ts";
import type { Store } from "../store/store.ts";

/** What transfers need of a node. */
export interface TransferParts {
  readonly system: ActorSystem<Protocol>;
  readonly store: Store;
  readonly clock: Clock;
}

/** A command's dedup id and the time at which it was minted; both are the same on every repeat. */
export interface Minted {
  readonly id: string;
  /** Wall-clock milliseconds. */
  readonly bornAt: number;
}

/** A recharge to carry out. `amount` is nano-dollars, `days` how long the credit is valid. */
export interface Recharge extends Minted {
  /** The direct parent; or Root, which creates the credit. */
  readonly from: AccountId;
  readonly to: AccountId;
  readonly amount: Nano;
  readonly days: number;
  /** The Owner's UserMinBalance, which the parent must keep. */
  readonly keep: Nano;
}

/** Milliseconds to wait for a transfer before its outcome is reported as unknown. */
const ARRIVAL_MS = 5_000;
const PAUSE_MS = 20;
/** Commits that are read at once. */
const PAGE = 500;
/** Giver and receiver: a transfer's dedup id is in two commits at most. */
const BOTH = 2;

/**
 * Gives credit to a child, and resolves when it has arrived. Throws `RefusedError`:
 * insufficient_parent_balance, invalid_parameter for a child without room; and, after the giver got its
 * credit back, user_not_found for a child that was deleted meanwhile, invalid_parameter for one that filled
 * up meanwhile. Throws `UnavailableError` while the outcome is unknown: repeat with the same id. A repeat after
 * the giver got its credit back gives it again.
 */
export async function recharge(parts: TransferParts, { from, ...order }: Recharge): Promise<void> {
  const { bornAt } = order;
  const id = await attemptOf(parts, from, order.id);
  const { room } = await parts.system.ask(actorRef.account(order.to), "margins", {});
  const gift = { ...order, id, room, kind: "transfer_in" } as const;
  await parts.system.ask(actorRef.account(from), "startTransfer", gift, { id, bornAt });
  await arrived(parts, { from, to: order.to, id });
}

/**
 * Returns credit from an account to its parent. Throws `RefusedError` with insufficient_balance; otherwise
 * like `recharge`.
 */
export async function refund(
  parts: TransferParts,
  { from, ...order }: Minted & { readonly from: AccountId; readonly amount: Nano },
): Promise<void> {
  const { bornAt } = order;
  const id = await attemptOf(parts, from, order.id);
  const { parent } = await parts.system.ask(actorRef.account(from), "unfinishedWork", {});
  const { room } = await parts.system.ask(actorRef.account(parent ?? ROOT), "margins", {});
  await parts.system.ask(actorRef.account(from), "startRefund", { ...order, id, room }, { id, bornAt });
  await arrived(parts, { from, to: parent ?? ROOT, id });
}

/**
 * Returns the dedup id under which a command is to be carried out: its own, or one with a number when the giver
 * got the credit of all attempts before it back. A transfer that was returned never arrives, and its caller was
 * told so, so a repeat is another transfer.
 */
async function attemptOf({ store }: TransferParts, giver: AccountId, command: string): Promise<string> {
  const name = actorName(actorRef.account(giver));
  for (let count = 1; ; count++) {
    // Deterministic, so that a repeat finds each attempt by its dedup id.
    const id = count === 1 ? command : `${command}:${count}`;
    if (!(await isReturned(store, name, id))) return id;
  }
}

/** Whether the giver's ledger says that it got the credit of a transfer back. */
async function isReturned(store: Store, giver: string, id: string): Promise<boolean> {
  const commits = await store.commitsByDedupId(id, BOTH);
  const given = commits.find(({ actor }) => actor === giver);
  if (given === undefined || commits.length === BOTH) return false;
  for (let after = given.seq; ; ) {
    const page = await store.readCommits(giver, after, PAGE);
    const events = page.flatMap((commit) => commit.events) as readonly { readonly e: AccountEvent }[];
    if (events.some(({ e }) => e.type === "returned" && e.id === id)) return true;
    if (page.length < PAGE) return false;
    after = page.at(-1)!.seq;
  }
}

/**
 * Like `arrival`, with a better error: a receiver that still exists has refused the credit because it is
 * full, or because it is no longer the giver's child or parent.
 */
async function arrived(
  parts: TransferParts,
  { from, to: receiver, id }: { readonly from: AccountId; readonly to: AccountId; readonly id: string },
): Promise<void> {
  try {
    await arrival(parts, from, id);
  } catch (error) {
    if (!(error instanceof RefusedError)) throw error;
    const { stage } = await parts.system.ask(actorRef.account(receiver), "unfinishedWork", {});
    if (stage !== "open") throw error;
    const why = `it holds too much since, or is not next to that account any more`;
    const message = `Account ${receiver} did not take the credit, account ${from} has it back: ${why}.`;
    throw new RefusedError({ code: "invalid_parameter", message });
  }
}

/**
 * Resolves when another account's ledger has the transfer; throws `RefusedError` when the giver has it back.
 * The receiver is not checked, because the giver may have another parent by now.
 */
async function arrival({ system, store, clock }: TransferParts, giver: AccountId, id: string): Promise<void> {
  const name = actorName(actorRef.account(giver));
  const until = clock.mono() + ARRIVAL_MS;
  for (;;) {
    const { owes } = await system.ask(actorRef.account(giver), "unfinishedWork", {});
    if (!owes.includes(id)) break;
    if (clock.mono() > until) throw new UnavailableError(name, "the credit is under way");
    await sleep(clock, PAUSE_MS);
  }
  // No effect is pending any more: the credit has arrived or was returned.
  if ((await store.commitsByDedupId(id, BOTH)).some(({ actor }) => actor !== name)) return;
  throw new RefusedError({
    code: "user_not_found",
    message: `The account that it was for could not take the credit; account ${giver} has it back.`,
  });
}
