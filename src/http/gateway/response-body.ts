// What the body of a response is made of, so that the runtime sends it with few system calls and without copying much of it at
// once. It changes no byte.

import { type BodySource, isWhole, type StreamedBody, type StreamPart } from "../../gateway/call.ts";

/**
 * Head and body of a response that is made later than in its request's turn leave together up to 16 KB. Of a larger one Bun
 * sends each name and each value of the head by a system call of its own, forty in all, unless its body is a stream.
 */
export const TOGETHER_BYTES_MAX = 14 * 1024;
/** The size of a piece, and of the largest body that is written at once: the runtime keeps what the client does not take. */
export const PIECE_BYTES = 256 * 1024;
/** A larger body is sent in pieces: a response copies a whole one, which holds up the event loop. */
export const UNCUT_BYTES_MAX = 4 * 1024 * 1024;

/** Returns what a response of this body is made of. Where that is a stream, the response states no length. */
export function responseBody(
  body: string | Uint8Array<ArrayBuffer> | StreamedBody,
): string | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array> {
  const isText = typeof body === "string";
  if (!isText && !(body instanceof Uint8Array)) return isWhole(body) ? bodyOfParts(body) : streamed(body);
  const size = isText ? Buffer.byteLength(body) : body.length;
  if (size <= TOGETHER_BYTES_MAX) return body;
  if (size <= PIECE_BYTES) return gathered([bytesOf(body)]);
  return isText || size <= UNCUT_BYTES_MAX ? body : inPieces(body);
}

/** Does the same for a body in parts, which are put together only where they do not leave one by one anyway. */
function bodyOfParts(parts: readonly StreamPart[]): ReturnType<typeof responseBody> {
  let size = 0;
  for (const part of parts) size += part.length;
  const isGathered = size > TOGETHER_BYTES_MAX && size <= PIECE_BYTES;
  return isGathered ? gathered(parts) : responseBody(Buffer.concat(parts.map(bytesOf)));
}

const bytesOf = (part: StreamPart): Uint8Array => (typeof part === "string" ? Buffer.from(part) : part);

/**
 * Returns a response body whose chunks are written straight into the client's connection, without a queue between
 * and without a promise for each of them, unless the client reads slowly.
 */
const streamed = (body: BodySource): ReadableStream<Uint8Array> =>
  direct({ type: "direct", pull: (client) => body.fill(client), cancel: () => body.gone() });

/** Bun gathers writes of this size with the head and the end of the response; a larger one leaves apart from its end. */
const GATHERED_BYTES = 8 * 1024;

function gathered(parts: readonly StreamPart[]): ReadableStream<Uint8Array> {
  return direct({
    type: "direct",
    pull(client) {
      for (const part of parts) writeGathered(client, part);
      client.end();
    },
  });
}

function writeGathered(client: { write(part: StreamPart): unknown }, part: StreamPart): void {
  for (let at = 0; at < part.length; at += GATHERED_BYTES) {
    const to = at + GATHERED_BYTES;
    client.write(typeof part === "string" ? part.slice(at, to) : part.subarray(at, to));
  }
}

function inPieces(body: Uint8Array<ArrayBuffer>): ReadableStream<Uint8Array> {
  let at = 0;
  return new ReadableStream<Uint8Array>({
    pull(client) {
      client.enqueue(body.subarray(at, at + PIECE_BYTES));
      at += PIECE_BYTES;
      if (at >= body.length) client.close();
    },
  });
}

/** The types of the DOM do not know this kind of source. */
const direct = (source: Bun.DirectUnderlyingSource): ReadableStream<Uint8Array> =>
  new ReadableStream(source as unknown as UnderlyingDefaultSource<Uint8Array>);
