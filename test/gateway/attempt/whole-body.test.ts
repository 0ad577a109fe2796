// A provider's whole body: as text, and a large one in blocks that belong to the reader, whatever becomes of the pieces.

import { expect, test } from "bun:test";
import { BytePiece } from "../../../src/base/byte-piece.ts";
import { Cancellation } from "../../../src/base/cancellation.ts";
import { readBody } from "../../../src/gateway/attempt/whole-body.ts";
import { FAILURE_RULES, fromError } from "../../../src/upstream/upstream-failure.ts";
import { manualClock } from "../../runtime/manual-clock.ts";

const read = (pieces: readonly Uint8Array[], blocksFrom: number) => {
  const left = pieces.map(BytePiece.of);
  const body = { read: () => left.shift() ?? null, cancel: () => undefined, finish: () => undefined };
  return readBody(body, { clock: manualClock(), idleMs: 1_000, abort: new Cancellation(), blocksFrom });
};

test("a small body is its text", async () => {
  expect(await read([Buffer.from("a"), Buffer.from("é")], 4)).toBe("aé");
  expect(await read([Buffer.from("a".repeat(100))], Number.POSITIVE_INFINITY)).toBe("a".repeat(100));
});

test("a body that is too large says so, and is no failure of the connection", async () => {
  const piece = new Uint8Array(1024 * 1024);
  const reading = async () => read(Array(65).fill(piece), Number.POSITIVE_INFINITY);
  const failure = await reading().then(() => null, fromError);
  expect(failure?.name).toBe("answer_too_large");
  expect(FAILURE_RULES.answer_too_large).toEqual({ key: "none", over: false });
});

test("a large body is the same bytes in blocks, and no memory of its pieces", async () => {
  const pieces = Array.from({ length: 50 }, (_, i) => new Uint8Array(65_000).fill(i));
  const whole = Buffer.concat(pieces);
  const blocks = await read(pieces, 100_000);
  if (typeof blocks === "string") throw new Error("it is large");
  for (const piece of pieces) piece.fill(255);
  expect(Buffer.concat(blocks).equals(whole)).toBe(true);
  expect(new Set(blocks.map(({ buffer }) => buffer)).size).toBe(blocks.length);
});
