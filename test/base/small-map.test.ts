// A small map behaves as a Map does, below and above the number of entries that it scans.

import { expect, test } from "bun:test";
import fc from "fast-check";
import { SmallMap } from "../../src/base/small-map.ts";

/** Steps of which some make large maps, and others maps of a few entries that come and go. */
const history = fc.constantFrom(2, 20).chain((max) =>
  fc.array(
    fc.record({
      does: fc.constantFrom("set", "set", "set", "delete", "clear"),
      key: fc.integer({ min: 0, max }),
      value: fc.option(fc.nat(), { nil: undefined }),
    }),
    { maxLength: 80 },
  ),
);

test("any steps leave it as they leave a Map", () => {
  fc.assert(
    fc.property(history, (steps) => {
      const small = new SmallMap<number, number | undefined>();
      const map = new Map<number, number | undefined>();
      for (const { does, key, value } of steps) {
        if (does === "delete") expect(small.delete(key)).toBe(map.delete(key));
        else if (does === "set") for (const one of [small, map]) one.set(key, value);
        // Rarely, or it would never be large.
        else if (key === 0) for (const one of [small, map]) one.clear();
        expect(small.size).toBe(map.size);
        expect([...small]).toEqual([...map]);
        expect([small.has(key), small.get(key)]).toEqual([map.has(key), map.get(key)]);
      }
      expect([[...small.keys()], [...small.values()]]).toEqual([[...map.keys()], [...map.values()]]);
      expect([...SmallMap.of(map)]).toEqual([...map]);
    }),
  );
});

test.each([1, 2, 3, 30])("entries may be deleted while %i are read", (entries) => {
  const map = SmallMap.of(Array.from({ length: entries }, (_, i) => [i, `v${i}`] as const));
  const read: number[] = [];
  for (const [key] of map) {
    read.push(key);
    map.delete(key);
  }
  expect(read).toEqual(Array.from({ length: entries }, (_, i) => i));
  expect(map).toEqual(new SmallMap());
});
