// The months in which credit expires, as weeks of a calendar in UTC.

import { addNanos, type Nanos, NO_NANOS } from "../../api/amount.ts";
import type { CreditEntry } from "../../api/credits.ts";

/** A day of a month on which credit expires. */
export interface ExpiryDay {
  readonly amount: Nanos;
  readonly count: number;
}

/** A month in which credit expires. */
export interface ExpiryMonth {
  /** YYYY-MM. */
  readonly month: string;
  /** Weeks from Monday to Sunday; 0 stands for days of other months. */
  readonly weeks: readonly (readonly number[])[];
  readonly days: ReadonlyMap<number, ExpiryDay>;
}

/** Returns the months in which credit expires, in UTC, the first one first. */
export function expiryMonths(entries: readonly CreditEntry[]): readonly ExpiryMonth[] {
  const months = new Map<string, Map<number, ExpiryDay>>();
  for (const { amount, expires_at } of entries) {
    const date = new Date(expires_at).toISOString();
    const [month, day] = [date.slice(0, 7), Number(date.slice(8, 10))];
    const days = months.get(month) ?? new Map<number, ExpiryDay>();
    const { amount: sum, count } = days.get(day) ?? { amount: NO_NANOS, count: 0 };
    months.set(month, days.set(day, { amount: addNanos(sum, amount), count: count + 1 }));
  }
  return [...months]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([month, days]) => ({ month, days, weeks: weeksOf(month) }));
}

/** Returns the weeks of a month. */
function weeksOf(month: string): readonly (readonly number[])[] {
  const first = new Date(`${month}-01T00:00:00Z`);
  const lengthDays = new Date(Date.UTC(first.getUTCFullYear(), first.getUTCMonth() + 1, 0)).getUTCDate();
  // Sunday is 0 in the platform's count, and the last day of the week here.
  const before = (first.getUTCDay() + 6) % 7;
  const cells = Array.from({ length: Math.ceil((before + lengthDays) / 7) * 7 }, (_, cell) => {
    const day = cell - before + 1;
    return day < 1 || day > lengthDays ? 0 : day;
  });
  return Array.from({ length: cells.length / 7 }, (_, week) => cells.slice(week * 7, week * 7 + 7));
}
