// Prometheus' text format: one family of samples after the other. Label values are escaped here, and nowhere else. It knows
// no metric.

import type { Histogram } from "../../base/histogram.ts";

/** A family of time series. */
export interface Metric {
  readonly type: "counter" | "gauge" | "histogram";
  readonly help: string;
  /** Names of the labels, in the order in which samples give their values. */
  readonly labels: readonly string[];
}

/** One series of a family: the values of its labels, and its value or its distribution. */
export type Sample = readonly [labels: readonly string[], value: number | Histogram];

/** Returns a family in Prometheus' text format, without a blank line behind it. */
export function familyText(name: string, { type, help, labels }: Metric, samples: readonly Sample[]): string {
  const lines = samples.flatMap(([values, value]) => {
    const inside = labels.map((label, i) => `${label}="${escaped(values[i]!)}"`).join(",");
    if (typeof value !== "number") return histogramLines(name, inside, value);
    return [`${name}${inside === "" ? "" : `{${inside}}`} ${value}`];
  });
  return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...lines].join("\n");
}

function histogramLines(
  name: string,
  labels: string,
  { bounds, buckets, count, sum }: Histogram,
): readonly string[] {
  const behind = labels === "" ? "" : `,${labels}`;
  const around = labels === "" ? "" : `{${labels}}`;
  let upTo = 0;
  const counts = bounds.map((bound, i) => {
    upTo += buckets[i]!;
    return `${name}_bucket{le="${bound}"${behind}} ${upTo}`;
  });
  return [
    ...counts,
    `${name}_bucket{le="+Inf"${behind}} ${count}`,
    `${name}_sum${around} ${sum}`,
    `${name}_count${around} ${count}`,
  ];
}

const escaped = (value: string): string =>
  value.replaceAll("\\", "\\\\").replaceAll("\n", "\\n").replaceAll('"', '\\"');
