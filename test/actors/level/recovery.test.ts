// How the past is forgotten: by an hour awake without a failure, or by hand.

import { describe, expect, test } from "bun:test";
import { HOUR, keyId, type Living, living, threeFailures } from "../level-samples.ts";

describe("an hour awake without a failure", () => {
  test.each<[string, (one: Living) => void, number | undefined]>([
    ["clears SleepTimes", () => {}, undefined],
    ["is not over a second early", (one) => (one.at -= 1), 1],
    ["ends with a counted failure, and starts with the next answer", (one) => breakHour(one), 1],
    [
      "goes on through a failure that counted already",
      (one) => {
        one.at -= 60;
        one.fail({ started: 2 });
        one.at += 60;
      },
      undefined,
    ],
    [
      "goes on through rests that the provider names",
      (one) => {
        one.at -= 60;
        one.fail({ what: "rest", retryAfterMs: 1_000 });
        one.at += 60;
      },
      undefined,
    ],
  ])("%s", (_rule, story, sleepTimes) => {
    const one = living();
    one.sleepOut();
    one.succeed();
    one.at += HOUR;
    story(one);
    expect(one.health()?.sleepTimes).toBe(sleepTimes!);
  });

  function breakHour(one: Living): void {
    one.at -= 1;
    one.fail();
    one.at += 1;
    one.succeed();
    one.at += HOUR - 1;
  }

  test("does not start by an answer to an attempt from before the sleep", () => {
    const one = living();
    threeFailures(one);
    one.at = 10;
    one.succeed(0, 10);
    one.at += 2 * HOUR;
    expect(one.health()?.sleepTimes).toBe(1);
  });

  test("is measured from the first answer, not from the last", () => {
    const one = living();
    one.sleepOut();
    one.succeed(one.at, one.at);
    one.at += HOUR / 2;
    expect(one.succeed().events).toBeUndefined();
    one.at += HOUR / 2;
    expect(one.view().health).toEqual([]);
  });

  test("makes the next sleep a first one", () => {
    const one = living();
    one.sleepOut();
    one.sleepOut();
    one.succeed();
    one.at += HOUR;
    threeFailuresFromHere(one);
    expect([one.is(), one.health()?.sleepTimes]).toEqual(["sleeping 300", 1]);
  });

  test("makes the next sleep a first one even if it comes by a single failure", () => {
    const one = living();
    one.sleepOut();
    one.succeed();
    one.at += HOUR;
    one.fail({ limit: 1 });
    expect([one.is(), one.health()?.sleepTimes]).toEqual(["sleeping 300", 1]);
  });

  test("short of it the next sleep is the longer one", () => {
    const one = living();
    one.sleepOut();
    one.succeed();
    one.at += HOUR - 10;
    threeFailuresFromHere(one);
    expect([one.is(), one.health()?.sleepTimes]).toEqual(["sleeping 900", 2]);
  });

  function threeFailuresFromHere(one: Living): void {
    for (let i = 0; i < 3; i++) {
      one.fail();
      if (i < 2) one.at++;
    }
  }
});

describe("waking by hand", () => {
  test.each<[string, (one: Living) => void, number[]]>([
    ["a sleeping key", threeFailures, [1]],
    ["a resting key", (one) => one.fail({ what: "rest", retryAfterMs: 9_000 }), [1]],
    ["a waking key, which nobody has to wake", (one) => one.sleepOut(), []],
    ["a key with failures", (one) => one.fail(), []],
    ["a key with a model passed over", (one) => one.fail({ what: "pass_over" }), []],
  ])("clears %s", (_what, story, woken) => {
    const one = living();
    story(one);
    expect(one.wake()).toEqual({ woken: woken.map(keyId) });
    expect(one.view().health).toEqual([]);
    expect(one.is()).toBe("normal");
  });

  test("starts the schedule anew", () => {
    const one = living();
    one.sleepOut();
    one.sleepOut();
    one.wake();
    one.sleepOut();
    expect(one.health()?.sleepTimes).toBe(1);
  });

  test("concerns the keys that are named, members and not asleep or not", () => {
    const one = living();
    one.fail({ key: 1, what: "long" });
    one.fail({ key: 2, what: "long" });
    expect(one.wake(2, 2, 99)).toEqual({ woken: [keyId(2)] });
    expect([one.is(1), one.is(2)]).toEqual(["sleeping 1800", "normal"]);
  });

  test("is not undone by attempts from before", () => {
    const one = living();
    threeFailures(one);
    one.at = 9;
    one.wake();
    one.fail({ what: "long", started: 8 });
    expect(one.is()).toBe("normal");
  });

  test("of keys that are well writes nothing", () => {
    const one = living();
    one.fail({ what: "rest", retryAfterMs: 1_000 });
    one.at = 1;
    expect(one.ask({ type: "wake", keys: null })).toEqual({ reply: { woken: [] } });
  });
});
