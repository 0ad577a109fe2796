// The payload of a JSON body as text: it is parsed once and passed on with some top-level fields changed and
// every other character unchanged. It is serialized again only if it names a field twice.

import { isObject } from "../json.ts";
import { type JsonFields, patchesOf, rewritten, topLevelFields } from "./json-fields.ts";
import { withoutPlaces } from "./json-removal.ts";
import type { FieldEdits, Payload } from "./payload.ts";
import { mayMention } from "./text-search.ts";

/** Creates the payload of a text. Throws what `parse` throws, which must bound the depth. */
export const jsonPayload = (text: string, parse: (text: string) => unknown = JSON.parse): Payload =>
  new JsonPayload(text, parse);

const NO_FILES: Payload["files"] = [];

class JsonPayload implements Payload {
  readonly value: unknown;
  readonly files = NO_FILES;
  readonly contentType = "application/json";
  /** Where the fields are; null when a name occurs twice, undefined before they are looked for. */
  private fields: JsonFields | null | undefined = undefined;

  constructor(
    private readonly text: string,
    private readonly parse: (text: string) => unknown,
  ) {
    this.value = parse(text);
  }

  lengthOf(text: string): number {
    return Buffer.byteLength(text);
  }

  mentions(words: string): boolean {
    return mayMention(words, (spelt) => this.text.includes(spelt));
  }

  edited(edits: FieldEdits): string {
    const { text, value } = this;
    if (!isObject(value)) return text;
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

  without(places: Parameters<Payload["without"]>[0]): Payload {
    return new JsonPayload(withoutPlaces(this.text, places), this.parse);
  }

  whole(): unknown {
    return this.value;
  }

  hash(prefix: string): string {
    return new Bun.CryptoHasher("sha256").update(prefix).update(this.text).digest("hex");
  }
}
