// What a node counts of its attempts with each key: the minutes of the last hour, failures, and how long successes took.

import { describe, expect, test } from "bun:test";
import {
  addActivity,
  BUCKETS,
  bucketOf,
  KeyActivityCounter,
  MINUTES,
  noActivity,
  quantileMs,
} from "../../../src/gateway/attempt/key-activity.ts";
import { createKeyChooser } from "../../../src/gateway/attempt/key-chooser.ts";
import { manualClock } from "../../runtime/manual-clock.ts";
import { keyId } from "../level-samples.ts";

const NOON = Date.UTC(2026, 0, 15, 12);
const MINUTE_MS = 60_000;
const KEY = keyId(1);

function rig() {
  const counter = new KeyActivityCounter();
  const chooser = createKeyChooser(manualClock());
  const at = (minute: number) => NOON + minute * MINUTE_MS;
  return {
    counter,
    chooser,
    at,
    success: (minute: number, ms = 100) => counter.succeeded(KEY, at(minute) - ms, at(minute)),
    failure: (minute: number, isOfKey = true) => counter.failed(KEY, isOfKey, at(minute)),
    read: (minute: number) => counter.read([KEY], chooser, at(minute))[0],
    /** The minutes that have attempts, as `minutes ago: attempts`. */
    minutes(minute: number): string {
      const { perMinute } = counter.read([KEY], chooser, at(minute))[0]!;
      expect(perMinute).toHaveLength(MINUTES);
      return perMinute
        .flatMap((count, i) => (count === 0 ? [] : [`${MINUTES - 1 - i}: ${count}`]))
        .join(", ");
    },
  };
}

describe("the activity of a key", () => {
  test("is of the minutes of the last hour, the current one last", () => {
    const one = rig();
    one.success(0);
    one.success(0);
    one.failure(1);
    one.failure(1, false);
    expect(one.minutes(1)).toBe("1: 2, 0: 2");
    one.success(30);
    expect(one.minutes(30)).toBe("30: 2, 29: 2, 0: 1");
    expect(one.minutes(59)).toBe("59: 2, 58: 2, 29: 1");
    expect(one.minutes(60)).toBe("59: 2, 30: 1");
    expect(one.read(60)).toMatchObject({ failures: 1 });
    expect(one.minutes(61)).toBe("31: 1");
    expect(one.read(61)).toMatchObject({ failures: 0 });
    expect(one.minutes(500)).toBe("");
  });

  test.each([60, 65, 69, 70, 71, 100, 10_000])("is forgotten after %d minutes without any", (minutes) => {
    const one = rig();
    for (let m = 0; m < 60; m++) one.success(m);
    one.success(59 + minutes);
    expect(one.minutes(59 + minutes)).toBe("0: 1");
  });

  test("survives a clock that steps back, and begins anew after a leap", () => {
    const one = rig();
    one.success(10);
    one.success(8);
    expect(one.minutes(10)).toBe("0: 2");
    one.success(-100_000);
    expect(one.minutes(-100_000)).toBe("0: 1");
  });

  test("counts a failure only where the key is to blame", () => {
    const one = rig();
    one.failure(0);
    one.failure(0, false);
    one.success(0);
    expect(one.read(0)).toMatchObject({ failures: 1, inFlight: 0 });
    expect(one.minutes(0)).toBe("0: 3");
  });

  test("knows durations of the last hour, by parts of ten minutes", () => {
    const one = rig();
    one.success(0, 1_000);
    one.success(30, 10);
    const sum = (minute: number) => one.read(minute)!.durations.reduce((all, count) => all + count, 0);
    expect([sum(30), sum(69), sum(70), sum(99), sum(100)]).toEqual([2, 2, 1, 1, 0]);
  });

  test("is absent for a key that was not used, and has what is in flight", () => {
    const { counter, chooser, at } = rig();
    expect(counter.read([KEY], chooser, at(0))).toEqual([]);
    chooser.take(KEY);
    expect(counter.read([KEY, keyId(2)], chooser, at(0))).toEqual([{ ...noActivity(KEY), inFlight: 1 }]);
  });

  test("is kept for 4,096 keys; the one that came first is forgotten", () => {
    const { counter, chooser, at } = rig();
    const keys = Array.from({ length: 4_097 }, (_, i) => keyId(i + 1));
    for (const key of keys) counter.succeeded(key, at(0), at(0));
    const found = counter.read(keys, chooser, at(0)).map(({ key }) => key);
    expect([found.length, found[0]]).toEqual([4_096, keyId(2)]);
  });

  test("of several nodes is added up", () => {
    const [one, two] = [rig(), rig()];
    one.success(0, 8);
    two.success(0, 8);
    two.failure(0);
    two.chooser.take(KEY);
    const sum = addActivity(one.read(0)!, two.read(0)!);
    expect([sum.inFlight, sum.failures, sum.perMinute.at(-1), sum.durations[bucketOf(8)]]).toEqual([
      1, 1, 3, 2,
    ]);
  });
});

describe("durations", () => {
  test("fall into growing buckets, all of them within the histogram", () => {
    let last = 0;
    for (let ms = 0; ms < 3_000_000; ms += Math.max(1, ms >> 6)) {
      const bucket = bucketOf(ms);
      expect(bucket).toBeWithin(last, BUCKETS);
      last = bucket;
    }
    expect([bucketOf(-5), bucketOf(0.4), bucketOf(1), bucketOf(1e300)]).toEqual([0, 0, 0, BUCKETS - 1]);
  });

  test("have quantiles within an eighth", () => {
    const durations = noActivity(KEY).durations.slice();
    expect(quantileMs(durations, 0.5)).toBeNull();
    for (let ms = 1; ms <= 1_000; ms++) durations[bucketOf(ms)]!++;
    for (const [share, wanted] of [
      [0.5, 500],
      [0.95, 950],
      [1, 1_000],
    ] as const) {
      expect(Math.abs(quantileMs(durations, share)! - wanted) / wanted).toBeLessThan(0.125);
    }
    const one = noActivity(KEY).durations.slice();
    one[bucketOf(40)]!++;
    expect([quantileMs(one, 0.5), quantileMs(one, 0.95)]).toEqual([44, 44]);
  });
});
