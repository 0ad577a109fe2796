// Which entry of a map with patterns applies to a name, as the service decides it: the exact one, otherwise the matching pattern
// with the longest literal part. A test compares it with the service's own. Pages show entries in the order in which they are
// tried, and say which one hides another.

/** Returns whether `name` matches `pattern`, in which `*` stands for any run of characters. It never backtracks. */
export function isMatch(pattern: string, name: string): boolean {
  const parts = pattern.split("*");
  if (parts.length === 1) return pattern === name;
  const [head = "", ...rest] = parts;
  const tail = rest.pop() ?? "";
  const end = name.length - tail.length;
  if (!name.startsWith(head) || !name.endsWith(tail) || end < head.length) return false;
  let at = head.length;
  for (const part of rest) {
    const found = name.indexOf(part, at);
    if (found < 0 || found + part.length > end) return false;
    at = found + part.length;
  }
  return true;
}

const isPattern = (text: string): boolean => text.includes("*");
const literalLength = (pattern: string): number => pattern.replaceAll("*", "").length;

/** Orders the left sides of a map as they are tried: exact names, then patterns by their literal parts, ties by text. */
export function compareTried(one: string, other: string): number {
  if (isPattern(one) !== isPattern(other)) return isPattern(one) ? 1 : -1;
  const byLiteral = isPattern(one) ? literalLength(other) - literalLength(one) : 0;
  return byLiteral || (one < other ? -1 : one > other ? 1 : 0);
}

/** Returns the pattern of a map that applies to a name, or null. */
export function applyingPattern(patterns: readonly string[], name: string): string | null {
  if (patterns.includes(name)) return name;
  const fitting = patterns.filter((pattern) => isPattern(pattern) && isMatch(pattern, name));
  return fitting.sort(compareTried)[0] ?? null;
}

/**
 * Returns the entry that takes everything before this one could, or null when there is none. A pattern that matches the text of
 * another one matches all that the other does.
 */
export const hiddenBy = (lefts: readonly string[], left: string): string | null =>
  lefts.find(
    (other) =>
      other !== left &&
      isPattern(left) &&
      isPattern(other) &&
      compareTried(other, left) < 0 &&
      isMatch(other, left),
  ) ?? null;
