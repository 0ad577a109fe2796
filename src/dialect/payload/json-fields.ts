// Where the top-level fields of a JSON object stand in its text, and which stretches of the text change when some of them
// are set or taken out. One pass; strings are passed over by searching for their end, nested values by counting brackets.
// The text is known to be JSON: whoever calls has parsed it. Nothing here parses a value or copies one.

import type { FieldEdits } from "./payload.ts";

/** One field: where its name's quote stands, and its value. */
export interface JsonField {
  readonly name: string;
  readonly nameFrom: number;
  readonly from: number;
  readonly to: number;
}

export interface JsonFields {
  /** Just behind the opening brace. */
  readonly open: number;
  /** In the order of the text. */
  readonly fields: readonly JsonField[];
}

/** `into` stands where `from` to `to` stood. Patches of one text come in order and never overlap. */
export interface Patch {
  readonly from: number;
  readonly to: number;
  readonly into: string;
}

/** An object of more fields is no request; it is not searched to its end. */
export const FIELDS_MAX = 1_000;

const QUOTE = 34;
const COMMA = 44;
const BACKSLASH = 92;
const OPEN_BRACKET = 91;
const CLOSE_BRACKET = 93;
const OPEN_BRACE = 123;
const CLOSE_BRACE = 125;

/** The fields of an object; null when one is named twice, when there are too many, or when the text is no object. */
export function topLevelFields(text: string): JsonFields | null {
  const brace = skipSpace(text, 0);
  if (text.charCodeAt(brace) !== OPEN_BRACE) return null;
  const names = new Set<string>();
  const fields: JsonField[] = [];
  let at = skipSpace(text, brace + 1);
  while (text.charCodeAt(at) === QUOTE) {
    const nameFrom = at;
    const nameTo = stringEnd(text, at);
    const name = nameOf(text.slice(nameFrom, nameTo));
    const from = skipSpace(text, skipSpace(text, nameTo) + 1);
    const to = valueEnd(text, from);
    if (names.has(name) || fields.length === FIELDS_MAX) return null;
    names.add(name);
    fields.push({ name, nameFrom, from, to });
    at = skipSpace(text, to);
    if (text.charCodeAt(at) === COMMA) at = skipSpace(text, at + 1);
  }
  return { open: brace + 1, fields };
}

/** The name within its quotes, however it was spelt. */
const nameOf = (quoted: string): string => (quoted.includes("\\") ? JSON.parse(quoted) : quoted.slice(1, -1));

export function skipSpace(text: string, from: number): number {
  let at = from;
  for (;;) {
    const code = text.charCodeAt(at);
    if (code !== 32 && code !== 10 && code !== 13 && code !== 9) return at;
    at++;
  }
}

/** Behind the closing quote of the string that begins at `from`. */
export function stringEnd(text: string, from: number): number {
  for (let quote = text.indexOf('"', from + 1); quote !== -1; quote = text.indexOf('"', quote + 1)) {
    let before = quote - 1;
    while (text.charCodeAt(before) === BACKSLASH) before--;
    if ((quote - before) % 2 === 1) return quote + 1;
  }
  return text.length;
}

/** Behind the value that begins at `from`. */
export function valueEnd(text: string, from: number): number {
  const first = text.charCodeAt(from);
  if (first === QUOTE) return stringEnd(text, from);
  return first === OPEN_BRACE || first === OPEN_BRACKET ? nestedEnd(text, from) : literalEnd(text, from);
}

function nestedEnd(text: string, from: number): number {
  let depth = 0;
  for (let at = from; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = stringEnd(text, at) - 1;
    else if (code === OPEN_BRACE || code === OPEN_BRACKET) depth++;
    else if ((code === CLOSE_BRACE || code === CLOSE_BRACKET) && --depth === 0) return at + 1;
  }
  return text.length;
}

/** Of a number, `true`, `false` or `null`. */
function literalEnd(text: string, from: number): number {
  for (let at = from; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === COMMA || code === CLOSE_BRACE || code === CLOSE_BRACKET || code <= 32) return at;
  }
  return text.length;
}

/**
 * What changes. A field that is there keeps its place; a new one comes behind the last; one that is taken out goes with the
 * comma that it no longer needs. Everything else, white space included, stays.
 */
export function patchesOf({ open, fields }: JsonFields, edits: FieldEdits): Patch[] {
  const patches: Patch[] = [];
  const set = (name: string) => (Object.hasOwn(edits, name) ? edits[name] : undefined);
  /** Of the last field that stays, and the number of fields up to it: whatever follows goes as one stretch. */
  const kept = fields.findLastIndex(({ name }) => set(name) !== null) + 1;
  for (let i = 0; i < kept; i++) {
    const { name, nameFrom, from, to } = fields[i]!;
    const value = set(name);
    if (value === null) patches.push({ from: nameFrom, to: fields[i + 1]!.nameFrom, into: "" });
    else if (value !== undefined) patches.push({ from, to, into: JSON.stringify(value) });
  }
  const added = Object.keys(edits)
    .filter((name) => (edits[name] ?? null) !== null && !fields.some((field) => field.name === name))
    .map((name) => `${JSON.stringify(name)}:${JSON.stringify(edits[name])}`);
  const from = kept > 0 ? fields[kept - 1]!.to : (fields[0]?.nameFrom ?? open);
  const to = fields.at(-1)?.to ?? open;
  if (kept > 0 && added.length > 0) added.unshift("");
  if (to > from || added.length > 0) patches.push({ from, to, into: added.join(",") });
  return patches;
}

/** The object with the edits, written anew: for one whose text cannot be patched. */
export function rewritten(value: object, edits: FieldEdits): string {
  const merged: Record<string, unknown> = { ...value, ...edits };
  for (const name of Object.keys(edits)) if ((edits[name] ?? null) === null) delete merged[name];
  return JSON.stringify(merged);
}
