// How figures are shown: a table as bench/README.md has them, and on which machine they were taken.

import { cpus } from "node:os";

/** In Markdown; the first column to the left, all others to the right. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const cells = [head, ...rows];
  const widths = head.map((_, column) => Math.max(3, ...cells.map((row) => row[column]!.length)));
  const line = (row: readonly string[]) =>
    `| ${row.map((cell, column) => cell.padEnd(widths[column]!)).join(" | ")} |`;
  const rule = `| ${widths.map((width, column) => (column === 0 ? "-".repeat(width) : `${"-".repeat(width - 1)}:`)).join(" | ")} |`;
  return [line(head), rule, ...rows.map(line)].join("\n");
}

/** The day, the processor and the runtime, as a clause. */
export const machineFacts = (): string =>
  `${new Date().toISOString().slice(0, 10)}, ${cpus().length} cores of ${cpus()[0]?.model.trim() ?? "an unknown processor"}, Bun ${Bun.version}`;

/** The same as a sentence of a run under load. */
export const machine = (): string =>
  `${machineFacts()}; load generator, upstream and servers share the cores.`;
