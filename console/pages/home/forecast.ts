// Until when a balance lasts, at the pace of the last days. A forecast, not a figure of the ledger: days are whole numbers.

import type { Nanos } from "../../api/amount.ts";

const DAY_MS = 86_400_000;
/** Beyond ten years nothing is forecast. */
const DAYS_MAX = 3_650n;

/** When a balance is spent, and how many whole days that is. */
export interface Forecast {
  readonly days: number;
  /** The day in UTC, as YYYY-MM-DD. */
  readonly date: string;
}

/** Returns when `balance` is spent at the pace of `spent` in `days` days; null: nothing was spent, or in ten years or more. */
export function forecastOf(balance: Nanos, spent: Nanos, days: number, nowMs: number): Forecast | null {
  if (spent <= 0n || balance <= 0n) return null;
  const left = (balance * BigInt(days)) / spent;
  if (left > DAYS_MAX) return null;
  return {
    days: Number(left),
    date: new Date(nowMs + Number(left) * DAY_MS).toISOString().slice(0, 10),
  };
}

/** Returns the day so many days before `nowMs`, in UTC, as YYYY-MM-DD. */
export const dayBefore = (nowMs: number, days: number): string =>
  new Date(nowMs - days * DAY_MS).toISOString().slice(0, 10);
