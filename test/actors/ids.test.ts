// The tree of accounts as its ids and DNA tell it.

import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { type AccountId, ancestorsOf, dnaBelow, ownerOf, ROOT } from "../../actors/ids.ts";

const id = (value: number) => value as AccountId;

describe("a DNA", () => {
  test.each([
    [".", []],
    [".1.", [1]],
    [".1.2.", [1, 2]],
    [".1.2.7.", [1, 2, 7]],
    [".1.20.300.", [1, 20, 300]],
  ])("%p names the ancestors from Root down: %p", (dna, ancestors) => {
    expect(ancestorsOf(dna)).toEqual(ancestors.map(id));
  });

  test.each([
    [1, ".", 1],
    [2, ".1.", 2],
    [7, ".1.2.", 2],
    [8, ".1.2.7.", 2],
    [21, ".1.20.", 20],
  ])("account %i with %p belongs to Owner %i", (account, dna, owner) => {
    expect(ownerOf({ id: id(account), dna })).toBe(id(owner));
  });

  test("of a child is its parent's and the parent", () => {
    expect(dnaBelow(".", ROOT)).toBe(".1.");
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 2, max: 10_000 }), { maxLength: 8 }), (below) => {
        const dna = below.reduce((dna, child) => dnaBelow(dna, id(child)), dnaBelow(".", ROOT));
        expect(ancestorsOf(dna)).toEqual([ROOT, ...below.map(id)]);
        if (below.length > 0) expect(ownerOf({ id: id(99_999), dna })).toBe(id(below[0]!));
      }),
      { numRuns: 100 },
    );
  });
});
