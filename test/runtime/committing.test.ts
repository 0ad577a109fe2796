// How decisions become commits: batching without a timer, the cap on one commit, appends in flight, and appends that go wrong.

import { describe, expect, test } from "bun:test";
import { memoryStore } from "../store/memory/memory.ts";
import { manualClock, settled } from "./manual-clock.ts";
import { ledgerOf, rig, totalOf } from "./rig.ts";

describe("natural batching", () => {
  test("an idle committer commits at the end of the turn, without a timer", async () => {
    const { ask, store, clock } = await rig();
    const before = clock.mono();
    await ask("a", "add", { amount: 1 });
    expect(clock.mono()).toBe(before);
    expect(store.appends).toHaveLength(1);
  });

  test("turns taken while an append is in flight become one commit", async () => {
    const { ask, store } = await rig();
    const open = store.holdAppends();
    const first = ask("a", "add", { amount: 1 });
    await settled();
    const others = Array.from({ length: 100 }, () => ask("a", "add", { amount: 1 }));
    await settled();
    open();
    await Promise.all([first, ...others]);
    const commits = await ledgerOf(store, "a");
    expect(commits.map(({ events }) => events.length)).toEqual([1, 100]);
    expect(commits.map(({ seq, lines, linesTo }) => [seq, lines, linesTo])).toEqual([
      [1, 1, 1],
      [2, 100, 101],
    ]);
  });

  test("what does not fit into one commit goes into the next, in order and never split within a turn", async () => {
    const { ask, store } = await rig({ limits: { commitEvents: 10 } });
    const open = store.holdAppends();
    const turns = [4, 4, 4, 10, 3, 7, 1].map((count) => ask("a", "many", { count }));
    await settled();
    open();
    expect(await Promise.all(turns)).toEqual([4, 8, 12, 22, 25, 32, 33]);
    const commits = await ledgerOf(store, "a");
    expect(commits.map(({ events }) => events.length)).toEqual([8, 4, 10, 10, 1]);
    expect(commits.map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5]);
  });

  test("a turn larger than a commit is a bug, and stores nothing", async () => {
    const { outcome, store } = await rig({ limits: { commitEvents: 10 } });
    expect(await outcome("a", "many", { count: 11 })).toBe("unavailable: unavailable");
    expect(store.appends).toHaveLength(0);
  });
});

describe("appends in flight", () => {
  test("at most one of an actor, and none of its commits is overtaken", async () => {
    const { ask, store } = await rig({ limits: { commitEvents: 2 } });
    const open = store.holdAppends();
    const asked = Array.from({ length: 20 }, () => ask("a", "add", { amount: 1 }));
    await settled();
    expect(store.appends).toHaveLength(1);
    open();
    await Promise.all(asked);
    expect(store.most.appends).toBe(1);
    expect(store.appends.flat().map(({ seq }) => seq)).toEqual(Array.from({ length: 10 }, (_, i) => i + 1));
  });

  test("actors that became ready together go to the store together", async () => {
    const clock = manualClock();
    const { ask, store } = await rig({ clock, inner: { ...memoryStore({ clock }), appendsAtOnce: 1 } });
    const open = store.holdAppends();
    const asked = [ask("a", "add", { amount: 1 })];
    await settled();
    for (const id of ["b", "c", "d", "e", "f"]) asked.push(ask(id, "add", { amount: 1 }));
    await settled();
    open();
    await Promise.all(asked);
    expect(store.appends.map((commits) => commits.length)).toEqual([1, 5]);
  });

  test("a slow one does not hold up other actors", async () => {
    const { ask, store } = await rig();
    const open = store.holdAppends();
    const held = ask("slow", "add", { amount: 1 });
    await settled();
    store.holdAppends()();
    expect(await ask("quick", "add", { amount: 1 })).toBe(1);
    open();
    expect(await held).toBe(1);
  });
});

describe("an append that goes wrong breaks the activation, and the retry finds the true state", () => {
  test.each([
    ["lost", "append_lost"],
    ["unknown", "append_unknown"],
    ["stored_unknown", "append_unknown"],
    ["throws", "append_unknown"],
  ] as const)("%s: the same id is executed once", async (fault, why) => {
    const { ask, outcome, store, logged } = await rig();
    await ask("a", "add", { amount: 5 });
    store.faults.push(fault);
    expect(await outcome("a", "add", { amount: 1 }, { id: "x" })).toBe(6);
    expect(logged).toContainEqual({ event: "activation_broken", actor: "account/a", why });
    expect(await totalOf(store, "a")).toBe(6);
  });

  test("everything that was parked behind it answers `unavailable`, and is retried once each", async () => {
    const { ask, store, clock } = await rig();
    const open = store.holdAppends();
    store.faults.push("lost");
    const asked = Array.from({ length: 10 }, () => ask("a", "add", { amount: 1 }));
    await settled();
    asked.push(...Array.from({ length: 10 }, () => ask("a", "add", { amount: 1 })));
    await settled();
    open();
    await clock.advance(1_000);
    expect((await Promise.all(asked)).sort((a, b) => a - b)).toEqual(
      Array.from({ length: 20 }, (_, i) => i + 1),
    );
    expect(await totalOf(store, "a")).toBe(20);
  });

  test("a read that saw what was lost answers from the true state", async () => {
    const { ask, store, clock } = await rig();
    const open = store.holdAppends();
    store.faults.push("lost");
    const write = ask("a", "add", { amount: 1 }, { budgetMs: 0 }).catch((error) => error.reason);
    await settled();
    const read = ask("a", "read", {});
    await settled();
    open();
    await clock.advance(1_000);
    expect(await write).toBe("unavailable");
    expect(await read).toBe(0);
  });

  test("a fault of one actor's commit leaves the others of its append alone", async () => {
    const { ask, store, clock } = await rig();
    store.faults.push("lost");
    const asked = ["a", "b", "c", "d"].map((id) => ask(id, "add", { amount: 1 }));
    await clock.advance(1_000);
    expect(await Promise.all(asked)).toEqual([1, 1, 1, 1]);
    expect(await Promise.all(["a", "b", "c", "d"].map((id) => totalOf(store, id)))).toEqual([1, 1, 1, 1]);
  });
});
