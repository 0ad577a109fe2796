// Days of bills and limits: they are in UTC everywhere.

/** A day, in milliseconds. */
export const DAY_MS = 86_400_000;

/** Returns the day of a moment in UTC, as `2027-03-18`. */
export const utcDay = (ms: number): string => new Date(ms).toISOString().slice(0, 10);
