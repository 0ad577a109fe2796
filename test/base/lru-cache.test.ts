// A bounded memory: answers are good for their time, and the one used longest ago makes room.

import { describe, expect, test } from "bun:test";
import { LruCache } from "../../src/base/lru-cache.ts";
import { manualClock } from "../runtime/manual-clock.ts";

describe("a remembered answer", () => {
  test("is good for its time, counted from when it was given", async () => {
    const clock = manualClock();
    const answers = new LruCache<string, number>({ clock, most: 10, ttlMs: 1_000 });
    answers.set("a", 1);
    await clock.advance(600);
    expect(answers.get("a")).toBe(1);
    await clock.advance(401);
    expect(answers.get("a")).toBeUndefined();
    answers.set("a", 2);
    await clock.advance(900);
    expect(answers.get("a")).toBe(2);
  });

  test("does not mind what the wall says", () => {
    const clock = manualClock();
    const answers = new LruCache<string, number>({ clock, most: 10, ttlMs: 1_000 });
    answers.set("a", 1);
    clock.stepWall(86_400_000);
    expect(answers.get("a")).toBe(1);
  });

  test("can be forgotten", () => {
    const answers = new LruCache<string, number>({ clock: manualClock(), most: 10, ttlMs: 1_000 });
    answers.set("a", 1);
    answers.delete("a");
    answers.delete("b");
    expect(answers.get("a")).toBeUndefined();
  });

  test("makes room when there are too many: the one used longest ago goes", () => {
    const answers = new LruCache<string, number>({ clock: manualClock(), most: 3, ttlMs: 1_000 });
    for (const key of ["a", "b", "c"]) answers.set(key, 1);
    answers.set("a", 2);
    expect(answers.get("b")).toBe(1);
    answers.set("d", 1);
    expect(["a", "b", "c", "d"].map((key) => answers.get(key))).toEqual([2, 1, undefined, 1]);
  });

  test("takes no memory once its time is over and others are remembered", async () => {
    const clock = manualClock();
    const answers = new LruCache<string, number>({ clock, most: 10, ttlMs: 1_000 });
    for (const key of ["a", "b", "c"]) answers.set(key, 1);
    await clock.advance(600);
    answers.set("b", 2);
    await clock.advance(401);
    answers.set("d", 1);
    expect([answers.size(), answers.get("b"), answers.get("d")]).toEqual([2, 2, 1]);
  });
});
