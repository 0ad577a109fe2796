// The header fields of a message of HTTP/1.1 (RFC 9112 5), and what they say of its framing and its connection. It knows
// neither requests nor responses. Fields that two parsers could read differently are an error, because the rest of the
// connection would then mean something else to each of them.

import type { HeaderReader } from "../base/header-reader.ts";

/** Thrown for bytes that are no valid message. The connection must be closed. */
export class ProtocolError extends Error {
  override readonly name = "ProtocolError";
  /** Read by the classification of failures. */
  readonly code = "HPE_INVALID_RESPONSE";
}

/** The header fields of a message. They are found when the head is parsed, and made texts of when they are read. */
export class HeaderFields implements HeaderReader {
  readonly #text: string;
  /** `text` in lower case, in which names are compared. */
  readonly #lower: string;
  /** Begin, colon and end of each field in `text`, one after another. */
  readonly #places: readonly number[];

  private constructor(text: string, lower: string, places: readonly number[]) {
    this.#text = text;
    this.#lower = lower;
    this.#places = places;
  }

  /**
   * Finds the fields in `text` from `from` on. Where `isLenient`, lines may end with LF alone, which RFC 9112 2.2 lets a
   * recipient accept, and values may have control characters but for NUL. Throws `ProtocolError` for a field that is none.
   */
  static parse(text: string, from: number, isLenient: boolean): HeaderFields {
    return new HeaderFields(text, text.toLowerCase(), placesOf(text, from, isLenient));
  }

  get(name: string): string | null {
    let found: string | null = null;
    const places = this.#places;
    for (let i = 0; i < places.length; i += 3) {
      if (!this.#isAt(i, name)) continue;
      const value = this.#valueAt(i);
      found = found === null ? value : `${found}, ${value}`;
    }
    return found;
  }

  has(name: string): boolean {
    for (let i = 0; i < this.#places.length; i += 3) if (this.#isAt(i, name)) return true;
    return false;
  }

  /** Yields name and value of each field, in the order of the message. */
  *entries(): Generator<[name: string, value: string]> {
    for (let i = 0; i < this.#places.length; i += 3) {
      yield [this.#lower.slice(this.#places[i], this.#places[i + 1]), this.#valueAt(i)];
    }
  }

  /** Returns the fields but for some, by lower-case names. */
  without(...names: readonly string[]): HeaderFields {
    const left: number[] = [];
    for (let i = 0; i < this.#places.length; i += 3) {
      if (!names.some((name) => this.#isAt(i, name))) left.push(...this.#places.slice(i, i + 3));
    }
    return new HeaderFields(this.#text, this.#lower, left);
  }

  #valueAt(i: number): string {
    return withoutBlanks(this.#text, this.#places[i + 1]! + 1, this.#places[i + 2]!);
  }

  #isAt(i: number, name: string): boolean {
    const from = this.#places[i]!;
    if (this.#places[i + 1]! - from !== name.length) return false;
    return this.#lower.startsWith(name, from) || this.#lower.startsWith(name.toLowerCase(), from);
  }
}

const FIELDS_MAX = 256;
/** 1 for each character that a field's name may have (RFC 9110 5.6.2). A folded line begins with a blank, which none has. */
const IS_TOKEN: Uint8Array = Uint8Array.from({ length: 256 }, (_, code) =>
  /[!#$%&'*+\-.^_`|~\w]/.test(String.fromCharCode(code)) ? 1 : 0,
);
const COLON = 58;
const CR = 13;
const TAB = 9;
const BLANK = 32;
/** Text without control characters, but for those that end lines and stand between words. */
const UNCONTROLLED = /^[\t\n\r\x20-\x7e\x80-\xff]*$/;

/** Returns begin, colon and end of each field. */
function placesOf(text: string, from: number, isLenient: boolean): readonly number[] {
  if (isLenient ? text.includes("\0") : !UNCONTROLLED.test(text)) {
    throw new ProtocolError("a header field has an invalid value");
  }
  const places: number[] = [];
  let cr = text.indexOf("\r", from);
  for (let at = from; at < text.length; ) {
    const lf = endOfLine(text, at);
    const hasCr = text.charCodeAt(lf - 1) === CR && lf > at;
    const end = hasCr ? lf - 1 : lf;
    if (!hasCr && !isLenient && lf < text.length) throw new ProtocolError("a line does not end with CR LF");
    let colon = at;
    while (colon < end && IS_TOKEN[text.charCodeAt(colon)] === 1) colon++;
    if (colon === at || text.charCodeAt(colon) !== COLON) {
      throw new ProtocolError("a header field has no valid name");
    }
    if (cr !== -1 && cr < end) throw new ProtocolError("a header field has an invalid value");
    places.push(at, colon, end);
    if (places.length > 3 * FIELDS_MAX) throw new ProtocolError(`more than ${FIELDS_MAX} header fields`);
    at = lf + 1;
    if (cr !== -1 && cr < at) cr = text.indexOf("\r", at);
  }
  return places;
}

/**
 * Returns a part of `text` without blanks and tabs around it (RFC 9110 5.6.3). `trim` takes more away, such as a no-break space:
 * a value with one would say something to us, and nothing to a proxy before us.
 */
export function withoutBlanks(text: string, from: number, to: number): string {
  let begin = from;
  let end = to;
  while (begin < end && isBlank(text.charCodeAt(begin))) begin++;
  while (end > begin && isBlank(text.charCodeAt(end - 1))) end--;
  return text.slice(begin, end);
}

const isBlank = (code: number): boolean => code === BLANK || code === TAB;

/** Returns the offset of the LF that ends the line at `from`, or the length of the text. */
export function endOfLine(text: string, from: number): number {
  const end = text.indexOf("\n", from);
  return end === -1 ? text.length : end;
}

/** Whether the connection stays open behind the message (RFC 9112 9.3). `isOld`: it is of HTTP/1.0. */
export function staysOpen(headers: HeaderReader, isOld: boolean): boolean {
  const options = headers.get("connection")?.toLowerCase() ?? "";
  if (options === "keep-alive") return true;
  if (options === "") return !isOld;
  if (/(?:^|[\s,])close(?:$|[\s,])/.test(options)) return false;
  return !isOld || /(?:^|[\s,])keep-alive(?:$|[\s,])/.test(options);
}

/** Visible characters, blanks, tabs, and the upper half of latin1 (RFC 9110 5.5): no line end and no other control character. */
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/** Whether a text can stand as the value of a header. */
export const isHeaderValue = (text: string): boolean => HEADER_VALUE.test(text);
