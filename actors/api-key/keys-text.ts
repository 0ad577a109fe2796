// The keys of an account as one text in its snapshot. Most activations only serve the main key: they keep the text, and the
// snapshot of an account with two hundred keys is read nearly as fast as that of one without. It decides nothing.

import type { ApiKeyId } from "../ids.ts";
import type { DeletedApiKey } from "./api-key.ts";
import { type FrozenNamedKey, NamedKey } from "./named-key.ts";

/** The keys of an account one by one. */
export interface Keys {
  readonly live: Map<ApiKeyId, NamedKey>;
  deleted: readonly DeletedApiKey[];
  /** Hashes that are invalid, and whose claims are still to be released. */
  retired: readonly string[];
}

/**
 * Returns the keys as JSON in which quotation marks and apostrophes are exchanged: a snapshot is JSON too, and would have to
 * escape each quotation mark within its texts.
 */
export function asText({ live, deleted, retired }: Keys): string {
  return exchanged(JSON.stringify([[...live.values()].map((one) => one.freeze()), deleted, retired]));
}

/** Restores the keys from what `asText` returned. */
export function fromText(text: string): Keys {
  const [rows, deleted, retired] = JSON.parse(exchanged(text)) as [
    FrozenNamedKey[],
    DeletedApiKey[],
    string[],
  ];
  const live = new Map<ApiKeyId, NamedKey>();
  for (const row of rows) {
    const named = NamedKey.thaw(row);
    live.set(named.key.id, named);
  }
  return { live, deleted, retired };
}

/** JSON never contains the character that stands in between. */
const exchanged = (text: string): string =>
  text.replaceAll("'", "\u0001").replaceAll('"', "'").replaceAll("\u0001", '"');
