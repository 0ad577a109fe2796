// The console finds the entry of a map that applies to a name as the service does.

import { expect, test } from "bun:test";
import { pick } from "../../actors/pattern.ts";
import { applyingPattern } from "../../console/api/pattern.ts";

const PATTERNS = [
  ..."gpt-4o gpt-4* gpt-* *-mini gpt-*-mini * **o a*b*c a*bb*c *a*a* x*x ab* *ab b*a".split(" "),
  "claude-*-4-*",
];
const NAMES = [
  ..."gpt-4o gpt-4o-mini gpt-5 o4-mini claude-haiku-4-5 abc abbc abbbc aa a x xx xyx abab ba".split(" "),
];

test("the entry that applies is that of the service", () => {
  // Every subset of a few patterns, so that ties and gaps occur.
  for (let from = 0; from < PATTERNS.length; from++) {
    for (let size = 1; size <= 6; size++) {
      const some = PATTERNS.slice(from, from + size);
      const entries = Object.fromEntries(some.map((pattern) => [pattern, 1]));
      for (const name of NAMES) {
        expect([name, some, applyingPattern(some, name)]).toEqual([
          name,
          some,
          pick(entries, name)?.pattern ?? null,
        ]);
      }
    }
  }
});
