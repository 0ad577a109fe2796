// Transfers of credit between accounts. Credit is neither created nor lost between giver P and receiver C.
//
//   X  id that the caller generates once; the dedup id of every line below
//   1  out      P writes `transfer_out` X, or `refund_out` X to its parent (Root: `minted` X), and `owing` X,
//               which makes the transfer pending, in one commit
//   2  deliver  the runtime sends `receive` X to C until it answers; C writes `grant`, `transfer_in`,
//               `auto_quota` or `refund` X. If X creates C, `created` precedes it in the same, first commit
//               of C
//   3  settle   C's answer returns as effectDone: P writes `settled` X, or after a refusal `returned` X,
//               which gives P the credit back with its former expiry
//
// situation                         state found              recovery
// crash before 1 is durable         nothing                  the caller's retry with X runs it once
// crash after 1, before 2           X is pending             P delivers it once activated, at latest by the
//                                                            sweep
// C has X, the answer is lost       X is pending, C has X    delivered again; C finds X (in memory, or by its
//                                                            dedup id in the ledger) and answers as before
// C refuses (gone, moved, full)     X is pending             P takes it back; a new C is never created
//                                                            (creation.ts)
// C refused X, X comes once more    X pending or returned    C refuses again because of `declined` X, even if
//                                                            X would fit by then
// C cannot be reached               X is pending             retried for ever, with pauses of up to 60 s
//
// The caller looks up C's room before step 1, which refuses an amount that does not fit (capacity.ts). Step 2
// refuses only what changed in between.
//
// A pending transfer belongs neither to P nor, before step 2, to C: reports count it as in flight.

import type { Refusal } from "../../src/base/errors.ts";
import type { Decision, Effect, Turn } from "../../src/runtime/actor.ts";
import { availableAt, bookBalance, creditAfter, hasDueEntries, spendingBreakdown } from "../credit.ts";
import { type AccountId, ownerOf, ROOT } from "../ids.ts";
import { formatUsd, minus, most, type Nano, negate, plus, toNano, ZERO } from "../money.ts";
import { DAY_MS } from "../time.ts";
import { quotaMoved } from "./auto-quota.ts";
import { affords, overfull, roomOf } from "./capacity.ts";
import { accountNotFound, expireDue } from "./charge.ts";
import { creationRefusal } from "./creation.ts";
import type { Receipt } from "./events.ts";
import { childRefusal, initialProfile, type NewAccount } from "./profile.ts";
import { type Account, type AccountEvent, isRoot, type Profile, type Transfer } from "./state.ts";
import { accountChanged } from "./views.ts";

/** Days until refunded credit expires (spec: Limits). */
const REFUND_DAYS = 180;

interface Gift {
  /** Dedup id of the transfer and of every line that it writes. */
  readonly id: string;
  /** Wall-clock ms at which the id was generated. */
  readonly bornAt: number;
  readonly amount: Nano;
  /** Days until the credit expires. */
  readonly days: number;
  /** The Owner's UserMinBalance, which the giver must keep. */
  readonly keep: Nano;
}

/** Input of the command `createChild`. */
export interface CreateChild extends Gift {
  readonly child: NewAccount;
}

/** Input of the command `startTransfer`. */
export interface StartTransfer extends Gift {
  readonly to: AccountId;
  /** A recharge, or an answer to the child's AutoQuota request. */
  readonly kind: "transfer_in" | "auto_quota";
  /** The receiver's room; null means unbounded, undefined that it was not looked up. */
  readonly room?: Nano | null;
}

/**
 * Step 1 for a new account: the parent sends the initial credit and the profile. Refuses account_suspended,
 * account_disabled, insufficient_parent_balance, and what `childRefusal` refuses.
 */
export function createChild(state: Account, input: CreateChild, turn: Turn): Decision<AccountEvent> {
  const parent = state.profile;
  if (parent === null) return { refused: accountNotFound(state) };
  if (turn.done) return { reply: { id: input.child.id } };
  if (parent.suspended || !parent.status) {
    const code = parent.status ? "account_suspended" : "account_disabled";
    return { refused: { code, message: "This account may not create subaccounts now." } };
  }
  if (state.move?.stage === "asked") return { refused: creditInTransit("moved") };
  const refused = childRefusal(state, input.child) ?? unaffordable(state, parent, input, turn.now);
  if (refused !== null) return { refused };
  const kind = isRoot(parent) ? "grant" : "transfer_in";
  const child = initialProfile(parent, input.child, turn.now);
  const transfer = transferOf(input, { to: child.id, kind, child }, turn);
  return { reply: { id: child.id }, events: out(state, parent, transfer, turn), save: true };
}

/**
 * Step 1 for a recharge from this account's balance; Root creates the credit, and the receiver's line is a
 * grant. Refuses insufficient_parent_balance, and invalid_parameter for more than the receiver can hold. If
 * the receiver refuses later, the credit returns.
 */
export function startTransfer(state: Account, input: StartTransfer, turn: Turn): Decision<AccountEvent> {
  if (turn.done) return { reply: {} };
  const giver = state.profile;
  if (giver === null) return { refused: accountNotFound(state) };
  const refused =
    notPositive(input.amount) ??
    (input.to === state.id ? toItself : overfull(input.to, input.amount, input.room)) ??
    unaffordable(state, giver, input, turn.now);
  if (refused !== null) return { refused };
  const kind = isRoot(giver) && input.kind === "transfer_in" ? "grant" : input.kind;
  const transfer = transferOf(input, { to: input.to, kind, child: null }, turn);
  return { reply: {}, events: out(state, giver, transfer, turn), save: true };
}

/** Input of the command `startRefund`. */
export interface StartRefund {
  readonly id: string;
  readonly bornAt: number;
  readonly amount: Nano;
  /** The parent's room; null means unbounded, undefined that it was not looked up. */
  readonly room?: Nano | null;
}

/**
 * Step 1 for a refund to the direct parent. Refuses not_ancestor for Root, insufficient_balance for more than
 * balance minus holds, and invalid_parameter for more than the parent can hold.
 */
export function startRefund(state: Account, input: StartRefund, turn: Turn): Decision<AccountEvent> {
  if (turn.done) return { reply: {} };
  const { profile } = state;
  if (profile === null) return { refused: accountNotFound(state) };
  if (profile.parent === null) {
    return { refused: { code: "not_ancestor", message: "Root has no parent to refund credit to." } };
  }
  const available = availableAt(state.credit, state.volatile, turn.now);
  const refused =
    notPositive(input.amount) ??
    (input.amount > available ? lacking(input.amount, available) : null) ??
    overfull(profile.parent, input.amount, input.room);
  if (refused !== null) return { refused };
  return { reply: {}, events: refundEvents(state, profile, input, turn), save: true };
}

/**
 * Returns the events of a refund to the parent. The caller must have checked that the amount is available.
 */
export function refundEvents(
  state: Account,
  profile: Profile,
  input: Omit<StartRefund, "room">,
  turn: Turn,
): AccountEvent[] {
  const to = { to: profile.parent ?? ROOT, kind: "refund", child: null } as const;
  return out(state, profile, transferOf({ ...input, days: REFUND_DAYS }, to, turn), turn);
}

const lacking = (amount: Nano, available: Nano): Refusal => ({
  code: "insufficient_balance",
  message: `${formatUsd(amount)} USD cannot be taken: ${formatUsd(available)} USD is free on this account.`,
});

const notPositive = (amount: Nano): Refusal | null =>
  amount > 0 ? null : { code: "invalid_parameter", message: "The amount must be more than 0." };

const toItself: Refusal = { code: "not_ancestor", message: "No account recharges itself." };

/**
 * Returns the refusal service_unavailable for work that excludes the account's current work; `what` is a
 * participle.
 */
export const creditInTransit = (what: string): Refusal => ({
  code: "service_unavailable",
  message: `This account is being ${what}. Try again in a moment.`,
  retryAfterS: 1,
});

function unaffordable(
  state: Account,
  parent: Profile,
  input: { readonly amount: Nano; readonly keep: Nano },
  now: number,
): Refusal | null {
  if (isRoot(parent)) return null;
  const free = availableAt(state.credit, state.volatile, now);
  if (affords({ free }, input.amount, input.keep)) return null;
  return {
    code: "insufficient_parent_balance",
    message:
      `${formatUsd(input.amount)} USD cannot be given: ${formatUsd(free)} USD is free on the parent account, ` +
      `which must keep ${formatUsd(most(ZERO, input.keep))} USD.`,
  };
}

function transferOf(
  { id, bornAt, amount, days }: Omit<Gift, "keep">,
  to: { readonly to: AccountId; readonly kind: Receipt; readonly child: Profile | null },
  turn: Turn,
): Transfer {
  return { id, amount, expiresAt: turn.now + days * DAY_MS, taken: [], bornAt, ...to };
}

function out(state: Account, giver: Profile, transfer: Transfer, turn: Turn): AccountEvent[] {
  if (isRoot(giver)) {
    return [
      { type: "minted", id: transfer.id, amount: transfer.amount },
      { type: "owing", transfer },
    ];
  }
  // Expired credit leaves first. The entries that the transfer takes are recorded, so that a return restores
  // their expiry.
  const expired = expireDue(state, turn);
  const credit = creditAfter(state.credit, expired, turn.now);
  const taken = spendingBreakdown(credit, transfer.amount, turn.now);
  return [
    ...expired,
    {
      type: transfer.kind === "refund" ? "refund_out" : "transfer_out",
      id: transfer.id,
      to: transfer.to,
      amount: negate(transfer.amount),
      balanceAfter: minus(bookBalance(credit), transfer.amount),
      ...(hasDueEntries(credit, turn.now) && { taken }),
    },
    { type: "owing", transfer: { ...transfer, taken, owner: ownerOf(giver) } },
  ];
}

/** Input of the command `receiveCredit`, which the runtime delivers from account `from`. */
export interface ReceiveCredit {
  readonly transfer: Transfer;
  readonly from: Account["id"];
}

/**
 * Step 2, at the receiver: writes the credit, and `created` for a new account, and publishes a new profile or
 * an AutoQuota credit. Refuses a transfer that it can never accept; one that it cannot accept now is refused
 * with a `declined` event.
 */
export function receiveCredit(state: Account, input: ReceiveCredit, turn: Turn): Decision<AccountEvent> {
  const { transfer, from } = input;
  if (turn.done) return { reply: {} };
  const { profile } = state;
  const refused = unwelcome(state, input);
  if (refused !== null) return { refused };
  const declined = unwanted(state, input);
  if (declined !== null) {
    const events: AccountEvent[] = [{ type: "declined", id: transfer.id }];
    return { refused: declined, events: state.declined.includes(transfer.id) ? [] : events };
  }
  // Credit that returns to Root is destroyed.
  if (profile !== null && isRoot(profile)) {
    return { reply: {}, events: [{ type: "minted", id: transfer.id, amount: negate(transfer.amount) }] };
  }
  const born = transfer.child;
  const quota = profile !== null && transfer.kind === "auto_quota";
  return {
    reply: {},
    save: true,
    ...(born === null ? {} : { publish: [accountChanged(state, born)] }),
    ...(quota ? { publish: [quotaMoved(profile, from, transfer.amount)] } : {}),
    events: [
      ...(born === null ? [] : [{ type: "created", profile: born } as const]),
      {
        type: transfer.kind,
        id: transfer.id,
        from,
        amount: transfer.amount,
        balanceAfter: plus(bookBalance(state.credit), transfer.amount),
        expiresAt: transfer.expiresAt,
        ...(isElsewhere(transfer, born ?? profile) && { owner: transfer.owner }),
      },
    ],
  };
}

/**
 * Whether a transfer was given in the tree of another Owner: its giver, or its receiver, has been moved since. The line
 * then names that Owner, so that the sums of both trees can be told apart.
 */
const isElsewhere = ({ owner }: Transfer, receiver: Profile | null): boolean =>
  owner !== undefined && receiver !== null && owner !== ownerOf(receiver);

/**
 * Returns why a transfer can never be accepted, or null. The giver gets it back. A closing account accepts
 * only refunds from accounts below it.
 */
function unwelcome(state: Account, { transfer }: ReceiveCredit): Refusal | null {
  const { profile, closing } = state;
  if (transfer.child !== null) return creationRefusal(state);
  if (profile === null) return accountNotFound(state);
  return closing === null || transfer.kind === "refund" ? null : accountNotFound(state);
}

/**
 * Returns why a transfer is not accepted in the present state, or null. A transfer that was refused once
 * stays refused, since its giver may have the credit back.
 */
function unwanted(state: Account, { transfer, from }: ReceiveCredit): Refusal | null {
  const { profile, quota, declined } = state;
  if (profile === null || transfer.child !== null) return null;
  if (declined.includes(transfer.id)) {
    return { code: "invalid_parameter", message: `Account ${state.id} has refused this transfer.` };
  }
  const full = isRoot(profile) ? null : overfull(state.id, transfer.amount, roomOf(state));
  if (full !== null || transfer.kind === "refund") return full;
  const asked = quota.asked?.id === transfer.id;
  if (asked || from === profile.parent || from === ROOT) return null;
  return { code: "not_ancestor", message: `Account ${from} is not the parent of account ${state.id}.` };
}

/** Step 3, at the giver: the receiver accepted transfer `id`, or refused it and the credit returns. */
export function transferSettled(state: Account, id: string, refused: Refusal | null): Decision<AccountEvent> {
  const transfer = state.owing.find((one) => one.id === id);
  if (transfer === undefined) return { reply: {} };
  if (refused === null) return { reply: {}, events: [{ type: "settled", id }] };
  const why = refused.code;
  if (state.profile !== null && isRoot(state.profile)) {
    return {
      reply: {},
      events: [
        { type: "minted", id: `${id}:returned`, amount: negate(transfer.amount) },
        { type: "returned", id, amount: ZERO, balanceAfter: bookBalance(state.credit), why },
      ],
    };
  }
  const back = toNano(transfer.taken.reduce((sum, part) => sum + part.amount, 0));
  return {
    reply: {},
    events: [
      { type: "returned", id, amount: back, balanceAfter: plus(bookBalance(state.credit), back), why },
    ],
  };
}

/** Returns the pending effects that deliver transfers which are not settled. */
export const transferEffects = (
  state: Account,
): Effect<"account", { readonly type: "receiveCredit" } & ReceiveCredit>[] =>
  state.owing.map((transfer) => ({
    id: `${transfer.id}:in`,
    to: { kind: "account", id: String(transfer.to) },
    command: { type: "receiveCredit", transfer, from: state.id },
    bornAt: transfer.bornAt,
  }));
