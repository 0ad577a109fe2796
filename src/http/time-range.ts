// The parameters `from` and `to` of lists: instants or days in UTC. It reads no clock.

import { Type } from "@sinclair/typebox";
import { DAY_MS, dayOf } from "../../actors/time.ts";
import { RefusedError } from "../base/errors.ts";
import { parameter } from "./schemas.ts";

/** A day, or a time of it; without an offset it is in UTC. */
const TIME = "^\\d{4}-\\d\\d-\\d\\d(T\\d\\d:\\d\\d(:\\d\\d(\\.\\d{1,9})?)?(Z|[+-]\\d\\d:\\d\\d)?)?$";

const timeText = Type.String({
  pattern: TIME,
  description: "must be a day as YYYY-MM-DD, or a time such as 2026-01-31T12:00:00Z",
});

/** The parameters of a query. */
export const TIME_RANGE = {
  from: Type.Optional(parameter(timeText, "Not before this time (ISO 8601) or day; UTC without an offset.")),
  to: Type.Optional(parameter(timeText, "Not after this time, which is included; a day with all its hours.")),
};

/** Wall-clock milliseconds: `from` is included, `until` is not. */
export interface TimeRange {
  readonly from?: number;
  readonly until?: number;
}

/** Reads both parameters. Throws `invalid_parameter` for a time that there is not, and for an end before the beginning. */
export function timeRangeOf({ from, to }: { readonly from?: string; readonly to?: string }): TimeRange {
  const begin = from === undefined ? undefined : instantOf("from", from);
  const end = to === undefined ? undefined : instantOf("to", to) + (isDay(to!) ? DAY_MS : 1);
  if (begin !== undefined && end !== undefined && end <= begin)
    return refuse('"from" must not be after "to".');
  return {
    ...(begin === undefined ? {} : { from: Math.max(0, begin) }),
    ...(end === undefined ? {} : { until: Math.max(0, end) }),
  };
}

const isDay = (text: string): boolean => text.length === "YYYY-MM-DD".length;

function instantOf(name: "from" | "to", text: string): number {
  const day = text.slice(0, "YYYY-MM-DD".length);
  const midnight = Date.parse(`${day}T00:00:00Z`);
  const hasOffset = /(?:Z|[+-]\d\d:\d\d)$/.test(text);
  const at = isDay(text) ? midnight : Date.parse(hasOffset ? text : `${text}Z`);
  // 30 February would be read as a day of March.
  if (Number.isNaN(at) || Number.isNaN(midnight) || dayOf(midnight) !== day) {
    return refuse(`"${name}": there is no time ${text}.`);
  }
  return at;
}

function refuse(message: string): never {
  throw new RefusedError({ code: "invalid_parameter", message });
}
