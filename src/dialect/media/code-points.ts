// Characters as speech is priced by them: Unicode code points, not the halves of which strings are made.

/** A half of a pair that stands alone counts, too. */
export function codePoints(text: string): number {
  let count = text.length;
  for (let i = 1; i < text.length; i++) {
    const isSecond = (text.charCodeAt(i) & 0xfc00) === 0xdc00;
    if (isSecond && (text.charCodeAt(i - 1) & 0xfc00) === 0xd800) count--;
  }
  return count;
}
