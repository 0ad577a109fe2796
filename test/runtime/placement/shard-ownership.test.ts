// What a node holds of the table: it serves what is its own, ceases before it gives away, and takes no older table back.

import { describe, expect, test } from "bun:test";
import { silent } from "../../../src/base/log.ts";
import type { ShardMove } from "../../../src/runtime/placement/placement.ts";
import { ShardOwnership } from "../../../src/runtime/placement/shard-ownership.ts";
import { NO_TABLE, type Shard, type ShardTable } from "../../../src/runtime/placement/shard-table.ts";
import { manualClock } from "../manual-clock.ts";

/** The first shards as given, the others free. */
const tableOf = (version: number, ...given: Partial<Shard>[]): ShardTable => ({
  version,
  members: ["a", "b"],
  shards: NO_TABLE.shards.map((shard, i) => ({ ...shard, ...given[i] })),
});

function rig() {
  const clock = manualClock();
  let freed = 0;
  const holdings = new ShardOwnership({
    clock,
    log: silent,
    drainMs: 2_000,
    drained: () => void freed++,
  });
  const gained: [readonly number[], number][] = [];
  const lost: (readonly number[])[] = [];
  const moves: (readonly ShardMove[])[] = [];
  const order: string[] = [];
  let drain = Promise.resolve();
  let sweep = Promise.resolve();
  holdings.onGain((shards, since) => {
    gained.push([shards, since]);
    order.push("gained");
    return sweep;
  });
  holdings.onLose((shards) => {
    lost.push(shards);
    order.push("lost");
    return drain;
  });
  holdings.onMoved((moved) => {
    moves.push(moved);
    order.push("moved");
  });
  holdings.setIdentity("a");
  return {
    clock,
    holdings,
    gained,
    lost,
    moves,
    order,
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
  test("are the shards that the table says are this node's, each reported once, by where its recovery scan starts", () => {
    const { holdings, gained } = rig();
    const mine = { owner: "a", epoch: 3, since: 7 };
    const table = tableOf(1, mine, { ...mine, since: 9 }, mine, { owner: "b", epoch: 2 });
    holdings.adopt(table, 1);
    holdings.adopt({ ...table, version: 2 }, 2);
    expect([0, 1, 2, 3, 4].map((shard) => holdings.epochOf(shard))).toEqual([3, 3, 3, 0, 0]);
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
    expect(holdings.withoutDrained(asked, 50)).toBe(asked);
    drained();
    await clock.advance(0);
    expect(freed()).toBe(1);
    expect(holdings.withoutDrained(asked, 50).shards[0]).toMatchObject({ owner: null, epoch: 3, since: 50 });
  });

  test("are never served again in an epoch in which they were stoppedEpochs, even when nobody wants them any more", () => {
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

  test("wait for their sweeps, and for what was scanned to be saved: until then their start is reported", async () => {
    const { holdings, holdSweep, clock } = rig();
    const scanned = holdSweep();
    holdings.adopt(tableOf(1, { owner: "a", epoch: 3, since: 7 }, { owner: "a", epoch: 3, since: 9 }), 1);
    holdings.saved();
    expect(holdings.recoverySince()).toBe(7);
    scanned();
    await clock.advance(0);
    expect(holdings.recoverySince()).toBe(7);
    holdings.saved();
    expect(holdings.recoverySince()).toBe(Number.POSITIVE_INFINITY);
  });

  test("a sweep that ends after its shard was lost and gained again ends nothing", async () => {
    const { holdings, holdSweep, clock } = rig();
    const first = holdSweep();
    holdings.adopt(tableOf(1, { owner: "a", epoch: 3, since: 7 }), 1);
    holdSweep();
    holdings.adopt(tableOf(2, { owner: "a", epoch: 5, since: 8 }), 2);
    first();
    await clock.advance(0);
    holdings.saved();
    expect(holdings.recoverySince()).toBe(8);
  });

  test("may still be appended to while they are drained, and no longer", async () => {
    const { holdings, clock, holdDrain } = rig();
    holdDrain();
    holdings.adopt(tableOf(1, { owner: "a", epoch: 3 }), 1);
    expect([holdings.epochOf(0), holdings.drainEpochOf(0)]).toEqual([3, 3]);
    holdings.adopt(tableOf(2, { owner: "a", epoch: 3, next: "b" }), 2);
    expect([holdings.epochOf(0), holdings.drainEpochOf(0)]).toEqual([0, 3]);
    await clock.advance(1_999);
    expect(holdings.drainEpochOf(0)).toBe(3);
    await clock.advance(1);
    expect(holdings.drainEpochOf(0)).toBe(0);
    expect(holdings.withoutDrained(holdings.table(), 9).shards[0]!.owner).toBeNull();
  });

  test("that another took may not be appended to for a moment", () => {
    const { holdings } = rig();
    holdings.adopt(tableOf(1, { owner: "a", epoch: 3 }), 1);
    holdings.adopt(tableOf(2, { owner: "b", epoch: 4 }), 2);
    expect(holdings.drainEpochOf(0)).toBe(0);
  });

  test("that a commit of a higher epoch claims are lost at once, and let go for an owner above it", async () => {
    const { holdings, lost, freed, clock } = rig();
    holdings.adopt(tableOf(1, { owner: "a", epoch: 3 }, { owner: "a", epoch: 3 }), 1);
    holdings.fenced(0, 3);
    expect(holdings.epochOf(0)).toBe(3);
    holdings.fenced(0, 9);
    expect([holdings.epochOf(0), holdings.drainEpochOf(0), lost]).toEqual([0, 0, [[0]]]);
    await clock.advance(0);
    expect(freed()).toBe(1);
    const [first, second] = holdings.withoutDrained(holdings.table(), 9).shards;
    expect([first, second].map((shard) => [shard!.owner, shard!.epoch])).toEqual([
      [null, 9],
      ["a", 3],
    ]);
  });

  test("that are given up are lost and let go", async () => {
    const { holdings, lost, clock } = rig();
    holdings.adopt(tableOf(1, { owner: "a", epoch: 3 }, { owner: "b", epoch: 3 }), 1);
    holdings.relinquish(0);
    holdings.relinquish(0);
    holdings.relinquish(1);
    await clock.advance(0);
    expect([holdings.epochOf(0), lost]).toEqual([0, [[0]]]);
    expect(holdings.withoutDrained(holdings.table(), 9).shards[0]).toMatchObject({ owner: null, epoch: 3 });
  });

  describe("and what moves", () => {
    const shard = (owner: string | null, epoch: number) => ({ owner, epoch });

    test("is reported wherever it went, before anything is gained or lost by it", () => {
      const { holdings, moves, order } = rig();
      holdings.adopt(tableOf(1, shard("a", 1), shard("b", 1), shard("b", 1), shard("b", 1)), 1);
      expect(moves).toEqual([]);
      order.length = 0;
      holdings.adopt(tableOf(2, shard("b", 2), shard("a", 2), shard("c", 2), shard("b", 2)), 2);
      expect(moves).toEqual([
        [
          { shard: 0, epoch: 2, owner: "b" },
          { shard: 1, epoch: 2, owner: "a" },
          { shard: 2, epoch: 2, owner: "c" },
          { shard: 3, epoch: 2, owner: "b" },
        ],
      ]);
      expect(order).toEqual(["moved", "lost", "gained"]);
    });

    test("is reported when it has an owner again, and not while it has none", () => {
      const { holdings, moves } = rig();
      holdings.adopt(tableOf(1, shard("b", 1)), 1);
      holdings.adopt(tableOf(2, shard(null, 1)), 2);
      expect(moves).toEqual([]);
      holdings.adopt(tableOf(3, shard("b", 2)), 3);
      expect(moves).toEqual([[{ shard: 0, epoch: 2, owner: "b" }]]);
    });

    test("is everything for one who comes back as another, and is reported in between", () => {
      const { holdings, moves } = rig();
      holdings.adopt(tableOf(1, shard("b", 1), shard("a", 1)), 1);
      holdings.setIdentity(null);
      holdings.adopt(tableOf(2, shard("b", 1), shard("b", 2)), 2);
      expect(moves.splice(0)).toEqual([[{ shard: 1, epoch: 2, owner: "b" }]]);
      holdings.setIdentity("a2");
      expect(moves).toEqual([
        [
          { shard: 0, epoch: 1, owner: "b" },
          { shard: 1, epoch: 2, owner: "b" },
        ],
      ]);
    });
  });

  test("of one who is another from here on are none, and are lost", () => {
    const { holdings, lost } = rig();
    holdings.adopt(tableOf(1, { owner: "a", epoch: 3 }), 1);
    holdings.setIdentity("a2");
    expect(lost).toEqual([[0]]);
    expect(holdings.epochOf(0)).toBe(0);
    expect(holdings.mine()).toEqual([]);
  });
});
