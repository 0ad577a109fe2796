// What a node holds of the table: it serves what is its own, ceases before it gives away, and takes no older table back.

import { describe, expect, test } from "bun:test";
import { createHoldings } from "../../src/runtime/holdings.ts";
import { silent } from "../../src/runtime/log.ts";
import { NO_TABLE, type Shard, type Table } from "../../src/runtime/table.ts";
import { manualClock } from "./manual-clock.ts";

/** The first shards as given, the others free. */
const tableOf = (version: number, ...given: Partial<Shard>[]): Table => ({
  version,
  members: ["a", "b"],
  shards: NO_TABLE.shards.map((shard, i) => ({ ...shard, ...given[i] })),
});

function rig() {
  const clock = manualClock();
  let freed = 0;
  const holdings = createHoldings({ clock, log: silent, drainMs: 2_000, drained: () => void freed++ });
  const gained: [readonly number[], number][] = [];
  const lost: (readonly number[])[] = [];
  let drain = Promise.resolve();
  let sweep = Promise.resolve();
  holdings.onGain((shards, since) => {
    gained.push([shards, since]);
    return sweep;
  });
  holdings.onLose((shards) => {
    lost.push(shards);
    return drain;
  });
  holdings.become("a");
  return {
    clock,
    holdings,
    gained,
    lost,
    freed: () => freed,
    holdDrain: () => {
      const { promise, resolve } = Promise.withResolvers<void>();
      drain = promise;
      return resolve;
    },
    holdSweep: () => {
      const { promise, resolve } = Promise.withResolvers<void>();
      sweep = promise;
      return resolve;
    },
  };
}

describe("holdings", () => {
  test("are the shards that the table says are this node's, each told of once, by where its sweep starts", () => {
    const { holdings, gained } = rig();
    const mine = { owner: "a", epoch: 3, since: 7 };
    const table = tableOf(1, mine, { ...mine, since: 9 }, mine, { owner: "b", epoch: 2 });
    holdings.adopt(table, 1);
    holdings.adopt({ ...table, version: 2 }, 2);
    expect([0, 1, 2, 3, 4].map(holdings.epochOf)).toEqual([3, 3, 3, 0, 0]);
    expect(gained).toEqual([
      [[0, 2], 7],
      [[1], 9],
    ]);
  });

  test("are not what an older table says that comes late", () => {
    const { holdings } = rig();
    holdings.adopt(tableOf(2, { owner: "b", epoch: 4 }), 2);
    holdings.adopt(tableOf(1, { owner: "a", epoch: 3 }), 1);
    expect(holdings.epochOf(0)).toBe(0);
    expect(holdings.rev()).toBe(2);
  });

  test("are no more served once another is to have them, and given away when they are drained", async () => {
    const { holdings, holdDrain, lost, freed, clock } = rig();
    const drained = holdDrain();
    holdings.adopt(tableOf(1, { owner: "a", epoch: 3 }), 1);
    const asked = tableOf(2, { owner: "a", epoch: 3, next: "b" });
    holdings.adopt(asked, 2);
    expect(holdings.epochOf(0)).toBe(0);
    expect(lost).toEqual([[0]]);
    await clock.advance(100);
    expect(holdings.freed(asked, 50)).toBe(asked);
    drained();
    await clock.advance(0);
    expect(freed()).toBe(1);
    expect(holdings.freed(asked, 50).shards[0]).toMatchObject({ owner: null, epoch: 3, since: 50 });
  });

  test("are never served again in an epoch in which they were ceased, even when nobody wants them any more", () => {
    const { holdings } = rig();
    holdings.adopt(tableOf(1, { owner: "a", epoch: 3, next: "b" }), 1);
    holdings.adopt(tableOf(2, { owner: "a", epoch: 3 }), 2);
    expect(holdings.epochOf(0)).toBe(0);
    holdings.adopt(tableOf(3, { owner: "a", epoch: 4 }), 3);
    expect(holdings.epochOf(0)).toBe(4);
  });

  test("are given away after a while although a drain hangs", async () => {
    const { holdings, holdDrain, freed, clock } = rig();
    holdDrain();
    holdings.adopt(tableOf(1, { owner: "a", epoch: 3, next: "b" }), 1);
    await clock.advance(1_999);
    expect(freed()).toBe(0);
    await clock.advance(1);
    expect(freed()).toBe(1);
  });

  test("that another took are lost at once", () => {
    const { holdings, lost } = rig();
    holdings.adopt(tableOf(1, { owner: "a", epoch: 3 }, { owner: "a", epoch: 3 }), 1);
    holdings.adopt(tableOf(2, { owner: "b", epoch: 4 }, { owner: "a", epoch: 3 }), 2);
    expect(lost).toEqual([[0]]);
  });

  test("wait for their sweeps: until then their start is told", async () => {
    const { holdings, holdSweep, clock } = rig();
    const swept = holdSweep();
    holdings.adopt(tableOf(1, { owner: "a", epoch: 3, since: 7 }, { owner: "a", epoch: 3, since: 9 }), 1);
    expect(holdings.unsweptSince()).toBe(7);
    swept();
    await clock.advance(0);
    expect(holdings.unsweptSince()).toBe(Number.POSITIVE_INFINITY);
  });

  test("a sweep that ends after its shard was lost and gained again ends nothing", async () => {
    const { holdings, holdSweep, clock } = rig();
    const first = holdSweep();
    holdings.adopt(tableOf(1, { owner: "a", epoch: 3, since: 7 }), 1);
    holdSweep();
    holdings.adopt(tableOf(2, { owner: "a", epoch: 5, since: 8 }), 2);
    first();
    await clock.advance(0);
    expect(holdings.unsweptSince()).toBe(8);
  });

  test("of one who is another from here on are none, and are lost", () => {
    const { holdings, lost } = rig();
    holdings.adopt(tableOf(1, { owner: "a", epoch: 3 }), 1);
    holdings.become("a2");
    expect(lost).toEqual([[0]]);
    expect(holdings.epochOf(0)).toBe(0);
    expect(holdings.mine()).toEqual([]);
  });
});
