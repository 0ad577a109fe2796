// What a node knows of the keys of Levels, from the actors that it owns, and what it counts of their commits.

import { describe, expect, test } from "bun:test";
import type { Level } from "../../../actors/level/state.ts";
import { AttemptCounts } from "../../../src/gateway/traffic/attempt-counts.ts";
import { LevelEventCounts } from "../../../src/gateway/traffic/level-event-counts.ts";
import { LevelStates } from "../../../src/gateway/traffic/level-states.ts";
import { actorName } from "../../../src/runtime/actor.ts";
import { shardOf } from "../../../src/runtime/shards.ts";
import { NOON } from "../../runtime/manual-clock.ts";
import { type KeyGiven, levelOf, resting, sleeping, WAKING } from "../level-samples.ts";

const asleep = (id: number): KeyGiven => ({ id, health: sleeping(1) });
const atRest = (id: number): KeyGiven => ({ id, health: resting(1) });
const disabled = (id: number): KeyGiven => ({ id, disabled: true });

const LEVEL = { kind: "level" } as const;
const figures = (...levels: readonly Level[]) => {
  const known = new LevelStates();
  for (const level of levels) known.loaded({ ...LEVEL, id: level.id }, level);
  return known;
};

describe("the states of keys", () => {
  test("are counted by the Level's number, over all Owners", () => {
    const known = figures(
      levelOf("2.1", [1, asleep(2), disabled(3)]),
      levelOf("9.1", [atRest(4), { id: 5, health: WAKING }]),
      levelOf("9.4", [6]),
    );
    const [first, second] = known.figures(NOON);
    expect(first).toEqual({
      level: "1",
      keys: { active: 1, waking: 1, sleeping: 1, resting: 1, disabled: 1 },
      ...{ down: 0, switchedOver: 0 },
    });
    expect(second).toMatchObject({ level: "4", keys: { active: 1 } });
  });

  test("a Level is down while no key of it can be used and one sleeps, not when all are disabled", () => {
    const known = figures(
      levelOf("2.1", [asleep(1), disabled(2)]),
      levelOf("3.1", [atRest(3)]),
      levelOf("4.1", []),
      levelOf("5.1", [disabled(4)]),
    );
    expect(known.figures(NOON)).toMatchObject([{ down: 1 }]);
    expect(known.figures(NOON + 1_000)).toMatchObject([{ down: 0 }]);
  });

  test("are those of the actor at the moment, which its turns change", () => {
    const level = levelOf("2.1", [1, 2]);
    const known = figures(level);
    const { fold } = levelOf("2.1", [asleep(1), 2], { switchedUntil: NOON + 1_000 });
    level.fold = fold;
    expect(known.figures(NOON)).toMatchObject([{ keys: { active: 1, sleeping: 1 } }]);
    // Loaded anew after a failure, it has what the ledger has.
    known.loaded({ ...LEVEL, id: "2.1" }, levelOf("2.1", [1]));
    expect(known.figures(NOON)).toMatchObject([{ keys: { active: 1, sleeping: 0 } }]);
  });

  test.each([
    [2, 1],
    [undefined, 0],
  ])("a Level with the backup Level %p is switched over %d times while it lasts", (to, switchedOver) => {
    const until = NOON + 1_000;
    const known = figures(levelOf("2.1", [1], { switchedUntil: until }));
    known.committed({ ...LEVEL, id: "2.1" }, {
      events: [{ at: NOON, e: { type: "switched_over", until, reason: "timeout", to } }],
    } as never);
    expect(known.figures(NOON)).toMatchObject([{ switchedOver }]);
    expect(known.figures(until)).toMatchObject([{ switchedOver: 0 }]);
  });

  test("belong to the node that owns the actor: with its shard they go", () => {
    const known = figures(levelOf("2.1", [1]), levelOf("9.1", [2, 3]));
    const [one, other] = ["2.1", "9.1"].map((id) => shardOf(actorName({ ...LEVEL, id })));
    expect(one).not.toBe(other!);
    known.lost([other!]);
    expect(known.figures(NOON)).toMatchObject([{ keys: { active: 1 } }]);
    known.lost([one!]);
    expect(known.figures(NOON)).toEqual([]);
  });

  test("are of Levels alone", () => {
    const known = new LevelStates();
    known.loaded({ kind: "account", id: "2" }, { balance: 1 });
    expect(known.figures(NOON)).toEqual([]);
  });

  test("are bounded: numbers of Levels beyond the bound are shown as one", () => {
    const known = figures(...Array.from({ length: 500 }, (_, i) => levelOf(`2.${i}`, [1])));
    const found = known.figures(NOON);
    expect(found).toHaveLength(51);
    expect(found.at(-1)).toMatchObject({ level: "other", keys: { active: 450 } });
  });

  test("Levels without keys make room for others", () => {
    const known = figures(...Array.from({ length: 10_000 }, (_, i) => levelOf(`2.${i}`, [])));
    known.loaded({ ...LEVEL, id: "3.1" }, levelOf("3.1", [1]));
    expect(known.figures(NOON)).toMatchObject([{ level: "1", keys: { active: 1 } }]);
  });
});

test("switch-overs and sleeps are counted from the commits of Levels alone, within a bound", () => {
  const counts = new LevelEventCounts();
  const events = (...types: string[]) => ({ events: types.map((type) => ({ at: 0, e: { type, to: 2 } })) });
  counts.committed(
    { kind: "level", id: "2.1" },
    events("slept", "switched_over", "recovered", "slept") as never,
  );
  // A Level without a backup stays in use.
  counts.committed({ kind: "level", id: "2.1" }, {
    events: [{ at: 0, e: { type: "switched_over" } }],
  } as never);
  counts.committed({ kind: "account", id: "2" }, events("slept") as never);
  expect(counts.byLevel.get("1")).toEqual({ switchOvers: 1, sleeps: 2 });
  for (let i = 0; i < 100; i++) counts.committed({ kind: "level", id: `2.${i}` }, events("slept") as never);
  expect(counts.byLevel.size).toBe(51);
});

test("attempts are counted by Level and result, within a bound", () => {
  const counts = new AttemptCounts();
  counts.count(1, "ok");
  counts.count(1, "ok");
  counts.count(1, "timeout");
  expect(counts.all()).toEqual([
    ["1", "ok", 2],
    ["1", "timeout", 1],
  ]);
  for (let i = 0; i < 200; i++) counts.count(i, "ok");
  expect(new Set(counts.all().map(([level]) => level)).size).toBe(51);
});
