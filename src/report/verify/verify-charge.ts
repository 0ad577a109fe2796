// Verifies the numbers of one charge: each follows from its usage and from the price recorded with it.

import type { ChargeFacts } from "../../../actors/account/state.ts";
import type { PriceNumbers } from "../../../actors/pricing/cost.ts";
import { recompute } from "../../../actors/pricing/cost-parts.ts";
import { completionTokens, promptTokens } from "../../../actors/pricing/usage.ts";
import type { Findings } from "./findings.ts";

/** Recomputes the numbers of a charge, late or not, and reports differences as findings. */
export function verifyNumbers(
  charge: ChargeFacts & { readonly amount: number },
  where: string,
  findings: Findings,
): void {
  for (const [name, given, computed] of chargeNumbers(charge)) {
    if (given === computed) continue;
    findings.add("charge", where, `charge ${charge.id}: ${name} is ${given}, computed ${computed}`);
  }
}

function chargeNumbers(charge: ChargeFacts & { readonly amount: number }): [string, number, number][] {
  return [
    ["cost", charge.cost, recomputed(charge)],
    ["amount", charge.amount, -charge.cost || 0],
    ["prompt", charge.prompt, promptTokens(charge.usage)],
    ["completion", charge.completion, completionTokens(charge.usage)],
  ];
}

/**
 * Returns the recomputed cost in nano-dollars; NaN, which equals nothing, when the recorded numbers are not a
 * valid price.
 */
function recomputed({ usage, price, parts }: ChargeFacts): number {
  try {
    return recompute(usage, price as PriceNumbers, parts);
  } catch (error) {
    if (error instanceof Error) return Number.NaN;
    throw error;
  }
}
