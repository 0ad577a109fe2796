// Patterns of models as routing reads them: `*` stands for any run of characters, an exact name goes first, then the pattern with
// the longest literal part. A test compares this with the service's own. The pages use it to say which entry hides another.

/** Returns whether a name matches a pattern. Taken of two patterns: whether the first matches all that the second does. */
export function matches(pattern: string, name: string): boolean {
  const parts = pattern.split("*");
  if (parts.length === 1) return pattern === name;
  const [head, tail] = [parts[0]!, parts.at(-1)!];
  if (name.length < head.length + tail.length || !name.startsWith(head) || !name.endsWith(tail)) return false;
  let at = head.length;
  const end = name.length - tail.length;
  for (const part of parts.slice(1, -1)) {
    const found = name.indexOf(part, at);
    if (found < 0 || found + part.length > end) return false;
    at = found + part.length;
  }
  return true;
}

const isPattern = (text: string): boolean => text.includes("*");
const literalOf = (pattern: string): number => pattern.replaceAll("*", "").length;

/** Orders the left sides of a map as they are tried: exact names, then patterns by their literal parts, ties by text. */
export function compareTried(one: string, other: string): number {
  if (isPattern(one) !== isPattern(other)) return isPattern(one) ? 1 : -1;
  const byLiteral = isPattern(one) ? literalOf(other) - literalOf(one) : 0;
  return byLiteral || (one < other ? -1 : one > other ? 1 : 0);
}

/** Returns the left side that applies to a name, or null when none does. */
export function pick(lefts: readonly string[], name: string): string | null {
  if (lefts.includes(name)) return name;
  const found = lefts.filter((left) => isPattern(left) && matches(left, name));
  return found.sort(compareTried)[0] ?? null;
}

/** Returns the entry that takes everything before this one could, or null when there is none. */
export const hiddenBy = (lefts: readonly string[], left: string): string | null =>
  lefts.find(
    (other) =>
      other !== left &&
      isPattern(left) &&
      isPattern(other) &&
      compareTried(other, left) < 0 &&
      matches(other, left),
  ) ?? null;
