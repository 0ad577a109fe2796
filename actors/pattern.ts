// Wildcard patterns, mappers of them (`pattern=target`), and allow lists.
// Source: spec, Conventions (`*`) and Mapper syntax; contract section 4: the exact pattern first, then the
// longest literal part.

import { isLonger } from "./code-points.ts";

/** A pattern split at its stars: what a name must begin with, contain in this order, and end with. */
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

/**
 * Matches a pattern that has a star. Each part is matched at its first position, which leaves most room for
 * the rest.
 */
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

/**
 * Returns whether `name` matches `pattern`, in which `*` stands for any run of characters. It never
 * backtracks.
 */
export const matches = (pattern: string, name: string): boolean =>
  pattern.includes("*") ? fits(cut(pattern), name) : pattern === name;

/** A map's patterns in the order in which they are tried. */
type Compiled = readonly (Cut & Hit & { readonly letters: number })[];

/** Returns a bit set of a text's characters, without stars, in which several characters share a bit. */
function lettersOf(text: string): number {
  let bits = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code !== STAR) bits |= 1 << (code % 32);
  }
  return bits;
}

const STAR = "*".charCodeAt(0);

/** Compiled maps, made at first use. They stay valid because maps never change in place. */
const compiled = new WeakMap<object, Compiled>();

const cutOf = (pattern: string): Cut & Hit => ({ ...cut(pattern), pattern });

/**
 * Sorts by longest literal part. Ties go to the smaller text, so that the order of the entries does not
 * matter.
 */
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
 * Returns the entry that applies to a name: the exact one, or else the matching one with the longest literal
 * part; null if none matches. Hidden entries are skipped. `entries` must never change in place, since its
 * compiled form is cached.
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

/** Returns the one of two matches from different maps that `pick` would return if both maps were one. */
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

/** One change of a mapper: sets an entry, or deletes it if `target` is null. */
export interface MapperChange {
  readonly pattern: string;
  readonly target: string | null;
}

/** A parsed value, or the message of a fault. */
export type ParseResult<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly message: string };

/** Characters of the name of a model, pattern or target. */
const NAME_MAX = 256;
/** Entries of one map, or changes to one map at once. */
export const MAP_ENTRIES_MAX = 1_024;

/**
 * Parses changes separated by commas: `pattern=target` adds or updates, `-pattern` deletes. Both sides are
 * trimmed, and empty items are skipped. The caller validates the targets.
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

/**
 * Returns whether a name is safe to store: well-formed and not `__proto__`. Other names get changed or lost.
 */
export const isPlainName = (name: string): boolean => name.isWellFormed() && name !== "__proto__";

/** Returns why a text cannot be the name of a model or pattern, as a message for users, or null if it can. */
export function faultOfName(name: string): string | null {
  if (name === "") return "a name is empty";
  if (!isPlainName(name)) return `${quoted(name)} is no name that any system would keep`;
  return isLonger(name, NAME_MAX) ? `${quoted(name)} has more than ${NAME_MAX} characters` : null;
}

/** Quotes a text inside a message, shortened and well-formed whatever was sent. */
export const quoted = (text: string): string => `"${text.slice(0, 80).toWellFormed()}"`;

/** Returns the items of a list separated by spaces or commas. */
export const parseList = (text: string): string[] => text.split(/[\s,]+/).filter((item) => item !== "");

/** Returns whether a pattern list allows a name. An empty list allows everything. */
export const allows = (patterns: readonly string[], name: string): boolean =>
  patterns.length === 0 || patterns.some((pattern) => matches(pattern, name));

/** Returns whether `outer` allows every path that `inner` allows: `/v1/audio/*` covers `/v1/audio/speech`. */
export function covers(outer: readonly string[], inner: readonly string[]): boolean {
  if (outer.length === 0) return true;
  if (inner.length === 0) return false;
  // A wildcard of the inner pattern must lie inside one of the outer pattern; matching it as text proves
  // that.
  return inner.every((path) => outer.some((pattern) => matches(pattern, path)));
}
