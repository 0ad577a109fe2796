// What a model is asked for, from how it is priced and from its name: the list of models does not say it.

import type { Answers } from "./answers.ts";

/** A row of the list of models. */
export type Model = Answers["/dashboard/models"]["models"][number];

/** A price: its fields by name, and those of images by size. The fields of a price group are no part of the schema's type. */
export type ModelPrice = Readonly<Record<string, unknown>> | null;

/** Returns a field of a price, in US dollars per its unit; null where it has none. */
export function priceIn(price: ModelPrice, field: string): number | null {
  const figure = price?.[field];
  return typeof figure === "number" ? figure : null;
}

/** Kinds of models, in the order of the page. */
export const MODEL_KINDS = [
  "chat",
  "embeddings",
  "images",
  "speech",
  "transcription",
  "rerank",
  "other",
] as const;

/** One of them. */
export type ModelKind = (typeof MODEL_KINDS)[number];

/** Names that say what a model is for, the first that matches. */
const NAMES: readonly (readonly [RegExp, ModelKind])[] = [
  [/embed/i, "embeddings"],
  [/whisper|transcri/i, "transcription"],
  [/tts|speech/i, "speech"],
  [/rerank/i, "rerank"],
  [/moderation/i, "other"],
  [/dall-e|gpt-image|imagen|flux|stable-diffusion|sdxl/i, "images"],
];

/** Returns what a model of this name and price is for; without a price, by its name alone. */
export function kindOf(id: string, price: ModelPrice = null): ModelKind {
  const named = NAMES.find(([pattern]) => pattern.test(id))?.[1];
  if (named !== undefined) return named;
  if (price === null) return "chat";
  if (price.Sizes !== undefined) return "images";
  const has = (field: string) => priceIn(price, field) !== null;
  if (has("InputText") || has("OutputText")) return "chat";
  return has("Input") || has("Output") ? "speech" : "other";
}

/** Names of small models, which answer soon and cost little. */
const SMALL = /(^|[^a-z])(mini|haiku|flash|lite|nano)([^a-z]|$)/i;

/** Returns the model to begin with: one to chat with, a small one where there is one; null where there is none at all. */
export function firstModel(models: readonly Model[]): Model | null {
  const chats = models.filter(({ id, price }) => price !== null && kindOf(id, price) === "chat");
  return chats.find(({ id }) => SMALL.test(id)) ?? chats[0] ?? models[0] ?? null;
}
