// How the body of a message is framed, as its header fields state it (RFC 9112 6.3). Fields that two parsers could read
// differently are an error. What a message without such fields has for a body is for its own parser to say.

import type { HeaderReader } from "../base/header-reader.ts";
import { ProtocolError, withoutBlanks } from "./header-fields.ts";

/** How the end of a body is found. */
export type BodyFraming =
  | { readonly kind: "none" }
  | { readonly kind: "length"; readonly bytes: number }
  | { readonly kind: "chunked" }
  /** The body ends with the connection. Responses alone have such. */
  | { readonly kind: "close" };

/** A message without a body. */
export const NO_BODY: BodyFraming = { kind: "none" };

/**
 * Returns the framing that the fields state; null when they state none. `isOld`: the message is of HTTP/1.0, which knows no
 * chunks. Throws `ProtocolError`.
 */
export function statedFraming(headers: HeaderReader, isOld: boolean): BodyFraming | null {
  const coding = headers.get("transfer-encoding");
  const stated = headers.get("content-length");
  if (coding !== null) {
    if (isOld || stated !== null) throw new ProtocolError("the length of the body is stated in two ways");
    if (coding.toLowerCase() !== "chunked") throw new ProtocolError("the transfer coding is not supported");
    return { kind: "chunked" };
  }
  return stated === null ? null : { kind: "length", bytes: contentLengthOf(stated) };
}

const DIGITS = /^\d{1,15}$/;

/** Returns the number of `content-length` (RFC 9112 6.3): one, or the same several times. Throws `ProtocolError` for others. */
function contentLengthOf(stated: string): number {
  if (DIGITS.test(stated)) return Number(stated);
  const [first = "", ...more] = stated.split(",").map((value) => withoutBlanks(value, 0, value.length));
  if (!DIGITS.test(first) || more.some((value) => value !== first)) {
    throw new ProtocolError("content-length is not one number");
  }
  return Number(first);
}
