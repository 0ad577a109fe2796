// The columns of the chart of costs: every day of the period, also those without a charge, or the hours that a bill tells.

import { addNanos, NO_NANOS } from "../../api/amount.ts";
import type { CostColumn } from "../../components/cost-chart.tsx";
import type { Bill } from "./bill.ts";
import { daysOf } from "./period.ts";

/** Returns a column for each day, its parts by model. */
export function columnsOfDays(
  billed: Bill["daily_costs"],
  period: { readonly from: string; readonly count: number },
): readonly CostColumn[] {
  const found = new Map(billed.map((day) => [day.date, day]));
  return daysOf(period).map((date) => {
    const day = found.get(date);
    return {
      ...{ key: date, label: date.slice(5), total: day?.total_credit_used ?? NO_NANOS },
      parts: day?.line_items.map(({ name, cost }) => ({ key: name, label: name, cost })) ?? [],
    };
  });
}

/** Returns a column for each hour, its parts by group. A group of the answer is everything in it, so its parts are its total. */
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
