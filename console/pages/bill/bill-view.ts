// What the addresses of bills hold: the period, the account whose level is shown, and how it is shown. Reads no clock.

import { PERIODS, type Period, periodOf } from "../usage/period.ts";

/** What an address has of a period. */
export const PERIOD_VIEW = { period: "month", start: "", end: "" };

/** A period as an address has it. */
export type PeriodView = Readonly<typeof PERIOD_VIEW>;

/** What the address of the ranking holds; `of` is the account whose level it is, empty for the signed-in one. */
export const BILL_VIEW = { ...PERIOD_VIEW, of: "", by: "branch", page: "1" };

/** The same, given. */
export type BillView = Readonly<typeof BILL_VIEW>;
/** Changes some of it. */
export type ChangeBill = (changes: Partial<BillView>) => void;

/** Bills of others are over whole days: hours have no statement. */
export const BILL_PERIODS = PERIODS.filter((name) => !/^\d+h$/.test(name));

/** Whole days in UTC, and how the service is asked for them. */
export interface BillDays {
  readonly query: Period["query"];
  readonly from: string;
  readonly to: string;
}

/** Returns the days of a view; null where they name none. */
export function billDaysOf(view: PeriodView, nowMs: number): BillDays | null {
  const period = periodOf(view.period, view, nowMs);
  if (period === null || period.days === null) return null;
  const { from, to } = period.days;
  return { query: period.query, from, to };
}

const addressWith = (path: string, given: Readonly<Record<string, string>>): string => {
  const other = Object.entries(given).filter(([name, value]) => value !== BILL_VIEW[name as keyof BillView]);
  return other.length === 0 ? path : `${path}?${new URLSearchParams(other)}`;
};

/** Returns the address of the level below an account, over the same period. */
export const levelAddress = ({ period, start, end }: PeriodView, of: number | null, by = "branch"): string =>
  addressWith("/bill", { period, start, end, of: of === null ? "" : String(of), by });

/** Returns the address of the statement of an account, over the same period. */
export const statementAddress = ({ period, start, end }: PeriodView, id: number): string =>
  addressWith(`/bill/${id}`, { period, start, end });
