// The committer by itself: appends in flight and their order; what waits, how long, and when all of it is done.

import { describe, expect, test } from "bun:test";
import { silent } from "../../../src/base/log.ts";
import { type CommitSource, createCommitter } from "../../../src/runtime/activation/committer.ts";
import { LIMITS } from "../../../src/runtime/limits.ts";
import type { Appended, Commit } from "../../../src/store/store.ts";
import { memoryStore } from "../../store/memory/memory.ts";
import { faultyStore } from "../faulty-store.ts";
import { manualClock, settled } from "../manual-clock.ts";

function parts({ appendsAtOnce = 4, appendDelayMs = 0, appendCommits = LIMITS.appendCommits } = {}) {
  const clock = manualClock();
  const store = faultyStore({ ...memoryStore({ clock }), appendsAtOnce, appendDelayMs });
  const committer = createCommitter({ store, clock, limits: { ...LIMITS, appendCommits }, log: silent });
  return { clock, store, committer };
}

/** Somebody with one commit to make, or with none if it is empty; `outcomes` collects how it ended. */
function writer(
  actor: string,
  outcomes: [string, Appended][],
  { empty = false, events = 0 } = {},
): CommitSource {
  const commit: Commit = {
    actor,
    seq: 1,
    shard: 1,
    epoch: 1,
    by: actor,
    at: 1,
    v: 1,
    done: [],
    marks: [],
    linesTo: 0,
    lines: 0,
    events: Array.from({ length: events }, () => ({ at: 1, line: false, e: {} })),
  };
  return {
    cut: () => (empty ? null : commit),
    settle: (outcome) => void outcomes.push([actor, outcome]),
  };
}

describe("the committer", () => {
  test("appends what is ready in each turn, and no more at once than its bound", async () => {
    const { store, committer } = parts({ appendsAtOnce: 3 });
    const open = store.holdAppends();
    const outcomes: [string, Appended][] = [];
    for (const turn of [0, 1, 2, 3, 4]) {
      for (const actor of ["a", "b"]) committer.ready(writer(`${actor}${turn}`, outcomes));
      await settled();
    }
    expect(store.appends.map((commits) => commits.length)).toEqual([2, 2, 2]);
    open();
    await committer.drained();
    expect(store.most.appends).toBe(3);
    expect(store.appends.map((commits) => commits.map(({ actor }) => actor))).toEqual([
      ["a0", "b0"],
      ["a1", "b1"],
      ["a2", "b2"],
      ["a3", "b3", "a4", "b4"],
    ]);
    expect(outcomes).toHaveLength(10);
  });

  test("takes writers in the order in which they became ready, and no more into an append than its bound", async () => {
    const { store, committer } = parts({ appendsAtOnce: 1, appendCommits: 3 });
    const open = store.holdAppends();
    for (let i = 0; i < 8; i++) {
      committer.ready(writer(`a${i}`, []));
      if (i === 0) await settled();
    }
    open();
    await committer.drained();
    expect(store.most.appends).toBe(1);
    expect(store.appends.map((commits) => commits.map(({ actor }) => actor))).toEqual([
      ["a0"],
      ["a1", "a2", "a3"],
      ["a4", "a5", "a6"],
      ["a7"],
    ]);
  });

  test("has several appends in flight at once where one turn makes more commits than an append takes", async () => {
    const { store, committer } = parts({ appendsAtOnce: 2, appendCommits: 3 });
    const open = store.holdAppends();
    for (let i = 0; i < 8; i++) committer.ready(writer(`a${i}`, []));
    await settled();
    expect(store.appends.map((commits) => commits.length)).toEqual([3, 3]);
    open();
    await committer.drained();
    expect(store.appends.map((commits) => commits.length)).toEqual([3, 3, 2]);
  });

  test("waits for more commits as long as the store states, once an append had several events", async () => {
    const { clock, store, committer } = parts({ appendDelayMs: 3 });
    const sizes = () => store.appends.map((commits) => commits.length);
    committer.ready(writer("alone", [], { events: 3 }));
    await settled();
    expect(sizes()).toEqual([1]);
    for (const actor of ["a", "b"]) committer.ready(writer(actor, [], { events: 2 }));
    await settled();
    // The last append had three events, which is not many.
    expect(sizes()).toEqual([1, 2]);

    committer.ready(writer("c", [], { events: 1 }));
    await settled();
    expect(sizes()).toEqual([1, 2]);
    await clock.advance(2);
    committer.ready(writer("d", [], { events: 1 }));
    expect(sizes()).toEqual([1, 2]);
    expect(committer.lagMs()).toBe(2);
    await clock.advance(1);
    expect(sizes()).toEqual([1, 2, 2]);

    // Two events were few, so the next one waits for nothing.
    committer.ready(writer("e", [], { events: 1 }));
    await settled();
    expect(sizes()).toEqual([1, 2, 2, 1]);
    await committer.drained();
  });

  test("passes over a writer that has nothing any more", async () => {
    const { store, committer } = parts();
    const outcomes: [string, Appended][] = [];
    committer.ready(writer("gone", outcomes, { empty: true }));
    committer.ready(writer("there", outcomes));
    await committer.drained();
    expect(store.appends.flat().map(({ actor }) => actor)).toEqual(["there"]);
    expect(outcomes).toEqual([["there", "committed"]]);
  });

  test("gives each writer its own outcome; a store that throws is `unknown` to all of that append", async () => {
    const { store, committer } = parts();
    const outcomes: [string, Appended][] = [];
    store.faults.push("throws");
    committer.ready(writer("a", outcomes));
    committer.ready(writer("b", outcomes));
    await committer.drained();
    committer.ready(writer("c", outcomes));
    await committer.drained();
    expect(outcomes).toEqual([
      ["a", "unknown"],
      ["b", "unknown"],
      ["c", "committed"],
    ]);
  });

  test("is drained when the only writer has nothing any more", async () => {
    const { store, committer } = parts();
    committer.ready(writer("gone", [], { empty: true }));
    await committer.drained();
    expect(store.appends).toHaveLength(0);
    expect(committer.lagMs()).toBe(0);
  });

  test("is drained at once when nothing is under way", async () => {
    const { committer } = parts();
    await committer.drained();
    expect(committer.lagMs()).toBe(0);
  });

  test("lags by the age of the oldest append under way", async () => {
    const { clock, store, committer } = parts();
    const open = store.holdAppends();
    committer.ready(writer("a", []));
    await clock.advance(300);
    committer.ready(writer("b", []));
    await clock.advance(200);
    expect(committer.lagMs()).toBe(500);
    open();
    await committer.drained();
    expect(committer.lagMs()).toBe(0);
  });

  test("counts the time that a commit waited behind an earlier append as lag", async () => {
    const { clock, store, committer } = parts({ appendsAtOnce: 1 });
    const open = store.holdAppends();
    committer.ready(writer("a", []));
    await clock.advance(100);
    committer.ready(writer("b", []));
    await clock.advance(900);
    store.holdAppends();
    open();
    await clock.advance(300);
    expect(store.appends).toHaveLength(2);
    expect(committer.lagMs()).toBe(1_200);
  });

  test("counts how long each commit waited, whatever the store answered", async () => {
    const { clock, store, committer } = parts({ appendsAtOnce: 1 });
    store.faults.push("none", "unknown");
    const open = store.holdAppends();
    committer.ready(writer("a", []));
    await clock.advance(1_300);
    // It waits for the first append, then for the store.
    committer.ready(writer("b", []));
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
      committer.ready(writer("a", []));
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
    committer.ready(writer("a", []));
    await committer.drained();
    await clock.advance(5_000);
    expect(committer.lagMs()).toBe(5_000);
    heal();
    await clock.advance(1_000);
    expect(committer.lagMs()).toBe(0);
    expect(clock.waiting).toBe(0);

    store.failBlocks();
    store.faults.push("unknown");
    committer.ready(writer("a", []));
    await committer.drained();
    committer.stop();
    expect(clock.waiting).toBe(0);
  });
});
