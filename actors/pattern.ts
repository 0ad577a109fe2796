// Wildcard patterns, the mappers made of them (`pattern=target`), and white lists.
// spec: Conventions (`*`), Mapper syntax; contract section 4: the exact pattern first, then the longest literal part.

import { isLonger } from "./code-points.ts";

/** A pattern cut at its stars: what a name must begin with, hold in this order, and end with. */
interface Cut {
  readonly head: string;
  readonly middle: readonly string[];
  readonly tail: string;
  /** Characters that are not stars. */
  readonly literal: number;
}

function cut(pattern: string): Cut {
  const parts = pattern.split("*");
  return {
    head: parts[0]!,
    middle: parts.slice(1, -1).filter((part) => part !== ""),
    tail: parts.at(-1)!,
    literal: pattern.length - parts.length + 1,
  };
}

/** Of a pattern with a star. Each part is taken where it comes first: what follows has the more room for it. */
function fits({ head, middle, tail, literal }: Cut, name: string): boolean {
  if (literal > name.length || !name.startsWith(head) || !name.endsWith(tail)) return false;
  const end = name.length - tail.length;
  let at = head.length;
  for (const part of middle) {
    const found = name.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
    if (at > end) return false;
  }
  return true;
}

/** Does `name` match `pattern`, in which `*` stands for any run of characters? Nothing is ever tried twice. */
export const matches = (pattern: string, name: string): boolean =>
  pattern.includes("*") ? fits(cut(pattern), name) : pattern === name;

/** A map's patterns in the order in which they come into question. */
type Compiled = readonly (Cut & Hit & { readonly letters: number })[];

/** Which characters a text has, roughly: one bit for each, shared by several. The star has none. */
function lettersOf(text: string): number {
  let bits = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code !== STAR) bits |= 1 << (code % 32);
  }
  return bits;
}

const STAR = "*".charCodeAt(0);

/** A map is compiled when it is first asked, and stays so as long as it lives: maps are never changed in place. */
const compiled = new WeakMap<object, Compiled>();

const cutOf = (pattern: string): Cut & Hit => ({ ...cut(pattern), pattern });

/** Longest literal part first. Ties go to the smaller text, so that the order of writing means nothing. */
const inOrder = (a: Cut & Hit, b: Cut & Hit): number =>
  b.literal - a.literal || (a.pattern < b.pattern ? -1 : 1);

function compile(entries: object): Compiled {
  const known = compiled.get(entries);
  if (known !== undefined) return known;
  const fresh = Object.keys(entries)
    .filter((pattern) => pattern.includes("*"))
    .map((pattern) => ({ ...cutOf(pattern), letters: lettersOf(pattern) }))
    .sort(inOrder);
  compiled.set(entries, fresh);
  return fresh;
}

/**
 * The entry that applies to a name: the exact one, else the matching one with the longest literal part. `entries` must
 * never change in place: what is learned of a map is kept with it. Hidden entries count as not there.
 */
export function pick<T>(
  entries: Readonly<Record<string, T>>,
  name: string,
  isHidden: (pattern: string) => boolean = () => false,
): { readonly pattern: string; readonly value: T } | null {
  if (Object.hasOwn(entries, name) && !isHidden(name)) return { pattern: name, value: entries[name]! };
  const patterns = compile(entries);
  if (patterns.length === 0) return null;
  const missing = ~lettersOf(name);
  const found = patterns.find(
    (one) => (one.letters & missing) === 0 && fits(one, name) && !isHidden(one.pattern),
  );
  return found === undefined ? null : { pattern: found.pattern, value: entries[found.pattern]! };
}

/** The one of two hits on a name, picked from different maps, that `pick` would have found first in both as one map. */
export function moreSpecific<A extends Hit, B extends Hit>(
  a: A | null,
  b: B | null,
  name: string,
): A | B | null {
  if (a === null || b === null) return a ?? b;
  if (a.pattern === name || b.pattern === name) return a.pattern === name ? a : b;
  return inOrder(cutOf(a.pattern), cutOf(b.pattern)) <= 0 ? a : b;
}

interface Hit {
  readonly pattern: string;
}

/** One change of a mapper: an entry set, or (target null) an entry deleted. */
export interface MapperChange {
  readonly pattern: string;
  readonly target: string | null;
}

export type ParseResult<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly message: string };

/** Characters of the longest name: a model's, a pattern's, a target's. */
const NAME_MAX = 256;
/** Entries of one map, or changes of one at once. */
export const MAP_ENTRIES_MAX = 1_024;

/**
 * `pattern=target` adds or updates, `-pattern` deletes; separated by commas, each side trimmed. Empty items are skipped.
 * What a target may be is the business of whoever reads the map.
 */
export function parseMapper(text: string): ParseResult<MapperChange[]> {
  const changes: MapperChange[] = [];
  for (const item of text.split(",")) {
    const entry = item.trim();
    if (entry === "") continue;
    const equals = entry.indexOf("=");
    const deletes = entry.startsWith("-") && equals < 0;
    const pattern = (deletes ? entry.slice(1) : entry.slice(0, Math.max(equals, 0))).trim();
    const target = deletes ? null : entry.slice(equals + 1).trim();
    if (pattern === "" || target === "" || (!deletes && equals < 0)) {
      return { ok: false, message: `${quoted(entry)} is neither pattern=target nor -pattern` };
    }
    const fault = faultOfName(pattern);
    if (fault !== null) return { ok: false, message: fault };
    changes.push({ pattern, target });
    if (changes.length > MAP_ENTRIES_MAX)
      return { ok: false, message: `more than ${MAP_ENTRIES_MAX} entries` };
  }
  return { ok: true, value: changes };
}

/** Half characters and names of the language's own get changed or lost on their way; nobody's model is called so. */
export const isPlainName = (name: string): boolean => name.isWellFormed() && name !== "__proto__";

/** Why nothing can be called so, as words for its writer; null: it is fit to be the name of a model or a pattern. */
export function faultOfName(name: string): string | null {
  if (name === "") return "a name is empty";
  if (!isPlainName(name)) return `${quoted(name)} is no name that any system would keep`;
  return isLonger(name, NAME_MAX) ? `${quoted(name)} has more than ${NAME_MAX} characters` : null;
}

/** A text inside a message: whatever was sent, the message stays short and well-formed. */
export const quoted = (text: string): string => `"${text.slice(0, 80).toWellFormed()}"`;

/** Items of a list separated by spaces or commas. */
export const parseList = (text: string): string[] => text.split(/[\s,]+/).filter((item) => item !== "");

/** An empty list allows everything. */
export const allows = (patterns: readonly string[], name: string): boolean =>
  patterns.length === 0 || patterns.some((pattern) => matches(pattern, name));

/** Is every path that `inner` allows also allowed by `outer`? `/v1/audio/*` covers `/v1/audio/speech`. */
export function covers(outer: readonly string[], inner: readonly string[]): boolean {
  if (outer.length === 0) return true;
  if (inner.length === 0) return false;
  // A wildcard of the inner pattern must fall inside a wildcard of the outer one: matching it as text proves that.
  return inner.every((path) => outer.some((pattern) => matches(pattern, path)));
}
