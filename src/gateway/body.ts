// Reads the body of a client's request once into memory: small JSON as text, everything else as bytes, in which fields are
// edited in place and which are sent on as they came. A large body is read by a worker thread, because it would hold
// up all other requests. What a body must contain is decided by its dialect.

import { ByteBlocks } from "../base/byte-blocks.ts";
import type { CancelSignal } from "../base/cancellation.ts";
import { RefusedError } from "../base/errors.ts";
import type { HeaderReader } from "../base/header-reader.ts";
import { isForm } from "../dialect/payload/form-parts.ts";
import { type BodyBytes, makeRoom } from "../dialect/payload/patched-bytes.ts";
import type { Payload } from "../dialect/payload/payload.ts";
import { formPayload } from "../dialect/payload/payload-form.ts";
import { jsonPayload } from "../dialect/payload/payload-json.ts";
import { codingOf, DecodedBody } from "./content-coding.ts";
import { type GatewayEndpoint, hashPrefixOf } from "./endpoints.ts";
import { parseJsonBody } from "./json-body.ts";
import { readLargePayload } from "./large-body/large-payload.ts";
import { readMediumPayload } from "./large-body/medium-payload.ts";
import type { LargeBodies } from "./large-body/worker-pool.ts";

/** A smaller body is read and sent as text: to encode it again costs less than what reading bytes needs beside. */
const TEXT_BYTES_MAX = 16 * 1024;

/** A request whose body is read, once: the server's and the runtime's both fit. */
export interface BodyRequest {
  readonly headers: HeaderReader;
  /** Null without a body. */
  readonly body: AsyncIterable<Uint8Array> | null;
  /** Aborted when the client disconnects. */
  readonly signal: CancelSignal;
  text(): Promise<string>;
  /** Resolves to bytes that belong to the caller, in a buffer that may have others beside them. */
  bytes(): Promise<Uint8Array>;
}

interface Taking extends Pick<GatewayEndpoint, "path" | "takes"> {
  /** The largest size accepted, in bytes. */
  readonly most: number;
  readonly large: LargeBodies;
}

/**
 * Reads the body of a request. Throws `RefusedError`: `body_too_large`, `invalid_json`, or
 * `invalid_parameter` for a malformed form, for a content type that the path does not accept, and for a
 * content coding that cannot be read; `service_unavailable` when too many large bodies wait to be read.
 */
export function readPayload(request: BodyRequest, taking: Taking): Promise<Payload> {
  try {
    const { takes, most, large } = taking;
    const contentType = takes === "json" ? "" : (request.headers.get("content-type") ?? "");
    const form = takes !== "json" && isForm(contentType);
    if (!form && takes !== "json") mustBeTaken(takes, contentType);
    const stated = statedLength(request, most);
    const isText = !form && stated !== null && stated < Math.min(TEXT_BYTES_MAX, large.bytesMin);
    return isText
      ? request.text().then(textPayload)
      : readBytesPayload(request, taking, stated, form ? contentType : null);
  } catch (error) {
    return Promise.reject(error);
  }
}

const textPayload = (text: string): Payload => jsonPayload(text, parseJsonBody);

/** Reads a body as bytes. `formType` is the content type of a form; null for JSON. */
async function readBytesPayload(
  request: BodyRequest,
  { path, most, large }: Taking,
  stated: number | null,
  formType: string | null,
): Promise<Payload> {
  const form = formType !== null;
  const contentType = formType ?? "application/json";
  const body = await readBytes(request, stated, most);
  if (body.to - body.from >= large.bytesMin) {
    const isRepeatable = request.headers.has("idempotency-key");
    const hashPrefix = isRepeatable ? hashPrefixOf(path) : null;
    const input = { path, body: withOwnBuffer(body), contentType, hashPrefix };
    return readLargePayload(large, input, request.signal);
  }
  if (!form) return readMediumPayload({ path, body });
  const found = formPayload(body, contentType);
  if (found.ok) return found.payload;
  throw new RefusedError({ code: "invalid_parameter", message: `The body ${found.fault}.` });
}

function mustBeTaken(takes: GatewayEndpoint["takes"], contentType: string): void {
  if (takes === "either" && /^\s*(application\/([\w.-]+\+)?json\b|$)/i.test(contentType)) return;
  const other = takes === "either" ? " or application/json" : "";
  const message = `The content type must be multipart/form-data${other} on this path.`;
  throw new RefusedError({ code: "invalid_parameter", message });
}

/**
 * Returns the body's length in bytes by its content-length. Returns null when the header is missing or states
 * the length of a compressed body. Throws `RefusedError` (`body_too_large`) when the header exceeds `most`
 * bytes.
 */
export function statedLength(request: BodyRequest, most: number): number | null {
  const stated = request.headers.get("content-length");
  if (stated === null) return null;
  if (Number(stated) > most) throw tooLarge(most);
  return codingOf(request.headers) === null ? Number(stated) : null;
}

/**
 * Yields the chunks of a body, decompressed where it has a content coding. Throws `RefusedError` for more
 * than `most` bytes, before or after decompression, without buffering them; for an unknown coding; and for
 * bytes that do not match their coding.
 */
export async function* chunksOf(request: BodyRequest, most: number): AsyncGenerator<Uint8Array> {
  const coding = codingOf(request.headers);
  const sent = bounded(request.body ?? [], most);
  yield* coding === null ? sent : bounded(new DecodedBody(coding, sent).chunks(), most);
}

async function* bounded(
  body: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  most: number,
): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.byteLength;
    if (bytes > most) throw tooLarge(most);
    yield chunk;
  }
}

const tooLarge = (most: number): RefusedError =>
  new RefusedError({ code: "body_too_large", message: `The body may have ${most} bytes.` });

/** Returns a body whose buffer can be handed to another thread, since nothing else is in it. */
const withOwnBuffer = (body: BodyBytes): BodyBytes =>
  body.buffer.byteLength === body.buffer.buffer.byteLength
    ? body
    : { ...body, buffer: new Uint8Array(body.buffer) };

const UNSTATED_BYTES = 256 * 1024;

/** A body of at most this size is read at once: the runtime holds it twice for a moment. */
const AT_ONCE_BYTES = 4 * 1024 * 1024;

async function readBytes(request: BodyRequest, stated: number | null, most: number): Promise<BodyBytes> {
  if (stated !== null && stated <= AT_ONCE_BYTES) {
    const buffer = await request.bytes();
    if (buffer.length > most) throw tooLarge(most);
    return { buffer, from: 0, to: buffer.length };
  }
  const isCoded = codingOf(request.headers) !== null;
  const room = makeRoom(stated ?? UNSTATED_BYTES);
  const blocks = new ByteBlocks(room.buffer.subarray(room.from, room.to));
  for await (const chunk of chunksOf(request, most)) {
    blocks.add(chunk);
    // A decoder owns the memory of its chunks.
    if (!isCoded) giveBack(chunk);
  }
  const filled = blocks.filled();
  return filled.length === 1 ? { ...room, to: room.from + filled[0]!.length } : joined(filled);
}

/** Bytes that are copied before the event loop gets a turn. */
const COPIED_BYTES = 4 * 1024 * 1024;

/** Joins the blocks of a body of unknown length, and frees each. */
async function joined(blocks: readonly Uint8Array<ArrayBuffer>[]): Promise<BodyBytes> {
  const room = makeRoom(blocks.reduce((sum, block) => sum + block.length, 0));
  let at = room.from;
  let turnAt = at + COPIED_BYTES;
  for (const block of blocks) {
    room.buffer.set(block, at);
    at += block.length;
    block.buffer.transfer(0);
    if (at < turnAt) continue;
    turnAt = at + COPIED_BYTES;
    await new Promise(setImmediate);
  }
  return room;
}

/**
 * Frees the memory of a chunk that was copied. If it waited for the garbage collector, the chunks of a large
 * body would take its memory a second time.
 */
function giveBack({ buffer, byteLength }: Uint8Array): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0);
}
