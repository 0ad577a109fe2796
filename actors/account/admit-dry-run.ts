// A preview of admission: the same guards and the same reservation, nothing taken, and what every limit leaves.
// It has no rules of its own: whatever it decided apart from admit would some day differ from it.

import type { Decision, Refusal, Turn } from "../../src/runtime/actor.ts";
import { type Asking, barred, STALE, WRONG_KEY } from "./admit.ts";
import { type LimitRow, windowRows } from "./rate-limits.ts";
import { moneyRows, type Reserved, reserve } from "./reserve.ts";
import type { Account, AccountEvent } from "./state.ts";

export interface Preview extends Reserved {
  /** null: it would be admitted. */
  readonly refusal: Refusal | null;
  /** The limits that are set, as they stand now; none for whoever has no right key. */
  readonly limits: readonly LimitRow[];
}

/**
 * What `admit` would answer to a new request. `cost` and `tokens` are what it would hold; where it is refused, the worst
 * case that it asked for. Refused itself only for a route made from an old profile, as `admit` is.
 */
export function preview(state: Account, input: Asking, turn: Turn): Decision<AccountEvent> {
  const { now } = turn;
  const barrier = barred(state, null, input, now);
  if (barrier?.code === STALE) return { refused: barrier, ungated: true };
  const { profile } = state;
  if (profile === null || barrier === WRONG_KEY) return answer({ refusal: WRONG_KEY, limits: [] }, input);

  const limits = [...windowRows(state, profile, input, now), ...moneyRows(state, profile, now)];
  const reserved = barrier ?? reserve(state, profile, input, now, false);
  return "code" in reserved
    ? answer({ refusal: reserved, limits }, input)
    : answer({ refusal: null, limits, ...reserved }, input);
}

function answer(found: Omit<Preview, keyof Reserved> & Partial<Reserved>, input: Asking): Decision<never> {
  const reply: Preview = { cost: input.cost, tokens: input.promptTokens + input.outputTokens, ...found };
  return { reply, ungated: true };
}
