// Calendar buckets of business time, UTC. Pure arithmetic: nobody here asks what time it is.

export const SECOND_MS = 1_000;
export const MINUTE_MS = 60_000;
export const DAY_MS = 86_400_000;

/** The last day asked for and its name: nearly every question is about the same day. */
const last = { day: Number.NaN, name: "" };

/** `YYYY-MM-DD`. */
export function dayOf(at: number): string {
  const day = Math.floor(at / DAY_MS);
  if (day !== last.day) {
    last.name = new Date(at).toISOString().slice(0, 10);
    last.day = day;
  }
  return last.name;
}

/** `YYYY-MM`. */
export const monthOf = (at: number): string => dayOf(at).slice(0, 7);

/** Wall ms at which the day, or the month, that `at` lies in is over. */
export const dayEnd = (at: number): number => (Math.floor(at / DAY_MS) + 1) * DAY_MS;
export function monthEnd(at: number): number {
  const date = new Date(at);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1);
}
