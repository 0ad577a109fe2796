// A chart over columns, such as days or hours: lines at round values, names below, and marks for the values of its series. What
// a value looks like is for the kind of chart to say.

import type { ReactNode } from "react";
import { ChartFrame, type ChartMark } from "./marks.tsx";
import { type ChartValue, type Plot, plotOf, seriesColor } from "./scale.ts";

/** What every chart over columns shows. */
export interface ColumnChartProps<V extends ChartValue> {
  readonly label: string;
  readonly columns: readonly { readonly key: string; readonly label: string }[];
  readonly series: readonly { readonly key: string; readonly label: string }[];
  /** By series and then by column; null: it is not known. */
  readonly values: readonly (readonly (V | null)[])[];
  /** A value in full, with its unit. */
  readonly text: (value: V) => string;
  /** The same for the lines; `text` where absent. */
  readonly tickText?: (value: V) => string;
  readonly height?: number;
  /** Opens what a value is made of, by the keys of its column and series. */
  readonly onPick?: (column: string, series: string) => void;
}

/** Returns the marks of all values; `shapeOf` draws one, or returns null for a value without a mark. */
export function marksOf<V extends ChartValue>(
  { columns, series, values, text, onPick }: ColumnChartProps<V>,
  shapeOf: (value: V, column: number, color: string) => ReactNode,
): ChartMark[] {
  return series.flatMap((one, row) =>
    columns.flatMap(({ key, label }, column) => {
      const value = values[row]?.[column] ?? null;
      const shape = value === null ? null : shapeOf(value, column, seriesColor(row, one.key));
      if (value === null || shape === null) return [];
      const pick = onPick && (() => onPick(key, one.key));
      const said = `${label}, ${one.label}: ${text(value)}`;
      return { key: `${key} ${one.key}`, column, row, label: said, shape, onPick: pick };
    }),
  );
}

/** Draws lines up to the greatest value, and as many names of columns as fit. They say nothing that no mark says. */
export function ColumnChart<V extends ChartValue>(props: {
  readonly chart: ColumnChartProps<V>;
  readonly greatest: V | null;
  readonly children: (plot: Plot<V>) => ReactNode;
}) {
  const { chart, greatest, children } = props;
  const { label, columns, series, text, tickText = text, height = 200 } = chart;
  return (
    <ChartFrame label={label} height={height} series={series}>
      {(width) => {
        const plot = plotOf({ width, height, columns: columns.length }, greatest, tickText);
        // A name needs 64 points.
        const every = Math.ceil(64 / Math.max(1, plot.step));
        return (
          <>
            <g className="figure" fontSize={11} fill="var(--mantine-color-text)" {...{ "aria-hidden": true }}>
              {plot.ticks.map((tick) => (
                <g key={String(tick)} transform={`translate(0 ${plot.yOf(tick)})`}>
                  <line x1={plot.left} x2={width} stroke="var(--mantine-color-default-border)" />
                  <text x={plot.left - 6} y={4} textAnchor="end">
                    {tickText(tick)}
                  </text>
                </g>
              ))}
              {columns.map(({ key, label: name }, column) => (
                <text key={key} x={plot.xOf(column)} y={height - 4} textAnchor="middle">
                  {column % every === 0 ? name : ""}
                </text>
              ))}
            </g>
            {children(plot)}
          </>
        );
      }}
    </ChartFrame>
  );
}
