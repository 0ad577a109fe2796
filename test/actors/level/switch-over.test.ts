// The switch-over to the backup Level, and what leaves no trace in the ledger.

import { describe, expect, test } from "bun:test";
import { type Living, living, NOON } from "../level-samples.ts";

describe("the switch-over", () => {
  /** One failure at each of these seconds, each of a key of its own turn. */
  const failAt = (one: Living, ...seconds: number[]) => {
    for (const second of seconds) {
      one.at = second;
      one.fail({ key: 1 + (second % 2), limit: 99 });
    }
  };

  test.each<[string, (one: Living) => void, number]>([
    ["five failures in a minute do not cause it", (one) => failAt(one, 1, 2, 3, 4, 5), 0],
    ["the sixth does, for a minute", (one) => failAt(one, 1, 2, 3, 4, 5, 60), 60],
    ["the minute slides", (one) => failAt(one, 1, 2, 3, 4, 5, 61), 0],
    ["a slid window still tips", (one) => failAt(one, 1, 2, 3, 4, 5, 61, 61), 60],
    [
      "attempts count that do not count for their key",
      (one) => {
        for (one.at = 1; one.at <= 6; one.at++) one.fail({ started: 0 });
        one.at = 6;
      },
      60,
    ],
    [
      "long signals and rests without a name count",
      (one) => {
        for (let i = 0; i < 3; i++) {
          one.fail({ what: "long", started: -1 });
          one.fail({ what: "rest", started: -1, key: 2 });
        }
      },
      60,
    ],
    [
      "named rests and models passed over do not",
      (one) => {
        for (let i = 0; i < 9; i++) {
          one.fail({ what: "rest", retryAfterMs: 1_000 });
          one.fail({ what: "pass_over" });
        }
      },
      0,
    ],
    [
      "failures of keys that are no members do not",
      (one) => {
        for (let i = 0; i < 9; i++) one.fail({ key: 9 });
      },
      0,
    ],
    ["failures meanwhile do not prolong it", (one) => failAt(one, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12), 54],
    [
      "its window starts empty: they do not count afterwards either",
      (one) => failAt(one, 1, 2, 3, 4, 5, 6, 61, 62, 63, 64, 65, 66, 67, 68, 69, 70),
      0,
    ],
    ["after it, it takes six again", (one) => failAt(one, 1, 2, 3, 4, 5, 6, 66, 67, 68, 69, 70, 71), 60],
  ])("%s", (_rule, story, seconds) => {
    const one = living();
    story(one);
    expect(one.switchedFor()).toBe(seconds);
  });

  test("keeps no more times than it needs", () => {
    const one = living();
    for (let i = 0; i < 100; i++) {
      one.fail({ limit: 99 });
      expect(one.state.fold.recentFailures.length).toBe(i < 5 ? i + 1 : 0);
    }
  });

  test("is over by its deadline alone, and no longer shown", () => {
    const one = living();
    failAt(one, 1, 2, 3, 4, 5, 6);
    expect(one.view().switchedUntil).toBe(NOON + 66_000);
    one.at = 66;
    expect(one.view().switchedUntil).toBe(0);
  });
});

describe("nothing is written", () => {
  test.each<[string, (one: Living) => { events?: unknown }]>([
    ["by an answer of a key that is well", (one) => one.succeed()],
    ["by an answer of a key that is no member", (one) => one.succeed(0, 0, 9)],
    ["by a failure of a key that is no member", (one) => one.fail({ key: 9, what: "long" })],
    ["by a rest of no time", (one) => one.fail({ what: "rest", retryAfterMs: 0 })],
    [
      "by the second answer after a failure",
      (one) => {
        one.fail();
        one.succeed(1, 1);
        return one.succeed(2, 2);
      },
    ],
    [
      "by a repeated failure while switched over",
      (one) => {
        for (one.at = 1; one.at <= 6; one.at++) one.fail({ started: 0 });
        return one.fail({ started: 0 });
      },
    ],
  ])("%s", (_what, story) => {
    const one = living();
    expect(story(one).events).toBeUndefined();
  });
});
