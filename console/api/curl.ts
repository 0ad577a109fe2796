// The command that does what a form does, for a shell. It names the key as a variable, so that it can be passed on: this file
// never sees a key.

import { writeExact } from "./exact-json.ts";

/** A call of the API as a page makes it. */
export interface CurlCall {
  /** The service's own, such as `https://gateway.example`. */
  readonly origin: string;
  readonly method: string;
  /** The path with its query, encoded. */
  readonly path: string;
  /** The body's value; absent: there is none. Amounts in it are `Nanos`. */
  readonly body?: unknown;
  /** Further headers by name. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** The variable that has the API key. */
const KEY = "$ARBORGATE_KEY";

/** Quotes a text as one word of a POSIX shell. */
const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/**
 * Returns a command for a POSIX shell that makes the call with the key of `$ARBORGATE_KEY`. Amounts in the body are exact. curl
 * takes no part of the address for a pattern, and no part of the body for the name of a file.
 */
export function curlOf({ origin, method, path, body, headers = {} }: CurlCall): string {
  const parts = [
    `curl --silent --show-error --globoff --request ${quoted(method)} ${quoted(origin + path)}`,
    `--header "Authorization: Bearer ${KEY}"`,
    ...Object.entries(headers).map(([name, value]) => `--header ${quoted(`${name}: ${value}`)}`),
  ];
  if (body !== undefined) {
    parts.push(`--header 'Content-Type: application/json'`, `--data-raw ${quoted(writeExact(body))}`);
  }
  return parts.join(" \\\n  ");
}
