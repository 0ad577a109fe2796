// The command that does what a form does, for a shell. It names the key as a variable, and secrets of the body as words to be
// replaced, so that it can be passed on and kept in the history of a shell.

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

/** Names of secrets in bodies: provider keys, mail passwords, and the API key that `/x-root` may be given. */
const SECRETS: ReadonlySet<string> = new Set(["SecretKey", "private_key", "EMAIL_PASS", "key"]);

/** Returns a body with a word in the place of each secret; one that is taken away, by null or an empty text, stays. */
function withoutSecrets(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutSecrets);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [
      name,
      SECRETS.has(name) && typeof inner === "string" && inner !== "" ? `<${name}>` : withoutSecrets(inner),
    ]),
  );
}

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
    parts.push(
      `--header 'Content-Type: application/json'`,
      `--data-raw ${quoted(writeExact(withoutSecrets(body)))}`,
    );
  }
  return parts.join(" \\\n  ");
}
