// Counts characters as prices and the bounds of texts do: Unicode code points instead of UTF-16 code units.

/** Returns the number of code points; a lone surrogate counts as one. */
export function codePoints(text: string): number {
  let count = text.length;
  for (let i = 1; i < text.length; i++) {
    const isSecond = (text.charCodeAt(i) & 0xfc00) === 0xdc00;
    if (isSecond && (text.charCodeAt(i - 1) & 0xfc00) === 0xd800) count--;
  }
  return count;
}

/**
 * Returns whether a text has more than `most` characters. It counts only if the text's length does not
 * decide.
 */
export const isLonger = (text: string, most: number): boolean =>
  text.length > most && (text.length > 2 * most || codePoints(text) > most);
