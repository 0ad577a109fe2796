// Characters as users count them, in prices and in the bounds of texts: Unicode code points, not the halves of which
// strings are made.

/** A half of a pair that stands alone counts, too. */
export function codePoints(text: string): number {
  let count = text.length;
  for (let i = 1; i < text.length; i++) {
    const isSecond = (text.charCodeAt(i) & 0xfc00) === 0xdc00;
    if (isSecond && (text.charCodeAt(i - 1) & 0xfc00) === 0xd800) count--;
  }
  return count;
}

/** Whether a text has more than `most` characters. Most texts are too short, or far too long, to need counting. */
export const isLonger = (text: string, most: number): boolean =>
  text.length > most && (text.length > 2 * most || codePoints(text) > most);
