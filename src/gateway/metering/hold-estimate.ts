// How much a request may cost at worst, before it is made: the hold that admission reserves. Pure.
// Holds estimate by bytes; the tokenizer is for usage that never came.

import { findModel } from "../../../actors/catalog/catalog.ts";
import { most, type Nano, plus } from "../../../actors/money.ts";
import { cost, highestCost, type WorstCase } from "../../../actors/pricing/cost.ts";
import { toolParts } from "../../../actors/pricing/tool-prices.ts";
import { NO_USAGE, type Usage } from "../../../actors/pricing/usage.ts";
import type { NonTokenUsage } from "../../dialect/dialect.ts";
import type { Demands } from "../../dialect/request-demands.ts";
import type { Multipliers, RouteCandidate } from "../routing/route.ts";
import {
  HEARD_TOKENS_PER_SECOND_MAX,
  imageTokens,
  isOfTokens,
  type MeterKind,
  type Unit,
  unitOf,
} from "./meter-kinds.ts";

/** What the request itself says about its size. */
export interface RequestSize {
  readonly promptTokens: number;
  /** The client's output limit; null: none given. */
  readonly maxOutput: number | null;
  /** Choices asked for: each may use the whole output. */
  readonly n: number;
  /** Texts that stand each for itself, so that each may fill the model's window. */
  readonly inputs: number;
  readonly serviceTier: string | null;
  /** Kinds of token that this request cannot have. */
  readonly never: readonly (keyof Usage)[];
  /** What it can come to beside tokens. */
  readonly measured: NonTokenUsage;
  /** What it demands beyond its model; left out: nothing. */
  readonly demands?: Demands;
}

export interface HoldEstimate {
  readonly promptTokens: number;
  readonly outputTokens: number;
  readonly cost: Nano;
  /** Of what is certain to be charged if it is answered at all. */
  readonly promptCost: Nano;
}

/** The prices that a request may be charged at. */
type Prices = Pick<RouteCandidate, "model" | "priced" | "pricedByTokens" | "prices">;

/** Where neither the client nor the catalogue states an output limit and the setting says "the model's maximum". */
const UNKNOWN_OUTPUT_TOKENS = 4_096;

/** The most output one choice may have: the client's limit, else the model's, cut to HOLD_OUTPUT_TOKENS (0: not cut). */
export function outputLimit(model: string, maxOutput: number | null, holdOutputTokens: number): number {
  if (maxOutput !== null) return maxOutput;
  const known = findModel(model)?.max_output_tokens ?? 0;
  const most = known > 0 ? known : holdOutputTokens || UNKNOWN_OUTPUT_TOKENS;
  return holdOutputTokens > 0 ? Math.min(most, holdOutputTokens) : most;
}

/** Where usage may be told in tokens or not, the dearer of both. */
export function worstCase(
  meter: MeterKind,
  { model, priced, pricedByTokens, prices }: Prices,
  size: RequestSize,
  multipliers: Multipliers,
  holdOutputTokens: number,
): HoldEstimate {
  const one = (price: Prices["priced"]): HoldEstimate => {
    const unit = unitOf(meter, price, model);
    const counts = MOST[unit](size, meter, model, holdOutputTokens);
    const terms = { ...multipliers, tier: size.serviceTier, image: size.measured.image };
    const { never } = size;
    const { prompt = 0, completion = 0, webSearches = 0 } = counts;
    const tools = toolParts(price, prices, webSearches, size.demands?.tools ?? {});
    const toolCosts = tools.map(({ usage, priced: [of] }) => cost(of!, usage, multipliers).amount);
    return {
      promptTokens: prompt,
      outputTokens: completion,
      cost: toolCosts.reduce(plus, highestCost(price, { ...counts, never }, terms)),
      promptCost:
        unit === "token"
          ? highestCost(price, { prompt: size.promptTokens, never }, terms)
          : cost(price, certain(unit, size), terms).amount,
    };
  };
  const worst = one(priced);
  if (pricedByTokens === null) return worst;
  const told = one(pricedByTokens);
  return {
    promptTokens: Math.max(worst.promptTokens, told.promptTokens),
    outputTokens: Math.max(worst.outputTokens, told.outputTokens),
    cost: most(worst.cost, told.cost),
    promptCost: worst.promptCost,
  };
}

/** The most that there can be to count, by what is counted. */
const MOST: Readonly<
  Record<Unit, (size: RequestSize, meter: MeterKind, model: string, holdOutputTokens: number) => WorstCase>
> = {
  token(size, { missing }, model, holdOutputTokens) {
    const { promptTokens: prompt, measured } = size;
    const { calls = 1, image, seconds = 0 } = measured;
    const turns = 1 + (size.demands?.compactions ?? 0);
    const webSearches = Math.max(measured.webSearches ?? 0, size.demands?.searches ?? 0);
    if (missing === "images") return { prompt, completion: calls * imageTokens(image, true) };
    const heard = missing === "sound" ? Math.ceil(seconds * HEARD_TOKENS_PER_SECOND_MAX) : 0;
    return {
      prompt: turns * (prompt + heard),
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
    return isOfTokens(meter) ? { ...MOST.token(size, meter, model, holdOutputTokens), calls } : { calls };
  },
};

/** What the request is certain to use if it is answered at all; a guess is no certainty. */
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
