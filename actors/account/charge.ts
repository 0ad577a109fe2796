// Settlement: a hold ends by exactly one of charge, cancel or expiry. A charge is not refused for lack of
// credit, because the work is done; a charge that arrives after its account was emptied is a loss. Of two
// requests with one Idempotency-Key only one is charged, and the other must not deliver the end of its
// answer. The id of a charge is its dedup id, so a charge that is sent twice, even after a move or a crash,
// makes one ledger line.

import type { Refusal } from "../../src/base/errors.ts";
import type { Decision, Turn } from "../../src/runtime/actor.ts";
import {
  bookBalance,
  creditAfter,
  type Entry,
  expirableParts,
  hasDueEntries,
  type OpenHolds,
  partsToName,
  type Reserved,
} from "../credit.ts";
import { MAIN_API_KEY } from "../ids.ts";
import { minus, most, type Nano, negate, plus, ZERO } from "../money.ts";
import { addTo, counted, emptyWindows } from "../rate-window.ts";
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
import { type StoredFacts, storedFacts } from "./stored-facts.ts";

/**
 * Ends the hold of a request and writes its charge to the ledger. Refuses service_unavailable if another
 * request with the same Idempotency-Key was charged, and user_not_found if the account never existed.
 */
export function charge(state: Account, facts: ChargeFacts, turn: Turn): Decision<AccountEvent> {
  if (!facts.isLast) rememberEnded(state, facts.id, turn.now);
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
  const events: AccountEvent[] = [];
  // Credit that had expired before this request was admitted must not pay for it.
  const hasDue = !isRoot(state.profile) && hasDueEntries(state.credit, turn.now);
  const expired = hasDue ? expireDue(state, turn, heldWithCharge(state, hold, facts)) : NO_LINES;
  if (expired.length > 0) events.push(...expired);
  let balance = expired.at(-1)?.balanceAfter ?? bookBalance(state.credit);
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
  const line = lineOf(state, "charge", facts, balance);
  if (hold !== null && hold.model === facts.model && hold.takenAt !== hold.admittedAt) {
    line.takenAt = hold.takenAt;
  }
  if (state.volatile.abandoned?.delete(facts.id)) line.counted = true;
  if (hasDue) {
    const credit = creditAfter(state.credit, expired, turn.now);
    const taken = partsToName(credit, facts.cost, hold?.admittedAt ?? facts.admittedAt);
    if (taken !== undefined) line.taken = taken;
  }
  events.push(line);
  const alert = alertAfter(state, facts.cost, turn.now);
  if (alert !== null) events.push(alert);
  const quotaRequest = requestQuotaAfterCharge(state, facts, turn.now, expired);
  if (quotaRequest !== null) events.push(quotaRequest);
  return { reply: {}, events };
}

const NO_LINES: readonly Expire[] = [];

/**
 * A charge to an emptied account is recorded and written off at once, so that its sender need not repeat it.
 */
function late(state: Account, facts: ChargeFacts): Decision<AccountEvent> {
  const line = lineOf(state, "late_charge", facts, bookBalance(state.credit));
  const loss = most(ZERO, negate(line.balanceAfter));
  return {
    reply: {},
    events: [
      line,
      {
        type: "write_off",
        id: `${facts.id}:write_off`,
        amount: loss,
        balanceAfter: plus(line.balanceAfter, loss),
      },
    ],
  };
}

/** The ledger line of a charge, while it is made. */
interface ChargeLine<T extends "charge" | "late_charge"> extends StoredFacts {
  type: T;
  amount: Nano;
  balanceAfter: Nano;
  account?: Account["id"];
  takenAt?: number;
  counted?: true;
  taken?: readonly Entry[];
}

function lineOf<T extends "charge" | "late_charge">(
  state: Account,
  type: T,
  facts: ChargeFacts,
  balance: Nano,
): ChargeLine<T> {
  const line: ChargeLine<T> = {
    ...storedFacts(facts),
    type,
    amount: negate(facts.cost),
    balanceAfter: minus(balance, facts.cost),
  };
  if (facts.idempotency) line.account = state.id;
  return line;
}

const TWIN: Refusal = {
  code: "service_unavailable",
  message:
    "Another request with this Idempotency-Key was answered meanwhile. Send it again to get that answer.",
  retryAfterS: 1,
};

/**
 * Returns the event that counts a request without a charge in the windows; empty if it was counted before.
 */
export function releaseEvents(state: Account, hold: Hold): readonly AccountEvent[] {
  const { id, model, admittedAt, apiKey } = hold;
  if (state.volatile.abandoned?.has(id)) return [];
  const released = { type: "released", id, model, admittedAt, ...takenAnew(hold) } as const;
  return [apiKey === MAIN_API_KEY ? released : { ...released, apiKey }];
}

/** The time at which a model's windows count a request, if it differs from the request's admission. */
const takenAnew = ({ takenAt, admittedAt }: Hold): { takenAt?: number } =>
  takenAt === admittedAt ? {} : { takenAt };

/** Returns the refusal user_not_found for this account. */
export const accountNotFound = (state: Account): Refusal => ({
  code: "user_not_found",
  message: `There is no account ${state.id}.`,
});

/**
 * Aborts before any content that are free per minute; beyond them new requests are refused (contract section
 * 4).
 */
const ABORTS_PER_MINUTE = 20;

/**
 * Ends a request that delivered nothing: it counts in the windows and costs nothing. Aborts are counted
 * separately.
 */
export function cancel(
  state: Account,
  input: { readonly id: string; readonly aborted: boolean },
  turn: Turn,
): Decision<AccountEvent> {
  rememberEnded(state, input.id, turn.now);
  const hold = closeHold(state, input.id, turn.now);
  if (hold === null || turn.done) return { reply: {} };
  if (input.aborted) {
    state.volatile.aborts ??= emptyWindows();
    addTo(state.volatile.aborts, turn.now, turn.now, 1, 0);
  }
  return { reply: {}, events: releaseEvents(state, hold) };
}

/** Returns the refusal too_many_aborts if the client aborted too often in the last minute, otherwise null. */
export function tooManyAborts(state: Account, now: number): Refusal | null {
  const { aborts } = state.volatile;
  if (aborts === null || counted(aborts, "minute", now).requests <= ABORTS_PER_MINUTE) return null;
  return {
    code: "too_many_aborts",
    message: `More than ${ABORTS_PER_MINUTE} requests a minute were given up before any content came. Wait a minute.`,
    retryAfterS: 60,
  };
}

/**
 * Extends a hold by HOLD_TTL_MS and grows it to `cost` and `tokens`. The reply's `held` is false if it has
 * ended.
 */
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

/**
 * Returns the ledger line that removes expired credit which no hold needs; empty if there is none. The sweep
 * uses it, and every command that moves or spends credit, before it does so. `held` are the holds.
 */
export function expireDue(state: Account, turn: Turn, held: OpenHolds = state.volatile): readonly Expire[] {
  const parts = expirableParts(state.credit, held, turn.now);
  if (parts.length === 0) return [];
  const amount = parts.reduce((sum, part) => plus(sum, part.amount), ZERO);
  return [
    {
      type: "expire",
      id: `${turn.id}:expire`,
      amount: negate(amount),
      balanceAfter: minus(bookBalance(state.credit), amount),
      parts,
    },
  ];
}

/**
 * Returns the open holds with that of the request that is charged now, which has just been closed, or was
 * lost. It covers what the request costs, however much it held.
 */
function heldWithCharge({ volatile }: Account, hold: Hold | null, facts: ChargeFacts): OpenHolds {
  const own: Reserved = {
    cost: most(hold?.cost ?? ZERO, facts.cost),
    admittedAt: hold?.admittedAt ?? facts.admittedAt,
  };
  return { holds: { values: () => [...volatile.holds.values(), own] } };
}
