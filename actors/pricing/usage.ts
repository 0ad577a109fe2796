// What a request used, in one normal form: disjoint counts, so that a price is a sum of products and nothing is paid twice.
// Each dialect turns its provider's figures into this at the edge; from there on nobody knows whose figures they were.

export interface Usage {
  /** Prompt text tokens that were neither read from nor written to a cache, nor audio, nor image. */
  readonly inText: number;
  readonly inCached: number;
  /** Cache writes that live 5 minutes (or whose life the provider does not state), and 1 hour. */
  readonly inCacheWrite: number;
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

export const NO_USAGE: Usage = Object.freeze({
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

/** All prompt tokens, cached ones included: what windows and bills count as input. */
export const promptTokens = (u: Usage): number =>
  u.inText + u.inCached + u.inCacheWrite + u.inCacheWrite1h + u.inAudio + u.inImage;

/** All completion tokens, reasoning included. */
export const completionTokens = (u: Usage): number => u.outText + u.outReason + u.outAudio + u.outImage;

/** Where the figures of a charge come from: the provider, counted after a cut, or counted for want of any. */
export type Basis = "provider" | "partial" | "estimate";
