// The two names of a model: a client's body goes out with the provider's, and every other byte as it came; an answer that
// repeats that name comes back with the client's. Pure.

import type { ModelAlias, ModelNaming, ModelRequest } from "./dialect.ts";
import type { Json } from "./json.ts";
import type { FieldEdits } from "./payload/payload.ts";
import { jsonPayload } from "./payload/payload-json.ts";

/** What changes in a body. A field that must be absent is left out, whoever named it. */
const namedEdits = ({ model, add, without = [] }: ModelNaming): FieldEdits => {
  return { ...add, model, ...Object.fromEntries(without.map((field) => [field, null])) };
};

/** The body with the model named as the provider wants it; `set` is what its dialect changes beside. */
export const withModelName = (
  { payload }: Pick<ModelRequest, "payload">,
  naming: ModelNaming,
  set: FieldEdits = {},
): string | Uint8Array => payload.edited({ ...set, ...namedEdits(naming) });

/** null: the provider is told no name but the model's own. */
export const aliasOf = ({ model: told }: ModelNaming, model: string): ModelAlias | null =>
  told === null || told === model ? null : { told, model };

/** Whether a body or a chunk of an answer repeats the name that the provider was told. */
export const repeats = (answer: Json, alias: ModelAlias | null): alias is ModelAlias =>
  alias !== null && answer.model === alias.told;

/** A whole answer's text under the client's name for the model, every other character as it came. `body`: as it was read. */
export const underOwnName = (text: string, body: Json, alias: ModelAlias | null): string =>
  repeats(body, alias) ? (jsonPayload(text).edited({ model: alias.model }) as string) : text;
