// The usage of a request in one normal form: the counts are disjoint, so that a charge is a sum of products
// and nothing is paid twice. Each dialect converts its provider's figures to this form; all later code is
// independent of the provider.

/** Disjoint counts of what a request used. */
export interface Usage {
  /** Prompt text tokens that were neither read from nor written to a cache. */
  readonly inText: number;
  readonly inCached: number;
  /** Tokens of cache writes that live 5 minutes, or whose lifetime the provider does not state. */
  readonly inCacheWrite: number;
  /** Tokens of cache writes that live 1 hour. */
  readonly inCacheWrite1h: number;
  readonly inAudio: number;
  readonly inImage: number;
  /** Completion text tokens without reasoning and audio. */
  readonly outText: number;
  readonly outReason: number;
  readonly outAudio: number;
  readonly outImage: number;
  /** Billable calls: images delivered, search units, calls of per-call models. */
  readonly calls: number;
  readonly seconds: number;
  readonly chars: number;
  readonly webSearches: number;
}

/** A usage that is being counted. */
export type UsageCounts = { -readonly [C in keyof Usage]: Usage[C] };

/** Returns new counts, all of them 0. */
export const zeroUsage = (): UsageCounts => ({
  inText: 0,
  inCached: 0,
  inCacheWrite: 0,
  inCacheWrite1h: 0,
  inAudio: 0,
  inImage: 0,
  outText: 0,
  outReason: 0,
  outAudio: 0,
  outImage: 0,
  calls: 0,
  seconds: 0,
  chars: 0,
  webSearches: 0,
});

/** A usage whose counts are all 0. */
export const NO_USAGE: Usage = Object.freeze(zeroUsage());

/** Returns all prompt tokens, cached ones included, which rate windows and bills count as input. */
export const promptTokens = (u: Usage): number =>
  u.inText + u.inCached + u.inCacheWrite + u.inCacheWrite1h + u.inAudio + u.inImage;

/** Returns all completion tokens, reasoning included. */
export const completionTokens = (u: Usage): number => u.outText + u.outReason + u.outAudio + u.outImage;

/**
 * Source of a charge's figures: reported by the provider, counted here after the answer was cut off, or
 * estimated here because the provider reported none.
 */
export type Basis = "provider" | "partial" | "estimate";
