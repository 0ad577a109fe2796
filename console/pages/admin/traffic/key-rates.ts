// What provider keys did in the last hour, added up by minute and Level, and which of them fail most.

import type { KeyRow } from "../pool/levels.ts";

/** Minutes that the service keeps. */
export const MINUTES = 60;

/** Attempts of a Level by the minute, the oldest first. */
export interface LevelRate {
  readonly level: number;
  readonly perMinute: readonly number[];
}

/** Adds up minutes of several keys. */
const sumByMinute = (rows: readonly KeyRow[]): number[] =>
  Array.from({ length: MINUTES }, (_, minute) =>
    rows.reduce((sum, { LastHour }) => sum + (LastHour.per_minute[minute] ?? 0), 0),
  );

/** Returns the rates of the Levels that had attempts, by their number. */
export const ratesOf = (keys: readonly KeyRow[]): readonly LevelRate[] =>
  [...Map.groupBy(keys, ({ Level }) => Level)]
    .filter(([, rows]) => rows.some(({ LastHour }) => LastHour.attempts > 0))
    .sort(([one], [other]) => one - other)
    .map(([level, rows]) => ({ level, perMinute: sumByMinute(rows) }));

/** Returns the attempts of all Levels in each minute. */
export const totalsOf = (rates: readonly LevelRate[]): readonly number[] =>
  Array.from({ length: MINUTES }, (_, minute) =>
    rates.reduce((sum, { perMinute }) => sum + perMinute[minute]!, 0),
  );

/** The whole pool in the last hour. */
export interface HourOfPool {
  readonly attempts: number;
  readonly failures: number;
  readonly inFlight: number;
}

/** Adds up the last hour of these keys. */
export const hourOf = (keys: readonly KeyRow[]): HourOfPool =>
  keys.reduce(
    (sum, { LastHour, InFlight }) => ({
      attempts: sum.attempts + LastHour.attempts,
      failures: sum.failures + LastHour.failures,
      inFlight: sum.inFlight + InFlight,
    }),
    { attempts: 0, failures: 0, inFlight: 0 },
  );

/** Returns the keys that were tried in the last hour: those that failed most first, then the busiest. */
export const triedKeys = (keys: readonly KeyRow[]): readonly KeyRow[] =>
  keys
    .filter(({ LastHour }) => LastHour.attempts > 0)
    .toSorted(
      (one, other) =>
        other.LastHour.failures - one.LastHour.failures ||
        other.LastHour.attempts - one.LastHour.attempts ||
        one.ID - other.ID,
    );
