// What charts measure with: values are exact until `shareOf` makes a length of them, and no length is ever read as a value.

import { shareOf } from "../api/amount.ts";

/** A value that is drawn: an amount or a figure as bigint, or a count. One chart has values of one kind. */
export type ChartValue = bigint | number;

/** Returns the greatest value, or null when there is none. */
export const greatestOf = <V extends ChartValue>(values: readonly (V | null)[]): V | null =>
  values.reduce<V | null>((most, one) => (one !== null && (most === null || one > most) ? one : most), null);

/**
 * Returns round values from 0 up to the first that is not below the greatest, at most four above 0: multiples of 1, 2 or 5 times
 * a power of ten, whole ones of bigints and whole numbers. No greatest value gives none.
 */
export function ticksUpTo<V extends ChartValue>(greatest: V | null): V[] {
  if (greatest === null) return [];
  const exact = (value: number): V => (typeof greatest === "bigint" ? BigInt(value) : value) as V;
  if (greatest <= 0) return [exact(0)];
  const least = Number(greatest) / 4;
  const power = 10 ** Math.floor(Math.log10(least));
  const wide = power * ([1, 2, 5].find((one) => one * power >= least) ?? 10);
  const width = Number.isInteger(Number(greatest)) ? Math.max(1, Math.round(wide)) : wide;
  const count = Math.ceil(Number(greatest) / width);
  return Array.from({ length: count + 1 }, (_, step) => exact(Number((width * step).toPrecision(12))));
}

/** Returns the colour of a series by its place: eight that differ for every kind of sight, and grey for all others. */
export const seriesColor = (index: number, key: string): string =>
  key === "(other)" || index >= 8 ? "var(--chart-other)" : `var(--chart-${index + 1})`;

/** Where values stand, in points: columns, `step` wide, by their middle, and values, of which `ticks` have a line. */
export interface Plot<V extends ChartValue> {
  readonly left: number;
  readonly bottom: number;
  readonly step: number;
  readonly ticks: readonly V[];
  xOf(column: number): number;
  yOf(value: V): number;
}

/** Measures a chart of this size for values up to the greatest; the texts of its lines stand at the left. */
export function plotOf<V extends ChartValue>(
  size: { readonly width: number; readonly height: number; readonly columns: number },
  greatest: V | null,
  text: (value: V) => string,
): Plot<V> {
  const ticks = ticksUpTo(greatest);
  const letters = Math.max(0, ...ticks.map((tick) => text(tick).length));
  const left = letters === 0 ? 0 : letters * 6.5 + 8;
  const [bottom, step] = [size.height - 18, (size.width - left) / Math.max(1, size.columns)];
  return {
    ...{ left, bottom, step, ticks },
    xOf: (column) => left + (column + 0.5) * step,
    yOf: (value) => bottom - shareOf(value, ticks.at(-1) ?? 0) * (bottom - 8),
  };
}
