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

const PATTERN_MOST = 256;
const ENTRIES_MOST = 1_000;

/** `pattern=target` adds or updates, `-pattern` deletes; separated by commas, each side trimmed. Empty items are skipped. */
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
      return { ok: false, message: `"${entry.slice(0, 80)}" is neither pattern=target nor -pattern` };
    }
    if (!isPlainName(pattern) || (target !== null && !isPlainName(target))) {
      return {
        ok: false,
        message: `"${entry.slice(0, 80).toWellFormed()}" is no name that any system would keep`,
      };
    }
    if (pattern.length > PATTERN_MOST || (target?.length ?? 0) > PATTERN_MOST) {
      return { ok: false, message: `a pattern or target has more than ${PATTERN_MOST} characters` };
    }
    changes.push({ pattern, target });
    if (changes.length > ENTRIES_MOST) return { ok: false, message: `more than ${ENTRIES_MOST} entries` };
  }
  return { ok: true, value: changes };
}

/** Half characters and names of the language's own get changed or lost on their way; nobody's model is called so. */
export const isPlainName = (name: string): boolean => name.isWellFormed() && name !== "__proto__";

/** As `parseMapper`, with integer Levels as targets. */
export function parseLevelMapper(text: string): Parsed<{ pattern: string; level: number | null }[]> {
  const parsed = parseMapper(text);
  if (!parsed.ok) return parsed;
  const value: { pattern: string; level: number | null }[] = [];
  for (const { pattern, target } of parsed.value) {
    if (target !== null && !/^-?\d{1,9}$/.test(target)) {
      return {
        ok: false,
        message: `the Level of "${pattern}" must be an integer, not "${target.slice(0, 40)}"`,
      };
    }
    value.push({ pattern, level: target === null ? null : Number(target) });
  }
  return { ok: true, value };
}

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
