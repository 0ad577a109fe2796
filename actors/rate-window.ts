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
 * Counts of one window: for each of its steps three numbers, which are step number, requests and tokens. An
 * account has a dozen windows of a few steps, for which an array takes a tenth of a map's memory.
 */
type StepCounts = readonly number[];

/**
 * Counts of each window. Steps that have left the window are dropped when a new step is added.
 */
export type RateWindows = Record<WindowSpan, StepCounts>;

const WIDTH = 3;
/** Windows share it until something is added to them. */
const NO_STEPS: StepCounts = [];

/** Returns windows that count nothing. */
export const emptyWindows = (): RateWindows => ({ minute: NO_STEPS, hour: NO_STEPS, day: NO_STEPS });

const oldestStep = (span: WindowSpan, now: number): number =>
  Math.floor(now / SPANS[span].stepMs) - SPANS[span].steps;

/**
 * Adds what was admitted at `at`, in place; negative counts remove it. Steps that have left by `now` are
 * skipped.
 */
export function addTo(windows: RateWindows, at: number, now: number, requests: number, tokens: number): void {
  const { minute, hour, day } = SPANS;
  windows.minute = added(windows.minute, minute, at, now, requests, tokens);
  windows.hour = added(windows.hour, hour, at, now, requests, tokens);
  windows.day = added(windows.day, day, at, now, requests, tokens);
}

/** Adds to the window of a minute only, for what has limits of no other one; otherwise as `addTo`. */
export function addToMinute(
  windows: RateWindows,
  at: number,
  now: number,
  requests: number,
  tokens: number,
): void {
  windows.minute = added(windows.minute, SPANS.minute, at, now, requests, tokens);
}

/** Adds to the counts of one window, in place where they have steps, and returns them. */
function added(
  counts: StepCounts,
  { stepMs, steps }: (typeof SPANS)[WindowSpan],
  at: number,
  now: number,
  requests: number,
  tokens: number,
): StepCounts {
  const oldest = Math.floor(now / stepMs) - steps;
  const step = Math.floor(at / stepMs);
  if (step < oldest) return counts;
  if (counts.length === 0) return [step, requests, tokens];
  const writable = counts as number[];
  const i = indexOfStep(counts, step);
  if (i >= 0) {
    writable[i + 1]! += requests;
    writable[i + 2]! += tokens;
  } else {
    dropBefore(writable, oldest);
    writable.push(step, requests, tokens);
  }
  return counts;
}

/** Returns where the step stands, or -1. The newest steps, which are added to most, stand last. */
function indexOfStep(counts: StepCounts, step: number): number {
  for (let i = counts.length - WIDTH; i >= 0; i -= WIDTH) if (counts[i] === step) return i;
  return -1;
}

function dropBefore(counts: number[], oldest: number): void {
  let kept = 0;
  for (let i = 0; i < counts.length; i += WIDTH) {
    if (counts[i]! < oldest) continue;
    if (kept < i) counts.copyWithin(kept, i, i + WIDTH);
    kept += WIDTH;
  }
  counts.length = kept;
}

/** Returns what counts in a window at `now`. */
export function counted(windows: RateWindows, span: WindowSpan, now: number): Readonly<Count> {
  const oldest = oldestStep(span, now);
  const counts = windows[span];
  let requests = 0;
  let tokens = 0;
  for (let i = 0; i < counts.length; i += WIDTH) {
    if (counts[i]! < oldest) continue;
    requests += counts[i + 1]!;
    tokens += counts[i + 2]!;
  }
  return { requests, tokens };
}

/** Returns whether nothing counts in any window at `now`. */
export const isEmpty = (windows: RateWindows, now: number): boolean =>
  SPAN_NAMES.every((span) => {
    const oldest = oldestStep(span, now);
    const counts = windows[span];
    for (let i = 0; i < counts.length; i += WIDTH) if (counts[i]! >= oldest) return false;
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
    .flatMap((one) => rows(one[span]))
    .filter(([step]) => step >= oldest)
    .sort(([a], [b]) => a - b);
  const column = measure === "requests" ? 1 : 2;
  let excess = need.used + need.more - need.limit;
  for (const row of leaving) {
    const [step] = row;
    excess -= row[column];
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

function rows(counts: StepCounts): [step: number, requests: number, tokens: number][] {
  const found: [number, number, number][] = [];
  for (let i = 0; i < counts.length; i += WIDTH) found.push([counts[i]!, counts[i + 1]!, counts[i + 2]!]);
  return found;
}

const counts = (rows: [number, number, number][]): StepCounts => (rows.length === 0 ? NO_STEPS : rows.flat());

/** Returns the counts of the minute, in the form in which windows keep them; they are replaced or copied, never shared. */
export const freezeMinute = ({ minute }: RateWindows): readonly number[] => [...minute];

/** Restores windows of which only the minute is counted. */
export const thawMinute = (minute: readonly number[]): RateWindows => ({ ...emptyWindows(), minute });

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
