// A frame comes out of its parts as it went in; of one that lacks a part nothing comes out, and what waits is bounded.

import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { createFrameJoiner, HEAD, KIND, reasonMessage, splitFrame } from "../../src/bus/frame-chunks.ts";

const frameOf = (length: number): Uint8Array => Uint8Array.from({ length }, (_, i) => i % 251);

describe("a frame in parts", () => {
  test("is whole again once its last part has come, and no sooner", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 600 }), fc.integer({ min: 3, max: 100 }), (length, size) => {
        const frame = frameOf(length);
        const { take, waiting } = createFrameJoiner(10_000);
        const taken = [...splitFrame(frame, size)].map((message) => take("a", message));
        expect(taken.pop()).toEqual(frame);
        expect(taken.every((early) => early === undefined)).toBe(true);
        expect(waiting()).toBe(0);
      }),
    );
  });

  test("no message is larger than its bound and the head", () => {
    const sizes = [...splitFrame(frameOf(25), 10)].map((message) => message.length - HEAD);
    expect(sizes).toEqual([10, 10, 5]);
  });

  test("frames of several senders do not mix", () => {
    const { take } = createFrameJoiner(1_000);
    const [a1, a2] = [...splitFrame(frameOf(20), 10)];
    const [b1, b2] = [...splitFrame(new Uint8Array(20).fill(9), 10)];
    take("a", a1!);
    take("b", b1!);
    expect(take("a", a2!)).toEqual(frameOf(20));
    expect(take("b", b2!)).toEqual(new Uint8Array(20).fill(9));
  });

  test.each([
    ["the first", [1, 2]],
    ["one in the middle", [0, 2]],
    ["one is twice there", [0, 0, 2]],
  ])("of which is missing: %s: never comes out, and leaves nothing behind", (_what, order) => {
    const messages = [...splitFrame(frameOf(30), 10)];
    const { take, waiting } = createFrameJoiner(1_000);
    expect(order.map((part) => take("a", messages[part]!))).toEqual(order.map(() => undefined));
    expect(waiting()).toBe(0);
  });

  test("over the bound the frame begun first is given up, the others come out", () => {
    const { take, waiting } = createFrameJoiner(25);
    const [a1, a2] = [...splitFrame(frameOf(20), 10)];
    const [b1, b2] = [...splitFrame(frameOf(30), 20)];
    take("a", a1!);
    take("b", b1!);
    expect(waiting()).toBe(20);
    expect(take("a", a2!)).toBeUndefined();
    expect(take("b", b2!)).toEqual(frameOf(30));
  });

  test("what is forgotten does not wait any more", () => {
    const { take, forget, waiting } = createFrameJoiner(1_000);
    take("a", [...splitFrame(frameOf(20), 10)][0]!);
    forget("a");
    expect(waiting()).toBe(0);
  });

  test("a frame of more parts than can be counted is a mistake of who cuts it", () => {
    expect(() => [...splitFrame(frameOf(256), 1)]).toThrow("256 bytes");
  });
});

test("a word in place of a frame says which it is", () => {
  expect([...reasonMessage(KIND.busy)]).toEqual([KIND.busy, 0, 1]);
});
