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
 * Counts of each window, in rows of three numbers: step number, requests and tokens. Steps that have left a window are
 * dropped when a new step is added to it. All windows share one array, because an account has several of these objects in
 * memory, with few steps in each. The minute comes last in it: it gets new steps the most often.
 */
export interface RateWindows {
  /** The rows of the day, then those of the hour, then those of the minute. */
  rows: readonly number[];
  /** Index of the first row of the hour. */
  hourStart: number;
  /** Index of the first row of the minute. */
  minuteStart: number;
}

const WIDTH = 3;
/** Windows share it until something is added to them. */
const NO_ROWS: readonly number[] = [];

/** Returns windows that count nothing. */
export const emptyWindows = (): RateWindows => ({ rows: NO_ROWS, hourStart: 0, minuteStart: 0 });

/** Returns the index of the first row of a window. */
function startOf(windows: RateWindows, span: WindowSpan): number {
  if (span === "day") return 0;
  return span === "hour" ? windows.hourStart : windows.minuteStart;
}

/** Returns the index after the last row of a window. */
function endOf(windows: RateWindows, span: WindowSpan): number {
  if (span === "minute") return windows.rows.length;
  return span === "hour" ? windows.minuteStart : windows.hourStart;
}

const oldestStep = (span: WindowSpan, now: number): number =>
  Math.floor(now / SPANS[span].stepMs) - SPANS[span].steps;

/**
 * Adds what was admitted at `at`, in place; negative counts remove it. Steps that have left by `now` are
 * skipped.
 */
export function addTo(windows: RateWindows, at: number, now: number, requests: number, tokens: number): void {
  if (windows.rows.length === 0 && begin(windows, at, now, requests, tokens)) return;
  const moreOfDay = add(windows, SPANS.day, 0, windows.hourStart, at, now, requests, tokens);
  windows.hourStart += moreOfDay;
  windows.minuteStart += moreOfDay;
  const { hourStart, minuteStart } = windows;
  windows.minuteStart += add(windows, SPANS.hour, hourStart, minuteStart, at, now, requests, tokens);
  addToMinute(windows, at, now, requests, tokens);
}

/**
 * Adds to windows that count nothing. Returns false, and adds nothing, if not all of them reach back to `at`. `Array.of`
 * makes an array of just this size, where a literal would have room for as much as earlier ones have grown to.
 */
function begin(windows: RateWindows, at: number, now: number, requests: number, tokens: number): boolean {
  const day = Math.floor(at / SPANS.day.stepMs);
  const hour = Math.floor(at / SPANS.hour.stepMs);
  const minute = Math.floor(at / SPANS.minute.stepMs);
  if (minute < oldestStep("minute", now) || day < oldestStep("day", now)) return false;
  windows.rows = Array.of(day, requests, tokens, hour, requests, tokens, minute, requests, tokens);
  windows.hourStart = WIDTH;
  windows.minuteStart = 2 * WIDTH;
  return true;
}

/** Adds to the window of a minute only, for what has limits of no other one; otherwise as `addTo`. */
export function addToMinute(
  windows: RateWindows,
  at: number,
  now: number,
  requests: number,
  tokens: number,
): void {
  add(windows, SPANS.minute, windows.minuteStart, windows.rows.length, at, now, requests, tokens);
}

/** Adds to the window whose rows are from `start` to `end`. Returns by how much that part of `rows` has grown. */
function add(
  windows: RateWindows,
  { stepMs, steps }: (typeof SPANS)[WindowSpan],
  start: number,
  end: number,
  at: number,
  now: number,
  requests: number,
  tokens: number,
): number {
  const oldest = Math.floor(now / stepMs) - steps;
  const step = Math.floor(at / stepMs);
  if (step < oldest) return 0;
  if (windows.rows.length === 0) {
    windows.rows = Array.of(step, requests, tokens);
    return WIDTH;
  }
  const rows = windows.rows as number[];
  // The newest steps, which are added to most, stand last.
  for (let i = end - WIDTH; i >= start; i -= WIDTH) {
    if (rows[i] !== step) continue;
    rows[i + 1]! += requests;
    rows[i + 2]! += tokens;
    return 0;
  }
  const kept = dropBefore(rows, oldest, start, end);
  if (end === rows.length) {
    rows.length = kept;
    rows.push(step, requests, tokens);
  } else rows.splice(kept, end - kept, step, requests, tokens);
  return kept + WIDTH - end;
}

/** Moves the rows that have not left to `start`. Returns the index after them. */
function dropBefore(rows: number[], oldest: number, start: number, end: number): number {
  let kept = start;
  for (let i = start; i < end; i += WIDTH) {
    if (rows[i]! < oldest) continue;
    if (kept < i) rows.copyWithin(kept, i, i + WIDTH);
    kept += WIDTH;
  }
  return kept;
}

/** Returns what counts in a window at `now`. */
export function counted(windows: RateWindows, span: WindowSpan, now: number): Readonly<Count> {
  const oldest = oldestStep(span, now);
  const { rows } = windows;
  const end = endOf(windows, span);
  let requests = 0;
  let tokens = 0;
  for (let i = startOf(windows, span); i < end; i += WIDTH) {
    if (rows[i]! < oldest) continue;
    requests += rows[i + 1]!;
    tokens += rows[i + 2]!;
  }
  return { requests, tokens };
}

/** Returns whether nothing counts in any window at `now`. */
export const isEmpty = (windows: RateWindows, now: number): boolean =>
  SPAN_NAMES.every((span) => {
    const oldest = oldestStep(span, now);
    const end = endOf(windows, span);
    for (let i = startOf(windows, span); i < end; i += WIDTH) if (windows.rows[i]! >= oldest) return false;
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
    .flatMap((one) => rowsOf(one, span))
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

type Row = [step: number, requests: number, tokens: number];

/** Returns copies of the rows of a window. */
function rowsOf(windows: RateWindows, span: WindowSpan): Row[] {
  const { rows } = windows;
  const end = endOf(windows, span);
  const found: Row[] = [];
  for (let i = startOf(windows, span); i < end; i += WIDTH)
    found.push([rows[i]!, rows[i + 1]!, rows[i + 2]!]);
  return found;
}

/** Plain form of windows for snapshots. */
export type FrozenWindows = Record<WindowSpan, Row[]>;

/** Returns windows in their snapshot form. */
export const freezeWindows = (windows: RateWindows): FrozenWindows => ({
  minute: rowsOf(windows, "minute"),
  hour: rowsOf(windows, "hour"),
  day: rowsOf(windows, "day"),
});

/** Restores windows from their snapshot form. */
export function thawWindows({ day, hour, minute }: FrozenWindows): RateWindows {
  const hourStart = day.length * WIDTH;
  const rows = [...day, ...hour, ...minute].flat();
  return { rows: ownRows(rows), hourStart, minuteStart: hourStart + hour.length * WIDTH };
}

/** Returns a copy of the rows of the minute, one after the other. */
export const freezeMinute = ({ rows, minuteStart }: RateWindows): readonly number[] =>
  rows.slice(minuteStart);

/** Restores windows of which only the minute is counted. */
export const thawMinute = (minute: readonly number[]): RateWindows => ({
  ...emptyWindows(),
  rows: ownRows([...minute]),
});

const ownRows = (rows: readonly number[]): readonly number[] => (rows.length === 0 ? NO_ROWS : rows);

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
