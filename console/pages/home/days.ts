// Days of the calendar as bills are asked for them.

import { DAY_MS, utcDay } from "../../api/days.ts";

/** Returns the day so many days before `nowMs`, in UTC, as YYYY-MM-DD. */
export const dayBefore = (nowMs: number, days: number): string => utcDay(nowMs - days * DAY_MS);
