// Reads a provider's whole body within limits of size and idle time.

import { ByteBlocks } from "../../base/byte-blocks.ts";
import type { BytePiece } from "../../base/byte-piece.ts";
import type { Cancellation } from "../../base/cancellation.ts";
import type { Clock } from "../../base/clock.ts";
import type { UpstreamBody } from "../../upstream/upstream-response.ts";

/** The largest answer in bytes; images in base64 fit. */
const BODY_BYTES_MAX = 64 * 1024 * 1024;

/** Thrown for an answer that is larger than what is read. */
class AnswerTooLarge extends Error {
  override readonly name = "AnswerTooLarge";
  /** Read by the classification of failures. */
  readonly code = "ETOOLARGE";
}

/** How a body is read. */
export interface BodyLimits {
  readonly clock: Clock;
  /** Silence of this many ms aborts through `abort`. */
  readonly idleMs: number;
  readonly abort: Cancellation;
  /** A body of this many bytes is returned in blocks; infinity means that none is. */
  readonly blocksFrom: number;
}

/** A body as text, or, if it is large, as it arrived, in blocks that belong to the caller. */
export type WholeBodyRead = string | Uint8Array<ArrayBuffer>[];

/** Reads a body, at once when all of it has arrived. Throws or rejects when it is too large or breaks off. */
export function readBody(body: UpstreamBody, limits: BodyLimits): WholeBodyRead | Promise<WholeBodyRead> {
  const first = body.read();
  if (first === null) return "";
  if (first instanceof Promise || first.length >= Math.min(limits.blocksFrom, BODY_BYTES_MAX)) {
    return readPieces(body, limits, first);
  }
  const second = body.read();
  return second === null ? first.text() : readPieces(body, limits, first, second);
}

/** Reads on from the first pieces, which may still be on their way. */
async function readPieces(
  body: UpstreamBody,
  { clock, idleMs, abort, blocksFrom }: BodyLimits,
  ...begun: (BytePiece | Promise<BytePiece | null>)[]
): Promise<WholeBodyRead> {
  let pieces: BytePiece[] = [];
  let blocks: ByteBlocks | null = null;
  let bytes = 0;
  for (let i = 0; ; i++) {
    let piece = begun[i] ?? body.read();
    if (piece instanceof Promise) {
      const stopTimer = clock.after(idleMs, () =>
        abort.abort(new DOMException("the provider fell silent", "TimeoutError")),
      );
      piece = await piece.finally(stopTimer);
    }
    if (piece === null) break;
    bytes += piece.length;
    if (bytes > BODY_BYTES_MAX) {
      body.cancel();
      throw new AnswerTooLarge(`the answer has more than ${BODY_BYTES_MAX} bytes`);
    }
    pieces.push(piece);
    if (bytes < blocksFrom) continue;
    blocks ??= new ByteBlocks();
    for (const one of pieces) blocks.add(one.bytes());
    pieces = [];
  }
  if (blocks !== null) return blocks.filled();
  if (pieces.length === 1) return pieces[0]!.text();
  return Buffer.concat(pieces.map((piece) => piece.bytes())).toString("utf8");
}
