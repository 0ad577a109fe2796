// The two names of a model: a client's body goes out with the provider's, and every other byte as it came; an answer that
// repeats that name comes back with the client's. Pure.

import type { Alias, Json, ModelRequest, Naming } from "./dialect.ts";
import type { Edits } from "./payload/payload.ts";
import { jsonPayload } from "./payload/payload-json.ts";

/** What changes in a body. A field that must be absent is left out, whoever named it. */
const namedEdits = ({ model, add, without = [] }: Naming): Edits => {
  return { ...add, model, ...Object.fromEntries(without.map((field) => [field, null])) };
};

/** The body with the model named as the provider wants it; `set` is what its dialect changes beside. */
export const named = (
  { payload }: Pick<ModelRequest, "payload">,
  naming: Naming,
  set: Edits = {},
): string | Uint8Array => payload.edited({ ...set, ...namedEdits(naming) });

/** null: the provider is told no name but the model's own. */
export const aliasOf = ({ model: told }: Naming, model: string): Alias | null =>
  told === null || told === model ? null : { told, model };

/** Whether a body or a chunk of an answer repeats the name that the provider was told. */
export const repeats = (answer: Json, alias: Alias | null): alias is Alias =>
  alias !== null && answer.model === alias.told;

/** A whole answer's text under the client's name for the model, every other character as it came. `body`: as it was read. */
export const underOwnName = (text: string, body: Json, alias: Alias | null): string =>
  repeats(body, alias) ? (jsonPayload(text).edited({ model: alias.model }) as string) : text;
