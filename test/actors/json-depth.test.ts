// How deep a value is nested: the levels of lists and objects, whatever else is in them.

import { expect, test } from "bun:test";
import { nestedDeeper } from "../../actors/json-depth.ts";

test.each<[value: unknown, levels: number]>([
  [1, 0],
  [null, 0],
  [[], 1],
  [{}, 1],
  [{ a: null, b: 1, c: [] }, 2],
  [[[{ a: [1] }], []], 4],
])("%j has %d levels", (value, levels) => {
  expect(nestedDeeper(value, levels)).toBe(false);
  if (levels > 0) expect(nestedDeeper(value, levels - 1)).toBe(true);
});

test("what is nested beyond all measure is found out without following it", () => {
  const depth = 1_000_000;
  expect(nestedDeeper(JSON.parse("[".repeat(depth) + "]".repeat(depth)), 500)).toBe(true);
});
