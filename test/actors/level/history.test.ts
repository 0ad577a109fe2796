// What a Level's history says of its keys: a row for each sleep, wake and switch-over, and none for anything else.

import { describe, expect, test } from "bun:test";
import { LEVEL_ROWS_MAX } from "../../../actors/level/history.ts";
import { level } from "../../../actors/level/level.ts";
import type { LevelRow } from "../../../actors/level/state.ts";
import { HOUR, keyOf, type Living, living, MINUTE, NOON } from "../level-samples.ts";

/** Takes the documents of a Level that are not written yet. */
const written = (one: Living) => level.materialize(one.state);
const rows = (one: Living) => written(one).map(({ body }) => body as unknown as LevelRow);

/** The rows as texts: `sleep 1 server_error 300 s`. */
const eventTexts = (one: Living): string[] =>
  rows(one).map((row) =>
    [
      row.type,
      ...("key" in row ? [row.key] : []),
      row.reason,
      ...("until" in row ? [`${(row.until - row.at) / 1_000} s`] : []),
      ...("to" in row ? [`to ${row.to}`] : []),
    ].join(" "),
  );

const failTimes = (one: Living, times: number, over: Parameters<Living["fail"]>[0] = {}) => {
  for (let i = 0; i < times; i++) {
    one.at++;
    one.fail(over);
  }
};

describe("the history of a Level", () => {
  test.each<[string, (one: Living) => void, readonly string[]]>([
    ["nothing has happened", () => {}, []],
    ["failures that cause no sleep", (one) => failTimes(one, 2), []],
    [
      "a sleep after failures in a row, with the last one's name",
      (one) => {
        failTimes(one, 2);
        failTimes(one, 1, { reason: "timeout" });
      },
      ["sleep 1 timeout 300 s"],
    ],
    [
      "a sleep at once",
      (one) => one.fail({ key: 2, what: "long", reason: "invalid_key" }),
      ["sleep 2 invalid_key 1800 s"],
    ],
    ["a rest", (one) => one.fail({ what: "rest", retryAfterMs: 9_000 }), []],
    ["a model passed over", (one) => one.fail({ what: "pass_over" }), []],
    [
      "a key that answers its probe",
      (one) => {
        one.sleepOut();
        one.succeed();
      },
      ["sleep 1 server_error 300 s", "wake 1 answered"],
    ],
    [
      "a probe that fails",
      (one) => {
        one.sleepOut();
        one.fail();
      },
      ["sleep 1 server_error 300 s", "sleep 1 server_error 900 s"],
    ],
    [
      "an answer between the failures that is reported late",
      (one) => {
        one.fail({ endedAt: NOON + 1_000 });
        one.fail({ started: 1, endedAt: NOON + 3_000 });
        one.fail({ started: 3, endedAt: NOON + 5_000 });
        one.at = 6;
        one.succeed(1, 2);
      },
      ["sleep 1 server_error 300 s", "wake 1 late_answer"],
    ],
    [
      "a key that is woken by hand, asleep or at rest",
      (one) => {
        failTimes(one, 3);
        one.fail({ key: 2, what: "rest", retryAfterMs: 9_000 });
        one.wake();
      },
      ["sleep 1 server_error 300 s", "wake 1 woken", "wake 2 woken"],
    ],
    [
      "a key that is woken by hand, but awake",
      (one) => {
        failTimes(one, 1);
        one.wake(1);
      },
      [],
    ],
    [
      "a sleeping key with another secret",
      (one) => {
        failTimes(one, 3);
        one.members(2, keyOf(1, { mask: "sk-…new1" }), keyOf(2));
      },
      ["sleep 1 server_error 300 s", "wake 1 changed"],
    ],
    [
      "a sleeping key that is taken away",
      (one) => {
        failTimes(one, 3);
        one.members(2, keyOf(2));
      },
      ["sleep 1 server_error 300 s"],
    ],
    [
      "a switch-over, and where to",
      (one) => failTimes(one, 6, { limit: 99, reason: "overloaded", switchTo: 7 }),
      ["switch_over overloaded 60 s to 7"],
    ],
    [
      "a switch-over without a backup Level",
      (one) => failTimes(one, 6, { limit: 99 }),
      ["switch_over server_error 60 s"],
    ],
  ])("%s", (_what, story, expected) => {
    const one = living();
    story(one);
    expect(eventTexts(one)).toEqual([...expected]);
  });

  test("has rows with their place, which are written once", () => {
    const one = living();
    failTimes(one, 3);
    expect(written(one)).toEqual([
      {
        table: "levelEvents",
        id: "2.4/1",
        body: {
          ...{ owner: 2, level: 4, number: 1, at: NOON + 3_000, type: "sleep" },
          ...{ key: keyOf(1).id, reason: "server_error", until: NOON + 3_000 + 5 * MINUTE * 1_000 },
        },
      },
    ]);
    expect(written(one)).toEqual([]);
    one.wake();
    expect(rows(one)).toMatchObject([{ number: 2, type: "wake" }]);
  });

  test("goes on with its numbers after a restart, and is the same after a replay", () => {
    const one = living();
    failTimes(one, 3);
    one.wake();
    const before = written(one);
    one.restart();
    one.at = HOUR;
    failTimes(one, 3);
    const after = written(one);
    expect(after.map(({ id }) => id)).toEqual(["2.4/3"]);
    const again = level.empty("2.4");
    for (const { at, e } of one.events) level.evolve(again, e, at);
    expect(level.materialize(again)).toEqual([...before, ...after]);
    expect(level.freeze(again)).toEqual(level.freeze(one.state));
  });

  test("keeps the newest rows in a ring of documents, also before they are written", () => {
    const one = living();
    for (let i = 0; i < LEVEL_ROWS_MAX; i++) {
      failTimes(one, 3);
      one.wake(1);
    }
    const all = written(one);
    expect(all).toHaveLength(LEVEL_ROWS_MAX);
    expect(new Set(all.map(({ id }) => id)).size).toBe(LEVEL_ROWS_MAX);
    const { rows: count } = one.state.fold;
    expect(count).toBeGreaterThan(2 * LEVEL_ROWS_MAX - 1);
    const numbers = Array.from({ length: LEVEL_ROWS_MAX }, (_, i) => count - LEVEL_ROWS_MAX + i + 1);
    expect(all.map(({ body }) => body.number)).toEqual(numbers);
    expect(all.map(({ id }) => id)).toEqual(numbers.map((number) => `2.4/${number % LEVEL_ROWS_MAX}`));
  });

  test("reads switch-overs of older versions, which have no reason", () => {
    const one = living();
    const e = { type: "switched_over", until: NOON + 60_000 } as const;
    level.evolve(one.state, e, NOON);
    expect(eventTexts(one)).toEqual(["switch_over failures 60 s"]);
  });
});
