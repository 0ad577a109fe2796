// The rows of the table of usage, by what the page groups by, each with the filter of the ledger lines that it is made of. Figures
// of money are the service's own; only tokens of one day are added up over its models.

import { compareExact, type Nanos } from "../../api/amount.ts";
import type { LedgerFilter } from "../../api/ledger-filter.ts";
import type { Bill, UsageGroup } from "./bill.ts";
import type { Period } from "./period.ts";

/** What a bill can be grouped by; `time` is by day, or by hour where the period is hours. */
export const GROUPINGS = ["model", "api_key", "tag", "time"] as const;

/** A grouping as it is asked for: `tag:NAME` for a tag. */
export type Grouping = "model" | "api_key" | "time" | `tag:${string}`;

/** A row: its tokens by kind, and its lines, which are null where no filter selects them. */
export interface UsageRow {
  readonly key: string;
  /** What a group is called; empty: nothing but its key. */
  readonly name: string;
  readonly requests: number;
  readonly prompt: number;
  readonly cached: number;
  readonly cache_write: number;
  readonly completion: number;
  readonly reasoning: number;
  readonly cost: Nanos;
  readonly lines: Partial<LedgerFilter> | null;
}

const HOUR_MS = 3_600_000;

/** The ids of groups that stand for several values or none: no filter selects their lines. */
const isSpecial = (id: string): boolean => /^\(.*\)$/.test(id);

/** Returns the filter of the lines of an hour, by its beginning. */
export const linesOfHour = (hour: string): Partial<LedgerFilter> => ({
  type: "charge",
  from: hour,
  to: new Date(Date.parse(hour) + HOUR_MS - 1).toISOString(),
});

/** Returns the filter of the lines of a day. */
export const linesOfDay = (date: string): Partial<LedgerFilter> => ({ type: "charge", from: date, to: date });

/** Returns the filter of all charges of a bill. The last hours have no end: the present one is among them. */
export const linesOfBill = (bill: Bill, { days }: Period): Partial<LedgerFilter> => ({
  type: "charge",
  ...(days === null ? { from: bill.hourly?.[0]?.hour ?? "" } : { from: days.from, to: days.to }),
});

/** Narrows a filter to a group; null where no filter selects its lines. */
export function linesOfGroup(
  lines: Partial<LedgerFilter>,
  grouping: Grouping,
  id: string,
): Partial<LedgerFilter> | null {
  if (id === "(all)") return lines;
  if (isSpecial(id) || grouping === "time") return null;
  if (grouping === "model") return { ...lines, model: id };
  if (grouping === "api_key") return { ...lines, api_key: id };
  return { ...lines, tag: `${grouping.slice("tag:".length)}:${id}` };
}

/** Returns the lines behind a part of a bar of the chart: those of its group, or of the whole bar where nothing selects them. */
export function linesOfPart(column: string, part: string, grouping: Grouping): Partial<LedgerFilter> {
  const isHour = column.includes("T");
  const lines = isHour ? linesOfHour(column) : linesOfDay(column);
  // The parts of days are models, whatever the table is grouped by.
  return linesOfGroup(lines, isHour ? grouping : "model", part) ?? lines;
}

/** Returns the rows of a bill: groups with the dearest first, days and hours with the latest first. */
export function usageRows(bill: Bill, period: Period, grouping: Grouping): readonly UsageRow[] {
  if (grouping !== "time") {
    const lines = linesOfBill(bill, period);
    return (bill.groups ?? [])
      .toSorted((one, other) => compareExact(other.cost, one.cost))
      .map((group) => ({
        ...figuresOf(group),
        ...{ key: String(group.id), name: group.name },
        lines: linesOfGroup(lines, grouping, String(group.id)),
      }));
  }
  if (period.days === null) {
    return (bill.hourly ?? [])
      .flatMap(({ hour, groups }) =>
        groups.map((group) => ({
          ...figuresOf(group),
          ...{ key: hour, name: hourText(hour), lines: linesOfHour(hour) },
        })),
      )
      .reverse();
  }
  return bill.daily_costs
    .map(dayRow)
    .sort((one, other) => (one.key < other.key ? 1 : one.key > other.key ? -1 : 0));
}

/** Writes an hour as 2026-11-23 04:00. */
const hourText = (hour: string): string => hour.slice(0, 16).replace("T", " ");

const figuresOf = (group: UsageGroup) => ({
  requests: group.requests,
  prompt: group.prompt,
  cached: group.cached,
  cache_write: group.cache_write,
  completion: group.completion,
  reasoning: group.reasoning,
  cost: group.cost,
});

function dayRow({ date, total_credit_used: cost, line_items }: Bill["daily_costs"][number]): UsageRow {
  const sum = { requests: 0, prompt: 0, cached: 0, cache_write: 0, completion: 0, reasoning: 0 };
  const kinds = Object.keys(sum) as (keyof typeof sum)[];
  for (const { usage } of line_items) for (const kind of kinds) sum[kind] += usage[kind];
  return { ...sum, key: date, name: "", cost, lines: linesOfDay(date) };
}
