// The payload of a JSON body as text: it is parsed once and passed on with some top-level fields changed and
// every other character unchanged. It is serialized again only if it names a field twice.

import { isObject, type Json } from "../json.ts";
import { hasEachFieldOnce, type JsonFields, patchesOf, rewritten, topLevelFields } from "./json-fields.ts";
import { withInsertions } from "./json-insertion.ts";
import { withoutPlaces } from "./json-removal.ts";
import type { FieldEdits, FieldInsertion, FormFile, JsonPath, Payload } from "./payload.ts";
import { mayMention } from "./text-search.ts";

/** Creates the payload of a text. Throws what `parse` throws, which must bound the depth. */
export const jsonPayload = (text: string, parse: (text: string) => unknown = JSON.parse): Payload =>
  new JsonTextPayload(text, parse(text), parse);

const NO_FILES: readonly FormFile[] = [];

class JsonTextPayload implements Payload {
  readonly files = NO_FILES;
  readonly contentType = "application/json";
  /** Undefined until an edit needs them. */
  private fields: JsonFields | null | undefined = undefined;

  constructor(
    private readonly text: string,
    readonly value: unknown,
    private readonly parse: (text: string) => unknown,
  ) {}

  lengthOf(string: string): number {
    return Buffer.byteLength(string);
  }

  mentions(words: string): boolean {
    return mayMention(words, (spelt) => this.text.includes(spelt));
  }

  edited(edits: FieldEdits): string {
    const { text, value } = this;
    if (!isObject(value)) return text;
    if (!changes(value, edits) && hasEachFieldOnce(text, value)) return text;
    if (this.fields === undefined) this.fields = topLevelFields(text);
    if (this.fields === null) return rewritten(value, edits);
    let sent = "";
    let at = 0;
    for (const { from, to, into } of patchesOf(this.fields, edits)) {
      sent += text.slice(at, from) + into;
      at = to;
    }
    return sent + text.slice(at);
  }

  without(places: readonly JsonPath[]): Payload {
    return jsonPayload(withoutPlaces(this.text, places), this.parse);
  }

  withFields(insertions: readonly FieldInsertion[]): Payload {
    return jsonPayload(withInsertions(this.text, insertions), this.parse);
  }

  whole(): unknown {
    return this.value;
  }

  hash(prefix: string): string {
    return new Bun.CryptoHasher("sha256").update(prefix).update(this.text).digest("hex");
  }
}

/** Whether an edit sets another value than is there or removes one. An object counts as another value. */
function changes(value: Json, edits: FieldEdits): boolean {
  for (const name in edits) {
    const edit = edits[name];
    if (edit === undefined) continue;
    const isThere = Object.hasOwn(value, name);
    if (edit === null ? isThere : !isThere || value[name] !== edit) return true;
  }
  return false;
}
