// Where an amount came from and went: bands from its sources into a trunk, and from there into its uses, as wide as their share
// of the whole. What is 0 has a row and no band; what is not known says so.

import { shareOf } from "../api/amount.ts";
import { ChartFrame, type ChartMark, Marks } from "./marks.tsx";
import { type ChartValue, seriesColor } from "./scale.ts";

/** A source or a use; null: it is not known. One below 0 is shown as a text alone. */
type FlowItem<V> = { readonly key: string; readonly label: string; readonly value: V | null };

/** Points: a row with its two lines of text, a gap, the trunk's height and width, and the most that a text has. */
const [ROW, GAP, TRUNK, BAR, TEXT] = [32, 6, 140, 10, 150];

/** Draws the flow of `whole`; each source and use can be focused and opened. */
export function TreeFlow<V extends ChartValue>(props: {
  readonly label: string;
  readonly whole: V;
  readonly sources: readonly FlowItem<V>[];
  readonly uses: readonly FlowItem<V>[];
  readonly text: (value: V) => string;
  readonly noData: string;
  readonly onPick?: (key: string) => void;
}) {
  const { label, whole, sources, uses, text, noData, onPick } = props;
  const sizeOf = ({ value }: FlowItem<V>) => (value === null ? 0 : shareOf(value, whole) * TRUNK);
  const rowOf = (item: FlowItem<V>) => Math.max(ROW, sizeOf(item) + GAP);
  const heightOf = (items: readonly FlowItem<V>[]) => items.reduce((sum, item) => sum + rowOf(item), 0);
  const height = Math.max(TRUNK, heightOf(sources), heightOf(uses)) + GAP;
  const top = (height - TRUNK) / 2;

  const marksOf = (items: readonly FlowItem<V>[], column: 0 | 1, width: number): ChartMark[] => {
    const [edge, textAnchor] = [Math.min(TEXT, width * 0.36), column === 0 ? "end" : "start"] as const;
    const [inner, outer] = [width / 2 + (column - 0.5) * BAR, column === 0 ? edge : width - edge];
    let [y, nextFrom] = [(height - heightOf(items)) / 2, top];
    return items.map((item, index) => {
      const [size, middle, from] = [sizeOf(item), y + rowOf(item) / 2, nextFrom];
      [y, nextFrom] = [y + rowOf(item), from + size];
      const color = column === 0 ? "var(--chart-other)" : seriesColor(index, item.key);
      const said = item.value === null ? noData : text(item.value);
      const [x, isSome] = [column === 0 ? outer - GAP : outer + GAP, item.value !== null && item.value > 0];
      const shape = (
        <>
          {isSome && (
            <path d={bandPath(inner, from, outer, middle - size / 2, Math.max(1, size))} fill={color} />
          )}
          <text {...{ x, y: middle - 3, textAnchor, className: "flow-label" }}>
            {item.label}
            <tspan {...{ x, dy: 14, fontWeight: 600 }}>{said}</tspan>
          </text>
        </>
      );
      const pick = onPick && item.value !== null ? () => onPick(item.key) : undefined;
      return { key: item.key, column, row: -index, label: `${item.label}: ${said}`, shape, onPick: pick };
    });
  };

  return (
    <ChartFrame label={label} height={height}>
      {(width) => (
        <>
          <path d={bandPath(width / 2 - BAR / 2, top, width / 2 + BAR / 2, top, TRUNK)} fill="currentColor" />
          <Marks marks={[...marksOf(sources, 0, width), ...marksOf(uses, 1, width)]} />
        </>
      )}
    </ChartFrame>
  );
}

/** Returns the outline of a band of one height from one upper corner to the other. */
function bandPath(x: number, y: number, toX: number, toY: number, size: number): string {
  const half = (x + toX) / 2;
  const back = `${half} ${toY + size} ${half} ${y + size} ${x} ${y + size}`;
  return `M${x} ${y}C${half} ${y} ${half} ${toY} ${toX} ${toY}v${size}C${back}Z`;
}
