// A client's body, read once and kept once: small JSON as text, everything else into one buffer with room to be changed in.
// What a body must say is its dialect's business.

import { RefusedError } from "../base/errors.ts";
import { isForm } from "../dialect/payload/form-parts.ts";
import { payloadOf } from "../dialect/payload/parse-payload.ts";
import { type BodyBytes, makeRoom } from "../dialect/payload/patched-bytes.ts";
import type { Payload } from "../dialect/payload/payload.ts";
import { jsonPayload } from "../dialect/payload/payload-json.ts";
import { codingOf, DecodedBody } from "./content-coding.ts";
import type { GatewayEndpoint } from "./endpoints.ts";

interface Taking {
  readonly takes: GatewayEndpoint["takes"];
  /** Bytes. */
  readonly most: number;
  /** Throws Refused for what is no JSON, or too deep. */
  readonly parse: (text: string) => unknown;
}

/** JSON below this is read as text. */
const TEXT_BYTES = 1_000_000;

/**
 * Reads the body of a request. Throws Refused: `body_too_large`, `invalid_json`, or `invalid_parameter` for a form that is
 * none and for a content type that the path does not take.
 */
export async function readPayload(request: Request, { takes, most, parse }: Taking): Promise<Payload> {
  const contentType = request.headers.get("content-type") ?? "";
  const form = takes !== "json" && isForm(contentType);
  if (!form && takes !== "json") mustBeTaken(takes, contentType);
  const stated = statedLength(request, most);
  if (!form && stated !== null && stated < TEXT_BYTES) return jsonPayload(await request.text(), parse);
  const body = await readBytes(request, stated, most);
  const found = payloadOf(body, form ? contentType : "application/json", parse);
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
 * The body's length as its head says; null: it does not, or says that of a compressed one. Refuses one larger than `most`
 * bytes.
 */
export function statedLength(request: Request, most: number): number | null {
  const stated = request.headers.get("content-length");
  if (stated === null) return null;
  if (Number(stated) > most) throw tooLarge(most);
  return codingOf(request.headers) === null ? Number(stated) : null;
}

/**
 * The chunks of a body as they come, or as they come out of a compressed one. Throws Refused for more than `most` bytes of
 * either, without holding them, for a coding that is not read, and for what is not in its coding.
 */
export async function* chunksOf(request: Request, most: number): AsyncGenerator<Uint8Array> {
  const coding = codingOf(request.headers);
  const sent = bounded(request.body ?? [], most);
  yield* coding === null ? sent : bounded(new DecodedBody(coding, sent).chunks(), most);
}

async function* bounded(
  body: ReadableStream<Uint8Array> | Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
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

const UNSTATED_BYTES = 256 * 1024;

async function readBytes(request: Request, stated: number | null, most: number): Promise<BodyBytes> {
  const isCoded = codingOf(request.headers) !== null;
  let room = makeRoom(stated ?? UNSTATED_BYTES);
  let length = 0;
  for await (const chunk of chunksOf(request, most)) {
    if (room.from + length + chunk.length > room.to) room = larger(room, length, length + chunk.length);
    room.buffer.set(chunk, room.from + length);
    length += chunk.length;
    // A decoder's memory is its own.
    if (!isCoded) giveBack(chunk);
  }
  return { ...room, to: room.from + length };
}

/** The memory of a chunk that was copied: waiting for the collector, the chunks of a large body would be a second one. */
function giveBack({ buffer, byteLength }: Uint8Array): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0);
}

/** Twice the room: whoever does not say how much he sends is copied a few times, not at every chunk. */
function larger(room: BodyBytes, length: number, least: number): BodyBytes {
  const more = makeRoom(Math.max(2 * length, least));
  more.buffer.set(room.buffer.subarray(room.from, room.from + length), more.from);
  return more;
}
