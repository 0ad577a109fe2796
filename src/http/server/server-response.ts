// A response as a handler of the server gives it, and the text of its head. What frames the body and the connection belongs to
// the server: a handler states neither.

import type { BodySource, StreamedBody, StreamPart } from "../../gateway/call.ts";

/** What a body is made of: nothing, text, bytes, known parts in order, or a source that is read as it is produced. */
export type ServerBody = string | Uint8Array | StreamedBody | null;

/** A response. */
export interface ServerResponse {
  readonly status: number;
  /** By lower-case names. `connection: close` ends the connection behind the response. */
  readonly headers: Record<string, string>;
  readonly body: ServerBody;
}

/** How the body of a response is delimited: by its length in bytes, in chunks, by the end of the connection, or not at all. */
export type ResponseFraming = number | "chunked" | "close" | "none";

const REASONS: Readonly<Record<number, string>> = {
  200: "OK",
  201: "Created",
  204: "No Content",
  302: "Found",
  304: "Not Modified",
  400: "Bad Request",
  401: "Unauthorized",
  403: "Forbidden",
  404: "Not Found",
  405: "Method Not Allowed",
  413: "Content Too Large",
  415: "Unsupported Media Type",
  422: "Unprocessable Content",
  429: "Too Many Requests",
  500: "Internal Server Error",
  502: "Bad Gateway",
  503: "Service Unavailable",
  504: "Gateway Timeout",
};

/** Fields that the server states itself. */
const OWN_FIELDS: ReadonlySet<string> = new Set([
  "connection",
  "content-length",
  "transfer-encoding",
  "date",
]);

/** Whether a body of this source is read as it is produced. */
export const isSource = (body: ServerBody): body is BodySource =>
  body !== null && typeof body === "object" && "gone" in body;

/** Whether a response with this status has no body whatever its headers say (RFC 9110 6.4.1). */
export const isBodiless = (status: number): boolean => status < 200 || status === 204 || status === 304;

/** What the value of a header may have: visible ASCII, blanks and tabs, so that no value ends the head. */
const PLAIN = /^[\t\x20-\x7e]*$/;
const UNFIT = /[^\t\x20-\x7e]/g;

/**
 * Returns the head of a response with its closing blank line, in ASCII: a character that cannot stand in a header leaves as a
 * question mark. `date` is the value of the Date field; `closes`: the connection ends behind the response.
 */
export function encodeHead(
  { status, headers }: ServerResponse,
  framing: ResponseFraming,
  { date, closes }: { readonly date: string; readonly closes: boolean },
): string {
  let head = `HTTP/1.1 ${status} ${REASONS[status] ?? ""}\r\n`;
  for (const name in headers) {
    if (OWN_FIELDS.has(name)) continue;
    const value = headers[name]!;
    head += `${name}: ${PLAIN.test(value) ? value : value.replaceAll(UNFIT, "?")}\r\n`;
  }
  if (closes) head += "connection: close\r\n";
  if (typeof framing === "number") head += `content-length: ${framing}\r\n`;
  else if (framing === "chunked") head += "transfer-encoding: chunked\r\n";
  return `${head}date: ${date}\r\n\r\n`;
}

/** Returns how the body of a response is delimited, which for HEAD is that of the response to GET where it is known. */
export function framingOf({ status, headers, body }: ServerResponse): ResponseFraming {
  if (isBodiless(status)) return "none";
  if (body === null) {
    // The response to HEAD comes without its body, and states its length.
    const stated = headers["content-length"];
    return stated === undefined ? 0 : Number(stated);
  }
  if (typeof body === "string") return Buffer.byteLength(body);
  if (body instanceof Uint8Array) return body.length;
  return isSource(body) ? "none" : lengthOfParts(body);
}

/** Returns how many bytes parts have together. */
export function lengthOfParts(parts: readonly StreamPart[]): number {
  let size = 0;
  for (const part of parts) size += part.length;
  return size;
}
