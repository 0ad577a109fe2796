// Rests and models passed over: what keeps a key from some work for a while without being its failure.

import { describe, expect, test } from "bun:test";
import { keyId, type Living, living } from "../level-samples.ts";

/** What is said of one living Level, and how key 1 is afterwards. */
type Row = [rule: string, story: (one: Living) => void, is: string];

describe("a rest", () => {
  const restFor = (retryAfterMs: number) => ({ what: "rest", retryAfterMs, reason: "rate_limited" }) as const;

  test.each<Row>([
    ["that the provider names lasts just that long", (one) => one.fail(restFor(7_000)), "resting 7"],
    [
      "that ends sooner than the one that runs changes nothing",
      (one) => {
        one.fail(restFor(7_000));
        one.fail(restFor(2_000));
      },
      "resting 7",
    ],
    [
      "that ends later prolongs it",
      (one) => {
        one.fail(restFor(2_000));
        one.fail(restFor(7_000));
      },
      "resting 7",
    ],
    ["of no time is none", (one) => one.fail(restFor(0)), "normal"],
    [
      "named ever so often is no failure",
      (one) => {
        for (let i = 0; i < 9; i++) one.fail(restFor(1_000));
        one.at = 1;
      },
      "normal",
    ],
    ["without a name lasts a second", (one) => one.fail({ what: "rest" }), "resting 1"],
    [
      "without a name lasts twice as long the second time",
      (one) => {
        one.fail({ what: "rest" });
        one.at = 1;
        one.fail({ what: "rest" });
      },
      "resting 2",
    ],
    [
      "without a name never shortens a named one",
      (one) => {
        one.fail(restFor(9_000));
        one.fail({ what: "rest" });
      },
      "resting 9",
    ],
    [
      "counts once for all that was sent before it began",
      (one) => {
        for (one.at = 1; one.at <= 50; one.at++) one.fail({ what: "rest", started: 0 });
        one.at = 1;
      },
      "resting 1",
    ],
    [
      "without a name counts once for what nodes send that have not heard of it yet",
      (one) => {
        for (const [at, started] of [
          [0, 0],
          [0.2, 0.003],
          [0.4, 0.202],
        ] as const) {
          one.at = at;
          one.fail({ what: "rest", started });
        }
      },
      "resting 0.6",
    ],
    [
      "without a name, three times in a row, ends in sleep",
      (one) => {
        for (const at of [0, 1, 3]) {
          one.at = at;
          one.fail({ what: "rest" });
        }
      },
      "sleeping 300",
    ],
    [
      "without a name counts in one streak with other failures",
      (one) => {
        one.fail();
        one.fail();
        one.fail({ what: "rest" });
      },
      "sleeping 300",
    ],
    [
      "without a name, of an attempt from before the last counted failure, rests the key and counts not again",
      (one) => {
        one.at = 1;
        one.fail();
        one.fail();
        one.fail({ what: "rest", started: 0 });
      },
      "resting 1",
    ],
  ])("%s", (_rule, story, is) => {
    const one = living();
    story(one);
    expect(one.is()).toBe(is);
  });

  test("without a name lasts 1, 2, 4, then 5 seconds, and 1 again after an answer", () => {
    const one = living();
    const rested = () => {
      one.fail({ what: "rest", limit: 99 });
      const seconds = Number(one.is().split(" ")[1]);
      one.at += seconds;
      return seconds;
    };
    expect([1, 2, 3, 4, 5].map(rested)).toEqual([1, 2, 4, 5, 5]);
    one.succeed(one.at, ++one.at);
    expect(rested()).toBe(1);
  });

  test("that did not count lengthens the next one too, until an answer", () => {
    const one = living();
    one.at = 1;
    one.fail();
    one.succeed(2, 2);
    one.at = 3;
    one.fail({ what: "rest", started: 0 });
    expect(one.is()).toBe("resting 1");
    one.succeed(4, 4);
    one.at = 5;
    one.fail({ what: "rest" });
    expect(one.is()).toBe("resting 1");
  });

  test("says why, and a sleeping key keeps the reason of its sleep", () => {
    const one = living();
    one.fail(restFor(7_000));
    expect(one.health()).toMatchObject({ failures: 0, sleepTimes: 0, reason: "rate_limited" });
    one.fail({ what: "long", reason: "quota_gone" });
    one.fail(restFor(9_000));
    expect(one.health()?.reason).toBe("quota_gone");
  });

  test("leaves nothing behind once it is over", () => {
    const one = living();
    one.fail(restFor(7_000));
    one.at = 7;
    expect(one.view().health).toEqual([]);
  });
});

describe("a model passed over", () => {
  const passOver = (model: string) => ({ what: "pass_over", model }) as const;

  test("stays so for ten minutes, for that key and model alone, and is no failure", () => {
    const one = living();
    for (let i = 0; i < 5; i++) one.fail(passOver("m"));
    expect([one.is(1, "m"), one.is(1, "other"), one.is(2, "m")]).toEqual([
      "passed_over 600",
      "normal",
      "normal",
    ]);
    expect(one.health()).toMatchObject({ failures: 0, sleepTimes: 0 });
    one.at = 600;
    expect(one.is()).toBe("normal");
    expect(one.view().health).toEqual([]);
  });

  test("counts once for all attempts in flight, and again for a later attempt", () => {
    const one = living();
    one.at = 5;
    one.fail({ ...passOver("m"), started: 0 });
    one.at = 9;
    expect(one.fail({ ...passOver("m"), started: 4 }).events).toBeUndefined();
    expect(one.is()).toBe("passed_over 596");
    one.fail({ ...passOver("m"), started: 5 });
    expect(one.is()).toBe("passed_over 600");
    expect(one.health()?.passedOver).toHaveLength(1);
  });

  test("is one of a hundred at most: the oldest makes room", () => {
    const one = living();
    for (let i = 0; i < 101; i++) one.fail(passOver(`m${i}`));
    expect(one.health()?.passedOver).toHaveLength(100);
    expect([one.is(1, "m0"), one.is(1, "m1"), one.is(1, "m100")]).toEqual([
      "normal",
      "passed_over 600",
      "passed_over 600",
    ]);
  });

  test("is dropped when it is over", () => {
    const one = living();
    one.fail(passOver("a"));
    one.at = 600;
    one.fail(passOver("b"));
    expect(one.state.fold.health.get(keyId(1))?.passedOver.map(({ model }) => model)).toEqual(["b"]);
  });
});
