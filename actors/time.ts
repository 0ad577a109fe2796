// Calendar days and months of business time, in UTC. Pure arithmetic on wall-clock ms; it must not read a
// clock.

export const SECOND_MS = 1_000;
export const MINUTE_MS = 60_000;
export const HOUR_MS = 3_600_000;
export const DAY_MS = 86_400_000;

/** Cache of the last day and its name, since nearly all calls are for the same day. */
const last = { day: Number.NaN, name: "", month: "" };

/** Returns the day of `at` as `YYYY-MM-DD`. */
export function dayOf(at: number): string {
  const day = Math.floor(at / DAY_MS);
  if (day !== last.day) {
    last.name = new Date(at).toISOString().slice(0, 10);
    last.month = last.name.slice(0, 7);
    last.day = day;
  }
  return last.name;
}

/** Returns the month of `at` as `YYYY-MM`. */
export function monthOf(at: number): string {
  dayOf(at);
  return last.month;
}

/** Returns the end of the day of `at`, in wall-clock ms. */
export const dayEnd = (at: number): number => (Math.floor(at / DAY_MS) + 1) * DAY_MS;
/** Returns the end of the month of `at`, in wall-clock ms. */
export function monthEnd(at: number): number {
  const date = new Date(at);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1);
}
