// Wildcard patterns, the mappers made of them (`pattern=target`), and white lists.
// spec: Conventions (`*`), Mapper syntax; contract section 4: the exact pattern first, then the longest literal part.

/** Does `name` match `pattern`, in which `*` stands for any run of characters? Linear in practice, never exponential. */
export function matches(pattern: string, name: string): boolean {
  let p = 0;
  let n = 0;
  let star = -1;
  let resume = 0;
  while (n < name.length) {
    if (pattern[p] === "*") {
      star = p++;
      resume = n;
    } else if (pattern[p] === name[n]) {
      p++;
      n++;
    } else if (star >= 0) {
      p = star + 1;
      n = ++resume;
    } else return false;
  }
  while (pattern[p] === "*") p++;
  return p === pattern.length;
}

const literalLength = (pattern: string): number => pattern.replaceAll("*", "").length;

/** The entry that applies to a name: the exact one, else the matching one with the longest literal part. */
export function pick<T>(
  entries: Readonly<Record<string, T>>,
  name: string,
): { readonly pattern: string; readonly value: T } | null {
  if (Object.hasOwn(entries, name)) return { pattern: name, value: entries[name]! };
  let best: string | null = null;
  for (const pattern of Object.keys(entries)) {
    if (!pattern.includes("*") || !matches(pattern, name)) continue;
    if (best === null || better(pattern, best)) best = pattern;
  }
  return best === null ? null : { pattern: best, value: entries[best]! };
}

/** Ties go to the smaller text, so that the answer does not depend on the order of writing. */
function better(a: string, b: string): boolean {
  const difference = literalLength(a) - literalLength(b);
  return difference !== 0 ? difference > 0 : a < b;
}

/** One change of a mapper: an entry set, or (target null) an entry deleted. */
export interface MapperChange {
  readonly pattern: string;
  readonly target: string | null;
}

export type Parsed<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly message: string };

/** Characters of the longest name: a model's, a pattern's, a target's. */
const NAME_MOST = 256;
/** Entries of one map, or changes of one at once. */
export const ENTRIES_MOST = 1_024;

/**
 * `pattern=target` adds or updates, `-pattern` deletes; separated by commas, each side trimmed. Empty items are skipped.
 * What a target may be is the business of whoever reads the map.
 */
export function parseMapper(text: string): Parsed<MapperChange[]> {
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
    if (changes.length > ENTRIES_MOST) return { ok: false, message: `more than ${ENTRIES_MOST} entries` };
  }
  return { ok: true, value: changes };
}

/** Half characters and names of the language's own get changed or lost on their way; nobody's model is called so. */
export const isPlainName = (name: string): boolean => name.isWellFormed() && name !== "__proto__";

/** Why nothing can be called so, as words for its writer; null: it is fit to be the name of a model or a pattern. */
export function faultOfName(name: string): string | null {
  if (name === "") return "a name is empty";
  if (!isPlainName(name)) return `${quoted(name)} is no name that any system would keep`;
  return name.length > NAME_MOST ? `${quoted(name)} has more than ${NAME_MOST} characters` : null;
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
