// The client's headers that are sent on to providers. All others concern only the client and this service. It reads no other
// header, and adds none.

import { type Refusal, RefusedError } from "../base/errors.ts";
import type { HeaderReader } from "../base/header-reader.ts";
import { isHeaderValue } from "../http1/header-fields.ts";

const FORWARDED = ["openai-beta", "anthropic-version", "anthropic-beta"];
/** For audio the `accept` header selects the format. */
const FORWARDED_FOR_SOUND = [...FORWARDED, "accept"];

const NONE: Readonly<Record<string, string>> = {};

/** Returns the headers that a request sends on, which may be one for sound. Throws like `forwardedHeader`. */
export function forwardedHeaders(
  headers: HeaderReader,
  isForSound: boolean,
): Readonly<Record<string, string>> {
  let forwarded: Record<string, string> | null = null;
  for (const name of isForSound ? FORWARDED_FOR_SOUND : FORWARDED) {
    const value = forwardedHeader(headers, name);
    if (value === null) continue;
    forwarded ??= {};
    forwarded[name] = value;
  }
  return forwarded ?? NONE;
}

/**
 * Returns the value of a header to send on; null when the client did not send it. Throws `RefusedError` for a value that
 * cannot stand in a request: the server takes control characters, and no key is to blame for those.
 */
export function forwardedHeader(headers: HeaderReader, name: string): string | null {
  const value = headers.get(name);
  if (value !== null && !isHeaderValue(value)) throw new RefusedError(invalidHeader(name));
  return value;
}

const invalidHeader = (name: string): Refusal => ({
  code: "invalid_parameter",
  message: `The header ${name} has a control character. Send it without.`,
});
