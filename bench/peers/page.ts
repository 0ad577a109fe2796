// Writes docs/speed.md and its chart from the figures of a run. It is pure.

import { grouped, median, megabytes, range } from "../figures.ts";
import { table } from "../table.ts";
import { type Bar, drawChart, type Panel } from "./chart.ts";
import type { LoadFigures, PeerFigures } from "./measure.ts";

/** A configuration and what came of it. */
export interface PeerResult {
  readonly name: string;
  /** Null when it could not be installed. */
  readonly version: string | null;
  readonly does: string;
  readonly isOurs: boolean;
  /** The figures, or the reason why there are none. */
  readonly outcome:
    | { readonly ok: true; readonly figures: PeerFigures }
    | { readonly ok: false; readonly reason: string };
}

export interface RunFacts {
  /** As `machine` of table.ts says it. */
  readonly machine: string;
  readonly quick: boolean;
}

const HEAD = [
  "",
  "CPU, whole",
  "to raw Bun",
  "CPU, stream",
  "to raw Bun",
  "requests/s, whole",
  "streams/s",
  "added, whole",
  "added, first event",
  "memory",
];

const MB = 1024 * 1024;

const us = (value: number): string => `${grouped(value)} µs`;
const ms = (value: number): string => `${value.toFixed(2)} ms`;
const mb = (bytes: number): string => `${megabytes(bytes)} MB`;
const times = ({ ratios }: LoadFigures): string => {
  const digits = median(ratios) < 10 ? 2 : 0;
  return `× ${median(ratios).toFixed(digits)} (${range(ratios, digits)})`;
};

function cellsOf({ name, outcome }: PeerResult): string[] {
  if (!outcome.ok) return [name, outcome.reason, ...HEAD.slice(2).map(() => "")];
  const { whole, stream, addedWholeMs, addedFirstEventMs, rssBytes } = outcome.figures;
  return [
    name,
    us(whole.cpuUs),
    times(whole),
    us(stream.cpuUs),
    times(stream),
    grouped(whole.perS),
    grouped(stream.perS),
    ms(addedWholeMs),
    ms(addedFirstEventMs),
    mb(rssBytes),
  ];
}

/** The page, in Markdown. */
export function speedPage(results: readonly PeerResult[], { machine, quick }: RunFacts): string {
  const lines = [
    "# Speed",
    "",
    "This page compares what a chat request costs in arborgate, in plain proxies, and in other gateways, measured in one run.",
    "",
    "![Bars of what a request costs in each configuration](speed.svg)",
    "",
    "Less is better. The scale is logarithmic: each line is ten times the one before.",
    "",
    table(HEAD, results.map(cellsOf)),
    "",
    `${machine}${quick ? " **A quick run: rough.**" : ""}`,
    "",
    "CPU is user and system time per request of all processes of a configuration, at 64 requests in flight: a whole answer of 96",
    "tokens, and a stream of 100 events that come one by one, after twenty seconds of each to warm up. The ratios are medians of",
    'rounds, with the smallest and largest in brackets. "Added" is what the median request takes longer than straight to the',
    "provider, with one request in flight. Memory is what is resident after the load. Requests a second are not what a configuration",
    "can do alone, since all share the cores.",
    "",
    "## What each does",
    "",
    "All speak to the same stand-in of a provider over keep-alive connections on the same machine, and all must give the same text.",
    "",
    ...results.map(
      ({ name, version, does }) => `- **${name}**${version === null ? "" : ` (${version})`}: ${does}`,
    ),
    "",
    "## Repeat it",
    "",
    "    npm run bench -- --peers             # a quarter of an hour; writes this page and its chart",
    "    npm run bench -- --peers --quick     # two minutes: a look, not a result",
    "",
    "nginx has to be installed. The run installs the other gateways below `.cache/peers`; what cannot be installed has a row that says",
    "so. [The benchmark](../bench/README.md) has the other figures, and says how they are measured.",
  ];
  return `${lines.join("\n")}\n`;
}

/** The chart of the page, as SVG. */
export function speedChart(results: readonly PeerResult[]): string {
  const panel = (
    title: string,
    figureOf: (figures: PeerFigures) => number,
    labelOf: (value: number) => string,
  ): Panel => ({
    title,
    bars: results.flatMap(({ name, isOurs, outcome }): Bar[] => {
      if (!outcome.ok) return [];
      const value = figureOf(outcome.figures);
      return [{ name, isOurs, value, label: labelOf(value) }];
    }),
  });
  return drawChart("What a request costs: less is better", [
    panel("CPU per request, whole answer", ({ whole }) => whole.cpuUs, us),
    panel("CPU per stream of 100 events", ({ stream }) => stream.cpuUs, us),
    panel("Time added to a whole answer, p50", ({ addedWholeMs }) => addedWholeMs, ms),
    panel(
      "Memory after the load",
      ({ rssBytes }) => rssBytes / MB,
      (value) => mb(value * MB),
    ),
  ]);
}
