// Parses the head of an HTTP/1.1 response (RFC 9112): status line, header fields, and how the body is framed.
// It never reads the body. A head that two parsers could read differently is an error, because the rest of the
// connection would then mean something else to each of them.

import { type BodyFraming, NO_BODY, statedFraming } from "../../http1/body-framing.ts";
import { endOfLine, HeaderFields, ProtocolError, staysOpen } from "../../http1/header-fields.ts";

/** A parsed head. */
export interface ResponseHead {
  readonly status: number;
  readonly headers: HeaderFields;
  readonly framing: BodyFraming;
  /** Whether the connection may carry another request after the body. */
  readonly isReusable: boolean;
}

const STATUS_LINE = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: .*)?$/;
/**
 * Parses a head without its closing blank line. Lines end with CR LF, or with LF alone, which RFC 9112 2.2
 * lets a recipient accept. Throws `ProtocolError`.
 */
export function parseHead(text: string): ResponseHead {
  const lineEnd = endOfLine(text, 0);
  const match = STATUS_LINE.exec(withoutCr(text.slice(0, lineEnd)));
  if (match === null) throw new ProtocolError("the status line is not of HTTP/1.1");
  const headers = HeaderFields.parse(text, lineEnd + 1, true);
  const status = Number(match[2]);
  const isOld = match[1] === "0";
  const framing = framingOf(status, headers, isOld);
  return { status, headers, framing, isReusable: framing.kind !== "close" && staysOpen(headers, isOld) };
}

const withoutCr = (line: string): string => (line.endsWith("\r") ? line.slice(0, -1) : line);

/** RFC 9112 6.3: what states no length ends with the connection. */
const framingOf = (status: number, headers: HeaderFields, isOld: boolean): BodyFraming =>
  status < 200 || status === 204 || status === 304
    ? NO_BODY
    : (statedFraming(headers, isOld) ?? { kind: "close" });
