// Sleeps of keys and switch-overs of Levels as spans of time, from the events of the pool. It draws nothing.

import type { Answers } from "../../../api/answers.ts";

/** A sleep, wake or switch-over. */
export type PoolEvent = Answers["/x-events"]["events"][number];

/** A span in which a key slept, or a Level's requests went elsewhere. Wall milliseconds. */
export interface Span {
  readonly fromMs: number;
  readonly toMs: number;
  readonly reason: string;
  /** Whether it lasts still. */
  readonly isOpen: boolean;
}

/** One line: a key that slept, or a Level that was switched over. */
export type TimeRow = { readonly spans: readonly Span[] } & (
  | { readonly kind: "sleep"; readonly key: number; readonly level: number }
  | { readonly kind: "switch_over"; readonly level: number }
);

/** What belongs to one line, the oldest event first. */
const lineOf = ({ type, level, key_id }: PoolEvent): string =>
  type === "switch_over" ? `level ${level}` : `key ${key_id}`;

/** Returns a line for each key that slept and each Level that was switched over: Levels first, then keys, by number. */
export function timeRowsOf(events: readonly PoolEvent[], nowMs: number): readonly TimeRow[] {
  const oldestFirst = events.toSorted((one, other) => Date.parse(one.at) - Date.parse(other.at));
  const rows = [...Map.groupBy(oldestFirst, lineOf).values()].flatMap((line): TimeRow[] => {
    const { type, level, key_id: key = 0 } = line.at(-1)!;
    const spans = spansOf(line, nowMs);
    if (spans.length === 0) return [];
    return [type === "switch_over" ? { kind: type, level, spans } : { kind: "sleep", key, level, spans }];
  });
  const place = (row: TimeRow): number => (row.kind === "switch_over" ? row.level - 1e7 : row.key);
  return rows.sort((one, other) => place(one) - place(other));
}

/** A span ends with the next event of its line, and without one when its time is over. */
function spansOf(line: readonly PoolEvent[], nowMs: number): Span[] {
  return line.flatMap((event, nth) => {
    if (event.type === "wake") return [];
    const fromMs = Date.parse(event.at);
    const next = line[nth + 1];
    const planned = event.until === undefined ? nowMs : Date.parse(event.until);
    const toMs = Math.min(nowMs, planned, next === undefined ? nowMs : Date.parse(next.at));
    const isOpen = next === undefined && planned > nowMs;
    return [{ fromMs, toMs: Math.max(fromMs, toMs), reason: event.reason, isOpen }];
  });
}

/** Returns where an instant stands between two others, in percent of the way, from 0 to 100. */
export const percentOfWay = (atMs: number, fromMs: number, toMs: number): number =>
  Math.min(100, Math.max(0, ((atMs - fromMs) / (toMs - fromMs)) * 100));

const STEPS_MINUTES = [15, 30, 60, 120, 240, 360, 720, 1_440, 2_880, 7_200];

/** Returns round instants between two others, in wall milliseconds, at most eight. */
export function roundInstants(fromMs: number, toMs: number): number[] {
  const minutes = STEPS_MINUTES.find((step) => (toMs - fromMs) / 60_000 / step <= 8) ?? STEPS_MINUTES.at(-1)!;
  const stepMs = minutes * 60_000;
  const first = Math.ceil(fromMs / stepMs) * stepMs;
  return Array.from(
    { length: Math.max(0, Math.floor((toMs - first) / stepMs) + 1) },
    (_, n) => first + n * stepMs,
  );
}
