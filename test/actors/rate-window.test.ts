// Rate windows against a log of every request: never less than what an exact sliding window would count, and more only
// by what lies within a sixtieth of the window beyond it.

import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  addTo,
  addToMinute,
  counted,
  emptyWindows,
  freezeMinute,
  freezeWindows,
  isEmpty,
  type RateWindows,
  roomInMs,
  SPANS,
  thawMinute,
  thawWindows,
  type WindowSpan,
} from "../../actors/rate-window.ts";

const START = Date.UTC(2026, 0, 15, 23, 58);
const LENGTHS = { minute: 60_000, hour: 3_600_000, day: 86_400_000 } as const;

interface Entry {
  readonly at: number;
  readonly tokens: number;
}

const history = fc.array(
  fc.record({
    waitMs: fc.oneof(fc.nat(3_000), fc.nat(90_000), fc.nat(5_000_000)),
    tokens: fc.nat(1_000),
    /** How long ago the request was admitted that is added now. */
    lateMs: fc.oneof(fc.constant(0), fc.nat(70_000)),
  }),
  { maxLength: 40 },
);

function within(log: readonly Entry[], after: number, now: number): { requests: number; tokens: number } {
  const found = log.filter(({ at }) => at > after && at <= now);
  return { requests: found.length, tokens: found.reduce((sum, { tokens }) => sum + tokens, 0) };
}

function play(
  steps: readonly { waitMs: number; tokens: number; lateMs: number }[],
  check: (log: readonly Entry[], windows: RateWindows, now: number) => void,
): void {
  const windows = emptyWindows();
  const log: Entry[] = [];
  let now = START;
  for (const { waitMs, tokens, lateMs } of steps) {
    now += waitMs;
    const at = now - lateMs;
    addTo(windows, at, now, 1, tokens);
    log.push({ at, tokens });
    check(log, windows, now);
  }
}

describe("a sliding window", () => {
  test.each(["minute", "hour"] as const)(
    "of a %s counts all that an exact one does, and errs by less than 2 %%",
    (span) => {
      fc.assert(
        fc.property(history, (steps) => {
          play(steps, (log, windows, now) => {
            const count = counted(windows, span, now);
            const exact = within(log, now - LENGTHS[span], now);
            const longer = within(log, now - LENGTHS[span] * 1.02, now);
            for (const measure of ["requests", "tokens"] as const) {
              expect(count[measure]).toBeGreaterThanOrEqual(exact[measure]);
              expect(count[measure]).toBeLessThanOrEqual(longer[measure]);
            }
          });
        }),
        { numRuns: 150 },
      );
    },
  );

  test("of a day is the UTC day, exact to the millisecond", () => {
    fc.assert(
      fc.property(history, (steps) => {
        play(steps, (log, windows, now) => {
          const midnight = Math.floor(now / LENGTHS.day) * LENGTHS.day;
          expect(counted(windows, "day", now)).toEqual(within(log, midnight - 1, now));
        });
      }),
      { numRuns: 100 },
    );
  });

  test("takes back what was added, and then counts nothing", () => {
    const windows = emptyWindows();
    addTo(windows, START, START, 1, 50);
    addTo(windows, START, START + 30_000, 0, 25);
    expect(counted(windows, "hour", START + 30_000)).toEqual({ requests: 1, tokens: 75 });
    addTo(windows, START, START + 40_000, -1, -75);
    for (const span of Object.keys(SPANS) as WindowSpan[]) {
      expect(counted(windows, span, START + 40_000)).toEqual({ requests: 0, tokens: 0 });
    }
  });

  test("is empty once everything in it is too old, and remembers no more than its steps", () => {
    const windows = emptyWindows();
    for (let i = 0; i < 500; i++) addTo(windows, START + i * 10_000, START + i * 10_000, 1, 1);
    const { minute, hour, day } = freezeWindows(windows);
    expect(minute.length).toBeLessThanOrEqual(61);
    expect(hour.length).toBeLessThanOrEqual(61);
    expect(day.length).toBeLessThanOrEqual(1);
    const now = START + 5_000_000;
    expect(isEmpty(windows, now)).toBe(false);
    expect(isEmpty(windows, now + LENGTHS.day)).toBe(true);
  });

  test("freezes to plain data and thaws to the same", () => {
    const windows = emptyWindows();
    for (let i = 0; i < 50; i++) addTo(windows, START + i * 7_000, START + i * 7_000, 1, i);
    const thawed = thawWindows(JSON.parse(JSON.stringify(freezeWindows(windows))));
    expect(thawed).toEqual(windows);
  });
});

const countsOf = (windows: RateWindows, now: number) =>
  (["minute", "hour", "day"] as const).map((span) => counted(windows, span, now).requests);

describe("windows that share their rows", () => {
  test("freeze as if each had rows of its own, whatever was added in which order", () => {
    fc.assert(
      fc.property(history, fc.array(fc.nat(3_000)), (steps, aheadMs) => {
        const own: Record<WindowSpan, [number, number, number][]> = { minute: [], hour: [], day: [] };
        const windows = emptyWindows();
        let now = START;
        for (const [i, { waitMs, tokens, lateMs }] of steps.entries()) {
          now += waitMs;
          // The clock of the node that admitted the request may be ahead.
          const at = now - lateMs + (aheadMs[i] ?? 0);
          addTo(windows, at, now, 1, tokens);
          for (const span of ["minute", "hour", "day"] as const) {
            const { stepMs, steps } = SPANS[span];
            const [oldest, step] = [Math.floor(now / stepMs) - steps, Math.floor(at / stepMs)];
            if (step < oldest) continue;
            const row = own[span].find(([one]) => one === step);
            if (row === undefined)
              own[span] = [...own[span].filter(([one]) => one >= oldest), [step, 1, tokens]];
            else {
              row[1]++;
              row[2] += tokens;
            }
          }
          expect(freezeWindows(windows)).toEqual(own);
        }
      }),
    );
  });

  test("have the snapshot form of rows of step, requests and tokens", () => {
    const windows = emptyWindows();
    addTo(windows, START, START, 1, 50);
    addTo(windows, START + 61_000, START + 61_000, 1, 25);
    const [second, minute, day] = [START / 1_000, START / 60_000, Math.floor(START / LENGTHS.day)];
    const frozen = {
      minute: [[second + 61, 1, 25]],
      hour: [
        [minute, 1, 50],
        [minute + 1, 1, 25],
      ],
      day: [[day, 2, 75]],
    };
    expect(JSON.stringify(freezeWindows(windows))).toBe(JSON.stringify(frozen));
    expect(freezeMinute(windows)).toEqual([second + 61, 1, 25]);
  });

  test("begin a new day with nothing, while minute and hour go on", () => {
    const windows = emptyWindows();
    const midnight = START + 120_000;
    addTo(windows, midnight - 1_000, midnight - 1_000, 1, 10);
    expect(countsOf(windows, midnight - 1)).toEqual([1, 1, 1]);
    expect(countsOf(windows, midnight)).toEqual([1, 1, 0]);
    addTo(windows, midnight, midnight, 1, 10);
    expect(countsOf(windows, midnight)).toEqual([2, 2, 1]);
  });

  test("begin with a request of the day before, which that day alone does not count any more", () => {
    const windows = emptyWindows();
    const midnight = START + 120_000;
    addTo(windows, midnight - 1_000, midnight + 1_000, 1, 10);
    expect(countsOf(windows, midnight + 1_000)).toEqual([1, 1, 0]);
  });

  test("take back a request only where its step still counts", () => {
    const windows = emptyWindows();
    addTo(windows, START, START, 1, 10);
    const later = START + 90_000;
    addTo(windows, later, later, 1, 10);
    addTo(windows, START, later, -1, -10);
    expect(countsOf(windows, later)).toEqual([1, 1, 1]);
    expect(freezeWindows(windows).minute).toHaveLength(1);
  });

  test("of which one only is added to leave the others as they are", () => {
    const windows = emptyWindows();
    addTo(windows, START, START, 1, 10);
    addToMinute(windows, START + 1_000, START + 1_000, 1, 10);
    expect(countsOf(windows, START + 1_000)).toEqual([2, 1, 1]);
    expect(countsOf(windows, START + 62_000)).toEqual([0, 1, 1]);
  });

  test("that thaw from the minute alone leave what was frozen as it is", () => {
    const frozen = [START / 1_000, 2, 30];
    const windows = thawMinute(frozen);
    addToMinute(windows, START, START, 1, 10);
    expect(freezeMinute(windows)).toEqual([START / 1_000, 3, 40]);
    expect(frozen).toEqual([START / 1_000, 2, 30]);
    expect(thawMinute([])).toEqual(emptyWindows());
  });
});

describe("the wait until there is room", () => {
  test("ends exactly when the limit allows the request, not a step earlier", () => {
    const needs = fc.record({ limit: fc.integer({ min: 1, max: 20 }), more: fc.integer({ min: 1, max: 3 }) });
    fc.assert(
      fc.property(history, needs, fc.constantFrom("minute", "hour"), (steps, { limit, more }, span) => {
        play(steps, (_log, windows, now) => {
          const used = counted(windows, span, now).requests;
          if (used + more <= limit || more > limit) return;
          const wait = roomInMs([windows], span, "requests", { limit, used, more }, now);
          expect(wait).toBeGreaterThan(0);
          expect(wait).toBeLessThanOrEqual(LENGTHS[span] * 1.02);
          expect(counted(windows, span, now + wait).requests + more).toBeLessThanOrEqual(limit);
          expect(counted(windows, span, now + wait - SPANS[span].stepMs).requests + more).toBeGreaterThan(
            limit,
          );
        });
      }),
      { numRuns: 150 },
    );
  });

  test("of a day ends at midnight UTC", () => {
    const windows = emptyWindows();
    addTo(windows, START, START, 1, 1);
    const need = { limit: 1, used: 1, more: 1 };
    expect(roomInMs([windows], "day", "requests", need, START)).toBe(120_000);
  });

  test("looks at all windows together: the requests that are done and those in flight", () => {
    const [done, flying] = [emptyWindows(), emptyWindows()];
    addTo(done, START, START, 1, 0);
    addTo(flying, START + 10_000, START + 10_000, 1, 0);
    const now = START + 20_000;
    const need = { limit: 2, used: 2, more: 1 };
    expect(roomInMs([done, flying], "minute", "requests", need, now)).toBe(41_000);
    expect(roomInMs([done, flying], "minute", "requests", { ...need, limit: 1 }, now)).toBe(51_000);
  });
});
