// Differences between two values of a setting, and what going back to a version changes.

import { describe, expect, test } from "bun:test";
import { changesBackTo } from "../../../console/api/config-history.ts";
import { differencesOf } from "../../../console/api/difference.ts";
import { readExact } from "../../../console/api/exact-json.ts";

/** Each difference in a line. */
const lines = (before: unknown, after: unknown) =>
  differencesOf(before, after).map(({ path, before: was, after: is }) => `${path.join(".")}: ${was} > ${is}`);

describe("differences of a setting", () => {
  test.each([
    [
      "a map, entry by entry",
      { a: 1, b: 2, d: 0 },
      { a: 1, b: 3, c: 4 },
      ["b: 2 > 3", "c: null > 4", "d: 0 > null"],
    ],
    [
      "the text of an object, as the object",
      '{"ChatPricing":{"m":{"InputText":0.5,"OutputText":2}}}',
      '{"ChatPricing":{"m":{"OutputText":2},"n":{"Sizes":{"1x1":1}}}}',
      ["ChatPricing.m.InputText: 0.5 > null", 'ChatPricing.n.Sizes: null > {"1x1":1}'],
    ],
    ["a map that was not there", "", '{"CallPricing":{"x":{"Call":1}}}', ["CallPricing.x.Call: null > 1"]],
    ["a list", { m: ["a", "b"] }, { m: ["b"] }, ["m: a, b > b"]],
    ["a text that is another one", "a", "b", [": a > b"]],
    ["a text in the place of a map", { a: 1 }, "b", [': {"a":1} > b']],
    ["nothing", { a: { b: 1 } }, { a: { b: 1 } }, []],
  ])("%s", (_, before, after, expected) => {
    expect(lines(before, after)).toEqual(expected);
  });

  test("amounts are US dollars", () => {
    const { USER_API_BALANCE: balance } = readExact<{ USER_API_BALANCE: { before: number; after: number } }>(
      '{"USER_API_BALANCE":{"before":0,"after":2.5}}',
    );
    expect(lines(balance.before, balance.after)).toEqual([": 0 > 2.5"]);
  });
});

test("the way back to a version has each setting once, from its newest to its oldest value", () => {
  const at = "2027-01-01T00:00:00.000Z";
  const versions = [
    {
      version: 4,
      at,
      by: 2,
      changes: { A: { before: 2, after: 3 }, EMAIL_PASS: { before: "", after: "***" } },
    },
    { version: 3, at, by: 2, changes: { A: { before: 1, after: 2 }, B: { before: "", after: "b" } } },
    { version: 2, at, by: 2, changes: { A: { before: 0, after: 1 } } },
  ];
  expect(changesBackTo(2, versions)).toEqual([
    { name: "A", before: 3, after: 1 },
    { name: "B", before: "b", after: "" },
  ]);
  expect(changesBackTo(4, versions)).toEqual([]);
});
