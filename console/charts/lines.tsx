// Lines over the same columns, and the small one of a table's row. Where a series has no value its line is interrupted.

import { ColumnChart, type ColumnChartProps, marksOf } from "./column-chart.tsx";
import { Marks } from "./marks.tsx";
import { type ChartValue, greatestOf, type Plot, plotOf, seriesColor } from "./scale.ts";

const DRAWN = { fill: "none", strokeWidth: 1.5, strokeLinecap: "round", strokeLinejoin: "round" } as const;

/** Returns the path through the values that there are; a value between two gaps is a dot. */
export const linePath = <V extends ChartValue>(
  values: readonly (V | null)[],
  { xOf, yOf }: Plot<V>,
): string =>
  values
    .map((value, column) => {
      if (value === null) return "";
      const point = `${xOf(column).toFixed(1)} ${yOf(value).toFixed(1)}`;
      return (values[column - 1] ?? null) === null ? `M${point}h0` : `L${point}`;
    })
    .join("");

/** Draws lines with their legend; each value can be focused and opened. */
export const Lines = <V extends ChartValue>(props: ColumnChartProps<V>) => (
  <ColumnChart chart={props} greatest={greatestOf(props.values.flat())}>
    {(plot) => (
      <>
        {props.series.map(({ key }, row) => (
          <path key={key} d={linePath(props.values[row]!, plot)} stroke={seriesColor(row, key)} {...DRAWN} />
        ))}
        <Marks
          marks={marksOf(props, (value, column, fill) => (
            <circle r={2.5} cx={plot.xOf(column)} cy={plot.yOf(value)} fill={fill} />
          ))}
        />
      </>
    )}
  </ColumnChart>
);

/** Draws values as one small line without axes; `label` says in words what it shows. */
export function Sparkline<V extends ChartValue>(props: {
  readonly label: string;
  readonly values: readonly (V | null)[];
}) {
  const { label, values } = props;
  const plot = plotOf({ width: 96, height: 36, columns: values.length }, greatestOf(values), () => "");
  return (
    <svg role="img" aria-label={label} width={96} height={20}>
      <title>{label}</title>
      <path d={linePath(values, plot)} stroke="var(--chart-1)" {...DRAWN} />
    </svg>
  );
}
