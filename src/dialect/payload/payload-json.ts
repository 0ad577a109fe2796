// The payload of a JSON body as text: it is parsed once and passed on with some top-level fields changed and
// every other character unchanged. It is serialized again only if it names a field twice.

import { isObject } from "../json.ts";
import { type JsonFields, patchesOf, rewritten, topLevelFields } from "./json-fields.ts";
import { withoutPlaces } from "./json-removal.ts";
import type { FieldEdits, Payload } from "./payload.ts";
import { mayMention } from "./text-search.ts";

/** Creates the payload of a text. Throws what `parse` throws, which must bound the depth. */
export function jsonPayload(text: string, parse: (text: string) => unknown = JSON.parse): Payload {
  const value = parse(text);
  let fields: JsonFields | null | undefined;

  function edited(edits: FieldEdits): string {
    if (!isObject(value)) return text;
    if (fields === undefined) fields = topLevelFields(text);
    if (fields === null) return rewritten(value, edits);
    let sent = "";
    let at = 0;
    for (const { from, to, into } of patchesOf(fields, edits)) {
      sent += text.slice(at, from) + into;
      at = to;
    }
    return sent + text.slice(at);
  }

  return {
    value,
    files: [],
    lengthOf: (string) => Buffer.byteLength(string),
    mentions: (words) => mayMention(words, (spelt) => text.includes(spelt)),
    contentType: "application/json",
    edited,
    without: (places) => jsonPayload(withoutPlaces(text, places), parse),
    whole: () => value,
    hash: (prefix) => new Bun.CryptoHasher("sha256").update(prefix).update(text).digest("hex"),
  };
}
