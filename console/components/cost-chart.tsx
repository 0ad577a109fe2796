// Costs by day or hour as stacked bars: the seven dearest parts, and one for all others. A click leads to what a part is made of.

import { addNanos, compareExact, type Nanos, NO_NANOS, usdText } from "../api/amount.ts";
import { StackedBars } from "../charts/stacked-bars.tsx";
import { CHART } from "../i18n/chart.ts";
import { useWords } from "../i18n/language.ts";

/** A bar: a day or an hour, its total as the service has it, and its parts. */
export interface CostColumn {
  readonly key: string;
  readonly label: string;
  readonly total: Nanos | null;
  readonly parts: readonly { readonly key: string; readonly label: string; readonly cost: Nanos }[];
}

/** So many parts have a colour of their own. */
const SERIES_MAX = 7;
/** The key of all others. */
const OTHER = "(other)";

/** Returns the dearest parts over all columns, in that order, and whether there are others. */
export function dearestParts(columns: readonly CostColumn[]): {
  readonly series: readonly { readonly key: string; readonly label: string }[];
  readonly hasOthers: boolean;
} {
  const sums = new Map<string, { key: string; label: string; cost: Nanos }>();
  for (const { key, label, cost } of columns.flatMap(({ parts }) => parts)) {
    sums.set(key, { key, label, cost: addNanos(sums.get(key)?.cost ?? NO_NANOS, cost) });
  }
  const all = [...sums.values()]
    .filter(({ key }) => key !== OTHER)
    .sort((one, other) => compareExact(other.cost, one.cost));
  return {
    series: all.slice(0, SERIES_MAX).map(({ key, label }) => ({ key, label })),
    hasOthers: all.length > SERIES_MAX || sums.has(OTHER),
  };
}

/** The chart; `onPick` gets the keys of a column and a part. */
export function CostChart(props: {
  readonly label: string;
  readonly columns: readonly CostColumn[];
  readonly onPick: (column: string, part: string) => void;
  readonly height?: number;
}) {
  const { label, columns, onPick, height = 180 } = props;
  const words = useWords(CHART);
  const { series, hasOthers } = dearestParts(columns);
  const listed = new Set(series.map(({ key }) => key));
  const sumOf = (parts: CostColumn["parts"]): Nanos =>
    parts.map(({ cost }) => cost).reduce(addNanos, NO_NANOS);
  const others = ({ parts }: CostColumn): Nanos => sumOf(parts.filter(({ key }) => !listed.has(key)));
  const values = series.map(({ key }) =>
    columns.map(({ parts }) => sumOf(parts.filter((part) => part.key === key))),
  );
  return (
    <StackedBars<Nanos>
      label={label}
      columns={columns}
      series={hasOthers ? [...series, { key: OTHER, label: words.others }] : series}
      values={hasOthers ? [...values, columns.map(others)] : values}
      totals={columns.map(({ total }) => total)}
      text={(value) => `${usdText(value)} USD`}
      tickText={usdText}
      height={height}
      noData={words.noData}
      onPick={onPick}
    />
  );
}
