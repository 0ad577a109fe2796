// Parses the head of an HTTP/1.1 response (RFC 9112): status line, header fields, and how the body is framed.
// It never reads the body. A head that two parsers could read differently is an error, because the rest of the
// connection would then mean something else to each of them.

/** Thrown for bytes that are no valid response. The connection must be closed. */
export class ProtocolError extends Error {
  override readonly name = "ProtocolError";
  /** Read by the classification of failures. */
  readonly code = "HPE_INVALID_RESPONSE";
}

/** The header fields of a response. They are found when the head is parsed, and made texts of when they are read. */
class HeaderFields {
  readonly #text: string;
  /** `text` in lower case, in which names are compared. */
  readonly #lower: string;
  /** Begin, colon and end of each field in `text`, one after another. */
  readonly #places: readonly number[];

  constructor(text: string, lower: string, places: readonly number[]) {
    this.#text = text;
    this.#lower = lower;
    this.#places = places;
  }

  /** Returns the value, repeated fields joined by ", "; null when the field is missing. */
  get(name: string): string | null {
    let found: string | null = null;
    const places = this.#places;
    for (let i = 0; i < places.length; i += 3) {
      if (!this.#isAt(i, name)) continue;
      const value = this.#text.slice(places[i + 1]! + 1, places[i + 2]).trim();
      found = found === null ? value : `${found}, ${value}`;
    }
    return found;
  }

  has(name: string): boolean {
    for (let i = 0; i < this.#places.length; i += 3) if (this.#isAt(i, name)) return true;
    return false;
  }

  /** Returns the fields but for some, by lower-case names. */
  without(...names: readonly string[]): HeaderFields {
    const left: number[] = [];
    for (let i = 0; i < this.#places.length; i += 3) {
      if (!names.some((name) => this.#isAt(i, name))) left.push(...this.#places.slice(i, i + 3));
    }
    return new HeaderFields(this.#text, this.#lower, left);
  }

  #isAt(i: number, name: string): boolean {
    const from = this.#places[i]!;
    if (this.#places[i + 1]! - from !== name.length) return false;
    return this.#lower.startsWith(name, from) || this.#lower.startsWith(name.toLowerCase(), from);
  }
}

/** How the end of a body is found. */
export type BodyFraming =
  | { readonly kind: "none" }
  | { readonly kind: "length"; readonly bytes: number }
  | { readonly kind: "chunked" }
  /** The body ends with the connection. */
  | { readonly kind: "close" };

/** A parsed head. */
export interface ResponseHead {
  readonly status: number;
  readonly headers: HeaderFields;
  readonly framing: BodyFraming;
  /** Whether the connection may carry another request after the body. */
  readonly isReusable: boolean;
}

const FIELDS_MAX = 256;
const STATUS_LINE = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: .*)?$/;
/** 1 for each character that a field's name may have (RFC 9110 5.6.2). A folded line begins with a blank, which none has. */
const IS_TOKEN: Uint8Array = Uint8Array.from({ length: 256 }, (_, code) =>
  /[!#$%&'*+\-.^_`|~\w]/.test(String.fromCharCode(code)) ? 1 : 0,
);
const COLON = 58;
const CR = 13;
const DIGITS = /^\d{1,15}$/;
const NO_BODY: BodyFraming = { kind: "none" };

/**
 * Parses a head without its closing blank line. Lines end with CR LF, or with LF alone, which RFC 9112 2.2
 * lets a recipient accept. Throws `ProtocolError`.
 */
export function parseHead(text: string): ResponseHead {
  const lineEnd = endOfLine(text, 0);
  const match = STATUS_LINE.exec(withoutCr(text.slice(0, lineEnd)));
  if (match === null) throw new ProtocolError("the status line is not of HTTP/1.1");
  const headers = new HeaderFields(text, text.toLowerCase(), placesOf(text, lineEnd + 1));
  const status = Number(match[2]);
  const isOld = match[1] === "0";
  const framing = framingOf(status, headers, isOld);
  return { status, headers, framing, isReusable: framing.kind !== "close" && staysOpen(headers, isOld) };
}

function endOfLine(text: string, from: number): number {
  const end = text.indexOf("\n", from);
  return end === -1 ? text.length : end;
}

const withoutCr = (line: string): string => (line.endsWith("\r") ? line.slice(0, -1) : line);

/** Returns begin, colon and end of each field from `from` on. Throws for a field that is none. */
function placesOf(text: string, from: number): readonly number[] {
  if (text.includes("\0")) throw new ProtocolError("a header field has an invalid value");
  const places: number[] = [];
  let cr = text.indexOf("\r", from);
  for (let at = from; at < text.length; ) {
    const lf = endOfLine(text, at);
    const end = text.charCodeAt(lf - 1) === CR && lf > at ? lf - 1 : lf;
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

/** RFC 9112 6.3. */
function framingOf(status: number, headers: HeaderFields, isOld: boolean): BodyFraming {
  if (status < 200 || status === 204 || status === 304) return NO_BODY;
  const coding = headers.get("transfer-encoding");
  const stated = headers.get("content-length");
  if (coding !== null) {
    if (isOld || stated !== null) throw new ProtocolError("the length of the body is stated in two ways");
    if (coding.toLowerCase() !== "chunked") throw new ProtocolError("the transfer coding is not supported");
    return { kind: "chunked" };
  }
  if (stated === null) return { kind: "close" };
  if (DIGITS.test(stated)) return { kind: "length", bytes: Number(stated) };
  const [first = "", ...more] = stated.split(",").map((value) => value.trim());
  if (!DIGITS.test(first) || more.some((value) => value !== first)) {
    throw new ProtocolError("content-length is not one number");
  }
  return { kind: "length", bytes: Number(first) };
}

function staysOpen(headers: HeaderFields, isOld: boolean): boolean {
  const options = headers.get("connection")?.toLowerCase() ?? "";
  if (options === "keep-alive") return true;
  if (options === "") return !isOld;
  if (/(?:^|[\s,])close(?:$|[\s,])/.test(options)) return false;
  return !isOld || /(?:^|[\s,])keep-alive(?:$|[\s,])/.test(options);
}
