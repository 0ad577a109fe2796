// Parses the head of an HTTP/1.1 response (RFC 9112): status line, header fields, and how the body is framed.
// It never reads the body. A head that two parsers could read differently is an error, because the rest of the
// connection would then mean something else to each of them.

/** Thrown for bytes that are no valid response. The connection must be closed. */
export class ProtocolError extends Error {
  override readonly name = "ProtocolError";
  /** Read by the classification of failures. */
  readonly code = "HPE_INVALID_RESPONSE";
}

/** The header fields of a response, by lower-case name. */
class HeaderFields {
  readonly #names: string[] = [];
  readonly #values: string[] = [];

  /** Returns the value, repeated fields joined by ", "; null when the field is missing. */
  get(name: string): string | null {
    const lower = name.toLowerCase();
    let found: string | null = null;
    for (let i = 0; i < this.#names.length; i++) {
      if (this.#names[i] === lower)
        found = found === null ? this.#values[i]! : `${found}, ${this.#values[i]}`;
    }
    return found;
  }

  has(name: string): boolean {
    return this.#names.includes(name.toLowerCase());
  }

  /** Returns the fields but for some, by lower-case names. */
  without(...names: readonly string[]): HeaderFields {
    const left = new HeaderFields();
    for (let i = 0; i < this.#names.length; i++) {
      if (!names.includes(this.#names[i]!)) left.add(this.#names[i]!, this.#values[i]!);
    }
    return left;
  }

  /** Adds a field, in the order of the response. */
  add(lowerName: string, value: string): void {
    if (this.#names.length >= FIELDS_MAX) throw new ProtocolError(`more than ${FIELDS_MAX} header fields`);
    this.#names.push(lowerName);
    this.#values.push(value);
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
const TOKEN = /^[!#$%&'*+\-.^_`|~\w]+$/;
const DIGITS = /^\d{1,15}$/;
const NO_BODY: BodyFraming = { kind: "none" };

/**
 * Parses a head without its closing blank line. Lines end with CR LF, or with LF alone, which RFC 9112 2.2
 * lets a recipient accept. Throws `ProtocolError`.
 */
export function parseHead(text: string): ResponseHead {
  let lineEnd = text.indexOf("\n");
  if (lineEnd === -1) lineEnd = text.length;
  const match = STATUS_LINE.exec(withoutCr(text.slice(0, lineEnd)));
  if (match === null) throw new ProtocolError("the status line is not of HTTP/1.1");
  const headers = new HeaderFields();
  for (let at = lineEnd + 1; at < text.length; ) {
    let end = text.indexOf("\n", at);
    if (end === -1) end = text.length;
    addField(headers, withoutCr(text.slice(at, end)));
    at = end + 1;
  }
  const status = Number(match[2]);
  const isOld = match[1] === "0";
  const framing = framingOf(status, headers, isOld);
  return { status, headers, framing, isReusable: framing.kind !== "close" && staysOpen(headers, isOld) };
}

const withoutCr = (line: string): string => (line.endsWith("\r") ? line.slice(0, -1) : line);

function addField(headers: HeaderFields, line: string): void {
  const colon = line.indexOf(":");
  const name = line.slice(0, colon);
  // A folded line (obs-fold) begins with a blank, which no token contains.
  if (colon <= 0 || !TOKEN.test(name)) throw new ProtocolError("a header field has no valid name");
  const value = line.slice(colon + 1).trim();
  if (/[\0\r]/.test(value)) throw new ProtocolError("a header field has an invalid value");
  headers.add(name.toLowerCase(), value);
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
  const [first = "", ...more] = stated.split(",").map((value) => value.trim());
  if (!DIGITS.test(first) || more.some((value) => value !== first)) {
    throw new ProtocolError("content-length is not one number");
  }
  return { kind: "length", bytes: Number(first) };
}

function staysOpen(headers: HeaderFields, isOld: boolean): boolean {
  const options = headers.get("connection")?.toLowerCase() ?? "";
  if (options === "") return !isOld;
  if (/(?:^|[\s,])close(?:$|[\s,])/.test(options)) return false;
  return !isOld || /(?:^|[\s,])keep-alive(?:$|[\s,])/.test(options);
}
