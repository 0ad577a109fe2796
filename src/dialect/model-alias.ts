// Translates between the client's and the provider's name of a model: requests carry the provider's name, and
// an answer that repeats it is returned with the client's name. Every other byte stays unchanged. Pure.

import type { ModelAlias, ModelNaming, ModelRequest } from "./dialect.ts";
import type { Json } from "./json.ts";
import type { FieldEdits } from "./payload/payload.ts";
import { jsonPayload } from "./payload/payload-json.ts";

/** Returns the edits of a body; fields in `without` are removed. */
const namedEdits = ({ model, add, without = [] }: ModelNaming): FieldEdits => {
  return { ...add, model, ...Object.fromEntries(without.map((field) => [field, null])) };
};

/** Returns the body with the model named as the provider wants it. `set` are further edits of the dialect. */
export const withModelName = (
  { payload }: Pick<ModelRequest, "payload">,
  naming: ModelNaming,
  set: FieldEdits = {},
): string | Uint8Array => payload.edited({ ...set, ...namedEdits(naming) });

/** Returns the alias of a model, or null when the provider receives no other name than the model's own. */
export const aliasOf = ({ model: upstreamModel }: ModelNaming, model: string): ModelAlias | null =>
  upstreamModel === null || upstreamModel === model ? null : { upstreamModel, model };

/** Whether a body or a chunk of an answer repeats the name that was sent to the provider. */
export const repeats = (answer: Json, alias: ModelAlias | null): alias is ModelAlias =>
  alias !== null && answer.model === alias.upstreamModel;

/** Returns a whole answer's text with the client's name of the model. `body` is the parsed text. */
export const underOwnName = (text: string, body: Json, alias: ModelAlias | null): string =>
  repeats(body, alias) ? (jsonPayload(text).edited({ model: alias.model }) as string) : text;
