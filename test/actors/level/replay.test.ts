// What a Level promises whatever happens to it, in any order: replay makes the same state as life, deadlines stay
// bounded, and what is published is what a reader then gets.

import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { level } from "../../../actors/level/level.ts";
import { keyOf, type Living, living, NOON } from "../level-samples.ts";

const DAY_MS = 86_400_000;
const KEYS = 3;

/** One that is no member is among them. */
const key = fc.integer({ min: 1, max: KEYS + 1 });
/** Seconds that an attempt took: some fail at once, some are older than whatever happened lately. */
const took = fc.constantFrom(0, 1, 5, 400);

/** Seconds that pass, then something that happens. */
const step = fc.tuple(
  fc.constantFrom(0, 0, 1, 2, 59, 300, 900, 3_600, 90_000),
  fc.oneof(
    {
      weight: 6,
      arbitrary: fc
        .record({
          key,
          took,
          what: fc.constantFrom("fail", "fail", "long", "rest", "pass_over"),
          retryAfterMs: fc.constantFrom(null, null, 0, 1_500, 700_000),
          model: fc.constantFrom("a", "b"),
          limit: fc.integer({ min: 1, max: 3 }),
        })
        .map(
          ({ took, ...given }) =>
            (one: Living) =>
              one.fail({ ...given, started: one.at - took }),
        ),
    },
    {
      weight: 4,
      arbitrary: fc.tuple(key, took, fc.constantFrom(0, 3)).map(
        ([key, took, ago]) =>
          (one: Living) =>
            one.succeed(one.at - took - ago, one.at - ago, key),
      ),
    },
    { weight: 2, arbitrary: key.map((key) => (one: Living) => one.probe(key)) },
    { weight: 1, arbitrary: key.map((key) => (one: Living) => one.wake(key)) },
    { weight: 1, arbitrary: fc.constant((one: Living) => one.wake()) },
    {
      weight: 1,
      arbitrary: fc.tuple(fc.integer({ min: 1, max: KEYS }), fc.boolean(), fc.boolean()).map(
        ([count, status, isOther]) =>
          (one: Living) =>
            one.members(one.state.fold.members + 1, ...members(count, status, isOther)),
      ),
    },
    { weight: 1, arbitrary: fc.constant((one: Living) => one.restart()) },
  ),
);
const steps = fc.array(step, { maxLength: 60 });

const members = (count: number, status: boolean, isOther: boolean) =>
  Array.from({ length: count }, (_, i) => keyOf(i + 1, { status, ...(isOther ? { mask: "other" } : {}) }));

/** Lives through the steps, looking at the Level after each. */
function lived(given: [number, (one: Living) => unknown][], look: (one: Living) => void = () => {}): Living {
  const one = living(...members(KEYS, true, false));
  for (const [passes, happens] of given) {
    one.at += passes;
    happens(one);
    look(one);
  }
  return one;
}

const holds = (property: (given: [number, (one: Living) => unknown][]) => void) =>
  fc.assert(fc.property(steps, property), { numRuns: 300 });

describe("whatever happens", () => {
  test("replaying the events makes the same state", () => {
    holds((given) => {
      const one = lived(given);
      const again = level.empty("2.4");
      for (const { at, e } of JSON.parse(JSON.stringify(one.events))) level.evolve(again, e, at);
      expect(level.freeze(again)).toEqual(level.freeze(one.state));
    });
  });

  test("what is published is what a reader then gets, and its version grows by one per event", () => {
    holds((given) => {
      lived(given, (one) => {
        const { keys, ...rest } = one.view();
        expect(rest.version).toBe(one.events.length);
        const news = one.published.at(-1)!;
        expect(news.version).toBe(rest.version);
        if (one.events.at(-1)!.at === one.now()) expect(rest).toMatchObject(withoutKeys(news));
        if ("keys" in news) expect(news.keys).toEqual(keys);
      });
    });
  });

  test("no key sleeps longer than a day ahead, and nothing is kept of keys that are not here", () => {
    holds((given) => {
      lived(given, (one) => {
        const { keys, health } = one.view();
        for (const { sleepsUntil, sleepTimes, waking, failures } of health) {
          expect(sleepsUntil).toBeLessThanOrEqual(one.now() + DAY_MS);
          expect(failures).toBeLessThan(3);
          if (sleepsUntil > one.now()) expect([waking, sleepTimes > 0]).toEqual([true, true]);
        }
        const ids = new Set(keys.map(({ id }) => id));
        expect([...one.state.fold.health.keys()].filter((id) => !ids.has(id))).toEqual([]);
        expect(one.state.fold.recentFailures.length).toBeLessThanOrEqual(6);
      });
    });
  });

  test("a long while after the last failure every key may be used again", () => {
    holds((given) => {
      const one = lived(given);
      one.at += 2 * 86_400;
      for (const { id, state } of one.view().keys) {
        if (state === "normal") expect(["normal", "waking"]).toContain(one.is(id));
      }
      one.members(one.state.fold.members + 1, ...members(KEYS, true, false));
      for (const { id } of one.view().keys) one.succeed(one.at, one.at, id);
      one.at += 3_600;
      expect(one.view().health).toEqual([]);
    });
  });
});

test("a restart in the middle of everything changes nothing that is seen", () => {
  const one = living();
  one.fail({ what: "long" });
  one.fail({ key: 2 });
  one.fail({ key: 2, what: "rest", started: 1 });
  one.fail({ key: 2, what: "pass_over", model: "x" });
  for (let i = 0; i < 6; i++) one.fail({ key: 2, started: -1 });
  const before = one.view();
  expect([before.health.length, before.switchedUntil]).toEqual([2, NOON + 60_000]);
  one.restart();
  expect(one.view()).toEqual(before);
  const next = one.fail({ key: 2, started: 2 });
  expect(next.events).toContainEqual(expect.objectContaining({ type: "slept", key: 2 }));
});

function withoutKeys(news: Living["published"][number]): object {
  const { keys: _keys, ...rest } = { keys: [], ...news };
  return rest;
}
