// The charges among the ledger lines of a commit, as usage is grouped by them: figures, API key and tags. The sums
// of usage documents count the same charges, made from the same fields. Nothing here is stored.

import type { LineAnchor } from "../line-filter.ts";
import { type LineRow, type LinesOfCommit, lineRows } from "../line-rows.ts";

/** A charge that counts as usage. `sums` are in the order of SUMS. */
export interface ChargeRow extends LineAnchor {
  readonly actor: string;
  /** The seq of its commit. */
  readonly seq: number;
  readonly model: string;
  /** 0 is the main key. */
  readonly apiKey: number;
  /** The name that the key had then; null for the main key. */
  readonly apiKeyName: string | null;
  readonly tags: readonly (readonly [name: string, value: string])[];
  readonly sums: readonly number[];
}

/** The period of a row of grouped usage: an hour or a day, in UTC, as text that sorts by time. */
export type Period = string;

/** `D2026-01-31`. */
export const dayPeriod = (at: number): Period => `D${new Date(at).toISOString().slice(0, 10)}`;

/** `H2026-01-31T23`. */
export const hourPeriod = (at: number): Period => `H${new Date(at).toISOString().slice(0, 13)}`;

/** The day of a period of either kind, `2026-01-31`. */
export const dayOfPeriod = (period: Period): string => period.slice(1, 11);

type Fields = Readonly<Record<string, unknown>>;

const fieldsOf = (value: unknown): Fields =>
  typeof value === "object" && value !== null ? (value as Fields) : {};

const whole = (value: unknown): number => (Number.isSafeInteger(value) ? (value as number) : 0);

const NO_TAGS: ChargeRow["tags"] = [];

/** The lines of a commit in their order: the charge of each that is one, and null for every other. */
export function chargesOf(commit: LinesOfCommit): (ChargeRow | null)[] {
  const events = commit.events.filter(({ line }) => line);
  return lineRows(commit).map((row, i) => chargeOf(row, events[i]?.e));
}

/** The charge of a line, or null when it is none. `e` is its event. */
export function chargeOf(line: LineRow, e: unknown): ChargeRow | null {
  if (line.type !== "charge") return null;
  const event = fieldsOf(e);
  const usage = fieldsOf(event.usage);
  return {
    actor: line.actor,
    seq: line.seq,
    at: line.at,
    number: line.number,
    model: (line.model ?? "").toWellFormed(),
    apiKey: line.apiKey ?? 0,
    apiKeyName: typeof event.apiKeyName === "string" ? event.apiKeyName.toWellFormed() : null,
    tags:
      event.tags === undefined
        ? NO_TAGS
        : Object.entries(fieldsOf(event.tags)).map(([name, value]) => [name, String(value).toWellFormed()]),
    sums: [
      1,
      whole(event.prompt),
      whole(event.completion),
      whole(usage.inCached),
      whole(usage.inCacheWrite) + whole(usage.inCacheWrite1h),
      whole(usage.outReason),
      whole(event.cost),
    ],
  };
}

/** Whether a charge has an API key of its own name, or a tag; all others are the rest of their totals. */
export const isApart = ({ apiKey, tags }: ChargeRow): boolean => apiKey !== 0 || tags.length > 0;
