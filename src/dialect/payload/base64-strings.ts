// The long base64 strings of a JSON body: pictures, sounds, files, alone or behind the head of a data URL. Found in the bytes,
// each byte looked at once; anything else, however long, is text that somebody may want to read.

export interface LongString {
  /** Where what is kept of it ends, and where its closing quote stands. */
  readonly keptTo: number;
  readonly to: number;
  /** What is kept of it, as parsing reads it. Each string keeps a little more than the one before: beginnings differ. */
  readonly beginning: string;
  /** Its length as parsing would read it. */
  readonly length: number;
}

/** Shorter strings are not worth it. */
const LONG_BYTES = 4_096;
/** So much of the first stays: the head of a data URL, and enough of its content to see what it is. */
const KEPT_BYTES = 256;

const QUOTE = 34;
const SLASH = 47;
const BACKSLASH = 92;
const LETTER_N = 110;
const LETTER_R = 114;

/** `data:image/png;base64,`, its slash perhaps escaped. */
const HEAD = /^data:[\w.+\\/-]{0,100}(?:;[\w.+=-]{1,100}){0,4};base64,/;
const HEAD_BYTES_MAX = 600;

const BASE64: Uint8Array = Uint8Array.from({ length: 256 }, (_, code) =>
  /[A-Za-z0-9+/=_-]/.test(String.fromCharCode(code)) ? 1 : 0,
);

/** In the order of the body. A body that is no JSON has some too, or none: parsing tells. */
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

/** The closing quote of the string that is opened at `open`; -1 without one. */
function stringEnd(bytes: Buffer, open: number): number {
  for (let quote = bytes.indexOf(QUOTE, open + 1); quote !== -1; quote = bytes.indexOf(QUOTE, quote + 1)) {
    let before = quote - 1;
    while (bytes[before] === BACKSLASH) before--;
    if ((quote - before) % 2 === 1) return quote;
  }
  return -1;
}

/** Characters of a string that is base64; null: it is not. Slashes and line ends may stand escaped. */
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

/** The first byte from `at` on that is no base64: at the latest the closing quote. On its own, so that it is compiled well. */
function base64To(bytes: Uint8Array, from: number): number {
  const table = BASE64;
  let at = from;
  while (table[bytes[at]!] === 1) at++;
  return at;
}

function cut(bytes: Buffer, from: number, to: number, least: number, length: number): LongString {
  // An escape is not cut in two. None of those above has more than one backslash.
  const keptTo = from + least + (bytes[from + least - 1] === BACKSLASH ? 1 : 0);
  const raw = bytes.toString("latin1", from, keptTo);
  return { keptTo, to, length, beginning: raw.includes("\\") ? JSON.parse(`"${raw}"`) : raw };
}
