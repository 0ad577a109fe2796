// A bill as a CSV download: one row per day (account) and model, in this order, and a row of totals that closes it.
// Money is an exact decimal. Texts that users chose never become formulas of a spreadsheet. A long bill is written a day
// at a time while it is read: a download without its totals row was cut off.

import { csvText } from "../../report/ledger-export.ts";
import { type Bill, sumOf, type UsageFigures } from "../../report/usage-bill.ts";
import { exactUsd } from "../../report/verify/conservation.ts";
import type { DateRange } from "./date-range.ts";

const FIGURES: readonly (readonly [string, (figures: UsageFigures) => number | string])[] = [
  ["requests", ({ requests }) => requests],
  ["prompt_tokens", ({ prompt }) => prompt],
  ["cached_tokens", ({ cached }) => cached],
  ["cache_write_tokens", ({ cacheWrite }) => cacheWrite],
  ["completion_tokens", ({ completion }) => completion],
  ["reasoning_tokens", ({ reasoning }) => reasoning],
  ["cost", ({ cost }) => exactUsd(cost)],
];

/** A row of a table of usage. */
export const csvLine = (first: readonly (string | number)[], figures: UsageFigures): string =>
  `${[...first.map(csvText), ...FIGURES.map(([, of]) => of(figures))].join(",")}\n`;

/** The header of a table of usage. */
export const csvHead = (first: readonly string[]): string =>
  `${[...first, ...FIGURES.map(([name]) => name)].join(",")}\n`;

/** Returns the bill of one account as CSV. */
export function csvOf({ days, total }: Bill): string {
  const rows = [...days].flatMap(([date, models]) =>
    [...models].map(([model, figures]) => csvLine([date, model], figures)),
  );
  return `${csvHead(["date", "model"])}${rows.join("")}${csvLine(["total", ""], total)}`;
}

/** A row of a bill over accounts. */
export interface AccountRow extends UsageFigures {
  readonly id: number;
  readonly name: string;
  readonly model: string;
}

/** So many rows are written in a millisecond or two. */
const ROWS = 500;

/** Writes a bill over accounts as CSV, while its days are read. */
export async function* csvByAccount(
  days: AsyncIterable<{ readonly date: string; readonly rows: readonly AccountRow[] }>,
): AsyncGenerator<string> {
  yield csvHead(["date", "id", "name", "model"]);
  let total = sumOf([]);
  for await (const { date, rows } of days) {
    for (let start = 0; start < rows.length; start += ROWS) {
      const some = rows.slice(start, start + ROWS);
      yield some.map((row) => csvLine([date, row.id, row.name, row.model], row)).join("");
      total = sumOf([total, ...some]);
      await new Promise(setImmediate);
    }
  }
  yield csvLine(["total", "", "", ""], total);
}

/** Returns the headers by which a browser saves a bill as a file. */
export const downloadHeaders = ({ from, to }: DateRange): Record<string, string> => ({
  "content-type": "text/csv; charset=utf-8",
  "content-disposition": `attachment; filename="bill-${from}${from === to ? "" : `-${to}`}.csv"`,
});
