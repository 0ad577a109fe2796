// A client's body as it goes to a provider: the model under the provider's name for it. Pure.

import type { Json, Naming } from "./dialect.ts";

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
