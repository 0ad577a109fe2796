// Rate windows: requests and tokens per minute, hour and day, of one account or of one of its models.
//
// Minute and hour slide in 60 steps. A step that is only partly outside counts fully, so a window is at most
// 1/60 too long and never too short: the error is below 2 % and always on the side of refusing. A day is the
// exact UTC day. A request counts at the time of its admission, where its settlement corrects the tokens.
// Times are wall-clock ms; nothing here reads a clock.

import { DAY_MS, MINUTE_MS, SECOND_MS } from "./time.ts";

/** The windows: length of a step in ms, and number of steps. 0 steps means a fixed window of one step. */
export const SPANS = {
  minute: { stepMs: SECOND_MS, steps: 60 },
  hour: { stepMs: MINUTE_MS, steps: 60 },
  day: { stepMs: DAY_MS, steps: 0 },
} as const;

/** Name of a window. */
export type WindowSpan = keyof typeof SPANS;
const SPAN_NAMES = Object.keys(SPANS) as WindowSpan[];

interface Count {
  requests: number;
  tokens: number;
}

/**
 * Counts of each window by step number. Steps that have left the window are dropped when a new step is added.
 */
export type RateWindows = Readonly<Record<WindowSpan, Map<number, Count>>>;

/** Returns windows that count nothing. */
export const emptyWindows = (): RateWindows => ({ minute: new Map(), hour: new Map(), day: new Map() });

const oldestStep = (span: WindowSpan, now: number): number =>
  Math.floor(now / SPANS[span].stepMs) - SPANS[span].steps;

/**
 * Adds what was admitted at `at`, in place; negative counts remove it. Steps that have left by `now` are
 * skipped.
 */
export function addTo(windows: RateWindows, at: number, now: number, requests: number, tokens: number): void {
  for (const span of SPAN_NAMES) {
    const counts = windows[span];
    const oldest = oldestStep(span, now);
    const step = Math.floor(at / SPANS[span].stepMs);
    if (step < oldest) continue;
    const found = counts.get(step);
    if (found === undefined) {
      for (const old of counts.keys()) if (old < oldest) counts.delete(old);
      counts.set(step, { requests, tokens });
    } else {
      found.requests += requests;
      found.tokens += tokens;
    }
  }
}

/** Returns what counts in a window at `now`. */
export function counted(windows: RateWindows, span: WindowSpan, now: number): Readonly<Count> {
  const oldest = oldestStep(span, now);
  let requests = 0;
  let tokens = 0;
  for (const [step, count] of windows[span]) {
    if (step < oldest) continue;
    requests += count.requests;
    tokens += count.tokens;
  }
  return { requests, tokens };
}

/** Returns whether nothing counts in any window at `now`. */
export const isEmpty = (windows: RateWindows, now: number): boolean =>
  SPAN_NAMES.every((span) => {
    const oldest = oldestStep(span, now);
    for (const step of windows[span].keys()) if (step >= oldest) return false;
    return true;
  });

/**
 * Returns the milliseconds until `need.more` of a measure fits below `need.limit`, if nothing else is added;
 * at most the whole span. `need.used` is what counts at `now`.
 */
export function roomInMs(
  windows: readonly RateWindows[],
  span: WindowSpan,
  measure: keyof Count,
  need: { limit: number; used: number; more: number },
  now: number,
): number {
  const { stepMs, steps } = SPANS[span];
  if (steps === 0) return stepMs - (now % stepMs);
  const oldest = oldestStep(span, now);
  const leaving = windows
    .flatMap((one) => [...one[span]])
    .filter(([step]) => step >= oldest)
    .sort(([a], [b]) => a - b);
  let excess = need.used + need.more - need.limit;
  for (const [step, count] of leaving) {
    excess -= count[measure];
    if (excess <= 0) return (step + steps + 1) * stepMs - now;
  }
  return (steps + 1) * stepMs;
}

/** Plain form of windows for snapshots: rows of step, requests, tokens. */
export type FrozenWindows = Record<WindowSpan, [number, number, number][]>;

/** Returns windows in their snapshot form. */
export const freezeWindows = (windows: RateWindows): FrozenWindows => ({
  minute: rows(windows.minute),
  hour: rows(windows.hour),
  day: rows(windows.day),
});

/** Restores windows from their snapshot form. */
export const thawWindows = (frozen: FrozenWindows): RateWindows => ({
  minute: counts(frozen.minute),
  hour: counts(frozen.hour),
  day: counts(frozen.day),
});

const rows = (map: Map<number, Count>): [number, number, number][] =>
  [...map].map(([step, { requests, tokens }]) => [step, requests, tokens]);

const counts = (rows: [number, number, number][]): Map<number, Count> =>
  new Map(rows.map(([step, requests, tokens]) => [step, { requests, tokens }]));

/** Limits of requests and tokens per minute, hour and day; 0 means no limit. */
export interface RateLimits {
  readonly rpm: number;
  readonly rph: number;
  readonly rpd: number;
  readonly tpm: number;
  readonly tph: number;
  readonly tpd: number;
}

/** Limits of which none is set. */
export const NO_LIMITS: RateLimits = { rpm: 0, rph: 0, rpd: 0, tpm: 0, tph: 0, tpd: 0 };
