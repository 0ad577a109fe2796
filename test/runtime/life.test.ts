// How actors come into memory and leave it: replay with its assertions, unloading, the sweep after a crash, draining.

import { describe, expect, test } from "bun:test";
import { refOf } from "../../src/runtime/actor.ts";
import { shardOf } from "../../src/runtime/shards.ts";
import type { Commit } from "../../src/store/store.ts";
import { memoryStore } from "../store/memory/memory.ts";
import { manualClock, NOON, settled } from "./manual-clock.ts";
import { ledgerOf, rig, totalOf } from "./rig.ts";

const commit = (seq: number, over: Partial<Commit> = {}): Commit => ({
  actor: "account/a",
  seq,
  shard: shardOf("account/a"),
  epoch: 1,
  by: `w${seq}`,
  at: NOON - 10_000 + seq,
  v: 1,
  done: [],
  marks: [],
  linesTo: seq,
  lines: 1,
  events: [
    { at: NOON - 10_000 + seq, line: true, e: { type: "added", mark: null, amount: 1, balanceAfter: seq } },
  ],
  ...over,
});

describe("replay", () => {
  const CORRUPT: readonly (readonly [string, readonly Commit[]])[] = [
    ["a gap in the seq", [commit(1), commit(3, { linesTo: 2 })]],
    ["a falling epoch", [commit(1, { epoch: 5 }), commit(2, { epoch: 4 })]],
    ["a falling time", [commit(1), commit(2, { at: NOON - 60_000 })]],
    ["missing ledger lines", [commit(1), commit(2, { linesTo: 3 })]],
    ["a line that disagrees with the state", [commit(1), commit(2, { events: [commit(7).events[0]!] })]],
  ];

  test.each(CORRUPT)("refuses an actor with %s, and writes nothing to it", async (_what, commits) => {
    const clock = manualClock();
    const inner = memoryStore({ clock });
    await inner.append(commits);
    const { outcome, store, logged } = await rig({ inner, clock });
    expect(await outcome("a", "add", { amount: 1 })).toBe("unavailable: unavailable");
    expect(logged).toContainEqual({ event: "activation_broken", actor: "account/a", why: "load_failed" });
    expect(store.appends.flat()).toEqual([]);
    expect(await outcome("b", "add", { amount: 1 })).toBe(1);
  });

  test("reads a long ledger in pages", async () => {
    const clock = manualClock();
    const inner = memoryStore({ clock });
    await inner.append(Array.from({ length: 25 }, (_, i) => commit(i + 1)));
    const { ask } = await rig({ inner, clock, limits: { replayPage: 10 } });
    expect(await ask("a", "read", {})).toBe(25);
  });

  test("marks its place with an empty commit of the new epoch, so that an earlier owner's late append is lost", async () => {
    const before = await rig();
    await before.ask("a", "add", { amount: 1 });
    const after = await before.restart();
    await after.ask("a", "read", {});
    await settled();
    expect((await ledgerOf(after.store, "a")).map(({ epoch, events }) => [epoch, events.length])).toEqual([
      [1, 1],
      [2, 0],
    ]);
    expect(await before.outcome("a", "add", { amount: 5 }, { budgetMs: 0 })).toBe("unavailable: unavailable");
    expect(await totalOf(after.store, "a")).toBe(1);
  });
});

/** A rig that keeps so many empty actors. */
function keepingEmpty(emptyActors: number) {
  const clock = manualClock();
  const inner = { ...memoryStore({ clock }), appendsOutliveSender: false };
  return rig({ inner, clock, limits: { emptyActors } });
}

describe("an actor is unloaded", () => {
  test("when nobody used it for a while, and comes back as it was", async () => {
    const { ask, clock, system } = await rig();
    await ask("a", "add", { amount: 4 });
    await clock.advance(85_000);
    expect(system.stats().actors).toBe(1);
    await clock.advance(30_000);
    expect(system.stats().actors).toBe(0);
    expect(await ask("a", "read", {})).toBe(4);
  });

  test("never while it holds something in memory only", async () => {
    const { ask, clock, system } = await rig();
    await ask("a", "add", { amount: 1 });
    await ask("a", "hold", { open: true });
    await clock.advance(1_000_000);
    expect(system.stats().actors).toBe(1);
    await ask("a", "hold", { open: false });
    await clock.advance(400_000);
    expect(system.stats().actors).toBe(0);
  });

  test("never while its documents could not be saved", async () => {
    const { ask, clock, store, system } = await rig();
    const mend = store.failSaves();
    await ask("a", "add", { amount: 1 });
    await clock.advance(1_000_000);
    expect(system.stats().actors).toBe(1);
    mend();
    await clock.advance(30_000);
    expect(system.stats().actors).toBe(0);
  });

  test("when there are too many: the one used longest ago first", async () => {
    const { ask, clock, store, system } = await rig({ limits: { actors: 3 } });
    for (const id of ["a", "b", "c", "d", "e"]) {
      await ask(id, "save", { amount: 1 });
      await clock.advance(10);
    }
    await ask("a", "read", {});
    await clock.advance(12_000);
    expect(system.stats().actors).toBe(3);
    const before = store.loads.total;
    for (const id of ["a", "d", "e"]) await ask(id, "read", {});
    expect(store.loads.total).toBe(before);
    await ask("b", "read", {});
    expect(store.loads.total).toBe(before + 1);
  });

  test("when it never wrote and holds nothing, like a name that somebody guessed: but for the few used last", async () => {
    const { ask, clock, store, system } = await keepingEmpty(2);
    for (const id of ["a", "b", "a", "c"]) await ask(id, "read", {});
    expect(system.stats().actors).toBe(2);
    await ask("a", "read", {});
    expect(store.loads.total).toBe(3);
    await ask("b", "read", {});
    expect([store.loads.total, system.stats().actors]).toEqual([4, 2]);
    await clock.advance(115_000);
    expect(system.stats().actors).toBe(0);
  });

  test.each([
    "the store may store an append of a dead process",
    "its last activation failed with an append on its way",
  ])("at once when it is empty and %s", async (why) => {
    const clock = manualClock();
    const appendsOutliveSender = why.startsWith("the store");
    const inner = { ...memoryStore({ clock }), appendsOutliveSender };
    const { ask, outcome, store, system } = await rig({ inner, clock });
    if (!appendsOutliveSender) {
      store.faults.push("unknown");
      expect(await outcome("a", "add", { amount: 1 }, { budgetMs: 0 })).toBe("unavailable: unavailable");
    }
    await ask("a", "read", {});
    expect(system.stats().actors).toBe(0);
  });

  test("not when it has written since it was empty", async () => {
    const { ask, system } = await keepingEmpty(1);
    await ask("a", "read", {});
    await ask("a", "add", { amount: 1 });
    for (const id of ["b", "c"]) await ask(id, "read", {});
    expect(system.stats().actors).toBe(2);
    expect(await ask("a", "read", {})).toBe(1);
  });
});

test("idle actors are saved a few at a time", async () => {
  const { ask, clock, store } = await rig({ limits: { saves: 2 } });
  for (const id of ["a", "b", "c", "d", "e"]) await ask(id, "add", { amount: 1 });
  await clock.advance(3_000);
  expect(store.saves.map(({ length }) => length)).toEqual([2, 2, 1]);
});

describe("the sweep after a restart", () => {
  test("wakes actors with something unsaved, and no others", async () => {
    const before = await rig();
    await before.ask("saved", "save", { amount: 1 });
    await before.ask("unsaved", "add", { amount: 1 });
    const after = await before.restart();
    expect(after.system.stats().actors).toBe(1);
    await after.clock.advance(3_000);
    expect(await after.store.loadSnapshot("account/unsaved")).toMatchObject({ state: { total: 1 } });
  });

  test.each([
    ["once where no append outlives its process", false, 0],
    ["again where one may be stored after the first look", true, 1],
  ])("looks %s", async (_how, appendsOutliveSender, found) => {
    const clock = manualClock();
    const inner = { ...memoryStore({ clock }), appendsOutliveSender };
    const before = await rig({ inner, clock });
    before.store.failSaves();
    const { system } = await before.restart();
    await before.ask("late", "add", { amount: 1 });
    await clock.advance(29_000);
    expect(system.stats().actors).toBe(0);
    await clock.advance(2_000);
    expect(system.stats().actors).toBe(found);
  });

  test("reports how far everything is saved, and never beyond what is not", async () => {
    const made = await rig();
    await made.ask("a", "add", { amount: 1 });
    const at = (await ledgerOf(made.store, "a"))[0]!.at;
    const mend = made.store.failSaves();
    await made.clock.advance(60_000);
    expect(made.watermarks).not.toBeEmpty();
    expect(Math.max(...made.watermarks)).toBeLessThanOrEqual(at);
    mend();
    await made.clock.advance(30_000);
    expect(made.watermarks.at(-1)).toBeGreaterThan(at);
  });

  test("finds also who broke and was not asked again before the crash", async () => {
    const before = await rig();
    before.store.faults.push("stored_unknown");
    await before.ask("a", "add", { amount: 5 }, { budgetMs: 0 }).catch((error) => error.reason);
    const at = (await ledgerOf(before.store, "a"))[0]!.at;
    const mend = before.store.failSaves();
    await before.clock.advance(60_000);
    expect(before.watermarks).not.toBeEmpty();
    expect(Math.max(...before.watermarks)).toBeLessThanOrEqual(at);
    mend();
  });

  test("refuses a ledger that knows kinds of actor which this program does not", async () => {
    const clock = manualClock();
    const inner = memoryStore({ clock });
    await inner.append([commit(1, { actor: "owner/1" })]);
    const { logged } = await rig({ inner, clock });
    expect(logged.map(({ event }) => event)).toContain("sweep_failed");
  });
});

describe("draining", () => {
  test("waits for what is under way, saves everything, and takes nothing more", async () => {
    const { ask, clock, store, system } = await rig();
    const open = store.holdAppends();
    const asked = ask("a", "add", { amount: 1 });
    await settled();
    const drained = system.drain(5_000);
    await clock.advance(50);
    open();
    await clock.advance(100);
    await drained;
    expect(await asked).toBe(1);
    expect(await store.loadSnapshot("account/a")).toMatchObject({ state: { total: 1 } });
    const late = ask("a", "add", { amount: 1 }, { budgetMs: 0 }).catch((error) => error.reason);
    expect(await late).toBe("not_owner");
    expect(await totalOf(store, "a")).toBe(1);
  });

  test("gives up after its time when the store does not answer", async () => {
    const { ask, clock, store, system } = await rig();
    store.holdAppends();
    ask("a", "add", { amount: 1 }).catch((error) => error.reason);
    await settled();
    const drained = system.drain(1_000);
    await clock.advance(1_100);
    expect(await Promise.race([drained.then(() => "drained"), settled().then(() => "still waiting")])).toBe(
      "drained",
    );
  });

  test("leaves no timer behind", async () => {
    const { ask, clock, system } = await rig();
    await ask("a", "add", { amount: 1 });
    const drained = system.drain(1_000);
    await clock.advance(120_000);
    await drained;
    expect(clock.waiting).toBe(0);
  });
});

test("an actor's name says its kind and id, and back, whatever the id holds", () => {
  expect(refOf("level/2.-1/x")).toEqual({ kind: "level", id: "2.-1/x" });
});
