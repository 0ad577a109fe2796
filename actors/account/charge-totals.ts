// Sums of charges per model and day: the only definition of what bills, live figures and limits add up. It
// adds one charge to one sum; `evolve` decides to which sums a charge belongs.

import { type Nano, plusCapped, ZERO } from "../money.ts";
import type { Usage } from "../pricing/usage.ts";

/** A sum of charges: requests, tokens, and cost in nano-dollars. */
export interface ChargeTotals {
  requests: number;
  prompt: number;
  completion: number;
  cached: number;
  cacheWrite: number;
  reasoning: number;
  cost: Nano;
}

/** Returns a new sum of no charges. */
export const noChargeTotals = (): ChargeTotals => ({
  requests: 0,
  prompt: 0,
  completion: 0,
  cached: 0,
  cacheWrite: 0,
  reasoning: 0,
  cost: ZERO,
});

/** The figures of a charge that are added up. */
interface Summand {
  readonly prompt: number;
  readonly completion: number;
  readonly usage: Usage;
  readonly cost: Nano;
}

/** Adds one charge to `totals` in place. */
export function addCharge(totals: ChargeTotals, charge: Summand): void {
  totals.requests++;
  totals.prompt += charge.prompt;
  totals.completion += charge.completion;
  totals.cached += charge.usage.inCached;
  totals.cacheWrite += charge.usage.inCacheWrite + charge.usage.inCacheWrite1h;
  totals.reasoning += charge.usage.outReason;
  totals.cost = plusCapped(totals.cost, charge.cost);
}
