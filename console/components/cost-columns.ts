// The columns of the chart of costs: every day of a period, also those without a charge, or the hours that a bill states.

import { addNanos, NO_NANOS } from "../api/amount.ts";
import type { Answers } from "../api/answers.ts";
import { DAY_MS, utcDay } from "../api/days.ts";
import type { CostColumn } from "./cost-chart.tsx";

type Bill = Answers["/dashboard/bill"];

/** A bill states the last 365 days of a longer period. */
const DAYS_MAX = 365;

/** Days in a row, the first one as YYYY-MM-DD in UTC. */
export interface DaySpan {
  readonly from: string;
  readonly count: number;
}

/** Returns every day of a period, the first one first. */
export function daysOf({ from, count }: DaySpan): readonly string[] {
  const first = Date.parse(from);
  const all = Array.from({ length: count }, (_, nth) => utcDay(first + nth * DAY_MS));
  return all.slice(-DAYS_MAX);
}

/** Returns a column for each day, its parts by model. */
export function columnsOfDays(billed: Bill["daily_costs"], period: DaySpan): readonly CostColumn[] {
  const found = new Map(billed.map((day) => [day.date, day]));
  return daysOf(period).map((date) => {
    const day = found.get(date);
    return {
      ...{ key: date, label: date.slice(5), total: day?.total_credit_used ?? NO_NANOS },
      parts: day?.line_items.map(({ name, cost }) => ({ key: name, label: name, cost })) ?? [],
    };
  });
}

/** Returns a column for each hour, its parts by group. The groups of an answer are all of it, so their sum is the total. */
export const columnsOfHours = (hourly: NonNullable<Bill["hourly"]>): readonly CostColumn[] =>
  hourly.map(({ hour, groups }) => ({
    ...{
      key: hour,
      label: hour.slice(11, 16),
      total: groups.map(({ cost }) => cost).reduce(addNanos, NO_NANOS),
    },
    parts: groups.map(({ id, name, cost }) => ({
      key: String(id),
      label: name === "" ? String(id) : name,
      cost,
    })),
  }));
