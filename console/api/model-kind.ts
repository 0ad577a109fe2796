// What a model is asked for, from how it is priced and from its name: the list of models does not say it.

import type { Answers } from "./answers.ts";

/** A row of the list of models. */
export type Model = Answers["/dashboard/models"]["models"][number];

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
export function kindOf(id: string, price: Model["price"] = null): ModelKind {
  const named = NAMES.find(([pattern]) => pattern.test(id))?.[1];
  if (named !== undefined) return named;
  if (price === null) return "chat";
  if (price.Sizes !== undefined) return "images";
  const has = (field: string) => price[field] !== undefined;
  if (has("InputText") || has("OutputText")) return "chat";
  return has("Input") || has("Output") ? "speech" : "other";
}
