// Falling asleep and waking up: streaks of failures, sleeps that grow, and whose answer ends them. Times are seconds after
// NOON.

import { describe, expect, test } from "bun:test";
import { keyId, type Living, living, MINUTE, NOON, threeFailures } from "../level-samples.ts";

/** What is said of one living Level, and how key 1 is afterwards. */
type Row = [rule: string, story: (one: Living) => void, is: string];

describe("a streak of failures", () => {
  test.each<Row>([
    ["one is borne", (one) => one.fail(), "normal"],
    ["the third in a row puts the key to sleep", threeFailures, "sleeping 300"],
    [
      "the limit is what the command says",
      (one) => {
        one.fail({ limit: 2 });
        one.fail({ limit: 2 });
      },
      "sleeping 300",
    ],
    [
      "an answer in between starts it anew",
      (one) => {
        for (one.at = 1; one.at <= 5; one.at++) one.at === 3 ? one.succeed() : one.fail();
      },
      "normal",
    ],
    [
      "an answer that ended before the last failure does not",
      (one) => {
        one.at = 2;
        one.fail();
        one.fail();
        one.succeed(0, 1);
        one.fail();
      },
      "sleeping 300",
    ],
    [
      "a success that ended in the very moment of the last failure does not either",
      (one) => {
        one.fail();
        one.fail();
        one.succeed();
        one.fail();
      },
      "sleeping 300",
    ],
    [
      "failures of another key are not its own",
      (one) => {
        for (let i = 0; i < 3; i++) one.fail({ key: 2 });
      },
      "normal",
    ],
    [
      "50 calls in flight hit by one blip are one failure",
      (one) => {
        for (one.at = 1; one.at <= 50; one.at++) one.fail({ started: 0 });
      },
      "normal",
    ],
    [
      "an attempt that began at the last counted failure counts by itself",
      (one) => {
        for (one.at = 1; one.at <= 3; one.at++) one.fail({ started: one.at - 1 });
        one.at = 3;
      },
      "sleeping 300",
    ],
  ])("%s", (_rule, story, is) => {
    const one = living();
    story(one);
    expect(one.is()).toBe(is);
  });

  test("of one blip shows as one failure", () => {
    const one = living();
    for (one.at = 1; one.at <= 50; one.at++) one.fail({ started: 0 });
    expect(one.health()).toMatchObject({ failures: 1, sleepTimes: 0, waking: false, reason: "" });
  });

  test("that ends in sleep starts at nothing, and says why", () => {
    const one = living();
    threeFailures(one);
    expect(one.health()).toEqual({
      key: keyId(1),
      failures: 0,
      sleepTimes: 1,
      sleepsUntil: NOON + 303_000,
      restsUntil: 0,
      reason: "server_error",
      waking: true,
      passedOver: [],
    });
  });
});

describe("sleep", () => {
  test("lasts longer each time, at most a day", () => {
    const one = living();
    const minutes: number[] = [];
    for (let i = 0; i < 11; i++) {
      const before = one.at + 3;
      one.sleepOut();
      minutes.push((one.at - before) / MINUTE);
      one.succeed();
    }
    expect(minutes).toEqual([5, 15, 30, 60, 120, 240, 480, 960, 1_440, 1_440, 1_440]);
  });

  test.each<Row>([
    [
      "a long signal ends in it at once, for half an hour",
      (one) => one.fail({ what: "long" }),
      "sleeping 1800",
    ],
    [
      "a long signal after several sleeps takes the next length",
      (one) => {
        for (let i = 0; i < 4; i++) {
          one.sleepOut();
          one.succeed();
        }
        one.fail({ what: "long" });
      },
      "sleeping 7200",
    ],
    [
      "a long signal from before the last counted failure changes nothing for a sleeping key",
      (one) => {
        threeFailures(one);
        one.fail({ what: "long", started: 2 });
      },
      "sleeping 300",
    ],
    [
      "but puts one to sleep that is awake",
      (one) => {
        one.at = 3;
        one.fail();
        one.fail({ what: "long", started: 2 });
      },
      "sleeping 1800",
    ],
    [
      "a long signal of a later attempt prolongs it",
      (one) => {
        threeFailures(one);
        one.fail({ what: "long" });
      },
      "sleeping 1800",
    ],
    [
      "a long signal of another attempt from before the news of it came around does not prolong a long one",
      (one) => {
        one.at = 1;
        one.fail({ what: "long" });
        one.at = 2;
        one.fail({ what: "long" });
      },
      "sleeping 1799",
    ],
    [
      "failures of attempts that began after it, where its news came late, do not make it longer",
      (one) => {
        threeFailures(one);
        for (one.at = 4; one.at <= 9; one.at++) one.fail();
        one.at = 9;
      },
      "sleeping 294",
    ],
    [
      "nor do answers that ask for a pause of unknown length",
      (one) => {
        threeFailures(one);
        for (one.at = 4; one.at <= 9; one.at++) one.fail({ what: "rest" });
        one.at = 9;
      },
      "sleeping 294",
    ],
    [
      "ends by its deadline alone, and the key is waking",
      (one) => {
        one.sleepOut();
      },
      "waking",
    ],
    [
      "an answer to an attempt from before does not end it",
      (one) => {
        threeFailures(one);
        one.at = 4;
        one.succeed(0, 4);
      },
      "sleeping 299",
    ],
    [
      "an answer to an attempt from before the waking is not the probe's",
      (one) => {
        one.sleepOut();
        one.succeed(one.at - 1, one.at);
      },
      "waking",
    ],
    [
      "an answer to an attempt after it ends the waking",
      (one) => {
        one.sleepOut();
        one.succeed(one.at, one.at + 1);
      },
      "normal",
    ],
    [
      "a failed probe ends in the next one at once",
      (one) => {
        one.sleepOut();
        one.fail();
      },
      "sleeping 900",
    ],
    [
      "so does a probe that is rate-limited without a time",
      (one) => {
        one.sleepOut();
        one.fail({ what: "rest" });
      },
      "sleeping 900",
    ],
    [
      "a probe that is rate-limited with a time does not",
      (one) => {
        one.sleepOut();
        one.fail({ what: "rest", retryAfterMs: 2_000 });
      },
      "resting 2",
    ],
    [
      "a failure of an attempt that began while it slept is not the probe's",
      (one) => {
        one.sleepOut();
        one.fail({ started: one.at - 1 });
      },
      "waking",
    ],
    [
      "nor is one reported before the deadline, whatever the clock that timed it",
      (one) => {
        threeFailures(one);
        one.fail({ started: one.at + 301 });
      },
      "sleeping 300",
    ],
    [
      "a late failure of an attempt from before it says nothing more",
      (one) => {
        one.sleepOut();
        for (let i = 0; i < 5; i++) one.fail({ started: 2 });
      },
      "waking",
    ],
    [
      "once awake and answering, one failure is borne again",
      (one) => {
        one.sleepOut();
        one.succeed();
        one.fail();
      },
      "normal",
    ],
  ])("%s", (_rule, story, is) => {
    const one = living();
    story(one);
    expect(one.is()).toBe(is);
  });

  test("is not shown as a reason any more once the key answers", () => {
    const one = living();
    one.sleepOut();
    expect(one.health()?.reason).toBe("server_error");
    one.succeed();
    expect(one.health()).toMatchObject({ sleepTimes: 1, waking: false, reason: "" });
  });

  test("by a long signal counts as three", () => {
    const one = living();
    one.fail({ what: "long", reason: "invalid_key" });
    expect(one.health()).toMatchObject({ sleepTimes: 3, waking: true, reason: "invalid_key" });
  });
});
