// Where things lie that nobody may ask for any more is forgotten, some at a time; what is still good stays.

import { expect, test } from "bun:test";
import { sweepObjects } from "../../src/admin/periodic-sweeps.ts";
import { manualClock } from "../runtime/manual-clock.ts";
import { memoryStore } from "../store/memory/memory.ts";

test("what has expired goes, however much it is, and nothing else", async () => {
  const clock = manualClock();
  const store = memoryStore({ clock });
  const row = (name: string, until: number) => {
    const id = `7:${name}`;
    return { table: "objects", id, body: { id, account: 7, until, key: 1, model: "m" } } as const;
  };
  const now = clock.wall();
  await store.putRecords(Array.from({ length: 450 }, (_, i) => row(`old_${i}`, now - i)));
  await store.putRecords([row("good", now + 60_000)]);
  const swept = sweepObjects({ store, clock });
  await clock.advance(100);
  expect(await swept).toBe(450);
  const left = await store.find({ table: "objects", where: [], order: "id" });
  expect(left.map(({ id }) => id)).toEqual(["7:good"]);
  expect(await sweepObjects({ store, clock })).toBe(0);
});
