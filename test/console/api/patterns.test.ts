// Which entry of a map applies to a name, as the pages say it: the service's own rule decides alike.

import { expect, test } from "bun:test";
import fc from "fast-check";
import { pick as pickByService } from "../../../actors/pattern.ts";
import { matches, pick } from "../../../console/api/patterns.ts";

const name = fc.string({ unit: fc.constantFrom("a", "b", "-"), maxLength: 5 });
const pattern = fc.string({ unit: fc.constantFrom("a", "b", "-", "*"), minLength: 1, maxLength: 5 });

test("the entry that applies to a name is the service's", () => {
  fc.assert(
    fc.property(fc.uniqueArray(pattern, { maxLength: 6 }), name, (lefts, asked) => {
      const map = Object.fromEntries(lefts.map((left) => [left, left]));
      expect(pick(lefts, asked)).toBe(pickByService(map, asked)?.pattern ?? null);
    }),
    { numRuns: 2_000 },
  );
});

test.each([
  ["gpt-*", "gpt-4o", true],
  ["gpt-*", "gpt-", true],
  ["*", "", true],
  ["a*a", "a", false],
  ["*模型*", "新模型🌸", true],
])("%s and %s match: %p", (one, other, is) => expect(matches(one, other)).toBe(is));
