// Turns of one actor: one at a time, replies that wait for the commit, and the bounds at which nothing is executed.

import { describe, expect, test } from "bun:test";
import { settled } from "../manual-clock.ts";
import { purse } from "../purse.ts";
import { ledgerOf, rig } from "../rig.ts";

/** Longer than `outcome` lets the clock run. */
const LONG = { budgetMs: 60_000 };

/** Has the promise ended, now that all that can go on has gone on? */
async function ended(promise: Promise<unknown>): Promise<boolean> {
  let done = false;
  const mark = () => {
    done = true;
  };
  promise.then(mark, mark);
  await settled();
  return done;
}

describe("a turn", () => {
  test("sees everything that earlier turns decided, durable or not", async () => {
    const { ask } = await rig();
    const replies = await Promise.all([1, 2, 3, 4].map((amount) => ask("a", "add", { amount })));
    expect(replies).toEqual([1, 3, 6, 10]);
  });

  test("never sees time run backwards, though the wall does", async () => {
    const { ask, clock } = await rig();
    await ask("a", "add", { amount: 1 });
    const before = await ask("a", "now", {});
    clock.stepWall(-600_000);
    expect(await ask("a", "now", {})).toBe(before);
  });

  test("never sees time run backwards, though nothing was written in between", async () => {
    const { ask, clock } = await rig();
    await ask("a", "add", { amount: 1 });
    await clock.advance(60_000);
    const before = await ask("a", "now", {});
    clock.stepWall(-30_000);
    expect(await ask("a", "now", {})).toBeGreaterThanOrEqual(before);
  });

  test("that refuses is the caller's answer, and writes nothing", async () => {
    const { outcome, store } = await rig();
    expect(await outcome("a", "refuse", {})).toBe("refused: not_found");
    expect(store.appends).toHaveLength(0);
  });

  test("that throws breaks this actor alone, and leaves its durable state untouched", async () => {
    const { ask, outcome, logged } = await rig();
    await ask("a", "add", { amount: 5 });
    expect(await outcome("a", "burst", {}, { budgetMs: 0 })).toBe("unavailable: unavailable");
    expect(logged).toContainEqual({ event: "activation_broken", actor: "account/a", why: "turn_failed" });
    expect(await ask("a", "read", {})).toBe(5);
    expect(await ask("b", "add", { amount: 1 })).toBe(1);
  });
});

describe("a reply", () => {
  test("of a command that writes waits for its commit", async () => {
    const { ask, store } = await rig();
    const open = store.holdAppends();
    const reply = ask("a", "add", { amount: 1 });
    expect(await ended(reply)).toBe(false);
    open();
    expect(await reply).toBe(1);
  });

  test("of a read waits for what it saw to be durable", async () => {
    const { ask, store } = await rig();
    const open = store.holdAppends();
    const write = ask("a", "add", { amount: 1 });
    await settled();
    const read = ask("a", "read", {});
    expect(await ended(read)).toBe(false);
    open();
    expect(await Promise.all([write, read])).toEqual([1, 1]);
  });

  test("of a read with nothing unflushed does not wait for anything", async () => {
    const { ask, store } = await rig();
    await ask("a", "add", { amount: 1 });
    store.holdAppends();
    expect(await ask("a", "read", {})).toBe(1);
  });

  test("that is ungated leaves at once, whatever is under way", async () => {
    const { ask, store } = await rig();
    const open = store.holdAppends();
    const write = ask("a", "add", { amount: 1 });
    await settled();
    expect(await ask("a", "peek", {})).toBe(1);
    open();
    await write;
  });

  test("of a command sent twice at once is one reply, and waits for the same commit", async () => {
    const { ask, store } = await rig();
    const open = store.holdAppends();
    const first = ask("a", "add", { amount: 1 }, { id: "x" });
    await settled();
    const second = ask("a", "add", { amount: 1 }, { id: "x" });
    expect(await ended(second)).toBe(false);
    open();
    expect(await Promise.all([first, second])).toEqual([1, 1]);
    expect(await ask("a", "read", {})).toBe(1);
  });

  test("does not keep its caller longer than the budget, however slow the store", async () => {
    const { ask, store, clock } = await rig();
    const open = store.holdAppends();
    const asked = ask("a", "add", { amount: 1 }, { id: "x", budgetMs: 300 }).catch((error) => error.reason);
    await clock.advance(400);
    expect(await ended(asked)).toBe(true);
    expect(await asked).toBe("unavailable");
    open();
    expect(await ask("a", "add", { amount: 1 }, { id: "x" })).toBe(1);
    expect(await ledgerOf(store, "a")).toHaveLength(1);
  });
});

describe("a decision that writes may not be ungated", () => {
  test("such a behaviour breaks its actor before anything is stored", async () => {
    const behavior = {
      ...purse,
      decide: (...args: Parameters<typeof purse.decide>) => ({
        ...purse.decide(...args),
        ungated: true as const,
      }),
    };
    const { outcome, store } = await rig({ behavior });
    expect(await outcome("a", "add", { amount: 1 })).toBe("unavailable: unavailable");
    expect(store.appends).toHaveLength(0);
  });
});

describe("over a bound a command is not executed", () => {
  test("one actor's mailbox", async () => {
    const { ask, outcome, store } = await rig({ limits: { mailbox: 3 } });
    const open = store.holdAppends();
    const kept = [1, 1, 1].map((amount) => ask("a", "add", { amount }, LONG));
    await settled();
    expect(await outcome("a", "add", { amount: 100 }, { budgetMs: 0 })).toBe("unavailable: overloaded");
    expect(await ask("b", "read", {})).toBe(0);
    open();
    expect(await Promise.all(kept)).toEqual([1, 2, 3]);
    expect(await ask("a", "read", {})).toBe(3);
  });

  test("the turns of the whole node", async () => {
    const { ask, outcome, store, system } = await rig({ limits: { nodeTurns: 2 } });
    const open = store.holdAppends();
    const kept = ["a", "b"].map((id) => ask(id, "add", { amount: 1 }, LONG));
    await settled();
    expect(system.stats().turnsWaiting).toBe(2);
    expect(await outcome("c", "add", { amount: 1 }, { budgetMs: 0 })).toBe("unavailable: overloaded");
    open();
    await Promise.all(kept);
    expect(await ask("c", "read", {})).toBe(0);
    expect(system.stats().counters.shed).toBe(1);
  });

  test("a full mailbox is tried again inside the caller's budget", async () => {
    const { ask, store, clock } = await rig({ limits: { mailbox: 1 } });
    const open = store.holdAppends();
    const first = ask("a", "add", { amount: 1 });
    await settled();
    const second = ask("a", "add", { amount: 2 });
    await settled();
    open();
    await clock.advance(1_000);
    expect(await Promise.all([first, second])).toEqual([1, 3]);
  });

  test("loads from the store at once; the others wait their turn", async () => {
    const { ask, store } = await rig({ limits: { loads: 2 } });
    const open = store.holdLoads();
    const reads = ["a", "b", "c", "d", "e"].map((id) => ask(id, "read", {}));
    await settled();
    expect(store.loads.now).toBe(2);
    open();
    expect(await Promise.all(reads)).toEqual([0, 0, 0, 0, 0]);
    expect(store.loads).toMatchObject({ most: 2, total: 5 });
  });

  test("work that nobody waits for any more is shed, unless it is marked", async () => {
    const { ask, store, clock, system } = await rig();
    const open = store.holdLoads();
    const late = [
      ask("a", "add", { amount: 1 }, { budgetMs: 100 }),
      ask("a", "pay", { mark: "m", amount: 10 }, { budgetMs: 100 }),
    ].map((one) => one.catch((error) => error.reason));
    await clock.advance(3_000);
    open();
    await clock.advance(1_000);
    await Promise.all(late);
    expect(await ask("a", "read", {})).toBe(10);
    expect(system.stats().counters.shed).toBe(1);
  });
});
