// The end of an account: its key is nobody's, its requests settle, its credit goes to its parent, and it is gone.
//
//   1  close          `closing`: the key is refused as nobody's, nothing new begins. Open holds live on: charge, cancel and
//                     renew are decided as ever, and refunds of accounts below still come in
//   2  settleClosing  when no hold is left, or 35 s later, and the parent can hold it: `delete_fee`, `refund_out` of the rest with its debt, or a
//                     `write_off` of what is owed; `emptied`. A charge from here on is a `late_charge` and written off
//   3  endClosing     when the parent has the refund: `closed`, and the parent is owed a notice that it has a child less
//
// crash                 state found                recovery
// after 1               closing                    src/admin/delete-account.ts resumes by the accounts table (closed = 1)
// after 2               emptied, refund owed       the runtime delivers it; then as above
// parent has no room    closing, credit is here    nothing moves; asked again until the parent has spent or refunded so much
// parent refuses it     emptied, credit is back    `returned` makes it closing again; 2 once more, without a second fee. It
//                                                  had room a moment before, so this ends
// after 3               closed, notice owed        the runtime delivers it; the parent finds it by its mark

import type { Refusal } from "../../src/base/errors.ts";
import type { Decision, Effect, Turn } from "../../src/runtime/actor.ts";
import { bookBalance, type Credit, expire, spend } from "../credit.ts";
import { type AccountId, ROOT } from "../ids.ts";
import { fromUsd, least, minus, most, type Nano, negate, plus, ZERO } from "../money.ts";
import { overfull } from "./capacity.ts";
import { accountNotFound, expireDue } from "./charge.ts";
import type { Expire, LedgerLine } from "./events.ts";
import { closeHold } from "./holds.ts";
import type { AccountMove, ChildRemoval, Closing, LifecycleStage } from "./lifecycle.ts";
import { type Account, type AccountEvent, isRoot, stageOf } from "./state.ts";
import { creditInTransit, refundEvents } from "./transfer.ts";
import { accountChanged } from "./views.ts";

/** Requests in flight have so long to settle (contract section 3); then their front end aborts them. */
export const CLOSING_MS = 30_000;
/** What an abort needs to be charged. */
const ABORTING_MS = 5_000;

const DELETE_FEE = fromUsd(0.2)!;

/** The next step of a closing is not due yet: for its driver, who asks again. */
export const CLOSING_NOT_DUE = "closing_busy";

const busy = (why: string): Refusal => ({
  code: CLOSING_NOT_DUE,
  message: `The account is closing: ${why}.`,
});

export interface CloseAccount {
  readonly id: string;
  readonly bornAt: number;
  /** Who does it. */
  readonly by: AccountId;
  /** The accounts below are closed as well, by the caller. */
  readonly recursive: boolean;
}

/** Step 1. A repeat changes nothing. Refuses has_subaccounts unless `recursive`. */
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

export interface SettleClosing {
  /** Mark; another one for every try that was refused. */
  readonly id: string;
  readonly bornAt: number;
  /** What the parent can take; absent: nobody looked. */
  readonly room?: Nano | null;
}

/** Step 2. A repeat answers as the first. Refuses CLOSING_NOT_DUE while something is open, or accounts are below it. */
export function settleClosing(state: Account, input: SettleClosing, turn: Turn): Decision<AccountEvent> {
  const { profile, closing } = state;
  if (profile === null || closing === null) return { refused: accountNotFound(state) };
  if (turn.done || closing.stage !== "closing") return { reply: amounts(closing) };
  const open = state.volatile.holds.size;
  const late = turn.now >= closing.at + CLOSING_MS + ABORTING_MS;
  if (state.children > 0) return { refused: busy(`${state.children} accounts are below it`) };
  if (state.owing.size > 0) return { refused: busy("a transfer is under way") };
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

/** What is left of a balance for the parent. */
export const lessFee = (balance: Nano): Nano =>
  minus(balance, balance > 0 ? least(DELETE_FEE, balance) : ZERO);

interface Emptying {
  /** What is due, the fee, a debt: all but the refund. */
  readonly lines: readonly (Expire | ({ readonly type: "delete_fee" | "write_off" } & LedgerLine))[];
  readonly fee: Nano;
  readonly refunded: Nano;
}

/** `paid`: the fee that was taken before a refund came back. */
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

/** The credit after lines that are decided and not folded yet. */
function folded(state: Account, lines: Emptying["lines"], now: number): Credit {
  const credit: Credit = { entries: [...state.credit.entries], owed: state.credit.owed };
  for (const line of lines) {
    if (line.type === "expire") expire(credit, negate(line.amount), now);
    else if (line.type === "delete_fee") spend(credit, negate(line.amount));
  }
  return credit;
}

/** Step 3, once the claims of name and key are released. Refuses CLOSING_NOT_DUE while the refund is under way. */
export function endClosing(state: Account): Decision<AccountEvent> {
  const { profile, closing } = state;
  if (profile === null || closing === null) return { refused: accountNotFound(state) };
  if (closing.stage === "closed") return { reply: {} };
  if (closing.stage === "closing" || state.owing.size > 0)
    return { refused: busy("its credit is under way") };
  return {
    reply: {},
    events: [{ type: "closed", id: closing.id }],
    publish: [accountChanged(state, profile)],
    save: true,
  };
}

const amounts = ({ fee, refunded }: Closing) => ({ fee, refunded });

/** What is unfinished between an account and others: for whoever waits for the end of it. */
export interface UnfinishedWork {
  readonly stage: LifecycleStage;
  readonly closing: Closing | null;
  readonly move: AccountMove | null;
  readonly children: number;
  readonly holds: number;
  /** Ids of transfers that have neither arrived nor come back. */
  readonly owes: readonly string[];
  /** Former parents that do not know yet. */
  readonly leaving: readonly ChildRemoval[];
  readonly parent: AccountId | null;
  /** AutoQuota: the parent was asked, and its answer is not here yet. */
  readonly asksForQuota: boolean;
  readonly name: string;
  readonly keyHash: string;
  readonly formerKeyHash: string | null;
}

export function unfinishedWork(state: Account): Decision<AccountEvent> {
  const { profile, closing, move, children, owing, leaving, quota, formerKeyHash } = state;
  if (profile === null) return { refused: accountNotFound(state) };
  const reply: UnfinishedWork = {
    stage: stageOf(state),
    closing,
    move,
    children,
    holds: state.volatile.holds.size,
    owes: [...owing.keys()],
    leaving: [...leaving.values()],
    parent: profile.parent,
    asksForQuota: quota.asked !== null,
    name: profile.name,
    keyHash: profile.keyHash,
    formerKeyHash,
  };
  return { reply };
}

/** Former parents that are still to be told. */
export const childRemovalEffects = ({ id, leaving }: Account): Effect[] =>
  [...leaving.values()].map((one) => ({
    id: one.id,
    to: { kind: "account", id: String(one.parent) },
    command: { type: "disown", id: one.id, child: id } as { type: string },
    bornAt: one.bornAt,
  }));

export interface RemoveChild {
  readonly id: string;
  readonly child: AccountId;
}

/** At the parent: it has a child less. */
export function removeChild(state: Account, { id, child }: RemoveChild, turn: Turn): Decision<AccountEvent> {
  if (turn.done) return { reply: {} };
  if (state.profile === null) return { refused: accountNotFound(state) };
  return { reply: {}, events: [{ type: "child_left", id, child }], save: true };
}

/** Back at the account: its former parent knows. */
export const childRemoved = (state: Account, id: string): Decision<AccountEvent> =>
  state.leaving.has(id) ? { reply: {}, events: [{ type: "left", id }] } : { reply: {} };
