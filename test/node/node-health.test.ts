// Is a node of use to the others: its line, its clock against the store's, and when it counts as cut off.

import { beforeEach, describe, expect, test } from "bun:test";
import { createNodeHealth, type NodeHealth } from "../../src/node/node-health.ts";
import { type ManualClock, manualClock } from "../runtime/manual-clock.ts";

let clock: ManualClock;
let line: boolean;
/** The store's clock, from this node's; null: it does not answer. */
let aheadMs: number | null;
/** Does the store answer what leases hang on? */
let answersAside: boolean;
/** How long the store's answer is on its way, there and back alike. */
let wayMs: number;
let log: string[];
let health: NodeHealth;
beforeEach(() => {
  clock = manualClock();
  [line, aheadMs, answersAside, wayMs, log] = [true, 0, false, 0, []];
  const store = {
    async now(): Promise<number> {
      const way = () => new Promise<void>((resolve) => void clock.after(wayMs, resolve));
      if (wayMs > 0) await way();
      if (aheadMs === null) return new Promise(() => {});
      const now = clock.wall() + aheadMs;
      if (wayMs > 0) await way();
      return now;
    },
    read: async () => (answersAside ? null : new Promise<never>(() => {})),
  };
  const connected = () => line;
  health = createNodeHealth({ store, connected, clock, log: (_level, event) => void log.push(event) });
});

describe("the clock", () => {
  test.each([
    [0, true],
    [2_000, true],
    [-2_000, true],
    [2_001, false],
    [-2_001, false],
  ])("%i ms from the store's: fit is %p", async (ms, fit) => {
    aheadMs = ms;
    await health.measure();
    expect(health.fit()).toBe(fit);
    expect(health.skewMs()).toBe(-ms || 0);
  });

  test("half of the way there and back is allowed for", async () => {
    wayMs = 400;
    aheadMs = 2_300;
    const measured = health.measure();
    await clock.advance(800);
    await measured;
    expect(health.skewMs()).toBe(-1_900);
    expect(health.fit()).toBe(true);
  });

  test("is measured again and again, and reported when it turns wrong or right", async () => {
    aheadMs = 10_000;
    await clock.advance(1_000);
    expect(health.fit()).toBe(false);
    await clock.advance(5_000);
    aheadMs = 0;
    await clock.advance(1_000);
    expect(health.fit()).toBe(true);
    expect(log).toEqual(["clock_wrong", "clock_right"]);
  });

  test("a store that says nothing leaves the verdict as it was", async () => {
    aheadMs = 10_000;
    await health.measure();
    aheadMs = null;
    await clock.advance(20_000);
    expect(health.fit()).toBe(false);
  });
});

describe("the line", () => {
  test("a node without one is unfit at once", () => {
    line = false;
    expect(health.fit()).toBe(false);
  });

  test("is reported when it breaks and when it is back", async () => {
    line = false;
    await clock.advance(2_000);
    line = true;
    await clock.advance(2_000);
    expect(log).toEqual(["line_lost", "line_back"]);
  });
});

describe("a store that does not answer what is served with", () => {
  test("and answers what leases hang on, for some seconds: the node is unfit, until it does", async () => {
    [aheadMs, answersAside] = [null, true];
    await clock.advance(5_000);
    expect([health.fit(), health.isStoreUnresponsive()]).toEqual([true, false]);
    await clock.advance(4_000);
    expect([health.fit(), health.isStoreUnresponsive()]).toEqual([false, true]);
    aheadMs = 0;
    await clock.advance(4_000);
    expect([health.fit(), health.isStoreUnresponsive()]).toEqual([true, false]);
  });

  test("nor anything else: it is away, and who holds a lease keeps what it has", async () => {
    aheadMs = null;
    await clock.advance(60_000);
    expect([health.fit(), health.isStoreUnresponsive()]).toEqual([true, false]);
  });

  test("after it was away for all: the seconds count from when the leases are answered again", async () => {
    aheadMs = null;
    await clock.advance(60_000);
    answersAside = true;
    await clock.advance(3_500);
    expect(health.fit()).toBe(true);
  });
});

describe("cut off", () => {
  test.each([
    ["the store alone is silent", true, null, false],
    ["the line alone is down", false, 0, false],
    ["both", false, null, true],
  ])("%s", async (_, up, ahead, cutOff) => {
    [line, aheadMs] = [up, ahead];
    await clock.advance(8_000);
    expect(health.isIsolated()).toBe(cutOff);
  });

  test("not before the store has been silent for a while, and no longer once one of them answers", async () => {
    [line, aheadMs] = [false, null];
    await clock.advance(3_000);
    expect(health.isIsolated()).toBe(false);
    await clock.advance(1_000);
    expect(health.isIsolated()).toBe(true);
    aheadMs = 0;
    await clock.advance(4_000);
    expect(health.isIsolated()).toBe(false);
  });
});

test("stopped, it measures no more", async () => {
  health.stop();
  aheadMs = 10_000;
  await clock.advance(60_000);
  expect(health.skewMs()).toBe(0);
  expect(clock.waiting).toBe(0);
});
