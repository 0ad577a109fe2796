// Settling: a request ends by exactly one of charge, cancel, or the expiry of its hold. A charge is never refused: the
// work is done; what comes after its account was emptied is a loss. But of two requests with one Idempotency-Key one is
// charged, and the other may not deliver its end. Its id is its mark, so the same charge sent twice, even after a move or a crash, is one line.

import type { Refusal } from "../../src/base/errors.ts";
import type { Decision, Turn } from "../../src/runtime/actor.ts";
import { bookBalance, expirable } from "../credit.ts";
import { minus, most, type Nano, negate, plus, ZERO } from "../money.ts";
import { addTo, counted } from "../rate-window.ts";
import { requestQuotaAfterCharge } from "./auto-quota.ts";
import { closeHold, growHold, HOLD_TTL_MS, rememberEnded } from "./holds.ts";
import { isCharged, rememberCharged } from "./idempotency.ts";
import { alertAfter } from "./soft-limit-alert.ts";
import {
  type Account,
  type AccountEvent,
  type ChargeFacts,
  type Expire,
  type Hold,
  isRoot,
  stageOf,
} from "./state.ts";

export function charge(state: Account, facts: ChargeFacts, turn: Turn): Decision<AccountEvent> {
  rememberEnded(state, facts.id, turn.now);
  if (turn.done) {
    closeHold(state, facts.id, turn.now);
    return { reply: {} };
  }
  if (state.profile === null) return { refused: accountNotFound(state) };
  if (stageOf(state) === "emptied" || stageOf(state) === "closed") return late(state, facts);
  const hold = closeHold(state, facts.id, turn.now);
  if (facts.idempotency) {
    if (!facts.delivered && isCharged(state, facts.id, facts.idempotency, turn.now)) {
      return { refused: TWIN, events: hold === null ? [] : releaseEvents(state, hold) };
    }
    rememberCharged(state, facts.id, facts.idempotency, turn.now);
  }
  const { abandoned } = state.volatile;
  const events: AccountEvent[] = [];
  let balance = bookBalance(state.credit);
  if (isRoot(state.profile) && facts.cost > 0) {
    balance = minus(balance, negate(facts.cost));
    events.push({
      type: "grant",
      id: `${facts.id}:grant`,
      from: state.id,
      amount: facts.cost,
      balanceAfter: balance,
      expiresAt: turn.now,
    });
  }
  events.push(
    {
      ...lineOf(state, facts, balance),
      type: "charge",
      ...(hold?.model === facts.model ? takenAnew(hold) : {}),
      ...(abandoned.delete(facts.id) && { counted: true }),
    },
    ...alertAfter(state, facts.cost, turn.now),
    ...requestQuotaAfterCharge(state, facts, turn.now),
  );
  return { reply: {}, events };
}

/** After the account was emptied nobody pays: the charge and its loss, so that it need not be sent again. */
function late(state: Account, facts: ChargeFacts): Decision<AccountEvent> {
  const line = lineOf(state, facts, bookBalance(state.credit));
  const loss = most(ZERO, negate(line.balanceAfter));
  return {
    reply: {},
    events: [
      { ...line, type: "late_charge" },
      {
        type: "write_off",
        id: `${facts.id}:write_off`,
        amount: loss,
        balanceAfter: plus(line.balanceAfter, loss),
      },
    ],
  };
}

function lineOf(state: Account, { keep: _, delivered: __, ...facts }: ChargeFacts, balance: Nano) {
  return {
    ...facts,
    ...(facts.idempotency ? { account: state.id } : {}),
    amount: negate(facts.cost),
    balanceAfter: minus(balance, facts.cost),
  };
}

const TWIN: Refusal = {
  code: "service_unavailable",
  message:
    "Another request with this Idempotency-Key was answered meanwhile. Send it again to get that answer.",
  retryAfterS: 1,
};

/** What counts a request that ends without a charge: once, also when it ends twice. */
export function releaseEvents(state: Account, hold: Hold): readonly AccountEvent[] {
  const { id, model, admittedAt } = hold;
  if (state.volatile.abandoned.has(id)) return [];
  return [{ type: "released", id, model, admittedAt, ...takenAnew(hold) }];
}

/** Where a model's windows count a request that came to it later than it was admitted. */
const takenAnew = ({ takenAt, admittedAt }: Hold): { takenAt?: number } =>
  takenAt === admittedAt ? {} : { takenAt };

export const accountNotFound = (state: Account): Refusal => ({
  code: "user_not_found",
  message: `There is no account ${state.id}.`,
});

/** Free aborts per minute; more are refused for a while (contract section 4). */
const ABORTS_PER_MINUTE = 20;

/** A request that delivered nothing: it counts in the windows and costs nothing. */
export function cancel(
  state: Account,
  input: { readonly id: string; readonly aborted: boolean },
  turn: Turn,
): Decision<AccountEvent> {
  rememberEnded(state, input.id, turn.now);
  const hold = closeHold(state, input.id, turn.now);
  if (hold === null || turn.done) return { reply: {} };
  if (input.aborted) addTo(state.volatile.aborts, turn.now, turn.now, 1, 0);
  return { reply: {}, events: releaseEvents(state, hold) };
}

export function tooManyAborts(state: Account, now: number): Refusal | null {
  if (counted(state.volatile.aborts, "minute", now).requests <= ABORTS_PER_MINUTE) return null;
  return {
    code: "too_many_aborts",
    message: `More than ${ABORTS_PER_MINUTE} requests a minute were given up before any content came. Wait a minute.`,
    retryAfterS: 60,
  };
}

/** A long request lives on, and may need more than it reserved. Answers whether the hold is still there. */
export function renew(
  state: Account,
  input: { readonly id: string; readonly cost: Nano; readonly tokens: number },
  turn: Turn,
): Decision<AccountEvent> {
  const hold = state.volatile.holds.get(input.id);
  if (hold === undefined) return { reply: { held: false }, ungated: true };
  hold.expiresAt = turn.now + HOLD_TTL_MS;
  hold.holder = turn.from;
  growHold(state, hold, input.cost, input.tokens, turn.now);
  return { reply: { held: true }, ungated: true };
}

/** Due credit that no hold needs leaves the balance. Asked by the sweep and before anything that spends. */
export function expireDue(state: Account, turn: Turn): readonly Expire[] {
  const amount = expirable(state.credit, state.volatile.heldCost, turn.now);
  if (amount === 0) return [];
  return [
    {
      type: "expire",
      id: `${turn.id}:expire`,
      amount: negate(amount),
      balanceAfter: minus(bookBalance(state.credit), amount),
    },
  ];
}
