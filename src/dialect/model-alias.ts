// Translates between the client's and the provider's name of a model: requests carry the provider's name, and
// an answer that repeats it is returned with the client's name. Every other byte stays unchanged. Pure.

import type { ModelAlias, ModelNaming, ModelRequest } from "./dialect.ts";
import type { Json } from "./json.ts";
import type { FieldEdits } from "./payload/payload.ts";
import { jsonPayload } from "./payload/payload-json.ts";

/** Returns the body with the model named as the provider wants it. `set` are further edits of the dialect. */
export function withModelName(
  { payload }: Pick<ModelRequest, "payload">,
  { model, add, without = NO_FIELDS }: ModelNaming,
  set: FieldEdits = NO_EDITS,
): string | Uint8Array {
  const edits: Record<string, FieldEdits[string]> = { ...set, ...add, model };
  for (const field of without) edits[field] = null;
  return payload.edited(edits);
}

const NO_FIELDS: readonly string[] = [];
const NO_EDITS: FieldEdits = {};

/** Returns the alias of a model, or null when the provider receives no other name than the model's own. */
export const aliasOf = ({ model: upstreamModel }: ModelNaming, model: string): ModelAlias | null =>
  upstreamModel === null || upstreamModel === model ? null : { upstreamModel, model };

/** Whether a body or a chunk of an answer repeats the name that was sent to the provider. */
export const repeats = (answer: Json, alias: ModelAlias | null): alias is ModelAlias =>
  alias !== null && answer.model === alias.upstreamModel;

/** Returns a whole answer's text with the client's name of the model. `body` is the parsed text. */
export const underOwnName = (text: string, body: Json, alias: ModelAlias | null): string =>
  repeats(body, alias) ? (jsonPayload(text).edited({ model: alias.model }) as string) : text;
