// The runtime's small parts: placement alone, permits, the memory of ids, shards, ids in the order of time.

import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { realClock, realRandom, ulidTime } from "../../src/base/clock.ts";
import { Semaphore } from "../../src/base/semaphore.ts";
import { DedupTable } from "../../src/runtime/activation/dedup-table.ts";
import type { Reply } from "../../src/runtime/actor.ts";
import { createSingleNodePlacement } from "../../src/runtime/placement/single-node.ts";
import { SHARDS, shardOf } from "../../src/runtime/shards.ts";
import { memoryStore } from "../store/memory/memory.ts";
import { manualClock, NOON, settled } from "./manual-clock.ts";

describe("placement of a single process", () => {
  const registry = () => memoryStore({ clock: manualClock() });

  test("owns nothing before it joins, everything after, nothing once it left", async () => {
    const solo = createSingleNodePlacement({ registry: registry(), node: "n1" });
    expect([solo.epochOf(0), solo.ownerOf(0)]).toEqual([0, null]);
    await solo.join();
    expect([solo.epochOf(0), solo.epochOf(255)]).toEqual([1, 1]);
    expect(solo.ownerOf(7)).toEqual({ node: "n1", epoch: 1 });
    await solo.leave();
    expect([solo.epochOf(0), solo.ownerOf(0)]).toEqual([0, null]);
  });

  test("has a higher epoch at every start", async () => {
    const shared = registry();
    const epochs: number[] = [];
    for (let i = 0; i < 4; i++) {
      const solo = createSingleNodePlacement({ registry: shared, node: "n1" });
      await solo.join();
      epochs.push(solo.epochOf(0));
    }
    expect(epochs).toEqual([1, 2, 3, 4]);
  });

  test("reports which shards it gained, and from where they must be scanned", async () => {
    const shared = registry();
    const first = createSingleNodePlacement({ registry: shared, node: "n1" });
    await first.join();
    await first.advance(NOON);
    await first.advance(NOON - 5);
    const gained: [number, number][] = [];
    const second = createSingleNodePlacement({ registry: shared, node: "n2" });
    second.onGain(async (shards, since) => void gained.push([shards.length, since]));
    await second.join();
    expect(gained).toEqual([[SHARDS, NOON]]);
  });

  test("notices a second process on its store", async () => {
    const shared = registry();
    const first = createSingleNodePlacement({ registry: shared, node: "n1" });
    await first.join();
    await createSingleNodePlacement({ registry: shared, node: "n2" }).join();
    expect(first.advance(NOON)).rejects.toThrow("under its only writer");
    expect(() => first.fenced(0, 2)).toThrow("epoch 2");
  });
});

describe("permits", () => {
  test("let no more run at once than there are, and the others in order", async () => {
    const permit = new Semaphore(2);
    const ends: (() => void)[] = [];
    const started: number[] = [];
    const tasks = [0, 1, 2, 3, 4].map((n) =>
      permit.run(() => {
        started.push(n);
        return new Promise<void>((resolve) => ends.push(resolve));
      }),
    );
    for (let i = 0; i < 5; i++) {
      await settled();
      expect(started).toEqual([0, 1, 2, 3, 4].slice(0, Math.min(5, i + 2)));
      ends[i]!();
    }
    await Promise.all(tasks);
  });

  test("come back when a task fails", async () => {
    const permit = new Semaphore(1);
    expect(permit.run(() => Promise.reject(new Error("no")))).rejects.toThrow("no");
    expect(await permit.run(async () => "yes")).toBe("yes");
  });
});

describe("the memory of ids", () => {
  const reply = (n: number): Reply => ({ ok: true, body: n });
  const make = () => new DedupTable({ dedupMs: 100, recentMs: 10 });

  test("knows an unmarked id as long as its window", () => {
    const ids = make();
    ids.remember("u", reply(1), 0);
    ids.remember("u2", reply(2), 50);
    expect(ids.get("u")).toEqual(reply(1));
    ids.remember("u3", reply(3), 101);
    expect([ids.get("u"), ids.get("u2")]).toEqual([undefined, reply(2)]);
  });

  test("knows a marked id until its commit landed, however long that takes, and for its window after that", () => {
    const ids = make();
    ids.rememberUntilCommitted("m", reply(4));
    ids.rememberUntilCommitted("m2", reply(4));
    ids.committed([], 1_000);
    expect(ids.get("m")).toEqual(reply(4));
    ids.committed(["m"], 2_000);
    ids.committed([], 2_009);
    expect(ids.get("m")).toEqual(reply(4));
    ids.committed([], 2_020);
    expect([ids.get("m"), ids.get("m2")]).toEqual([undefined, reply(4)]);
  });

  test("knows each of a busy actor's marked ids for its whole window, and none for two", () => {
    const ids = make();
    for (let now = 1_000; now < 1_100; now++) {
      ids.rememberUntilCommitted(`m${now}`, reply(now));
      ids.committed([`m${now}`], now);
      for (let age = 0; age <= 10; age++) {
        const at = now - age;
        expect(ids.get(`m${at}`)).toEqual(at < 1_000 ? undefined : reply(at));
      }
      for (let age = 20; age < 30; age++) expect(ids.get(`m${now - age}`)).toBeUndefined();
    }
  });

  test("forgets a marked id after its window also without another commit, and no other", () => {
    const ids = make();
    ids.remember("u", reply(1), 0);
    ids.rememberUntilCommitted("m", reply(4));
    ids.rememberUntilCommitted("m2", reply(4));
    ids.committed(["m"], 2_000);
    ids.forgetOld(2_009);
    expect(ids.get("m")).toEqual(reply(4));
    ids.forgetOld(2_020);
    expect([ids.get("m"), ids.get("m2"), ids.get("u")]).toEqual([undefined, reply(4), reply(1)]);
    ids.committed(["m2"], 3_000);
    ids.forgetOld(3_010);
    expect(ids.get("m2")).toEqual(reply(4));
    ids.forgetOld(3_020);
    expect([ids.get("m2"), ids.get("u")]).toEqual([undefined, reply(1)]);
  });

  test("a marked id's empty reply is an empty reply", () => {
    const ids = make();
    ids.rememberUntilCommitted("m", { ok: true, body: {} });
    expect(ids.get("m")).toEqual({ ok: true, body: {} });
  });

  test("gives the unmarked ones for a snapshot, oldest first", () => {
    const ids = make();
    ids.remember("b", reply(1), 5);
    ids.rememberUntilCommitted("m", reply(2));
    ids.remember("a", reply(3), 7);
    expect(ids.durableEntries()).toEqual([
      { id: "b", at: 5, reply: reply(1) },
      { id: "a", at: 7, reply: reply(3) },
    ]);
  });
});

describe("shards", () => {
  test("of a name never change: commits carry them", () => {
    expect(["account/1", "account/2", "owner/2", "key-pool/2", "level/2.0"].map(shardOf)).toEqual(
      ["account/1", "account/2", "owner/2", "key-pool/2", "level/2.0"].map(fnv1a),
    );
  });

  test("spread accounts evenly", () => {
    const counts = new Array<number>(SHARDS).fill(0);
    for (let i = 0; i < 25_600; i++) {
      counts[shardOf(`account/${i}`)]!++;
    }
    expect(Math.min(...counts)).toBeGreaterThan(40);
    expect(Math.max(...counts)).toBeLessThan(200);
  });
});

/** The published algorithm in exact integers, folded to eight bits. */
function fnv1a(text: string): number {
  let hash = 2166136261n;
  for (const char of text) hash = ((hash ^ BigInt(char.charCodeAt(0))) * 16777619n) & 0xffffffffn;
  return Number((hash ^ (hash >> 16n)) & 0xffn);
}

describe("ids", () => {
  test("are 26 characters, all different, and in the order of their time", () => {
    const clock = manualClock();
    const random = realRandom(clock);
    const ids = Array.from({ length: 1_000 }, (_, i) => {
      if (i % 10 === 0) clock.stepWall(1);
      return random.id();
    });
    expect(ids.every((id) => /^[0-9A-HJKMNP-TV-Z]{26}$/.test(id))).toBe(true);
    expect(new Set(ids).size).toBe(1_000);
    const times = ids.map((id) => id.slice(0, 10));
    expect([...times].sort()).toEqual(times);
  });

  test("hold their milliseconds: a later moment is a greater text", () => {
    fc.assert(
      fc.property(fc.nat(2 ** 47), fc.nat(2 ** 47), (a, b) => {
        expect(ulidTime(a) < ulidTime(b)).toBe(a < b);
      }),
      { numRuns: 200 },
    );
  });

  test("a uniform number lies below its bound and reaches all of it", () => {
    const random = realRandom(realClock());
    const seen = new Set(Array.from({ length: 400 }, () => random.below(7)));
    expect([...seen].sort()).toEqual([0, 1, 2, 3, 4, 5, 6]);
  });
});
