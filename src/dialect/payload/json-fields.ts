// Finds the top-level fields of a JSON object in its text, and computes the patches that set or remove some
// of them. It is one pass that skips strings by searching for their end and nested values by counting
// brackets. The text must be valid JSON, which the caller has parsed. Nothing here parses or copies a value.

import type { FieldEdits } from "./payload.ts";

/** A field: its name, the position of the name's opening quote, and the range of its value. */
export interface JsonField {
  readonly name: string;
  readonly nameFrom: number;
  readonly from: number;
  readonly to: number;
}

/** The top-level fields of an object. */
export interface JsonFields {
  /** The position after the opening brace. */
  readonly open: number;
  /** The fields in the order of the text. */
  readonly fields: readonly JsonField[];
}

/** Replaces the range from `from` to `to` by `into`. Patches of one text are in order and do not overlap. */
export interface Patch {
  readonly from: number;
  readonly to: number;
  readonly into: string;
}

/** The search of an object ends after this many fields; no request has more. */
export const FIELDS_MAX = 1_000;

const QUOTE = 34;
const COMMA = 44;
const BACKSLASH = 92;
const OPEN_BRACKET = 91;
const CLOSE_BRACKET = 93;
const OPEN_BRACE = 123;
const CLOSE_BRACE = 125;

/**
 * Returns the fields of an object. Returns null when a name is repeated, there are too many, or it is not an
 * object.
 */
export function topLevelFields(text: string): JsonFields | null {
  const brace = skipSpace(text, 0);
  if (text.charCodeAt(brace) !== OPEN_BRACE) return null;
  const fields: JsonField[] = [];
  let names: Set<string> | null = null;
  let at = skipSpace(text, brace + 1);
  while (text.charCodeAt(at) === QUOTE) {
    const nameFrom = at;
    const nameTo = stringEnd(text, at);
    const name = nameOf(text, nameFrom, nameTo);
    const from = skipSpace(text, skipSpace(text, nameTo) + 1);
    const to = valueEnd(text, from);
    if (fields.length === FIELDS_MAX) return null;
    if (names?.has(name) ?? hasField(fields, name)) return null;
    fields.push({ name, nameFrom, from, to });
    if (names !== null) names.add(name);
    else if (fields.length === FEW_FIELDS) names = new Set(fields.map((field) => field.name));
    at = skipSpace(text, to);
    if (text.charCodeAt(at) === COMMA) at = skipSpace(text, at + 1);
  }
  return { open: brace + 1, fields };
}

/**
 * Returns whether the text of an object has as many top-level fields as its parsed value: then no name is repeated. It copies
 * no name, so that a body that is sent on as it came costs one pass and no memory.
 */
export function hasEachFieldOnce(text: string, value: object): boolean {
  let left = Object.keys(value).length;
  if (left > FIELDS_MAX) return false;
  let at = skipSpace(text, skipSpace(text, 0) + 1);
  while (text.charCodeAt(at) === QUOTE) {
    left--;
    const from = skipSpace(text, skipSpace(text, stringEnd(text, at)) + 1);
    at = skipSpace(text, valueEnd(text, from));
    if (text.charCodeAt(at) === COMMA) at = skipSpace(text, at + 1);
  }
  return left === 0;
}

/** So many names are compared one by one; more are looked up in a set. */
const FEW_FIELDS = 16;

function hasField(fields: readonly JsonField[], name: string): boolean {
  for (const field of fields) if (field.name === name) return true;
  return false;
}

/** Returns the name between the quotes at its ends with escapes decoded. */
function nameOf(text: string, from: number, to: number): string {
  const name = text.slice(from + 1, to - 1);
  return name.includes("\\") ? JSON.parse(text.slice(from, to)) : name;
}

/** Returns the position of the first character from `from` on that is not white space. */
export function skipSpace(text: string, from: number): number {
  let at = from;
  for (;;) {
    const code = text.charCodeAt(at);
    if (code !== 32 && code !== 10 && code !== 13 && code !== 9) return at;
    at++;
  }
}

/** Returns the position after the closing quote of the string that begins at `from`. */
export function stringEnd(text: string, from: number): number {
  for (let quote = text.indexOf('"', from + 1); quote !== -1; quote = text.indexOf('"', quote + 1)) {
    let before = quote - 1;
    while (text.charCodeAt(before) === BACKSLASH) before--;
    if ((quote - before) % 2 === 1) return quote + 1;
  }
  return text.length;
}

/** Returns the position after the value that begins at `from`. */
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

/** Returns the position after a number, `true`, `false` or `null`. */
function literalEnd(text: string, from: number): number {
  for (let at = from; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === COMMA || code === CLOSE_BRACE || code === CLOSE_BRACKET || code <= 32) return at;
  }
  return text.length;
}

/**
 * Returns the patches of edits. An existing field keeps its place, a new one follows the last, and a removed
 * one takes its comma with it. Everything else stays, including white space.
 */
export function patchesOf({ open, fields }: JsonFields, edits: FieldEdits): Patch[] {
  const patches: Patch[] = [];
  /** The number of fields up to the last one that stays; those after it are removed as one range. */
  let kept = fields.length;
  while (kept > 0 && editOf(edits, fields[kept - 1]!.name) === null) kept--;
  for (let i = 0; i < kept; i++) {
    const { name, nameFrom, from, to } = fields[i]!;
    const value = editOf(edits, name);
    if (value === null) patches.push({ from: nameFrom, to: fields[i + 1]!.nameFrom, into: "" });
    else if (value !== undefined) patches.push({ from, to, into: JSON.stringify(value) });
  }
  let added = "";
  for (const name of Object.keys(edits)) {
    if ((edits[name] ?? null) === null || hasField(fields, name)) continue;
    if (kept > 0 || added !== "") added += ",";
    added += `${JSON.stringify(name)}:${JSON.stringify(edits[name])}`;
  }
  const from = kept > 0 ? fields[kept - 1]!.to : (fields[0]?.nameFrom ?? open);
  const to = fields.at(-1)?.to ?? open;
  if (to > from || added !== "") patches.push({ from, to, into: added });
  return patches;
}

/** Returns the new value of a field, null for one that is removed, and undefined for one that stays. */
const editOf = (edits: FieldEdits, name: string): FieldEdits[string] | undefined =>
  Object.hasOwn(edits, name) ? edits[name] : undefined;

/** Serializes the object with the edits, for a text that cannot be patched. */
export function rewritten(value: object, edits: FieldEdits): string {
  const merged: Record<string, unknown> = { ...value, ...edits };
  for (const name of Object.keys(edits)) if ((edits[name] ?? null) === null) delete merged[name];
  return JSON.stringify(merged);
}
