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
