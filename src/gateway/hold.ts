// How much a request may cost at worst, before it is made: the hold that admission reserves. Pure.
// Holds estimate by bytes; the tokenizer is for usage that never came.

import { modelNamed } from "../../actors/catalogue.ts";
import { dearest } from "../../actors/cost.ts";
import type { Nano } from "../../actors/money.ts";
import type { Priced } from "../../actors/price.ts";
import type { Usage } from "../../actors/usage.ts";
import type { Multipliers } from "./route.ts";

/** What the request itself says about its size. */
export interface Size {
  readonly promptTokens: number;
  /** The client's output limit; null: none given. */
  readonly maxOutput: number | null;
  /** Choices asked for: each may use the whole output. */
  readonly n: number;
  readonly serviceTier: string | null;
  /** Kinds of token that this request cannot have. */
  readonly never: readonly (keyof Usage)[];
}

export interface Worst {
  readonly promptTokens: number;
  readonly outputTokens: number;
  readonly cost: Nano;
  readonly promptCost: Nano;
}

/** Where neither the client nor the catalogue states an output limit and the setting says "the model's maximum". */
const UNKNOWN_OUTPUT_TOKENS = 4_096;

/** The most output one choice may have: the client's limit, else the model's, cut to HOLD_OUTPUT_TOKENS (0: not cut). */
export function outputLimit(model: string, maxOutput: number | null, holdOutputTokens: number): number {
  if (maxOutput !== null) return maxOutput;
  const known = modelNamed(model)?.max_output_tokens ?? 0;
  const most = known > 0 ? known : holdOutputTokens || UNKNOWN_OUTPUT_TOKENS;
  return holdOutputTokens > 0 ? Math.min(most, holdOutputTokens) : most;
}

export function worstCase(
  priced: Priced,
  model: string,
  size: Size,
  multipliers: Multipliers,
  holdOutputTokens: number,
): Worst {
  const outputTokens = size.n * outputLimit(model, size.maxOutput, holdOutputTokens);
  const terms = { ...multipliers, tier: size.serviceTier };
  const prompt = size.promptTokens;
  return {
    promptTokens: prompt,
    outputTokens,
    cost: dearest(priced, { prompt, completion: outputTokens, never: size.never }, terms),
    promptCost: dearest(priced, { prompt, completion: 0, never: size.never }, terms),
  };
}
