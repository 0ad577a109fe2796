// The stand-in's own count, priced by hand: one multiplication for each kind of token, in whole nano-dollars. It is what
// charges are held against, so it must not use the code that makes them.

import type { Usage } from "../provider/answer.ts";
import type { Apart } from "./rows.ts";

/** USD per million tokens, each kind at a price of its own so that no two mistakes cancel out. */
export const PRICES = { InputText: 1, OutputText: 2, CachedText: 0.5, CacheWrite: 1.25, ReasonText: 4 };

/** Nano-dollars a token: USD per million tokens is 1000 of them. */
const nanoOf = (usdPerMillion: number): number => usdPerMillion * 1_000;

/** Returns what the count costs where the kinds of `reported` were reported separately, and all else is plain input and output, in nano-dollars. */
export function priced(
  usage: Usage,
  reported: readonly Apart[],
  beside: { readonly prompt: number; readonly completion: number } = { prompt: 0, completion: 0 },
): number {
  const cached = reported.includes("cached") ? usage.cached : 0;
  const written = reported.includes("written") ? usage.cacheWrite : 0;
  const reasoning = reported.includes("reasoning") ? usage.reasoning : 0;
  return (
    beside.prompt * nanoOf(PRICES.InputText) +
    beside.completion * nanoOf(PRICES.OutputText) +
    (usage.prompt - cached - written) * nanoOf(PRICES.InputText) +
    cached * nanoOf(PRICES.CachedText) +
    written * nanoOf(PRICES.CacheWrite) +
    (usage.completion - reasoning) * nanoOf(PRICES.OutputText) +
    reasoning * nanoOf(PRICES.ReasonText)
  );
}
