// Attempts are judged in the order in which they ended, whenever word of them comes: three failures in a row put a key to
// sleep, and an answer between them does not leave three in a row.

import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { level } from "../../../actors/level/level.ts";
import { type Living, living, NOON } from "../level-samples.ts";

interface Ending {
  readonly ok: boolean;
  /** Seconds after NOON. */
  readonly ended: number;
}

const F = (ended: number): Ending => ({ ok: false, ended });
const OK = (ended: number): Ending => ({ ok: true, ended });

/** Word of an attempt that took no time comes. */
function report(one: Living, { ok, ended }: Ending): void {
  if (ok) one.succeed(ended, ended);
  else one.fail({ started: Math.max(one.at, ended), endedAt: NOON + ended * 1_000 });
}

/** Word of all of them comes in this order, a second after the last has ended. */
function levelAfter(...endings: Ending[]): Living {
  const one = living();
  one.at = Math.max(...endings.map(({ ended }) => ended)) + 1;
  for (const ending of endings) report(one, ending);
  return one;
}

describe("word that comes late", () => {
  test.each<[string, Living, string]>([
    ["of an answer between failures ends their sleep", levelAfter(F(1), F(2), F(4), OK(3)), "normal"],
    ["of an answer before all of them does not", levelAfter(F(1), F(2), F(4), OK(0.5)), "sleeping 300"],
    ["of an answer after all of them does not", levelAfter(F(1), F(2), F(3), OK(3.5)), "sleeping 300"],
    ["of an answer clears what ended before it alone", levelAfter(F(1), F(3), OK(2), F(4)), "normal"],
    ["of an answer leaves what ended after it", levelAfter(F(1), F(3), OK(2), F(4), F(5)), "sleeping 300"],
    ["of a failure that an answer has cleared counts no more", levelAfter(OK(2), F(1), F(3), F(4)), "normal"],
    ["of a failure after an answer counts", levelAfter(OK(2), F(3), F(4), F(5)), "sleeping 300"],
    ["of one of many answers is enough", levelAfter(F(1), F(2), F(4), OK(0.5), OK(4.5), OK(3)), "normal"],
  ])("%s", (_rule, one, is) => expect(one.is()).toBe(is));

  test("takes back how often the key slept, and the streak goes on", () => {
    const one = levelAfter(F(1), F(2), F(4), OK(3));
    expect(one.health()).toMatchObject({
      failures: 1,
      sleepTimes: 0,
      sleepsUntil: 0,
      waking: false,
      reason: "",
    });
    report(one, F(4.5));
    report(one, F(4.6));
    expect(one.is()).toBe("sleeping 300");
  });

  test("does not end the sleep of a signal that means one by itself", () => {
    const one = living();
    one.at = 10;
    report(one, F(1));
    report(one, F(3));
    one.fail({ what: "long", endedAt: NOON + 4_000 });
    report(one, OK(2));
    expect(one.is()).toBe("sleeping 1800");
  });

  test("of an answer may come with the failure after it", () => {
    const one = levelAfter(F(1), F(2));
    const answered = { key: 1 as never, startedAt: NOON + 2_500, endedAt: NOON + 2_500 };
    one.fail({ endedAt: NOON + 3_000, ...{ answered } });
    expect([one.is(), one.health()?.failures]).toEqual(["normal", 1]);
  });

  test("from a clock that is a second ahead of the Level's is in order too", () => {
    const one = living();
    for (const ending of [F(1), F(1.1), OK(1.2), F(1.3), F(1.4), OK(1.5), F(1.6)]) report(one, ending);
    expect([one.is(), one.health()?.failures]).toEqual(["normal", 1]);
  });

  test("from a clock that is far ahead clears no failure of the future", () => {
    const one = living();
    one.succeed(0, 60);
    for (one.at = 3; one.at <= 5; one.at++) report(one, F(one.at));
    one.at = 5;
    expect(one.is()).toBe("sleeping 300");
  });
});

test("in any order of word, a key sleeps only where three failures in a row have ended", () => {
  const endings = fc.array(fc.tuple(fc.boolean(), fc.nat(1_000)), { minLength: 1, maxLength: 8 });
  fc.assert(
    fc.property(endings, (given) => {
      const inOrder = given.map(([ok], i) => ({ ok, ended: i + 1 }));
      const word = inOrder.toSorted(
        (a, b) => given[a.ended - 1]![1] - given[b.ended - 1]![1] || a.ended - b.ended,
      );
      const isStreak = /fff/.test(inOrder.map(({ ok }) => (ok ? "o" : "f")).join(""));
      const one = levelAfter(...word);
      if (!isStreak) expect(one.is()).toBe("normal");
      const replayed = level.empty("2.4");
      for (const { at, e } of one.events) level.evolve(replayed, e, at);
      expect(level.freeze(replayed as never)).toEqual(level.freeze(one.state));
    }),
    { numRuns: 5_000 },
  );
});
