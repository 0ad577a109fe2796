// The periods of a bill: what is asked for each, which days or hours that is, and what the question costs. It reads no clock.

import { type Nanos, NO_NANOS, toNanos } from "../../api/amount.ts";
import type { Query } from "../../api/call.ts";
import { DAY_MS, utcDay } from "../../api/days.ts";

/** The periods that can be chosen. */
export const PERIODS = ["24h", "48h", "7", "30", "90", "month", "last", "custom"] as const;

/** One of them. */
export type PeriodName = (typeof PERIODS)[number];

/** A period as the service is asked for it, and as links to ledger lines name it. */
export interface Period {
  /** The parameters of the bill. */
  readonly query: Query;
  /** Its first and its last day, in UTC; null: the last hours, which begin anew with each hour. */
  readonly days: { readonly from: string; readonly to: string; readonly count: number } | null;
}

const HOURS: Readonly<Record<string, number>> = { "24h": 24, "48h": 48 };
const DAYS: Readonly<Record<string, number>> = { "7": 7, "30": 30, "90": 90 };

/**
 * Returns the period of this name; `start` and `end` are those of a custom one, as YYYY-MM-DD. Null: the custom days name no
 * period.
 */
export function periodOf(
  name: string,
  custom: { readonly start: string; readonly end: string },
  nowMs: number,
): Period | null {
  const today = utcDay(nowMs);
  const hours = HOURS[name];
  if (hours !== undefined) return { query: { hours }, days: null };
  const days = DAYS[name];
  if (days !== undefined) {
    return { query: { days }, days: { from: utcDay(nowMs - (days - 1) * DAY_MS), to: today, count: days } };
  }
  if (name === "month") return between(`${today.slice(0, 7)}-01`, today);
  if (name === "last") {
    const last = utcDay(Date.parse(`${today.slice(0, 7)}-01`) - DAY_MS);
    return between(`${last.slice(0, 7)}-01`, last);
  }
  return between(custom.start, custom.end === "" ? today : custom.end);
}

const isDay = (text: string): boolean =>
  /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text)) && utcDay(Date.parse(text)) === text;

function between(from: string, to: string): Period | null {
  if (!isDay(from) || !isDay(to) || to < from) return null;
  const count = (Date.parse(to) - Date.parse(from)) / DAY_MS + 1;
  return { query: { start: from, end: to }, days: { from, to, count } };
}

/** Fees of an account's own bill: the first row whose days are fewer counts. Source: specification, "Billing". */
const FEES = [
  { above: 365, fee: toNanos(50_000_000n) },
  { above: 30, fee: toNanos(10_000_000n) },
] as const;

/** Returns what the service takes for a bill over a period; bills of descendants and of Root are free. */
export const feeOf = ({ days }: Period, isFree: boolean): Nanos =>
  (isFree ? undefined : FEES.find(({ above }) => days !== null && days.count > above))?.fee ?? NO_NANOS;
