// The committer by itself: one append in flight a lane, in order; what waits, how long, and when all of it is done.

import { describe, expect, test } from "bun:test";
import { silent } from "../../../src/base/log.ts";
import { createCommitter, type Writer } from "../../../src/runtime/activation/committer.ts";
import { LIMITS } from "../../../src/runtime/limits.ts";
import type { Appended, Commit } from "../../../src/store/store.ts";
import { memoryStore } from "../../store/memory/memory.ts";
import { faultyStore } from "../faulty-store.ts";
import { manualClock, settled } from "../manual-clock.ts";

function parts(laneCommits = LIMITS.laneCommits) {
  const clock = manualClock();
  const store = faultyStore(memoryStore({ clock }));
  const committer = createCommitter({ store, clock, limits: { ...LIMITS, laneCommits }, log: silent });
  return { clock, store, committer };
}

/** Somebody with one commit to make; `outcomes` collects how it ended. */
function writer(actor: string, shard: number, outcomes: [string, Appended][], empty = false): Writer {
  const commit: Commit = {
    actor,
    seq: 1,
    shard,
    epoch: 1,
    by: actor,
    at: 1,
    v: 1,
    done: [],
    marks: [],
    linesTo: 0,
    lines: 0,
    events: [],
  };
  return {
    shard,
    cut: () => (empty ? null : commit),
    settle: (outcome) => void outcomes.push([actor, outcome]),
  };
}

describe("the committer", () => {
  test("keeps one append in flight in each lane, and the lanes apart", async () => {
    const { store, committer } = parts();
    const open = store.holdAppends();
    const outcomes: [string, Appended][] = [];
    for (let shard = 0; shard < 24; shard++) {
      committer.ready(writer(`a${shard}`, shard, outcomes));
      await settled();
    }
    expect(store.appends).toHaveLength(8);
    expect(store.most.appends).toBe(8);
    open();
    await committer.drained();
    expect(store.most.appends).toBe(8);
    expect(store.appends).toHaveLength(16);
    expect(outcomes).toHaveLength(24);
  });

  test("takes a lane's writers in the order in which they became ready, and no more at once than its bound", async () => {
    const { store, committer } = parts(3);
    const open = store.holdAppends();
    for (let i = 0; i < 8; i++) {
      committer.ready(writer(`a${i}`, 5, []));
      if (i === 0) await settled();
    }
    open();
    await committer.drained();
    expect(store.appends.map((commits) => commits.map(({ actor }) => actor))).toEqual([
      ["a0"],
      ["a1", "a2", "a3"],
      ["a4", "a5", "a6"],
      ["a7"],
    ]);
  });

  test("passes over a writer that has nothing any more", async () => {
    const { store, committer } = parts();
    const outcomes: [string, Appended][] = [];
    committer.ready(writer("gone", 1, outcomes, true));
    committer.ready(writer("there", 1, outcomes));
    await committer.drained();
    expect(store.appends.flat().map(({ actor }) => actor)).toEqual(["there"]);
    expect(outcomes).toEqual([["there", "committed"]]);
  });

  test("gives each writer its own outcome; a store that throws is `unknown` to all of that append", async () => {
    const { store, committer } = parts();
    const outcomes: [string, Appended][] = [];
    store.faults.push("throws");
    committer.ready(writer("a", 1, outcomes));
    committer.ready(writer("b", 1, outcomes));
    await committer.drained();
    committer.ready(writer("c", 1, outcomes));
    await committer.drained();
    expect(outcomes).toEqual([
      ["a", "unknown"],
      ["b", "unknown"],
      ["c", "committed"],
    ]);
  });

  test("is drained at once when nothing is under way", async () => {
    const { committer } = parts();
    await committer.drained();
    expect(committer.lagMs()).toBe(0);
  });

  test("lags by the age of the oldest append under way", async () => {
    const { clock, store, committer } = parts();
    const open = store.holdAppends();
    committer.ready(writer("a", 1, []));
    await clock.advance(300);
    committer.ready(writer("b", 2, []));
    await clock.advance(200);
    expect(committer.lagMs()).toBe(500);
    open();
    await committer.drained();
    expect(committer.lagMs()).toBe(0);
  });

  test("counts the time that a commit waited behind an earlier append as lag", async () => {
    const { clock, store, committer } = parts();
    const open = store.holdAppends();
    committer.ready(writer("a", 1, []));
    await clock.advance(100);
    committer.ready(writer("b", 1, []));
    await clock.advance(900);
    store.holdAppends();
    open();
    await clock.advance(300);
    expect(store.appends).toHaveLength(2);
    expect(committer.lagMs()).toBe(1_200);
  });

  test("counts how long each commit waited, whatever the store answered", async () => {
    const { clock, store, committer } = parts();
    store.faults.push("none", "unknown");
    const open = store.holdAppends();
    committer.ready(writer("a", 1, []));
    await clock.advance(1_300);
    // It waits for the lane, then for the store.
    committer.ready(writer("b", 1, []));
    await clock.advance(200);
    open();
    await committer.drained();
    const { count, sum, bounds, buckets } = committer.commitSeconds;
    expect([count, sum]).toEqual([2, 1.7]);
    expect(bounds.filter((_, i) => buckets[i]! > 0)).toEqual([0.25, 2]);
  });

  test("lags from the first append that the store did not keep, however soon it said so, until one is kept", async () => {
    const { clock, store, committer } = parts();
    store.faults.push("unknown", "none", "unknown", "throws", "unknown");
    const append = async () => {
      committer.ready(writer("a", 1, []));
      await committer.drained();
    };
    await append();
    await clock.advance(100);
    expect(committer.lagMs()).toBe(100);
    await append();
    expect(committer.lagMs()).toBe(0);
    store.failBlocks();
    for (let i = 0; i < 3; i++) {
      await append();
      await clock.advance(400);
    }
    expect(committer.lagMs()).toBe(1_200);
    await append();
    expect(committer.lagMs()).toBe(0);
  });

  test("asks a store that failed again by itself, since nothing else may come to it, and stops with the node", async () => {
    const { clock, store, committer } = parts();
    const heal = store.failBlocks();
    store.faults.push("unknown");
    committer.ready(writer("a", 1, []));
    await committer.drained();
    await clock.advance(5_000);
    expect(committer.lagMs()).toBe(5_000);
    heal();
    await clock.advance(1_000);
    expect(committer.lagMs()).toBe(0);
    expect(clock.waiting).toBe(0);

    store.failBlocks();
    store.faults.push("unknown");
    committer.ready(writer("a", 1, []));
    await committer.drained();
    committer.stop();
    expect(clock.waiting).toBe(0);
  });
});
