// Days of the calendar as bills are asked for them.

const DAY_MS = 86_400_000;

/** Returns the day so many days before `nowMs`, in UTC, as YYYY-MM-DD. */
export const dayBefore = (nowMs: number, days: number): string =>
  new Date(nowMs - days * DAY_MS).toISOString().slice(0, 10);
