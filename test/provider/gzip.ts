// Compression of an answer, asked or not: each piece of a score becomes a piece that a reader can unpack at once.
// One gzip stream over all of them, its foot sent only by an answer that ends well.

import { constants, crc32, deflateRawSync } from "node:zlib";
import type { Piece, Score } from "./score.ts";

/** Deflate, no name, no time, an unknown system. */
const HEAD = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255]);
/** A last block without content, then checksum and size. */
const FOOT_BYTES = 10;

export function gzipped(score: Score): Score {
  let checksum = 0;
  let size = 0;
  let packed = HEAD.length + FOOT_BYTES;
  const pieces = score.pieces.map((piece, nth): Piece => {
    const plain = Buffer.from(piece.data as Uint8Array);
    checksum = crc32(plain, checksum);
    size += plain.length;
    const block = deflateRawSync(plain, { finishFlush: constants.Z_SYNC_FLUSH });
    packed += block.length;
    return { data: nth === 0 ? Buffer.concat([HEAD, block]) : block, tokens: piece.tokens };
  });
  const foot = Buffer.alloc(FOOT_BYTES);
  foot.writeUInt16LE(3, 0);
  foot.writeUInt32LE(checksum, 2);
  foot.writeUInt32LE(size, 6);
  if (score.ending === "end") {
    pieces.push({ data: pieces.length === 0 ? Buffer.concat([HEAD, foot]) : foot, tokens: 0 });
  }
  return { ...score, pieces, ...(score.lengthBytes !== undefined && { lengthBytes: packed }) };
}
