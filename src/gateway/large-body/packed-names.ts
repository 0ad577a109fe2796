// Changed tool names as bytes, so that a request with a hundred thousand tools hands them to another thread
// at once, and a name is searched only when an answer calls it. It changes no name.

import type { Renamed } from "../../dialect/translate/translation.ts";

/** No line of JSON contains it. */
const LINE_END = "\n";

/** The client's names by the names that were sent, as lines of both in JSON. */
export class PackedNames implements Renamed {
  constructor(readonly bytes: Uint8Array) {}

  get(sent: string): string | undefined {
    const { buffer, byteOffset, byteLength } = this.bytes;
    const bytes = Buffer.from(buffer, byteOffset, byteLength);
    const line = `${LINE_END}${JSON.stringify(sent)}`;
    const at = bytes.indexOf(line);
    if (at === -1) return undefined;
    const from = at + Buffer.byteLength(line);
    return JSON.parse(bytes.toString("utf8", from, bytes.indexOf(LINE_END, from))) as string;
  }
}

/** Returns the bytes of names, which `PackedNames` reads. */
export function packedNames(names: Renamed): Uint8Array {
  if (names instanceof PackedNames) return names.bytes;
  if (!(names instanceof Map)) throw new Error("names are a map or packed");
  const lines = [...names].map(([sent, own]) => `${JSON.stringify(sent)}${JSON.stringify(own)}`);
  return new TextEncoder().encode([LINE_END, ...lines.map((line) => `${line}${LINE_END}`)].join(""));
}
