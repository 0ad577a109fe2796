// The time line: a line for each Level that was switched over and each key that slept, with a bar for each span. The list of events
// below it says the same in rows.

import { utcText } from "../../../components/time.tsx";
import { useWords } from "../../../i18n/language.ts";
import { POOL } from "../../../i18n/pool.ts";
import { TRAFFIC } from "../../../i18n/traffic.ts";
import {
  type PoolEvent,
  percentOfWay,
  roundInstants,
  type Span,
  type TimeRow,
  timeRowsOf,
} from "./time-spans.ts";

/** Midnight is the day that begins, any other instant its time. */
const tickText = (at: number): string =>
  at % 86_400_000 === 0 ? utcText(at).slice(5, 10) : utcText(at, true).slice(11);

/** Lines that are drawn. */
const LINES_MAX = 40;
const HEIGHT = 16;

interface Period {
  readonly fromMs: number;
  readonly untilMs: number;
}

/** Draws the spans of a period. */
export function TimeLine(
  props: Period & { readonly events: readonly PoolEvent[]; readonly nameOf: (key: number) => string },
) {
  const { events, nameOf, fromMs, untilMs } = props;
  const words = useWords(TRAFFIC);
  const { level } = useWords(POOL);
  const rows = timeRowsOf(events, Math.min(untilMs, Date.now())).slice(0, LINES_MAX);
  const nameOfRow = (row: TimeRow) => (row.kind === "sleep" ? nameOf(row.key) : level(row.level));
  return (
    <figure className="time-line" aria-label={words.timeLine}>
      {rows.map((row) => {
        const name = nameOfRow(row);
        return (
          <div key={`${row.kind} ${row.kind === "sleep" ? row.key : row.level}`} className="time-line-row">
            <span className="time-line-name" title={name}>
              {name}
            </span>
            <Track name={name} row={row} fromMs={fromMs} untilMs={untilMs} />
          </div>
        );
      })}
      <div className="time-line-row" aria-hidden="true">
        <span />
        <svg width="100%" height={HEIGHT} className="figure">
          <title>{words.timeLine}</title>
          {roundInstants(fromMs, untilMs).map((at) => (
            <text
              key={at}
              x={`${percentOfWay(at, fromMs, untilMs).toFixed(3)}%`}
              y={12}
              fontSize={11}
              textAnchor="middle"
              fill="currentColor"
            >
              {tickText(at)}
            </text>
          ))}
        </svg>
      </div>
    </figure>
  );
}

function Track({ name, row, fromMs, untilMs }: Period & { readonly name: string; readonly row: TimeRow }) {
  const words = useWords(TRAFFIC);
  const { reasons } = useWords(POOL);
  const said = ({ fromMs: from, toMs, reason, isOpen }: Span) =>
    words.span(
      words.types[row.kind],
      utcText(from, true),
      isOpen ? null : utcText(toMs, true),
      reasons[reason] ?? reason,
    );
  const x = (at: number) => percentOfWay(at, fromMs, untilMs);
  return (
    <svg
      width="100%"
      height={HEIGHT}
      role="img"
      aria-label={`${name}: ${row.spans.map(said).join("; ")}`}
      data-row={row.kind}
    >
      {roundInstants(fromMs, untilMs).map((at) => (
        <line key={at} x1={`${x(at)}%`} x2={`${x(at)}%`} y1={0} y2={HEIGHT} className="time-line-tick" />
      ))}
      {row.spans.map((span) => (
        <rect
          key={span.fromMs}
          x={`${x(span.fromMs)}%`}
          width={`${Math.max(0.4, x(span.toMs) - x(span.fromMs))}%`}
          y={3}
          height={HEIGHT - 6}
          data-span={row.kind}
          data-open={span.isOpen || undefined}
        >
          <title>{said(span)}</title>
        </rect>
      ))}
    </svg>
  );
}
