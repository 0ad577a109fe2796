// The order in which entries of a map are tried: an exact name goes first, then the pattern with the longest literal part. The
// pages show entries in it, and say with it which entry hides another.

import { isMatch } from "../../../api/pattern.ts";

const isPattern = (text: string): boolean => text.includes("*");
const literalOf = (pattern: string): number => pattern.replaceAll("*", "").length;

/** Orders the left sides of a map as they are tried: exact names, then patterns by their literal parts, ties by text. */
export function compareTried(one: string, other: string): number {
  if (isPattern(one) !== isPattern(other)) return isPattern(one) ? 1 : -1;
  const byLiteral = isPattern(one) ? literalOf(other) - literalOf(one) : 0;
  return byLiteral || (one < other ? -1 : one > other ? 1 : 0);
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
