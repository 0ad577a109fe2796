// Calendar buckets of business time, UTC. Pure arithmetic: nobody here asks what time it is.

export const SECOND_MS = 1_000;
export const MINUTE_MS = 60_000;
export const DAY_MS = 86_400_000;

/** `YYYY-MM-DD`. */
export const dayOf = (at: number): string => new Date(at).toISOString().slice(0, 10);

/** `YYYY-MM`. */
export const monthOf = (at: number): string => new Date(at).toISOString().slice(0, 7);
