// Credit moves between accounts: out of one, into the other, never made or lost on the way.
//
//   X  minted once by the caller; the mark of every line below
//   1  out      P decides: `transfer_out` X (Root: `minted` X) and the debt `owing` X, one commit
//   2  deliver  the runtime sends `receive` X to C until it answers; C writes `grant` / `transfer_in` X, with the
//               newborn's `created` before it when X founds C: its first commit
//   3  settle   C's answer comes back as effectDone: P writes `settled` X; C's refusal: P writes `returned` X, and the
//               credit is P's again with the expiry it had
//
// crash                                   state found               recovery
// before 1 is durable                     nothing                   the caller's retry with X does it once
// after 1, before 2                       P owes X                  P's activation (forced by the sweep) delivers
// C has X, the answer is lost             P owes X, C has X         delivered again; C finds X (in memory, else by
//                                                                   its mark in the ledger) and answers as before
// C refuses                               P owes X                  P takes it back; the child was never born
// C cannot be reached                     P owes X                  tried again for ever, pause up to 60 s
//
// While P owes X the amount is neither P's nor, until step 2, C's: reports count it as in flight.

import type { Decision, Effect, EffectDone, Refusal, Turn } from "../../src/runtime/actor.ts";
import { availableAt, book, type Credit, expire, wouldSpend } from "../credit.ts";
import { formatUsd, minus, type Nano, negate, plus, toNano, ZERO } from "../money.ts";
import { DAY_MS } from "../time.ts";
import { expireDue, nobody } from "./charge.ts";
import { type NewAccount, newborn, unfit } from "./profile.ts";
import { type Account, type AccountEvent, isRoot, type Profile, type Transfer } from "./state.ts";

export interface CreateChild {
  /** Mark of the transfer. */
  readonly id: string;
  readonly bornAt: number;
  readonly child: NewAccount;
  readonly amount: Nano;
  readonly days: number;
  /** The Owner's UserMinBalance: what the parent must keep. */
  readonly keep: Nano;
}

/** Step 1 for a newborn: the parent gives the initial credit and the profile. */
export function createChild(state: Account, input: CreateChild, turn: Turn): Decision<AccountEvent> {
  const parent = state.profile;
  if (parent === null) return { refused: nobody(state) };
  if (turn.done) return { reply: { id: input.child.id } };
  if (parent.suspended || !parent.status) {
    const code = parent.status ? "account_suspended" : "account_disabled";
    return { refused: { code, message: "This account may not create subaccounts now." } };
  }
  const refused = unfit(state, input.child) ?? unaffordable(state, parent, input, turn.now);
  if (refused !== null) return { refused };

  const transfer: Transfer = {
    id: input.id,
    to: input.child.id,
    amount: input.amount,
    expiresAt: turn.now + input.days * DAY_MS,
    kind: isRoot(parent) ? "grant" : "transfer_in",
    taken: [],
    child: newborn(parent, input.child, turn.now),
    bornAt: input.bornAt,
  };
  return { reply: { id: input.child.id }, events: out(state, parent, transfer, turn), save: true };
}

function unaffordable(
  state: Account,
  parent: Profile,
  input: { readonly amount: Nano; readonly keep: Nano },
  now: number,
): Refusal | null {
  if (isRoot(parent)) return null;
  const available = availableAt(state.credit, state.volatile.heldCost, now);
  if (minus(available, input.amount) >= most(input.keep)) return null;
  return {
    code: "insufficient_parent_balance",
    message:
      `${formatUsd(input.amount)} USD cannot be given: ${formatUsd(available)} USD is free on the parent account, ` +
      `which must keep ${formatUsd(most(input.keep))} USD.`,
  };
}

/** A transfer never makes a debt, whatever UserMinBalance says. */
const most = (keep: Nano): Nano => (keep > 0 ? keep : ZERO);

function out(state: Account, parent: Profile, transfer: Transfer, turn: Turn): AccountEvent[] {
  if (isRoot(parent)) {
    return [
      { type: "minted", id: transfer.id, amount: transfer.amount },
      { type: "owing", transfer },
    ];
  }
  // What is due leaves first; what is taken is known only then, and remembered so that a return restores its expiry.
  const expired = expireDue(state, turn);
  const credit: Credit = { entries: [...state.credit.entries], owed: state.credit.owed };
  for (const line of expired) expire(credit, negate(line.amount), turn.now);
  const taken = wouldSpend(credit, transfer.amount);
  return [
    ...expired,
    {
      type: "transfer_out",
      id: transfer.id,
      to: transfer.to,
      amount: negate(transfer.amount),
      balanceAfter: minus(book(credit), transfer.amount),
    },
    { type: "owing", transfer: { ...transfer, taken } },
  ];
}

export interface Receive {
  readonly transfer: Transfer;
  readonly from: Account["id"];
}

/** Step 2, at the receiver. */
export function receive(state: Account, input: Receive, turn: Turn): Decision<AccountEvent> {
  const { transfer, from } = input;
  if (turn.done) return { reply: {} };
  const birth: AccountEvent[] = transfer.child === null ? [] : [{ type: "created", profile: transfer.child }];
  if (transfer.child === null && state.profile === null) return { refused: nobody(state) };
  if (transfer.child !== null && state.profile !== null) {
    return { refused: { code: "duplicate_name", message: `Account ${state.id} exists already.` } };
  }
  // What goes back to Root ceases to be.
  if (state.profile !== null && isRoot(state.profile)) {
    return { reply: {}, events: [{ type: "minted", id: transfer.id, amount: negate(transfer.amount) }] };
  }
  return {
    reply: {},
    save: true,
    events: [
      ...birth,
      {
        type: transfer.kind,
        id: transfer.id,
        from,
        amount: transfer.amount,
        balanceAfter: plus(book(state.credit), transfer.amount),
        expiresAt: transfer.expiresAt,
      },
    ],
  };
}

/** Step 3, back at the giver. */
export function effectDone(state: Account, done: EffectDone): Decision<AccountEvent> {
  const transfer = state.owing.get(transferOf(done.effect));
  if (transfer === undefined) return { reply: {} };
  if (done.refused === null) return { reply: {}, events: [{ type: "settled", id: transfer.id }] };
  const why = done.refused.code;
  if (state.profile !== null && isRoot(state.profile)) {
    return {
      reply: {},
      events: [
        { type: "minted", id: `${transfer.id}:returned`, amount: negate(transfer.amount) },
        { type: "returned", id: transfer.id, amount: ZERO, balanceAfter: book(state.credit), why },
      ],
    };
  }
  const back = toNano(transfer.taken.reduce((sum, part) => sum + part.amount, 0));
  return {
    reply: {},
    events: [
      { type: "returned", id: transfer.id, amount: back, balanceAfter: plus(book(state.credit), back), why },
    ],
  };
}

/** What this account owes, as effects for the runtime: derived from state, so a crash cannot lose one. */
export function debts(state: Account): readonly Effect[] {
  if (state.owing.size === 0) return NOTHING;
  return [...state.owing.values()].map((transfer) => ({
    id: `${transfer.id}:in`,
    to: { kind: "account", id: String(transfer.to) },
    command: { type: "receive", transfer, from: state.id } as { type: string },
    bornAt: transfer.bornAt,
  }));
}

const NOTHING: readonly Effect[] = [];
const transferOf = (effect: string): string => effect.slice(0, -":in".length);
