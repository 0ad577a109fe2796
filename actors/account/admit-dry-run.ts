// A preview of admission: the same guards and the same reservation, nothing taken, and what every limit leaves.
// It has no rules of its own: whatever it decided apart from admit would some day differ from it.

import type { Refusal } from "../../src/base/errors.ts";
import type { Decision, Turn } from "../../src/runtime/actor.ts";
import { type AdmissionRequest, firstRefusal, INVALID_KEY, STALE_PROFILE } from "./admit.ts";
import { type LimitRow, windowRows } from "./rate-limits.ts";
import { moneyRows, type Reservation, reserve } from "./reserve.ts";
import type { Account, AccountEvent } from "./state.ts";

export interface AdmitDryRun extends Reservation {
  /** null: it would be admitted. */
  readonly refusal: Refusal | null;
  /** The limits that are set, as they stand now; none for whoever has no right key. */
  readonly limits: readonly LimitRow[];
}

/**
 * What `admit` would answer to a new request. `cost` and `tokens` are what it would hold; where it is refused, the worst
 * case that it asked for. Refused itself only for a route made from an old profile, as `admit` is.
 */
export function admitDryRun(state: Account, input: AdmissionRequest, turn: Turn): Decision<AccountEvent> {
  const { now } = turn;
  const barrier = firstRefusal(state, null, input, now);
  if (barrier?.code === STALE_PROFILE) return { refused: barrier, ungated: true };
  const { profile } = state;
  if (profile === null || barrier === INVALID_KEY) return answer({ refusal: INVALID_KEY, limits: [] }, input);

  const limits = [...windowRows(state, profile, input, now), ...moneyRows(state, profile, now)];
  const reserved = barrier ?? reserve(state, profile, input, now, false);
  return "code" in reserved
    ? answer({ refusal: reserved, limits }, input)
    : answer({ refusal: null, limits, ...reserved }, input);
}

function answer(
  found: Omit<AdmitDryRun, keyof Reservation> & Partial<Reservation>,
  input: AdmissionRequest,
): Decision<never> {
  const reply: AdmitDryRun = { cost: input.cost, tokens: input.promptTokens + input.outputTokens, ...found };
  return { reply, ungated: true };
}
