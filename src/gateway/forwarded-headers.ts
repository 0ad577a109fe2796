// The client's headers that are sent on to providers. All others concern only the client and this service. It reads no other
// header, and adds none.

import { type Refusal, RefusedError } from "../base/errors.ts";
import { isHeaderValue } from "../upstream/transport.ts";

const FORWARDED = ["openai-beta", "anthropic-version", "anthropic-beta"];
/** For audio the `accept` header selects the format. */
const FORWARDED_FOR_SOUND = [...FORWARDED, "accept"];

const NONE: Readonly<Record<string, string>> = {};

/** Returns the headers that a request sends on, which may be one for sound. Throws like `forwardedHeader`. */
export function forwardedHeaders(headers: Headers, isForSound: boolean): Readonly<Record<string, string>> {
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
 * cannot stand in a request: Bun's server takes the character 0x7f, and no key is to blame for that.
 */
export function forwardedHeader(headers: Headers, name: string): string | null {
  const value = headers.get(name);
  if (value !== null && !isHeaderValue(value)) throw new RefusedError(invalidHeader(name));
  return value;
}

const invalidHeader = (name: string): Refusal => ({
  code: "invalid_parameter",
  message: `The header ${name} has a control character. Send it without.`,
});
