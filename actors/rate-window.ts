// Rate windows: requests and tokens per minute, hour and day, of one account or of one of its models.
//
// Minute and hour slide in 60 steps. The step that is only partly outside still counts whole, so a window is at most
// 1/60 too long and never too short: the error is below 2 % and always towards refusing. A day is the UTC day, exact.
// An entry stands at the moment of admission; a settled request corrects the tokens there.

import { DAY_MS, MINUTE_MS, SECOND_MS } from "./time.ts";

export const SPANS = {
  minute: { stepMs: SECOND_MS, steps: 60 },
  hour: { stepMs: MINUTE_MS, steps: 60 },
  day: { stepMs: DAY_MS, steps: 0 },
} as const;

export type WindowSpan = keyof typeof SPANS;
const SPAN_NAMES = Object.keys(SPANS) as WindowSpan[];

interface Count {
  requests: number;
  tokens: number;
}

/** Counts by step number. Steps that have left the window are dropped when something is added. */
export type RateWindows = Readonly<Record<WindowSpan, Map<number, Count>>>;

export const emptyWindows = (): RateWindows => ({ minute: new Map(), hour: new Map(), day: new Map() });

const oldestStep = (span: WindowSpan, now: number): number =>
  Math.floor(now / SPANS[span].stepMs) - SPANS[span].steps;

/** Adds (or, negative, takes back) what was admitted at `at`. `now` says which steps have left. */
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

/** What counts in a window now. */
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

/** Nothing counts any more in any window. */
export const isEmpty = (windows: RateWindows, now: number): boolean =>
  SPAN_NAMES.every((span) => {
    const oldest = oldestStep(span, now);
    for (const step of windows[span].keys()) if (step >= oldest) return false;
    return true;
  });

/** Ms until `need` more of a measure would leave at least that much room below `limit`; the whole span at most. */
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

export type FrozenWindows = Record<WindowSpan, [number, number, number][]>;

export const freezeWindows = (windows: RateWindows): FrozenWindows => ({
  minute: rows(windows.minute),
  hour: rows(windows.hour),
  day: rows(windows.day),
});

export const thawWindows = (frozen: FrozenWindows): RateWindows => ({
  minute: counts(frozen.minute),
  hour: counts(frozen.hour),
  day: counts(frozen.day),
});

const rows = (map: Map<number, Count>): [number, number, number][] =>
  [...map].map(([step, { requests, tokens }]) => [step, requests, tokens]);

const counts = (rows: [number, number, number][]): Map<number, Count> =>
  new Map(rows.map(([step, requests, tokens]) => [step, { requests, tokens }]));

/** Requests and tokens per minute, hour, day; 0 = no limit. */
export interface RateLimits {
  readonly rpm: number;
  readonly rph: number;
  readonly rpd: number;
  readonly tpm: number;
  readonly tph: number;
  readonly tpd: number;
}

export const NO_LIMITS: RateLimits = { rpm: 0, rph: 0, rpd: 0, tpm: 0, tph: 0, tpd: 0 };
