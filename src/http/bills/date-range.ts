// The days of a bill and its fee: at most one kind of date parameter, calendar days in UTC. It never reads a clock and never
// takes the fee.

import { Type } from "@sinclair/typebox";
import { type Nano, toNano, ZERO } from "../../../actors/money.ts";
import { DAY_MS, dayOf } from "../../../actors/time.ts";
import type { ErrorCode } from "../../base/error-codes.ts";
import { RefusedError } from "../../base/errors.ts";
import type { Days, HourRange } from "../../report/usage-bill.ts";
import { PURPOSE } from "../schemas.ts";

const day = (purpose: string) =>
  Type.Optional(
    Type.String({
      pattern: "^\\d{4}-\\d\\d-\\d\\d$",
      description: "must be a day as YYYY-MM-DD",
      [PURPOSE]: purpose,
    }),
  );

/** The date parameters of a query, with their short names. */
export const DATES = {
  date: day("One day, `YYYY-MM-DD`, in UTC."),
  d: day("The same as `date`."),
  start: day("The first day; without `end` up to today."),
  s: day("The same as `start`."),
  end: day("The last day, included."),
  e: day("The same as `end`."),
  days: Type.Optional(
    Type.String({
      pattern: "^0*[1-9][0-9]{0,8}$",
      description: "must be an integer of at least 1",
      [PURPOSE]: "The last so many days, today included.",
    }),
  ),
};

/** The date parameters of a query. */
export type Dates = { readonly [name in keyof typeof DATES]?: string };

/** The days of a bill. */
export interface DateRange extends Days {
  /** The fee of an account's own bill over these days. It is for the days asked for, also where fewer are answered. */
  readonly fee: Nano;
}

/** Days of a bill at most; of a longer range the last ones. */
const DAYS_MAX = 365;

/** Fees of ranges with more days than `above`; the first row that fits counts. */
const FEES = [
  { above: DAYS_MAX, fee: toNano(50_000_000) },
  { above: 30, fee: toNano(10_000_000) },
  { above: 0, fee: ZERO },
] as const;

const refuse = (message: string, code: ErrorCode = "invalid_parameter"): never => {
  throw new RefusedError({ code, message });
};

/**
 * Returns the days of a query, today without any parameter. `now` is wall-clock milliseconds. Throws `invalid_parameter`
 * for what names no days, or two kinds of them, and `missing_parameter` for an end without start.
 */
export function dateRangeOf(asked: Dates, now: number): DateRange {
  const date = dayParameter(asked, "date", "d");
  const start = dayParameter(asked, "start", "s");
  const end = dayParameter(asked, "end", "e");
  const kinds = [date !== null, start !== null || end !== null, asked.days !== undefined];
  if (kinds.filter(Boolean).length > 1) {
    return refuse('Give one kind of date only: "date", or "start" and "end", or "days".');
  }
  const today = Math.floor(now / DAY_MS);
  if (asked.days !== undefined) return spanTo(today, Number(asked.days));
  if (date !== null) return spanTo(date, 1);
  if (end !== null && start === null) return refuse('"end" needs a "start" beside it.', "missing_parameter");
  if (start === null) return spanTo(today, 1);
  const last = end ?? today;
  if (last < start) return refuse(`"start" must not be after ${end === null ? "today" : '"end"'}.`);
  return spanTo(last, last - start + 1);
}

const HOUR_MS = DAY_MS / 24;

/**
 * Returns the last hours of a query, the present one included, and their days; null when it asks for none. `now` is wall-clock
 * milliseconds. Throws `invalid_parameter` for hours beside a date.
 */
export function hourRangeOf(
  { hours, ...dates }: Dates & { readonly hours?: string },
  now: number,
): { readonly hours: HourRange; readonly days: DateRange } | null {
  if (hours === undefined) return null;
  for (const name of Object.keys(DATES) as (keyof typeof DATES)[]) {
    if (dates[name] !== undefined)
      return refuse(`"hours" are the last ones: "${name}" cannot stand beside it.`);
  }
  const first = now - (Number(hours) - 1) * HOUR_MS;
  return {
    hours: { first, last: now },
    days: { from: dayOf(first), to: dayOf(now), fee: ZERO },
  };
}

/** Returns a parameter, by either name, as the number of its day, or null when it is absent. */
function dayParameter(asked: Dates, name: "date" | "start" | "end", short: "d" | "s" | "e"): number | null {
  if (asked[name] !== undefined && asked[short] !== undefined) {
    return refuse(`"${name}" and "${short}" are the same parameter. Give one of them.`);
  }
  const text = asked[name] ?? asked[short];
  if (text === undefined) return null;
  const at = Date.parse(`${text}T00:00:00Z`);
  // 30 February would be read as a day of March.
  if (Number.isNaN(at) || dayOf(at) !== text) return refuse(`"${name}": there is no day ${text}.`);
  return at / DAY_MS;
}

function spanTo(last: number, days: number): DateRange {
  const first = last - Math.min(days, DAYS_MAX) + 1;
  const { fee } = FEES.find(({ above }) => days > above)!;
  return { from: dayOf(Math.max(first, FIRST_DAY) * DAY_MS), to: dayOf(last * DAY_MS), fee };
}

/** 0000-01-01: no earlier day has four digits. */
const FIRST_DAY = Date.parse("0000-01-01T00:00:00Z") / DAY_MS;
