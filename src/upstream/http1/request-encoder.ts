// Encodes a request of HTTP/1.1: its head, and its body with a stated length. It refuses what could end a header
// early, so that no value of a client or of a configuration can begin another request.

import type { HeaderRecord } from "../../base/header-reader.ts";
import { isHeaderValue } from "../../http1/header-fields.ts";
import { ACCEPTED_CODINGS } from "./decoded-body.ts";
import type { HttpRequest } from "./exchange.ts";

/** A request without its body. */
export interface RequestParts {
  readonly method: string;
  /** Path and query. */
  readonly target: string;
  readonly host: string;
  readonly headers: HeaderRecord;
}

/** Bodies up to this are copied behind the head, so that one write sends both. */
const COPIED_BYTES_MAX = 64 * 1024;
const NAME = /^[!#$%&'*+\-.^_`|~\w]+$/;
const TARGET = /^[\x21-\x7e]+$/;
const DEFAULTS: HeaderRecord = {
  "accept-encoding": ACCEPTED_CODINGS,
  accept: "*/*",
  "user-agent": "arborgate",
};

/** Encodes a request. Throws `TypeError` for a name, value or target that cannot stand in a head. */
export function encodeRequest(parts: RequestParts, body: string | Uint8Array | null): HttpRequest {
  const bodyBytes = typeof body === "string" ? Buffer.byteLength(body) : (body?.length ?? 0);
  const length = body === null && parts.method !== "POST" ? "" : `content-length: ${bodyBytes}\r\n`;
  const head = `${fieldsOf(parts)}${length}connection: keep-alive\r\n\r\n`;
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

/** A head without what depends on the body, and what else it was made of. */
interface EncodedFields {
  readonly method: string;
  readonly target: string;
  readonly host: string;
  readonly text: string;
}

/** By the object of the headers, which are the same for many requests. */
const encodedFields = new WeakMap<RequestParts["headers"], EncodedFields>();

function fieldsOf({ method, target, host, headers }: RequestParts): string {
  const known = encodedFields.get(headers);
  if (known !== undefined && known.method === method && known.target === target && known.host === host) {
    return known.text;
  }
  if (!TARGET.test(target) || !isHeaderValue(host))
    throw new TypeError("the address cannot stand in a request");
  let text = `${method} ${target} HTTP/1.1\r\nhost: ${host}\r\n`;
  for (const name in headers) text += fieldOf(name, headers[name]!);
  for (const name in DEFAULTS) if (!(name in headers)) text += fieldOf(name, DEFAULTS[name]!);
  encodedFields.set(headers, { method, target, host, text });
  return text;
}

function fieldOf(name: string, value: string): string {
  if (!NAME.test(name)) throw new TypeError("a header has no valid name");
  if (!isHeaderValue(value)) throw new TypeError(`the header ${name} has an invalid value`);
  return `${name}: ${value}\r\n`;
}
