// Finds the long base64 strings of a JSON body: images, audio and files, alone or in a data URL. It looks at a few bytes of
// every kilobyte, and reads a string only where they are base64. A long string that is not base64 is text and is left alone.

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

/** Distance of the places that are looked at. A long string has several of them behind the head of a data URL. */
const STRIDE_BYTES = 1_024;
/** Bytes that are looked at in each place. Text has a space or a mark among so many. */
const RUN_BYTES = 64;

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
  let searchedTo = 0;
  for (let at = STRIDE_BYTES; at < bytes.length; at += STRIDE_BYTES) {
    if (at < searchedTo || !isRun(bytes, at)) continue;
    const last = bytes.subarray(searchedTo, at).lastIndexOf(QUOTE);
    const open = searchedTo + last;
    searchedTo = at;
    // Without a quote in between it is a string that was read before.
    if (last === -1 || bytes[open - 1] === BACKSLASH) continue;
    const string = base64At(bytes, open + 1);
    const least = KEPT_BYTES + found.length;
    if (string === null || string.to - open <= Math.max(LONG_BYTES, least + 2)) continue;
    found.push(cut(bytes, open + 1, string.to, least, string.length));
    searchedTo = string.to + 1;
  }
  return found;
}

/** Whether so many characters of base64 or of an escape follow each other at `at`. */
function isRun(bytes: Uint8Array, at: number): boolean {
  for (let i = at; i < at + RUN_BYTES; i++) {
    if (BASE64[bytes[i]!] !== 1 && bytes[i] !== BACKSLASH) return false;
  }
  return true;
}

/**
 * Returns the closing quote and the number of characters of the string whose content begins at `from`, if it is base64,
 * whose slashes and line ends may be escaped; otherwise null.
 */
function base64At(bytes: Buffer, from: number): { readonly to: number; readonly length: number } | null {
  const head = HEAD.exec(bytes.toString("latin1", from, from + HEAD_BYTES_MAX))?.[0] ?? "";
  let escapes = head.split("\\").length - 1;
  if (head.includes("\\") && !/^(?:[^\\]|\\\/)*$/.test(head)) return null;
  for (let at = from + head.length; ; at += 2) {
    at = base64To(bytes, at);
    if (bytes[at] === QUOTE) return { to: at, length: at - from - escapes };
    const escaped = bytes[at + 1];
    const isEscape = escaped === SLASH || escaped === LETTER_N || escaped === LETTER_R;
    if (bytes[at] !== BACKSLASH || !isEscape) return null;
    escapes++;
  }
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
