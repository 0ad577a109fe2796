// The worst-case cost of a request before it is sent: the hold that admission reserves. Pure functions. Holds
// estimate tokens from bytes; the tokenizer is used only for usage that the provider did not report.

import { findModel } from "../../../actors/catalog/catalog.ts";
import { most, type Nano, plus } from "../../../actors/money.ts";
import { cost } from "../../../actors/pricing/cost.ts";
import { highestCost, type WorstCase } from "../../../actors/pricing/highest-cost.ts";
import type { Priced } from "../../../actors/pricing/price.ts";
import type { PriceTable } from "../../../actors/pricing/price-table.ts";
import { NO_TOOL_USES, toolParts } from "../../../actors/pricing/tool-prices.ts";
import { NO_USAGE, type Usage } from "../../../actors/pricing/usage.ts";
import {
  HEARD_TOKENS_PER_SECOND_MAX,
  imageTokens,
  isOfTokens,
  type MeterKind,
  type Unit,
  unitOf,
} from "./meter-kinds.ts";
import type { RequestSize } from "./request-size.ts";

/** The worst case of a request: tokens, and cost in nano-dollars. */
export interface HoldEstimate {
  readonly promptTokens: number;
  readonly outputTokens: number;
  readonly cost: Nano;
  /** The cost of what is certainly charged if the request is answered. */
  readonly promptCost: Nano;
}

/** The factors that multiply a price for an account. */
export interface Multipliers {
  /** The highest `Rates` of the account and its ancestors. */
  readonly rates: number;
  readonly factor: number;
}

/** A model and the prices at which a request for it may be charged. */
export interface CandidatePrices {
  readonly model: string;
  readonly priced: Priced;
  /** The price that applies if the provider reports tokens; null when it is `priced`. */
  readonly pricedByTokens: Priced | null;
  /** All prices of the Owner, for what an answer contains besides tokens of the model. */
  readonly prices: PriceTable;
}

/**
 * Output tokens when neither the client nor the catalog states a limit and HOLD_OUTPUT_TOKENS is 0 (the
 * model's maximum).
 */
const UNKNOWN_OUTPUT_TOKENS = 4_096;

/**
 * Returns the largest output of one choice in tokens: the client's limit, otherwise the model's, capped by
 * HOLD_OUTPUT_TOKENS (0 means no cap).
 */
export function outputLimit(model: string, maxOutput: number | null, holdOutputTokens: number): number {
  if (maxOutput !== null) return maxOutput;
  const known = findModel(model)?.max_output_tokens ?? 0;
  const most = known > 0 ? known : holdOutputTokens || UNKNOWN_OUTPUT_TOKENS;
  return holdOutputTokens > 0 ? Math.min(most, holdOutputTokens) : most;
}

/**
 * Returns the worst case of a request at a candidate. If the provider may report tokens or other units, it is
 * the higher of both.
 */
export function worstCase(
  meter: MeterKind,
  candidate: CandidatePrices,
  size: RequestSize,
  multipliers: Multipliers,
  holdOutputTokens: number,
): HoldEstimate {
  const { priced, pricedByTokens } = candidate;
  const worst = worstCaseAt(priced, meter, candidate, size, multipliers, holdOutputTokens);
  if (pricedByTokens === null) return worst;
  const byTokens = worstCaseAt(pricedByTokens, meter, candidate, size, multipliers, holdOutputTokens);
  return {
    promptTokens: Math.max(worst.promptTokens, byTokens.promptTokens),
    outputTokens: Math.max(worst.outputTokens, byTokens.outputTokens),
    cost: most(worst.cost, byTokens.cost),
    promptCost: worst.promptCost,
  };
}

/** Returns the worst case at one of the prices of a candidate. */
function worstCaseAt(
  price: Priced,
  meter: MeterKind,
  { model, prices }: CandidatePrices,
  size: RequestSize,
  { rates, factor }: Multipliers,
  holdOutputTokens: number,
): HoldEstimate {
  const unit = unitOf(meter, price, model);
  const counts = LARGEST_USAGE[unit](size, meter, model, holdOutputTokens);
  const terms = { rates, factor, tier: size.serviceTier, image: size.measured.image };
  const { never, promptTokens } = size;
  const { prompt = 0, completion = 0, webSearches = 0 } = counts;
  let highest = highestCost(price, counts, never, terms);
  for (const { usage, priced } of toolParts(
    price,
    prices,
    webSearches,
    size.demands?.tools ?? NO_TOOL_USES,
  )) {
    highest = plus(highest, cost(priced[0]!, usage, { rates, factor }).amount);
  }
  const promptCost =
    unit === "token"
      ? highestCost(price, { prompt: promptTokens }, never, terms)
      : cost(price, certain(unit, size), terms).amount;
  return { promptTokens: prompt, outputTokens: completion, cost: highest, promptCost };
}

/** The largest countable usage, by the unit of the price. */
const LARGEST_USAGE: Readonly<
  Record<Unit, (size: RequestSize, meter: MeterKind, model: string, holdOutputTokens: number) => WorstCase>
> = {
  token(size, { missing }, model, holdOutputTokens) {
    const { promptTokens: prompt, measured } = size;
    const { calls = 1, image, seconds = 0 } = measured;
    const turns = 1 + (size.demands?.compactions ?? 0);
    const webSearches = Math.max(measured.webSearches ?? 0, size.demands?.searches ?? 0);
    if (missing === "images") return { prompt, completion: calls * imageTokens(image, true) };
    const audioTokens = missing === "sound" ? Math.ceil(seconds * HEARD_TOKENS_PER_SECOND_MAX) : 0;
    return {
      prompt: turns * (prompt + audioTokens),
      completion: turns * size.n * outputLimit(model, size.maxOutput, holdOutputTokens),
      webSearches,
    };
  },
  character: ({ measured }) => ({ chars: measured.chars ?? 0 }),
  second: ({ measured }) => ({ seconds: measured.seconds ?? 0 }),
  image: ({ measured }) => ({ calls: measured.calls ?? 1 }),
  search: ({ measured, promptTokens }) => ({ calls: measured.calls ?? 1, prompt: promptTokens }),
  call(size, meter, model, holdOutputTokens) {
    const calls = size.measured.calls ?? 1;
    return isOfTokens(meter)
      ? { ...LARGEST_USAGE.token(size, meter, model, holdOutputTokens), calls }
      : { calls };
  },
};

/**
 * Returns the usage that is certain if the request is answered. Estimated seconds are not certain and count
 * as 0.
 */
export function certain(unit: Unit, { promptTokens, measured }: RequestSize): Usage {
  const { calls = 1, chars = 0, seconds = 0, estimated } = measured;
  switch (unit) {
    case "token":
      return { ...NO_USAGE, inText: promptTokens };
    case "character":
      return { ...NO_USAGE, chars };
    case "second":
      return { ...NO_USAGE, seconds: estimated ? 0 : seconds };
    case "search":
      return { ...NO_USAGE, inText: promptTokens, calls };
    case "image":
    case "call":
      return { ...NO_USAGE, calls };
  }
}
