// What goes into a frame comes out of it: any plain data, the same on every node.

import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { decode, encode } from "../../src/bus/codec.ts";

/** As JSON knows it; a record's own `__proto__` is no plain data. */
const plain = fc
  .jsonValue({ maxDepth: 4 })
  .filter((value) => !JSON.stringify(value).includes('"__proto__"'))
  .map((value) => JSON.parse(JSON.stringify(value)) as unknown);

describe("a frame", () => {
  test("carries any plain data there and back", () => {
    fc.assert(
      fc.property(plain, (value) => {
        expect(decode(encode(value))).toEqual(value);
      }),
      { numRuns: 500 },
    );
  });

  test.each([
    ["money at both ends of what is exact", [Number.MAX_SAFE_INTEGER, -Number.MAX_SAFE_INTEGER]],
    ["a wall time", 1_768_478_400_123],
    ["fractions", [0.1, 1e-9, 1.7976931348623157e308]],
    ["texts of any script", ["é", "👩‍👩‍👧", "\u0000", "x".repeat(100_000)]],
    ["empty things", [{}, [], "", null, false, 0]],
    ["keys that look like numbers", { "1": 2, "-1": 3 }],
    ["many shapes of record", Array.from({ length: 300 }, (_, i) => ({ [`field${i}`]: i, a: i }))],
  ])("carries %s", (_what, value) => {
    expect(decode(encode(value))).toEqual(value as object);
  });

  test("leaves out what is undefined: a reader finds what the writer had", () => {
    const value = { a: undefined, b: 1, c: { d: undefined } };
    expect(decode(encode(value))).toStrictEqual({ b: 1, c: {} });
  });

  test("may have a field named like a method of every object", () => {
    const value = { hasOwnProperty: 1, toString: "x" };
    expect(decode(encode(value))).toStrictEqual(value);
  });

  test("shares nothing with what went in", () => {
    const value = { list: [1] };
    const back = decode(encode(value)) as typeof value;
    value.list.push(2);
    expect(back).toEqual({ list: [1] });
  });

  test("does not change when another is made", () => {
    const first = encode({ a: "first" });
    for (let i = 0; i < 1_000; i++) encode({ a: `other ${i}` });
    expect(decode(first)).toEqual({ a: "first" });
  });
});
