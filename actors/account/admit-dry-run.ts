// A dry run of admission: the same guards and the same reservation as `admit`, plus what every limit leaves.
// It takes no hold and must have no rules of its own, since these would drift away from those of `admit`.

import type { Refusal } from "../../src/base/errors.ts";
import type { Decision, Turn } from "../../src/runtime/actor.ts";
import { creditAfter, grant } from "../credit.ts";
import type { Nano } from "../money.ts";
import { type AdmissionRequest, firstBarrier } from "./admit.ts";
import { INVALID_KEY, presentedKey } from "./authenticate.ts";
import { type LimitRow, windowRows } from "./rate-limits.ts";
import { moneyRows, type Reservation, reserve } from "./reserve.ts";
import type { Account, AccountEvent } from "./state.ts";

/** What is asked of the account for a request that is not sent. */
export interface DryRunRequest extends AdmissionRequest {
  /** Credit that AutoQuota would bring before the request is decided, in nano-dollars; omitted when it brings none. */
  readonly topUp?: Nano;
}

/** Result of the dry run, with the cost (nano-dollars) and tokens that `admit` would hold. */
export interface AdmitDryRun extends Reservation {
  /** The refusal that `admit` would return; null means that the request would be admitted. */
  readonly refusal: Refusal | null;
  /** The limits that are set, with their current use. Empty if the key is invalid. */
  readonly limits: readonly LimitRow[];
}

/**
 * Returns what `admit` would answer to a new request. `cost` and `tokens` are what it would hold, or the
 * requested worst case if it would be refused. It replies `StaleProfile` as `admit` does, and
 * refuses nothing itself.
 */
export function admitDryRun(state: Account, input: DryRunRequest, turn: Turn): Decision<AccountEvent> {
  const { now } = turn;
  const barrier = firstBarrier(state, null, input, now);
  if ("stale" in barrier) return { reply: barrier, ungated: true };
  const { profile } = state;
  const named = presentedKey(state, profile, input.keyHash, now);
  if (profile === null || (named !== null && "code" in named)) {
    const refusal = "code" in barrier ? barrier : INVALID_KEY;
    return answer({ refusal, limits: [] }, input);
  }
  const spender = { state, profile, named };
  const limits = [...windowRows(spender, input, now), ...moneyRows(spender, now)];
  const payer =
    input.topUp === undefined ? spender : { ...spender, state: toppedUp(state, input.topUp, now) };
  const reserved = "code" in barrier ? barrier : reserve(payer, input, now, false);
  return "code" in reserved
    ? answer({ refusal: reserved, limits }, input)
    : answer({ refusal: null, limits, ...reserved }, input);
}

/** Returns the state as it would be with more credit. */
function toppedUp(state: Account, amount: Nano, now: number): Account {
  const credit = creditAfter(state.credit, [], now);
  grant(credit, { amount, expiresAt: Number.POSITIVE_INFINITY });
  return { ...state, credit };
}

function answer(
  found: Omit<AdmitDryRun, keyof Reservation> & Partial<Reservation>,
  input: AdmissionRequest,
): Decision<never> {
  const reply: AdmitDryRun = { cost: input.cost, tokens: input.promptTokens + input.outputTokens, ...found };
  return { reply, ungated: true };
}
