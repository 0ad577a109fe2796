// Writes a response whose body is known: head and body by one call, unless the body is large. It frames nothing.

import type { StreamPart } from "../../gateway/call.ts";
import type { SocketWriter } from "../../http1/socket-writer.ts";
import { isSource, lengthOfParts, type ResponseFraming, type ServerBody } from "./server-response.ts";

/** A larger body is written apart from its head, so that it is not copied. */
const JOINED_BYTES_MAX = 256 * 1024;

/** Writes a head, and behind it a body that is no source. `framing` is that of the head. */
export function writeKnown(
  out: SocketWriter,
  head: string,
  body: ServerBody,
  framing: ResponseFraming,
): void {
  if (body === null || isSource(body)) out.writeText(head, head.length);
  else if (typeof body === "string") out.writeText(head + body, head.length + Number(framing));
  else if (!(body instanceof Uint8Array)) out.writeBytes(concatParts([head, ...body]));
  else if (body.length <= JOINED_BYTES_MAX) out.writeBytes(concatParts([head, body]));
  else {
    out.writeText(head, head.length);
    out.writeBytes(body);
  }
}

/** Returns the bytes of parts, one behind another. */
export function concatParts(parts: readonly StreamPart[]): Buffer {
  const joined = Buffer.allocUnsafe(lengthOfParts(parts));
  let at = 0;
  for (const part of parts) {
    if (typeof part === "string") joined.write(part, at, "latin1");
    else joined.set(part, at);
    at += part.length;
  }
  return joined;
}
