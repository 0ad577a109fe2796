// Parses the heads of requests of HTTP/1.1 and 1.0 (RFC 9112): request line, header fields, and how the body is framed. It is
// strict where a proxy before us could read the bytes differently, because a client could hide a second request in them.

import { type BodyFraming, NO_BODY, statedFraming } from "../../http1/body-framing.ts";
import { endOfLine, HeaderFields, ProtocolError, staysOpen } from "../../http1/header-fields.ts";
import { MessageParser, type MessageSink } from "../../http1/message-parser.ts";

/** A parsed head. */
export interface ServerRequestHead {
  readonly method: string;
  /** The path with its query, without scheme and authority. It begins with a slash, except in `OPTIONS *`. */
  readonly target: string;
  readonly headers: HeaderFields;
  readonly framing: BodyFraming;
  /** Whether the client speaks HTTP/1.0, which knows no chunks. */
  readonly isOld: boolean;
  /** Whether the connection may carry another request: the client allows it, and speaks HTTP/1.1. */
  readonly staysOpen: boolean;
}

const CR = 13;
const LF = 10;
const REQUEST_LINE = /^([!#$%&'*+\-.^_`|~\w]+) ([\x21-\x7e\x80-\xff]+) HTTP\/1\.([01])$/;
/**
 * What no host has (RFC 3986 3.2): behind it a reader of the address would find another path than that of the target. Two Host
 * fields are one value with a blank in it.
 */
const NO_HOST = /[/\\?#@\s]/;
const ABSOLUTE_FORM = /^https?:\/\/[^/?#]*/i;

/** Parses a head without its closing blank line. Throws `ProtocolError`. */
export function parseRequestHead(text: string): ServerRequestHead {
  const lineEnd = endOfLine(text, 0);
  const hasCr = text.charCodeAt(lineEnd - 1) === CR;
  const match = REQUEST_LINE.exec(text.slice(0, hasCr ? lineEnd - 1 : lineEnd));
  // The last line of a head comes without its end.
  if (match === null || (!hasCr && lineEnd < text.length))
    throw new ProtocolError("the request line is not of HTTP/1.1");
  const isOld = match[3] === "0";
  const headers = HeaderFields.parse(text, lineEnd + 1, false);
  const host = headers.get("host");
  if (host === null ? !isOld : NO_HOST.test(host)) {
    throw new ProtocolError("a request has one Host field, which names a host");
  }
  return {
    method: match[1]!,
    target: originFormOf(match[2]!),
    headers,
    framing: framingOf(headers, isOld),
    isOld,
    staysOpen: !isOld && staysOpen(headers, isOld),
  };
}

/** Returns path and query of a target, which clients send to proxies with scheme and authority (RFC 9112 3.2). */
function originFormOf(target: string): string {
  if (target.startsWith("/")) return target;
  if (target === "*") return target;
  const absolute = ABSOLUTE_FORM.exec(target)?.[0];
  if (absolute === undefined) throw new ProtocolError("the target of the request is no path");
  const rest = target.slice(absolute.length);
  return rest.startsWith("/") ? rest : `/${rest}`;
}

/** RFC 9112 6.3: what states no length has no body. */
function framingOf(headers: HeaderFields, isOld: boolean): BodyFraming {
  const stated = statedFraming(headers, isOld);
  return stated === null || (stated.kind === "length" && stated.bytes === 0) ? NO_BODY : stated;
}

/** The parser of one client's connection. */
export class RequestParser extends MessageParser<ServerRequestHead> {
  constructor(sink: MessageSink<ServerRequestHead>) {
    super(sink, false);
  }

  /** Line ends before a request line are skipped, which some clients send behind a body (RFC 9112 2.2). */
  override take(chunk: Buffer, from: number): number {
    let at = from;
    if (this.isIdle) while (chunk[at] === CR || chunk[at] === LF) at++;
    return super.take(chunk, at);
  }

  protected override parseHead(text: string): ServerRequestHead {
    return parseRequestHead(text);
  }

  protected override isInterim(): boolean {
    return false;
  }
}
