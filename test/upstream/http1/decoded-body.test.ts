// A coded body that breaks off: all that can be decoded of it comes first, then the error, however it was split.

import { expect, test } from "bun:test";
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from "node:zlib";
import { BytePiece } from "../../../src/base/byte-piece.ts";
import { decodedBody } from "../../../src/upstream/http1/decoded-body.ts";

const TEXT = Array.from({ length: 400 }, (_, i) => `data: event ${i} ${Math.sin(i)}\n\n`).join("");
const CODED: Readonly<Record<string, Buffer>> = {
  gzip: gzipSync(TEXT),
  deflate: deflateSync(TEXT),
  br: brotliCompressSync(TEXT),
  zstd: zstdCompressSync(TEXT),
};
const CUT = new Error("the connection broke off");

/** Decodes the first bytes of a coded body in pieces of `size`. Returns the text, and the error it ended with. */
async function decode(
  coding: string,
  bytes: number,
  size: number,
): Promise<{ text: string; error: unknown }> {
  const coded = CODED[coding]!;
  let at = 0;
  const source = {
    read() {
      if (at >= bytes) return bytes < coded.length ? Promise.reject(CUT) : null;
      const piece = coded.subarray(at, Math.min(bytes, at + size));
      at += piece.length;
      return BytePiece.of(piece);
    },
    cancel: () => undefined,
    finish: () => undefined,
  };
  const body = decodedBody(source, coding)!;
  const pieces: Uint8Array[] = [];
  let error: unknown = null;
  try {
    for (let piece = await body.read(); piece !== null; piece = await body.read()) pieces.push(piece.bytes());
  } catch (thrown) {
    error = thrown;
  }
  return { text: Buffer.concat(pieces).toString(), error };
}

test.each(Object.keys(CODED))(
  "%s: what came before the break is decoded, then the break is seen",
  async (coding) => {
    const { length } = CODED[coding]!;
    let longest = 0;
    for (const bytes of [0, 1, 12, Math.floor(length / 2), length - 3]) {
      for (const size of [1, 50, length]) {
        const { text, error } = await decode(coding, bytes, size);
        expect(error).toBe(CUT);
        expect(TEXT.startsWith(text)).toBe(true);
        longest = Math.max(longest, text.length);
      }
    }
    if (coding !== "zstd") expect(longest).toBeGreaterThan(1_000);
  },
);

test.each(Object.keys(CODED))("%s: a complete body is its text, in pieces of any size", async (coding) => {
  for (const size of [1, 50, CODED[coding]!.length]) {
    expect(await decode(coding, CODED[coding]!.length, size)).toEqual({ text: TEXT, error: null });
  }
});

test.each(Object.keys(CODED))("%s: a body whose coding is broken is cancelled, once", async (coding) => {
  let cancelled = 0;
  const source = {
    read: () => BytePiece.of(Buffer.alloc(1_000, 0xee)),
    cancel: () => cancelled++,
    finish: () => undefined,
  };
  const body = decodedBody(source, coding)!;
  await expect(Promise.resolve(body.read())).rejects.toBeInstanceOf(Error);
  expect(cancelled).toBe(1);
});
