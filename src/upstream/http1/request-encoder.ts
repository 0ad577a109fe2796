// Encodes a request of HTTP/1.1: its head, and its body with a stated length. It refuses what could end a header
// early, so that no value of a client or of a configuration can begin another request.

import type { HttpRequest } from "./exchange.ts";

/** A request before it is encoded. */
export interface RequestParts {
  readonly method: string;
  /** Path and query. */
  readonly target: string;
  readonly host: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array | null;
}

/** Bodies up to this are copied behind the head, so that one write sends both. */
const COPIED_BYTES_MAX = 64 * 1024;
const NAME = /^[!#$%&'*+\-.^_`|~\w]+$/;
/** Visible characters, blanks, tabs, and the upper half of latin1. */
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;
const TARGET = /^[\x21-\x7e]+$/;
const DEFAULTS: Readonly<Record<string, string>> = { accept: "*/*", "user-agent": "arborgate" };

/** Encodes a request. Throws `TypeError` for a name, value or target that cannot stand in a head. */
export function encodeRequest(parts: RequestParts): HttpRequest {
  const { method, body } = parts;
  const bodyBytes = typeof body === "string" ? Buffer.byteLength(body) : (body?.length ?? 0);
  const head = headOf(parts, body === null && method !== "POST" ? null : bodyBytes);
  if (body === null) return { bytes: Buffer.from(head, "latin1"), more: null };
  if (bodyBytes > COPIED_BYTES_MAX) {
    const more = typeof body === "string" ? Buffer.from(body) : body;
    return { bytes: Buffer.from(head, "latin1"), more };
  }
  const bytes = Buffer.allocUnsafe(head.length + bodyBytes);
  bytes.write(head, 0, "latin1");
  if (typeof body === "string") bytes.write(body, head.length);
  else bytes.set(body, head.length);
  return { bytes, more: null };
}

function headOf({ method, target, host, headers }: RequestParts, bodyBytes: number | null): string {
  if (!TARGET.test(target) || !VALUE.test(host)) throw new TypeError("the address cannot stand in a request");
  let head = `${method} ${target} HTTP/1.1\r\nhost: ${host}\r\n`;
  for (const name in headers) head += fieldOf(name, headers[name]!);
  for (const name in DEFAULTS) if (!(name in headers)) head += fieldOf(name, DEFAULTS[name]!);
  return `${head}${bodyBytes === null ? "" : `content-length: ${bodyBytes}\r\n`}connection: keep-alive\r\n\r\n`;
}

function fieldOf(name: string, value: string): string {
  if (!NAME.test(name)) throw new TypeError("a header has no valid name");
  if (!VALUE.test(value)) throw new TypeError(`the header ${name} has an invalid value`);
  return `${name}: ${value}\r\n`;
}
