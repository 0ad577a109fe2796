// Finds the long base64 strings of a JSON body: images, audio and files, alone or in a data URL. It scans the
// bytes once. A long string that is not base64 is text and is left alone.

/** A long base64 string, as byte offsets in the body. */
export interface LongString {
  /** The end of the beginning that is kept; `to` is the closing quote. */
  readonly keptTo: number;
  readonly to: number;
  /** The beginning that is kept, parsed. Each string keeps more than the one before, so that all differ. */
  readonly beginning: string;
  /** Characters of the whole string after parsing. */
  readonly length: number;
}

/** Strings up to this size are not shortened. */
const LONG_BYTES = 4_096;
/**
 * Bytes kept of the first string: the head of a data URL, enough content to recognize its type, and more characters than any
 * name may have, so that a string that is too long for one still is.
 */
const KEPT_BYTES = 1_024;

const QUOTE = 34;
const SLASH = 47;
const BACKSLASH = 92;
const LETTER_N = 110;
const LETTER_R = 114;

/** The head of a data URL, such as `data:image/png;base64,`; its slash may be escaped. */
const HEAD = /^data:[\w.+\\/-]{0,100}(?:;[\w.+=-]{1,100}){0,4};base64,/;
const HEAD_BYTES_MAX = 600;

const BASE64: Uint8Array = Uint8Array.from({ length: 256 }, (_, code) =>
  /[A-Za-z0-9+/=_-]/.test(String.fromCharCode(code)) ? 1 : 0,
);

/** Returns the long strings in the order of the body. The result is meaningless if the body is not JSON. */
export function longStrings(bytes: Buffer): LongString[] {
  const found: LongString[] = [];
  for (let open = bytes.indexOf(QUOTE); open !== -1; ) {
    const close = stringEnd(bytes, open);
    if (close === -1) break;
    const least = KEPT_BYTES + found.length;
    if (close - open > Math.max(LONG_BYTES, least + 2)) {
      const length = base64Length(bytes, open + 1, close);
      if (length !== null) found.push(cut(bytes, open + 1, close, least, length));
    }
    open = bytes.indexOf(QUOTE, close + 1);
  }
  return found;
}

/** Returns the index of the closing quote of the string opened at `open`, or -1. */
function stringEnd(bytes: Buffer, open: number): number {
  for (let quote = bytes.indexOf(QUOTE, open + 1); quote !== -1; quote = bytes.indexOf(QUOTE, quote + 1)) {
    let before = quote - 1;
    while (bytes[before] === BACKSLASH) before--;
    if ((quote - before) % 2 === 1) return quote;
  }
  return -1;
}

/**
 * Returns the number of characters of a base64 string, whose slashes and line ends may be escaped; otherwise
 * null.
 */
function base64Length(bytes: Buffer, from: number, to: number): number | null {
  const head = HEAD.exec(bytes.toString("latin1", from, Math.min(to, from + HEAD_BYTES_MAX)))?.[0] ?? "";
  let escapes = head.split("\\").length - 1;
  if (head.includes("\\") && !/^(?:[^\\]|\\\/)*$/.test(head)) return null;
  for (let at = from + head.length; ; at += 2) {
    at = base64To(bytes, at);
    if (at === to) break;
    const escaped = bytes[at + 1];
    const isEscape = escaped === SLASH || escaped === LETTER_N || escaped === LETTER_R;
    if (bytes[at] !== BACKSLASH || !isEscape) return null;
    escapes++;
  }
  return to - from - escapes;
}

/**
 * Returns the index of the first byte that is not base64. It is a small function so that it is compiled well.
 */
function base64To(bytes: Uint8Array, from: number): number {
  const table = BASE64;
  let at = from;
  while (table[bytes[at]!] === 1) at++;
  return at;
}

function cut(bytes: Buffer, from: number, to: number, least: number, length: number): LongString {
  // An escape is not split; those accepted above have two characters.
  const keptTo = from + least + (bytes[from + least - 1] === BACKSLASH ? 1 : 0);
  const raw = bytes.toString("latin1", from, keptTo);
  return { keptTo, to, length, beginning: raw.includes("\\") ? JSON.parse(`"${raw}"`) : raw };
}
