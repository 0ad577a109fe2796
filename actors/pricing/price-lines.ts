// Which count of a usage is multiplied by which field of a price, for each price group. Facts only: nothing here
// multiplies.

import type { Group, PriceField } from "./price.ts";
import type { Usage } from "./usage.ts";

/** The side of a request to which a count belongs. */
type Side = "prompt" | "completion" | "rest";

/** One product of a charge: a count times a price. */
export interface Line {
  readonly count: keyof Usage;
  readonly field: PriceField;
  readonly side: Side;
  /**
   * Thirds of a nano-dollar per counted unit and price of 1. Prices per minute have no finite decimal
   * otherwise.
   */
  readonly thirds: bigint;
  readonly countMin: number;
}

const PER_MILLION = 3_000n;
const PER_CALL = 3_000_000_000n;
// 1 minute = 1000 equivalent tokens, counted in whole milliseconds: price × 1000 / 1e6 / 60000 USD each.
const PER_MILLISECOND = 50n;

const TOKENS: readonly (readonly [keyof Usage, PriceField, Side])[] = [
  ["inText", "InputText", "prompt"],
  ["inCached", "CachedText", "prompt"],
  ["inCacheWrite", "CacheWrite", "prompt"],
  ["inCacheWrite1h", "CacheWrite1h", "prompt"],
  ["inAudio", "InputAudio", "prompt"],
  ["inImage", "InputImage", "prompt"],
  ["outText", "OutputText", "completion"],
  ["outReason", "ReasonText", "completion"],
  ["outAudio", "OutputAudio", "completion"],
  ["outImage", "OutputImage", "completion"],
];

/** Returns the lines of all token kinds; `fields` is given by groups that have one price per side. */
const tokens = (fields: Partial<Record<Side, PriceField>> = {}): readonly Line[] =>
  TOKENS.map(([count, own, side]) => {
    return { count, field: fields[side] ?? own, side, thirds: PER_MILLION, countMin: 0 };
  });

const each = (count: keyof Usage, field: PriceField, thirds: bigint, countMin = 0): Line => {
  return { count, field, side: "rest", thirds, countMin };
};

// A request with a price per call counts as at least one call, even if the provider reports no number.
const eachCall = each("calls", "Call", PER_CALL, 1);

/** For each group, which count is multiplied by which price field. */
export const LINES_OF: Readonly<Record<Group, readonly Line[]>> = {
  ChatPricing: [...tokens(), each("webSearches", "WebSearchCall", PER_CALL)],
  FineTuningPricing: tokens({ prompt: "InputText", completion: "OutputText" }),
  ImgPricing: [each("calls", "Call", PER_CALL)],
  AudioPricing: [
    ...tokens({ prompt: "Input", completion: "Output" }),
    each("chars", "Input", PER_MILLION),
    each("seconds", "Input", PER_MILLISECOND),
    eachCall,
  ],
  RerankPricing: [...tokens({ prompt: "Input" }).filter(({ side }) => side === "prompt"), eachCall],
  CallPricing: [eachCall],
};
