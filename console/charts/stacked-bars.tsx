// Bars over days or hours, each a stack of series, the first at the bottom. A bar without figures is no bar of nothing.

import { ColumnChart, type ColumnChartProps, marksOf } from "./column-chart.tsx";
import { type ChartMark, Marks } from "./marks.tsx";
import { type ChartValue, greatestOf, type Plot } from "./scale.ts";

/** What a chart of bars shows. */
export interface StackedBarsProps<V extends ChartValue> extends ColumnChartProps<V> {
  /** The server's total of each column; null: there are no figures. */
  readonly totals: readonly (V | null)[];
  readonly noData: string;
}

/** Draws bars with their legend; each part of a bar can be focused and opened. */
export const StackedBars = <V extends ChartValue>(props: StackedBarsProps<V>) => (
  <ColumnChart chart={props} greatest={greatestOf(props.totals)}>
    {(plot) => <Marks marks={barsOf(props, plot)} />}
  </ColumnChart>
);

/** Returns the parts of all bars, and a line for each column without one: dashed where there are no figures, whole at 0. */
function barsOf<V extends ChartValue>(props: StackedBarsProps<V>, { bottom, step, xOf, yOf }: Plot<V>) {
  const { columns, values, totals, text, noData } = props;
  const width = Math.max(1, Math.min(48, step * 0.72));
  const tops = columns.map(() => bottom);
  const marks: ChartMark[] = marksOf(props, (value, column, fill) => {
    if (!(value > 0)) return null;
    const height = Math.max(1, bottom - yOf(value));
    tops[column]! -= height;
    const box = { x: xOf(column) - width / 2, y: tops[column]!, width, height };
    const stroke = height > 2 ? "var(--mantine-color-body)" : "none";
    return <rect {...box} fill={fill} stroke={stroke} />;
  });
  for (const [column, { key, label }] of columns.entries()) {
    const total = totals[column] ?? null;
    if (total !== null && values.some((each) => (each[column] ?? 0) > 0)) continue;
    const [x, y] = [xOf(column) - width / 2, bottom - 1];
    const line = { x1: x, x2: x + width, y1: y, y2: y, stroke: "var(--chart-other)", strokeWidth: 2 };
    const shape = <line {...line} strokeDasharray={total === null ? "3 3" : "none"} />;
    const said = total === null ? noData : text(total);
    marks.push({ key, column, row: 0, label: `${label}: ${said}`, shape });
  }
  return marks;
}
