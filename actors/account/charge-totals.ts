// Sums of charges, per model and day: the one definition of what bills, live figures and limits add up.
// Knows one charge at a time; which sums it belongs to is decided where events are folded.

import { type Nano, plus, ZERO } from "../money.ts";
import type { Usage } from "../pricing/usage.ts";

export interface ChargeTotals {
  requests: number;
  prompt: number;
  completion: number;
  cached: number;
  cacheWrite: number;
  reasoning: number;
  cost: Nano;
}

export const noChargeTotals = (): ChargeTotals => ({
  requests: 0,
  prompt: 0,
  completion: 0,
  cached: 0,
  cacheWrite: 0,
  reasoning: 0,
  cost: ZERO,
});

/** What of a charge is added up. */
interface Summand {
  readonly prompt: number;
  readonly completion: number;
  readonly usage: Usage;
  readonly cost: Nano;
}

/** Adds one charge to a sum. */
export function addCharge(totals: ChargeTotals, charge: Summand): void {
  totals.requests++;
  totals.prompt += charge.prompt;
  totals.completion += charge.completion;
  totals.cached += charge.usage.inCached;
  totals.cacheWrite += charge.usage.inCacheWrite + charge.usage.inCacheWrite1h;
  totals.reasoning += charge.usage.outReason;
  totals.cost = plus(totals.cost, charge.cost);
}
