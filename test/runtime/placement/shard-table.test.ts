// The plan of the table of shards: who gets what, in which order, how much at once; and what must never be planned.

import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  addMember,
  incarnationOf,
  type Member,
  type MemberState,
  NO_TABLE,
  nameOf,
  nodeId,
  plan,
  release,
  type Shard,
  type ShardTable,
} from "../../../src/runtime/placement/shard-table.ts";
import { SHARDS } from "../../../src/runtime/shards.ts";

const LIMITS = { moves: 8, departures: 64, imbalance: 0.1 };

const membersOf = (given: Record<string, MemberState>, over: Partial<Member> = {}): Map<string, Member> =>
  new Map(Object.entries(given).map(([node, state]) => [node, { state, watermark: 500, seen: 99, ...over }]));

/** Owners by shard number: `owners(i)`. */
const tableOf = (
  members: readonly string[],
  owner: (i: number) => string | null,
  over: Partial<Shard> = {},
): ShardTable => ({
  version: 7,
  members,
  shards: Array.from({ length: SHARDS }, (_, i) => ({
    owner: owner(i),
    epoch: 3,
    next: null,
    since: 900,
    at: 7,
    ...over,
  })),
});

const countOf = (table: ShardTable, node: string): number =>
  table.shards.filter(({ owner }) => owner === node).length;
const moving = ({ shards }: ShardTable): readonly Shard[] => shards.filter(({ next }) => next !== null);

describe("a plan", () => {
  test("gives every free shard to the one who is up, with the next epoch", () => {
    const next = plan(addMember(NO_TABLE, "a"), membersOf({ a: "up" }), LIMITS, false);
    expect(next.version).toBe(1);
    expect(next.shards.every(({ owner, epoch, at }) => owner === "a" && epoch === 1 && at === 1)).toBe(true);
  });

  test("shares free shards out evenly", () => {
    const empty = tableOf(["a", "b", "c"], () => null);
    const next = plan(empty, membersOf({ a: "up", b: "up", c: "up" }), LIMITS, false);
    expect(["a", "b", "c"].map((node) => countOf(next, node))).toEqual([86, 85, 85]);
  });

  test("gives the shards of the gone to who bears least, and nobody else's", () => {
    const before = tableOf(["a", "b", "c"], (i) => (i < 100 ? "a" : i < 150 ? "b" : "c"));
    const next = plan(before, membersOf({ a: "gone", b: "up", c: "up" }), LIMITS, true);
    expect([countOf(next, "b"), countOf(next, "c")]).toEqual([128, 128]);
    for (const [i, shard] of next.shards.entries()) {
      if (i >= 100) expect(shard).toEqual(before.shards[i]!);
      else expect(shard.epoch).toBe(4);
    }
    expect(next.members).toEqual(["b", "c"]);
  });

  test("is the same on every node, whatever the order in which it knows them", () => {
    const before = tableOf(["a", "b", "c"], (i) => (i % 2 === 0 ? "a" : null));
    const one = plan(before, membersOf({ a: "gone", b: "up", c: "up" }), LIMITS, true);
    const other = plan(before, membersOf({ c: "up", b: "up", a: "gone" }), LIMITS, true);
    expect(other).toEqual(one);
  });

  test("asks who leaves for its shards, so many at once, and gives none away itself", () => {
    const before = tableOf(["a", "b"], (i) => (i < 128 ? "a" : "b"));
    const next = plan(before, membersOf({ a: "leaving", b: "up" }), LIMITS, false);
    expect(countOf(next, "a")).toBe(128);
    expect(moving(next).map(({ owner, next, epoch }) => [owner, next, epoch])).toEqual(
      Array.from({ length: 64 }, () => ["a", "b", 3]),
    );
    expect(plan(next, membersOf({ a: "leaving", b: "up" }), LIMITS, false)).toBe(next);
  });

  test("gives what was drained to whom it was promised", () => {
    const before = tableOf(["a", "b", "c"], () => "a", { next: "c" });
    const freed = release(before, "a", new Map([[4, 0]]), 800);
    const next = plan(freed, membersOf({ a: "leaving", b: "up", c: "up" }), LIMITS, false);
    expect(next.shards[4]).toEqual({ owner: "c", epoch: 4, next: null, since: 800, at: 8 });
  });

  test.each(["gone", "leaving"] as const)(
    "looks for another when the one it was promised to is %s",
    (state) => {
      const before = tableOf(["a", "b", "c"], (i) => (i === 4 ? null : "a"), { next: "c" });
      const next = plan(before, membersOf({ a: "up", b: "up", c: state }), LIMITS, false);
      expect(next.shards[4]!.owner).toBe("b");
      expect(moving(next)).toEqual([]);
    },
  );

  test("balances only once settled, and a few at once", () => {
    const before = tableOf(["a", "b"], () => "a");
    const knownMembers = membersOf({ a: "up", b: "up" });
    expect(plan(before, knownMembers, LIMITS, false)).toBe(before);
    const next = plan(before, knownMembers, LIMITS, true);
    expect(moving(next)).toHaveLength(8);
    expect(plan(next, knownMembers, LIMITS, true)).toBe(next);
  });

  test.each([
    [134, 0],
    [135, 1],
  ])("of %p and the rest it moves %p", (most, moved) => {
    const before = tableOf(["a", "b"], (i) => (i < most ? "a" : "b"));
    const next = plan(before, membersOf({ a: "up", b: "up" }), LIMITS, true);
    expect(moving(next)).toHaveLength(moved);
  });

  test("leaves all as it is when nobody is up or leaving", () => {
    const before = tableOf(["a", "b"], (i) => (i < 3 ? null : "a"));
    expect(plan(before, membersOf({ a: "gone", b: "gone" }), LIMITS, true).shards).toEqual(before.shards);
  });

  test("gives what is free to who leaves rather than to nobody", () => {
    const before = tableOf(["a", "b"], (i) => (i < 3 ? null : "a"));
    const next = plan(before, membersOf({ a: "leaving", b: "leaving" }), LIMITS, true);
    expect(next.shards.slice(0, 3).map(({ owner }) => owner)).toEqual(["b", "b", "b"]);
    expect(moving(next)).toEqual([]);
  });

  test("never takes a shard from an owner who is not gone, and never repeats an epoch", () => {
    const nodes = ["a", "b", "c", "d"];
    const anyNode = fc.constantFrom(...nodes, null);
    const anyStanding = fc.constantFrom<MemberState[]>("up", "leaving", "gone");
    const anyShard = fc.record({
      owner: anyNode,
      next: anyNode,
      epoch: fc.nat(5),
      since: fc.nat(),
      at: fc.nat(9),
    });
    fc.assert(
      fc.property(
        fc.array(anyShard, { minLength: 20, maxLength: 20 }),
        fc.tuple(anyStanding, anyStanding, anyStanding, anyStanding),
        fc.boolean(),
        (shards, given, settled) => {
          const before: ShardTable = { version: 9, members: nodes, shards };
          const knownMembers = membersOf(Object.fromEntries(nodes.map((node, i) => [node, given[i]!])));
          const next = plan(before, knownMembers, LIMITS, settled);
          for (const [i, shard] of next.shards.entries()) {
            const was = shards[i]!;
            if (shard.owner !== was.owner) {
              expect(was.owner === null || knownMembers.get(was.owner)?.state === "gone").toBe(true);
              expect(shard.epoch).toBe(was.epoch + 1);
            } else expect(shard.epoch - was.epoch).toBeLessThanOrEqual(1);
            if (shard.next !== null) expect(knownMembers.get(shard.next)?.state).toBe("up");
          }
          for (let i = 0, now = next; i < 3; i++, now = plan(now, knownMembers, LIMITS, settled)) {
            expect(moving(now).length).toBeLessThanOrEqual(
              Math.max(LIMITS.departures, moving(before).length),
            );
          }
        },
      ),
    );
  });
});

describe("where a sweep starts", () => {
  const sinceOf = (owner: string | null, member: Partial<Member>): number => {
    const before = tableOf(["a", "b"], () => owner, { since: 900, at: 5 });
    return plan(
      before,
      new Map([...membersOf({ a: "gone" }, member), ...membersOf({ b: "up" })]),
      LIMITS,
      false,
    ).shards[0]!.since;
  };

  test.each([
    ["at the last owner's watermark", { watermark: 2_000, seen: 5 }, 2_000],
    ["at the shard's, when the last owner never reported it", { watermark: 2_000, seen: 4 }, 900],
    ["at the watermark all the same when that is older", { watermark: 100, seen: 4 }, 100],
  ])("%s", (_what, member, since) => {
    expect(sinceOf("a", member)).toBe(since);
  });

  test("at the shard's own, when it was free", () => {
    expect(sinceOf(null, { watermark: 2_000, seen: 9 })).toBe(900);
  });
});

test("only an owner's own drained shards are released", () => {
  const before = tableOf(["a", "b"], (i) => (i < 2 ? "a" : "b"));
  const freed = release(before, "a", new Map([1, 2].map((i) => [i, 0])), 800);
  expect(freed.shards.slice(0, 3).map(({ owner, since }) => [owner, since])).toEqual([
    ["a", 900],
    [null, 800],
    ["b", 900],
  ]);
});

test("a node is a name and an incarnation, whatever the name", () => {
  const node = nodeId("x#y.z", "01J");
  expect([nameOf(node), incarnationOf(node)]).toEqual(["x#y.z", "01J"]);
});
