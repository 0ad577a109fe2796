// The deletion of an account: its key becomes invalid, its requests settle, its credit returns to its parent,
// and it ends.
//
//   1  close          writes `closing`: the key is refused as invalid and no new request starts. Open holds
//                     stay: charge, cancel and renew are decided as before, and refunds from accounts below
//                     are still received
//   2  settleClosing  once no hold is open, or after 35 s, and if the parent can hold the rest: writes
//                     `delete_fee`, then `refund_out` of the rest with its transfer, or a `write_off` of a
//                     negative balance; then `emptied`. A charge after this is a `late_charge`, which is
//                     written off
//   3  endClosing     once the parent has received the refund: writes `closed`; a pending effect tells the
//                     parent to count one child less
//
// situation              state found                 recovery
// crash after 1          closing                     src/admin/delete-account.ts resumes (table accounts,
//                                                    closed = 1)
// crash after 2          emptied, refund pending     the runtime delivers the refund; then as above
// parent has no room     closing, credit still here  nothing moves; retried until the parent has room for it
// parent refuses refund  emptied, credit returned    `returned` makes the account closing again; step 2 runs
//                                                    again without a second fee. This ends, since the parent
//                                                    had room before
// crash after 3          closed, notice pending      the runtime delivers it; the parent finds its dedup id

import type { Refusal } from "../../src/base/errors.ts";
import type { Decision, Effect, Turn } from "../../src/runtime/actor.ts";
import { bookBalance, type Credit, creditAfter, spend } from "../credit.ts";
import { type AccountId, ROOT } from "../ids.ts";
import { fromUsd, least, minus, most, type Nano, negate, plus, ZERO } from "../money.ts";
import { overfull } from "./capacity.ts";
import { accountNotFound, expireDue } from "./charge.ts";
import { NO_LIST } from "./compact-profile.ts";
import type { Expire, LedgerLine } from "./events.ts";
import { closeHold } from "./holds.ts";
import type { AccountMove, ChildRemoval, Closing, LifecycleStage } from "./lifecycle.ts";
import { type Account, type AccountEvent, isRoot, stageOf } from "./state.ts";
import { creditInTransit, refundEvents } from "./transfer.ts";
import { accountChanged } from "./views.ts";

/** Milliseconds that requests in flight have to finish (contract section 3); then their node aborts them. */
export const CLOSING_MS = 30_000;
/** Further milliseconds that aborted requests have to be charged. */
const ABORTING_MS = 5_000;

const DELETE_FEE = fromUsd(0.2)!;

/** Code of the refusal of a step that is not due yet; src/admin/delete-account.ts repeats the step. */
export const CLOSING_NOT_DUE = "closing_busy";

const busy = (why: string): Refusal => ({
  code: CLOSING_NOT_DUE,
  message: `The account is closing: ${why}.`,
});

/** Input of step 1, `close`. */
export interface CloseAccount {
  readonly id: string;
  readonly bornAt: number;
  /** The account that requested the deletion. */
  readonly by: AccountId;
  /** The caller closes the accounts below as well. */
  readonly recursive: boolean;
}

/**
 * Step 1: starts the deletion and publishes the change. A repeat changes nothing. Refuses user_not_found,
 * not_ancestor for Root, has_subaccounts unless `recursive`, and service_unavailable while the account is
 * being moved.
 */
export function closeAccount(state: Account, input: CloseAccount): Decision<AccountEvent> {
  const { profile } = state;
  if (profile === null || stageOf(state) === "closed") return { refused: accountNotFound(state) };
  if (state.closing !== null) return { reply: {} };
  if (isRoot(profile)) {
    return { refused: { code: "not_ancestor", message: "Root cannot be deleted." } };
  }
  if (state.children > 0 && !input.recursive) {
    const message = `This account has ${state.children} subaccounts. Delete them first, or ask with recursive=true.`;
    return { refused: { code: "has_subaccounts", message } };
  }
  if (state.move?.stage === "asked") return { refused: creditInTransit("moved") };
  return {
    reply: {},
    events: [{ type: "closing", id: input.id, bornAt: input.bornAt, by: input.by }],
    publish: [accountChanged(state, profile, true)],
    save: true,
  };
}

/** Input of step 2, `settleClosing`. */
export interface SettleClosing {
  /** Dedup id; every retry after a refused refund needs a new one. */
  readonly id: string;
  readonly bornAt: number;
  /** The parent's room; null means unbounded, undefined that it was not looked up. */
  readonly room?: Nano | null;
}

/**
 * Step 2: takes the fee and sends the rest to the parent. A repeat gets the first reply. Refuses
 * CLOSING_NOT_DUE while holds, transfers or subaccounts are open, or the parent lacks room.
 */
export function settleClosing(state: Account, input: SettleClosing, turn: Turn): Decision<AccountEvent> {
  const { profile, closing } = state;
  if (profile === null || closing === null) return { refused: accountNotFound(state) };
  if (turn.done || closing.stage !== "closing") return { reply: amounts(closing) };
  const open = state.volatile.holds.size;
  const late = turn.now >= closing.at + CLOSING_MS + ABORTING_MS;
  if (state.children > 0) return { refused: busy(`${state.children} accounts are below it`) };
  if (state.owing.length > 0) return { refused: busy("a transfer is under way") };
  if (open > 0 && !late) return { refused: busy(`${open} requests are in flight`) };
  for (const id of [...state.volatile.holds.keys()]) closeHold(state, id, turn.now);
  const { lines, fee, refunded } = emptying(state, turn, closing.fee);
  const full = overfull(profile.parent ?? ROOT, refunded, input.room);
  if (full !== null) return { refused: busy(full.message) };
  const { id, bornAt } = input;
  const gift = { id: `${id}:refund`, bornAt, amount: refunded };
  const rest = folded(state, lines, turn.now);
  return {
    reply: { fee, refunded },
    events: [
      ...lines,
      ...(refunded > 0 ? refundEvents({ ...state, credit: rest }, profile, gift, turn) : []),
      { type: "emptied", id, fee, refunded },
    ],
    save: true,
  };
}

/** Returns what remains of a balance for the parent after the deletion fee. */
export const lessFee = (balance: Nano): Nano =>
  minus(balance, balance > 0 ? least(DELETE_FEE, balance) : ZERO);

interface Emptying {
  /** Ledger lines for expired credit, the fee or a write-off; the refund is not among them. */
  readonly lines: readonly (Expire | ({ readonly type: "delete_fee" | "write_off" } & LedgerLine))[];
  readonly fee: Nano;
  readonly refunded: Nano;
}

/** `paid` is the fee that was taken by an earlier try, whose refund was returned. */
function emptying(state: Account, turn: Turn, paid: Nano): Emptying {
  const expired = expireDue(state, turn);
  const balance = expired.at(-1)?.balanceAfter ?? bookBalance(state.credit);
  if (balance < 0) {
    const amount = negate(balance);
    const line = { type: "write_off", id: `${turn.id}:write_off`, amount, balanceAfter: ZERO } as const;
    return { lines: [...expired, line], fee: paid, refunded: ZERO };
  }
  const fee = paid > 0 ? ZERO : least(DELETE_FEE, most(ZERO, balance));
  const balanceAfter = minus(balance, fee);
  const line = { type: "delete_fee", id: `${turn.id}:fee`, amount: negate(fee), balanceAfter } as const;
  return { lines: fee > 0 ? [...expired, line] : expired, fee: plus(paid, fee), refunded: balanceAfter };
}

/** Returns a copy of the credit with lines applied that are decided but not yet evolved. */
function folded(state: Account, lines: Emptying["lines"], now: number): Credit {
  const credit = creditAfter(
    state.credit,
    lines.filter(({ type }) => type === "expire"),
    now,
  );
  for (const line of lines) if (line.type === "delete_fee") spend(credit, negate(line.amount));
  return credit;
}

/**
 * Step 3, after the claims of name and key were released. Refuses CLOSING_NOT_DUE while the refund is in
 * transit.
 */
export function endClosing(state: Account): Decision<AccountEvent> {
  const { profile, closing } = state;
  if (profile === null || closing === null) return { refused: accountNotFound(state) };
  if (closing.stage === "closed") return { reply: {} };
  if (closing.stage === "closing" || state.owing.length > 0)
    return { refused: busy("its credit is under way") };
  return {
    reply: {},
    events: [{ type: "closed", id: closing.id }],
    publish: [accountChanged(state, profile)],
    save: true,
  };
}

const amounts = ({ fee, refunded }: Closing) => ({ fee, refunded });

/** What is unfinished between an account and others, for callers that wait until it ends. */
export interface UnfinishedWork {
  readonly stage: LifecycleStage;
  readonly closing: Closing | null;
  readonly move: AccountMove | null;
  readonly children: number;
  readonly holds: number;
  /** Ids of transfers that have neither arrived nor come back. */
  readonly owes: readonly string[];
  /** Former parents that have not yet confirmed that this account left. */
  readonly leaving: readonly ChildRemoval[];
  readonly parent: AccountId | null;
  /** An AutoQuota request is open. */
  readonly asksForQuota: boolean;
  readonly name: string;
  readonly keyHash: string;
  readonly formerKeyHash: string | null;
  /** Hashes of the secrets of named keys that have claims. */
  readonly secretHashes: readonly string[];
}

/** Returns the account's unfinished work, in any lifecycle stage. Refuses user_not_found. */
export function unfinishedWork(state: Account): Decision<AccountEvent> {
  const { profile, closing, move, children, owing, leaving, quota, formerKeyHash } = state;
  if (profile === null) return { refused: accountNotFound(state) };
  const reply: UnfinishedWork = {
    stage: stageOf(state),
    closing,
    move,
    children,
    holds: state.volatile.holds.size,
    owes: owing.map(({ id }) => id),
    leaving,
    parent: profile.parent,
    asksForQuota: quota.asked !== null,
    name: profile.name,
    keyHash: profile.keyHash,
    formerKeyHash,
    secretHashes: state.apiKeys?.hashes().map(({ hash }) => hash) ?? NO_LIST,
  };
  return { reply };
}

/** Returns the pending effects that tell former parents to count one child less. */
export const childRemovalEffects = ({
  id,
  leaving,
}: Account): Effect<"account", { readonly type: "removeChild" } & RemoveChild>[] =>
  leaving.map((one) => ({
    id: one.id,
    to: { kind: "account", id: String(one.parent) },
    command: { type: "removeChild", id: one.id, child: id },
    bornAt: one.bornAt,
  }));

/** Input of the command `removeChild`, which a former child sends. */
export interface RemoveChild {
  readonly id: string;
  readonly child: AccountId;
}

/** Runs at the parent: counts one child less. Refuses user_not_found. */
export function removeChild(state: Account, { id, child }: RemoveChild, turn: Turn): Decision<AccountEvent> {
  if (turn.done) return { reply: {} };
  if (state.profile === null) return { refused: accountNotFound(state) };
  return { reply: {}, events: [{ type: "child_left", id, child }], save: true };
}

/** Runs at the account: its former parent has confirmed notice `id`. */
export const childRemoved = (state: Account, id: string): Decision<AccountEvent> =>
  state.leaving.some((one) => one.id === id) ? { reply: {}, events: [{ type: "left", id }] } : { reply: {} };
