// Bytes named by their place: the parts of a piece are those of its bytes, and its text that of its bytes alone.

import { expect, test } from "bun:test";
import fc from "fast-check";
import { BytePiece } from "../../src/base/byte-piece.ts";

test("length, bytes, text and parts are those of the bytes in its place", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 60 }), fc.nat(60), fc.nat(60), fc.nat(60), (given, a, b, cut) => {
      const [from, to] = [Math.min(a, b, given.length), Math.min(Math.max(a, b), given.length)];
      const meant = Buffer.from(given.slice(from, to));
      const piece = new BytePiece(Buffer.from(given), from, to);
      const length = Math.min(cut, meant.length);
      expect(piece.length).toBe(meant.length);
      expect(piece.bytes()).toEqual(meant);
      expect(piece.text()).toBe(new TextDecoder("utf-8", { ignoreBOM: true }).decode(meant));
      expect(piece.first(length).bytes()).toEqual(meant.subarray(0, length));
      expect(piece.behind(length).bytes()).toEqual(meant.subarray(length));
    }),
  );
});

test("a view of other memory is read as its own bytes, without a copy", () => {
  const memory = new Uint8Array([1, 2, 3, 4]);
  const piece = BytePiece.of(memory.subarray(1, 3));
  expect([...piece.bytes()]).toEqual([2, 3]);
  expect(piece.bytes().buffer).toBe(memory.buffer);
});
