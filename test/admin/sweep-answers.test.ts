// The sweep of kept answers: what is no longer good goes, in small portions; what is good stays.

import { expect, test } from "bun:test";
import { sweepAnswers } from "../../src/admin/periodic-sweeps.ts";
import { manualClock, settled } from "../runtime/manual-clock.ts";
import { memoryStore } from "../store/memory/memory.ts";

test("drops all that is expired, at most 50 at a time, and nothing else", async () => {
  const clock = manualClock();
  const inner = memoryStore({ clock });
  const portions: number[] = [];
  const store = {
    ...inner,
    async dropAnswers(until: number, limit: number) {
      const count = await inner.dropAnswers(until, limit);
      portions.push(count);
      return count;
    },
  };
  const now = clock.wall();
  for (let i = 0; i < 150; i++) {
    const row = { id: `7:gateway:${i}`, account: 7, kind: "gateway", at: now - 100, body: "sealed" } as const;
    await store.keepAnswer({ ...row, until: i < 130 ? now : now + 60_000 }, 2_000);
  }
  const swept = sweepAnswers({ store, clock });
  await settled();
  expect(portions).toEqual([50]);
  await clock.advance(10);
  expect(await swept).toBe(130);
  expect(portions).toEqual([50, 50, 30]);
  expect(await store.answer("7:gateway:129", 0)).toBeNull();
  expect(await store.answer("7:gateway:130", 0)).toMatchObject({ id: "7:gateway:130" });
});
