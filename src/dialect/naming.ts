// The two names of a model: a client's body goes out with the provider's, an answer that repeats that comes back with the
// client's. Pure.

import type { Alias, Json, Naming } from "./dialect.ts";

/**
 * The body with the model named as the provider wants it, and otherwise as it came. It is always written anew, so that a
 * field named twice cannot mean one thing to us and another to the provider.
 */
export function named(body: Json, { model, add, without = [] }: Naming): string {
  const sent: Json = { ...body, ...add };
  if (model === null) delete sent.model;
  else sent.model = model;
  for (const field of without) delete sent[field];
  return JSON.stringify(sent);
}

/** null: the provider is told no name but the model's own. */
export const aliasOf = ({ model: told }: Naming, model: string): Alias | null =>
  told === null || told === model ? null : { told, model };

/** Whether a body or a chunk of an answer repeats the name that the provider was told. */
export const repeats = (answer: Json, alias: Alias | null): alias is Alias =>
  alias !== null && answer.model === alias.told;
