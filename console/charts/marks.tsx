// Values that can be pointed at, focused and opened: one stop of the Tab key for all of a chart, arrows between them. And the
// figure around them. Nothing is animated.

import { useElementSize } from "@mantine/hooks";
import { type KeyboardEvent, type ReactNode, useState } from "react";
import { seriesColor } from "./scale.ts";

/** One value: where arrows find it (rows count upwards), what it is and how much, and what opens it. */
export interface ChartMark {
  readonly key: string;
  readonly column: number;
  readonly row: number;
  readonly label: string;
  readonly shape: ReactNode;
  readonly onPick?: (() => void) | undefined;
}

const ARROWS: Readonly<Record<string, readonly [columns: number, rows: number]>> = {
  ...{ ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] },
};

/** Returns the mark that an arrow leads to: the nearest in its column, or in the nearest column. Where there is none, itself. */
export function nextMark(marks: readonly ChartMark[], from: ChartMark, arrow: string): ChartMark {
  const [columns, rows] = ARROWS[arrow] ?? [0, 0];
  const far = (one: ChartMark) => Math.abs(one.column - from.column) * 1e3 + Math.abs(one.row - from.row);
  const isAhead = ({ column, row }: ChartMark) =>
    columns === 0
      ? column === from.column && (row - from.row) * rows > 0
      : (column - from.column) * columns > 0;
  return marks
    .filter(isAhead)
    .reduce((near, one) => (near === from || far(one) < far(near) ? one : near), from);
}

/** Draws marks. Enter and Space open one, as a click does. */
export function Marks({ marks }: { readonly marks: readonly ChartMark[] }) {
  const [current, setCurrent] = useState<string>();
  const stop = marks.some(({ key }) => key === current) ? current : marks[0]?.key;
  const handlersOf = (mark: ChartMark) => ({
    role: mark.onPick === undefined ? "img" : "button",
    tabIndex: mark.key === stop ? 0 : -1,
    onFocus: () => setCurrent(mark.key),
    onClick: mark.onPick,
    onKeyDown(event: KeyboardEvent<SVGGElement>) {
      const isPick = event.key === "Enter" || event.key === " ";
      if (!isPick && ARROWS[event.key] === undefined) return;
      event.preventDefault();
      if (isPick) return mark.onPick?.();
      const elements = event.currentTarget.parentElement!.children;
      (elements[marks.indexOf(nextMark(marks, mark, event.key))] as SVGGElement).focus();
    },
  });
  return (
    <g>
      {marks.map((mark) => (
        <g key={mark.key} data-mark={mark.key} aria-label={mark.label} {...handlersOf(mark)}>
          <title>{mark.label}</title>
          {mark.shape}
        </g>
      ))}
    </g>
  );
}

/** A chart as wide as its place, with its name and those of its series. */
export function ChartFrame(props: {
  readonly label: string;
  readonly height: number;
  readonly series?: readonly { readonly key: string; readonly label: string }[];
  readonly children: (width: number) => ReactNode;
}) {
  const { label, height, series = [], children } = props;
  const { ref, width } = useElementSize<HTMLElement>();
  // Before it is measured, a chart is drawn as for a page of medium width.
  return (
    <figure className="chart" aria-label={label} ref={ref}>
      <svg role="presentation" {...{ width: "100%", height }}>
        {children(width || 640)}
      </svg>
      {series.length > 1 && (
        <ul className="chart-legend">
          {series.map(({ key, label: name }, index) => (
            <li key={key}>
              <svg width={10} height={10} aria-hidden="true">
                <rect width={10} height={10} rx={2} fill={seriesColor(index, key)} />
              </svg>{" "}
              {name}
            </li>
          ))}
        </ul>
      )}
    </figure>
  );
}
