// How each kind of path is metered: where the model's price is looked up, what the price counts, and what is counted when
// the provider says nothing. One row a kind; gateway/endpoints.ts says which path is of which kind. Facts only: hold-estimate.ts reckons
// before the call, usage-meter.ts after it.

import { findModel } from "../../../actors/catalog/catalog.ts";
import type { Group, ImageKind, Priced } from "../../../actors/pricing/price.ts";
import { GROUPS_OF } from "../../../actors/pricing/price-table.ts";

/** What stands in where the provider gives no usage. */
export type UsageFallback =
  /** Tokens: the prompt's texts and those of the answer, counted. */
  | "texts"
  /** Tokens: the prompt's texts alone; nothing is generated. */
  | "prompt"
  /** The images that came, or what they take in tokens. */
  | "images"
  /** The characters that were to be spoken, or what is spoken of them in tokens. */
  | "speech"
  /** The seconds that were heard, or what they take in tokens. */
  | "sound"
  /** The searches that were asked for, and the prompt's texts. */
  | "searches"
  /** Nothing but the call itself. */
  | "calls";

export interface MeterKind {
  /** The groups in which the model's price is looked up, the most fitting first: for the hold, and for the charge. */
  readonly groups: readonly Group[];
  /** The same for the charge, where the provider reported tokens; absent: no difference. */
  readonly groupsForTokens?: readonly Group[];
  readonly missing: UsageFallback;
  /** Never charged, though it counts as a request. */
  readonly free?: true;
}

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

/** Whether what the path takes and gives is tokens, whatever its price counts: limits and bills know them by these. */
export const isOfTokens = ({ missing }: MeterKind): boolean => missing === "texts" || missing === "prompt";

/** What a price counts; `search`: searches and tokens both, as far as each has a price. */
export type Unit = "token" | "character" | "second" | "image" | "search" | "call";

const UNITS: Readonly<Record<Exclude<Group, "AudioPricing">, Unit>> = {
  ChatPricing: "token",
  FineTuningPricing: "token",
  ImgPricing: "image",
  RerankPricing: "search",
  CallPricing: "call",
};

/** What a model's price counts on a path of this kind. */
export function unitOf({ missing }: MeterKind, { group, name, price }: Priced, model: string): Unit {
  if (group !== "AudioPricing") return UNITS[group];
  const entry = findModel(name) ?? findModel(model);
  if (entry?.billing_unit === "character" || entry?.billing_unit === "second") return entry.billing_unit;
  // A model that nobody knows but its Owner: two prices can only be those of tokens.
  if (entry !== null || price.Output !== undefined) return "token";
  return missing === "speech" ? "character" : "second";
}

/** Tokens of a square image of 1024 pixels by its quality, as the makers who charge by tokens count them. */
const SQUARE_TOKENS: Readonly<Record<string, number>> = { low: 272, medium: 1_056, high: 4_160 };
const SQUARE_PIXELS = 1024 * 1024;
/** Where the provider decides: at worst the dearest quality in an oblong, else the middle one in a square. */
const LARGE_PIXELS = 1536 * 1024;
/** No provider makes larger ones; what a client writes in its place must not become a figure. */
const PIXELS_MAX = 4096 * 4096;

/** The tokens of one image; `atWorst`: of the dearest that the kind leaves open. */
export function imageTokens({ quality, size }: ImageKind = {}, atWorst = false): number {
  const named = quality !== undefined && Object.hasOwn(SQUARE_TOKENS, quality) ? quality : null;
  const square = SQUARE_TOKENS[named ?? (atWorst ? "high" : "medium")]!;
  const [, width, height] = /^(\d{1,5})x(\d{1,5})$/.exec(size ?? "") ?? [];
  const pixels = Number(width) * Number(height) || (atWorst ? LARGE_PIXELS : SQUARE_PIXELS);
  return Math.ceil((square * Math.min(pixels, PIXELS_MAX)) / SQUARE_PIXELS);
}

/** What a second of heard sound takes in tokens, as estimated and at the most. */
export const HEARD_TOKENS_PER_SECOND = 10;
export const HEARD_TOKENS_PER_SECOND_MAX = 32;
/** What a minute of spoken sound takes. */
export const SPOKEN_TOKENS_PER_MINUTE = 1_250;
