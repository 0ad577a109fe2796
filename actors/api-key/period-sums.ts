// Sums of spending by UTC day and month, of which only the newest of each is kept, and in total. Used for the API keys of an
// account. Pure folding; nothing here reads a clock.

import { type Nano, plusCapped, ZERO } from "../money.ts";
import { dayOf, monthOf } from "../time.ts";

/** What was spent on the newest day, in the newest month, and ever, in nano-dollars. */
export interface PeriodSums {
  readonly day: string;
  readonly dayCost: Nano;
  readonly month: string;
  readonly monthCost: Nano;
  readonly total: Nano;
}

/** The sums of nothing. */
export const NO_SPENDING: PeriodSums = { day: "", dayCost: ZERO, month: "", monthCost: ZERO, total: ZERO };

/** Returns the sums with `cost` added at `at` (wall-clock ms). */
export function addSpending(sums: PeriodSums, cost: Nano, at: number): PeriodSums {
  const day = dayOf(at);
  const month = monthOf(at);
  return {
    day,
    dayCost: plusCapped(spentOn(sums, at), cost),
    month,
    monthCost: plusCapped(spentIn(sums, at), cost),
    // A lifetime total is unbounded: beyond the range of `Nano` it is approximate, but no decision depends on it.
    total: (sums.total + cost) as Nano,
  };
}

/** Returns what was spent on the UTC day of `now`. */
export const spentOn = (sums: PeriodSums, now: number): Nano =>
  sums.day === dayOf(now) ? sums.dayCost : ZERO;

/** Returns what was spent in the UTC month of `now`. */
export const spentIn = (sums: PeriodSums, now: number): Nano =>
  sums.month === monthOf(now) ? sums.monthCost : ZERO;
