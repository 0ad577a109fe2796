// How each kind of path is metered: in which groups the model's price is searched, what the price counts, and
// what is counted when the provider reports nothing. Facts only: `worstCase` applies them before a call,
// `meterUsage` after it. endpoints.ts says which path has which kind.

import { findModel } from "../../../actors/catalog/catalog.ts";
import type { Group, ImageKind, Priced } from "../../../actors/pricing/price.ts";
import { GROUPS_OF } from "../../../actors/pricing/price-table.ts";

/** What is counted when the provider reports no usage. */
export type UsageFallback =
  /** Tokens, counted in the texts of prompt and answer. */
  | "texts"
  /** Tokens, counted in the prompt's texts alone; nothing is generated. */
  | "prompt"
  /** The images of the answer, or their tokens. */
  | "images"
  /** The characters of the text to be spoken, or the tokens of the text and its audio. */
  | "speech"
  /** The seconds of the audio input, or their tokens. */
  | "sound"
  /** The searches of the request, and the tokens of the prompt's texts. */
  | "searches"
  /** The call itself. */
  | "calls";

/** How a kind of path is priced. */
export interface MeterKind {
  /**
   * The price groups that are searched for the model, the best match first, for the hold and for the charge.
   */
  readonly groups: readonly Group[];
  /** The same for a charge by tokens that the provider reported; omitted when there is no difference. */
  readonly groupsForTokens?: readonly Group[];
  readonly missing: UsageFallback;
  /** Such requests are never charged, but count as requests. */
  readonly free?: true;
}

/** The meter kinds. */
export const METERS = {
  tokens: { groups: GROUPS_OF.tokens, missing: "texts" },
  free: { groups: GROUPS_OF.tokens, missing: "prompt", free: true },
  embeddings: { groups: GROUPS_OF.tokens, missing: "prompt" },
  images: { groups: GROUPS_OF.images, groupsForTokens: GROUPS_OF.imageTokens, missing: "images" },
  speech: { groups: GROUPS_OF.audio, missing: "speech" },
  sound: { groups: GROUPS_OF.audio, missing: "sound" },
  rerank: { groups: GROUPS_OF.rerank, missing: "searches" },
  calls: { groups: GROUPS_OF.calls, missing: "calls" },
} as const satisfies Record<string, MeterKind>;

/**
 * Returns whether input and output of the path are tokens, whatever its price counts: limits and bills count
 * them.
 */
export const isOfTokens = ({ missing }: MeterKind): boolean => missing === "texts" || missing === "prompt";

/** What a price counts. `search` means searches and tokens, each as far as it has a price. */
export type Unit = "token" | "character" | "second" | "image" | "search" | "call";

const UNITS: Readonly<Record<Exclude<Group, "AudioPricing">, Unit>> = {
  ChatPricing: "token",
  FineTuningPricing: "token",
  ImgPricing: "image",
  RerankPricing: "search",
  CallPricing: "call",
};

/** Returns what a model's price counts on a path of this kind. */
export function unitOf({ missing }: MeterKind, { group, name, price }: Priced, model: string): Unit {
  if (group !== "AudioPricing") return UNITS[group];
  const entry = findModel(name) ?? findModel(model);
  if (entry?.billing_unit === "character" || entry?.billing_unit === "second") return entry.billing_unit;
  // The catalog does not know the model. Only a price by tokens has separate input and output prices.
  if (entry !== null || price.Output !== undefined) return "token";
  return missing === "speech" ? "character" : "second";
}

/** Tokens of an image of 1024 by 1024 pixels by quality, as the makers that charge by tokens count them. */
const SQUARE_TOKENS: Readonly<Record<string, number>> = { low: 272, medium: 1_056, high: 4_160 };
const SQUARE_PIXELS = 1024 * 1024;
/**
 * Pixels when the provider chooses the size: the worst case is an oblong image of the highest quality,
 * otherwise a square one of medium quality.
 */
const LARGE_PIXELS = 1536 * 1024;
/**
 * No provider makes larger images. The cap keeps a client's arbitrary size from producing an arbitrary
 * figure.
 */
const PIXELS_MAX = 4096 * 4096;

/** Returns the tokens of one image. `atWorst` takes the most expensive image that the request leaves open. */
export function imageTokens({ quality, size }: ImageKind = {}, atWorst = false): number {
  const named = quality !== undefined && Object.hasOwn(SQUARE_TOKENS, quality) ? quality : null;
  const square = SQUARE_TOKENS[named ?? (atWorst ? "high" : "medium")]!;
  const [, width, height] = /^(\d{1,5})x(\d{1,5})$/.exec(size ?? "") ?? [];
  const pixels = Number(width) * Number(height) || (atWorst ? LARGE_PIXELS : SQUARE_PIXELS);
  return Math.ceil((square * Math.min(pixels, PIXELS_MAX)) / SQUARE_PIXELS);
}

/** Tokens per second of audio input: the estimate. */
export const HEARD_TOKENS_PER_SECOND = 10;
/** Tokens per second of audio input: the worst case. */
export const HEARD_TOKENS_PER_SECOND_MAX = 32;
/** Tokens per minute of generated audio. */
export const SPOKEN_TOKENS_PER_MINUTE = 1_250;
