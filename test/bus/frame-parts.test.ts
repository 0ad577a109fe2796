// A frame comes out of its parts as it went in; of one that lacks a part nothing comes out, and what waits is bounded.

import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  createFrameJoiner,
  FramePart,
  framePartsOf,
  HEAD,
  joinParts,
  KIND,
  reasonPart,
  splitFrame,
} from "../../src/bus/frame-parts.ts";

const frameOf = (length: number): string =>
  Array.from({ length }, (_, i) => String.fromCharCode(32 + (i % 95))).join("");

/** Text that UTF-8 can encode, also outside the basic plane. */
const text = fc.string({ unit: "binary", maxLength: 300 });

describe("a frame in pieces", () => {
  test("is whole again once its last piece has come, and no sooner", () => {
    fc.assert(
      fc.property(text, fc.integer({ min: 3, max: 100 }), (frame, size) => {
        const { take, waiting } = createFrameJoiner(10_000);
        const taken = splitFrame(7, frame, size).map((piece) => take("a", piece));
        expect(taken.pop()).toBe(frame);
        expect(taken.every((early) => early === undefined)).toBe(true);
        expect(waiting()).toBe(0);
      }),
    );
  });

  test("no piece is longer than its bound, none is cut within a character, and each knows its request", () => {
    expect(splitFrame(7, "👩👩👩👩👩", 3).map((piece) => piece.text)).toEqual(["👩", "👩", "👩", "👩", "👩"]);
    const pieces = splitFrame(7, frameOf(25), 10);
    expect(pieces.map((piece) => piece.text.length)).toEqual([10, 10, 5]);
    expect(pieces.map(({ id, index, count }) => [id, index, count])).toEqual([
      [7, 0, 3],
      [7, 1, 3],
      [7, 2, 3],
    ]);
  });

  test("frames of several senders do not mix", () => {
    const { take } = createFrameJoiner(1_000);
    const [a1, a2] = splitFrame(1, frameOf(20), 10);
    const [b1, b2] = splitFrame(1, "9".repeat(20), 10);
    take("a", a1!);
    take("b", b1!);
    expect(take("a", a2!)).toBe(frameOf(20));
    expect(take("b", b2!)).toBe("9".repeat(20));
  });

  test.each([
    ["the first", [1, 2]],
    ["one in the middle", [0, 2]],
    ["one is twice there", [0, 0, 2]],
  ])("of which is missing: %s: never comes out, and leaves nothing behind", (_what, order) => {
    const pieces = splitFrame(1, frameOf(30), 10);
    const { take, waiting } = createFrameJoiner(1_000);
    expect(order.map((index) => take("a", pieces[index]!))).toEqual(order.map(() => undefined));
    expect(waiting()).toBe(0);
  });

  test("over the bound the frame begun first is given up, the others come out", () => {
    const { take, waiting } = createFrameJoiner(25);
    const [a1, a2] = splitFrame(1, frameOf(20), 10);
    const [b1, b2] = splitFrame(1, frameOf(30), 20);
    take("a", a1!);
    take("b", b1!);
    expect(waiting()).toBe(20);
    expect(take("a", a2!)).toBeUndefined();
    expect(take("b", b2!)).toBe(frameOf(30));
  });

  test("what is forgotten does not wait any more", () => {
    const { take, forget, waiting } = createFrameJoiner(1_000);
    take("a", splitFrame(1, frameOf(20), 10)[0]!);
    forget("a");
    expect(waiting()).toBe(0);
  });

  test("a frame of more pieces than can be counted is a mistake of who cuts it", () => {
    expect(splitFrame(1, frameOf(2 * 16_383), 2)).toHaveLength(16_383);
    expect(() => splitFrame(1, frameOf(2 * 16_383 + 1), 2)).toThrow("32767 characters");
    expect(() => splitFrame(1, "x", 1)).toThrow("pieces of 1");
  });
});

describe("the parts of a message", () => {
  const id = fc.integer({ min: 0, max: 2 ** 32 - 1 });
  const index = fc.integer({ min: 0, max: 16_383 });
  const part = fc
    .tuple(fc.integer({ min: 0, max: 3 }), id, text, index, index)
    .map(([kind, id, text, index, count]) => new FramePart(kind, id, text, index, count));

  test("come out of it as they went in, whatever is in them", () => {
    fc.assert(
      fc.property(fc.array(part, { maxLength: 20 }), (parts) => {
        const message = joinParts(parts);
        expect(message.length).toBe(parts.reduce((sum, one) => sum + one.length, 0));
        expect(framePartsOf(Buffer.from(message).toString())).toEqual(parts);
      }),
    );
  });

  test("end where the message is cut off or is none", () => {
    const parts = [new FramePart(KIND.frame, 1, "one"), new FramePart(KIND.frame, 2, "two")];
    const message = joinParts(parts);
    for (let length = 0; length < message.length; length++) {
      const whole = length < HEAD + 3 ? 0 : 1;
      expect(framePartsOf(message.slice(0, length))).toEqual(parts.slice(0, whole));
    }
    fc.assert(fc.property(fc.string({ unit: "binary" }), (nonsense) => void framePartsOf(nonsense)));
  });

  test("may say why there is no frame", () => {
    const [only] = framePartsOf(joinParts([reasonPart(KIND.busy, 2 ** 32 - 1)]));
    expect(only).toEqual(new FramePart(KIND.busy, 2 ** 32 - 1, ""));
  });
});
