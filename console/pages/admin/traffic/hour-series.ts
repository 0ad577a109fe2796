// Requests by hour and model as series of a chart: the models with the most requests, and all others together.

import type { Answers } from "../../../api/answers.ts";

type Hourly = NonNullable<Answers["/x-bill"]["hourly"]>;

/** Models with a colour of their own. */
const MODELS_MAX = 7;
const OTHERS = "(other)";

/** What a chart of hours shows: counts by series and then by hour. */
export interface HourSeries {
  readonly series: readonly string[];
  readonly values: readonly (readonly number[])[];
  readonly totals: readonly number[];
}

/** Returns the series of these hours; the busiest model is the first. */
export function seriesOfHours(hourly: Hourly): HourSeries {
  const sums = new Map<string, number>();
  for (const { groups } of hourly) {
    for (const { name, requests } of groups) sums.set(name, (sums.get(name) ?? 0) + requests);
  }
  const models = [...sums]
    .filter(([name, count]) => name !== OTHERS && count > 0)
    .sort(([one, few], [other, many]) => many - few || (one < other ? -1 : 1))
    .map(([name]) => name);
  const own = models.slice(0, MODELS_MAX);
  const hasOthers = models.length > MODELS_MAX || (sums.get(OTHERS) ?? 0) > 0;
  const countOf = (hour: Hourly[number], wanted: (name: string) => boolean): number =>
    hour.groups.reduce((sum, { name, requests }) => sum + (wanted(name) ? requests : 0), 0);
  const rows = own.map((model) => hourly.map((hour) => countOf(hour, (name) => name === model)));
  const others = hourly.map((hour) => countOf(hour, (name) => !own.includes(name)));
  return {
    series: hasOthers ? [...own, OTHERS] : own,
    values: hasOthers ? [...rows, others] : rows,
    totals: hourly.map((hour) => countOf(hour, () => true)),
  };
}
