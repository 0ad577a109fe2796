// A ledger as a CSV download: one row per line, newest first, written while it is read. Money is an exact decimal. Texts that
// users chose never become formulas of a spreadsheet.

import { formatUsd } from "../../../actors/money.ts";
import { csvText } from "../../report/ledger-export.ts";
import { type LineEvent, lineShape, type NumberedLine } from "../../report/ledger-lines.ts";

type Shape = Partial<Record<string, unknown>>;

/** Columns whose cells are fields of the line as JSON shows it. A line without the field has an empty cell. */
const [BEFORE_MONEY, BEHIND_MONEY] = [
  ["id", "type"],
  [
    ...["created_at", "request_id", "model", "answered_model", "level", "basis", "prompt_tokens"],
    ...["completion_tokens", "cached", "reasoning", "path", "stream", "ms", "attempts"],
    ...["api_key", "api_key_name", "operation_id", "to", "from", "why", "by"],
  ],
] as const;

/** The header line. */
export const LEDGER_CSV_HEAD = `${[...BEFORE_MONEY, "amount", "balance_after", ...BEHIND_MONEY, "tags"].join(",")}\n`;

/** Returns the row of a line. */
export function ledgerCsvRow(line: NumberedLine): string {
  const shape: Shape = lineShape(line);
  const cells = [
    ...BEFORE_MONEY.map((name) => cellOf(shape[name])),
    formatUsd(line.event.amount),
    formatUsd(line.event.balanceAfter),
    ...BEHIND_MONEY.map((name) => cellOf(shape[name])),
    cellOf(tagsText(line.event)),
  ];
  return `${cells.join(",")}\n`;
}

/** Tags as a request states them: `env=prod,team=search`. */
const tagsText = (event: LineEvent): string =>
  "tags" in event
    ? Object.entries(event.tags ?? {})
        .map((pair) => pair.join("="))
        .join(",")
    : "";

const cellOf = (value: unknown): string =>
  typeof value === "string" || typeof value === "number" || typeof value === "boolean" ? csvText(value) : "";

/** Writes a table of lines while they are read. */
export async function* ledgerCsv(parts: AsyncIterable<readonly NumberedLine[]>): AsyncGenerator<string> {
  yield LEDGER_CSV_HEAD;
  for await (const lines of parts) if (lines.length > 0) yield lines.map(ledgerCsvRow).join("");
}

/** The headers by which a browser saves a ledger as a file. */
export const ledgerDownloadHeaders = (id: number): Record<string, string> => ({
  "content-type": "text/csv; charset=utf-8",
  "content-disposition": `attachment; filename="ledger-${id}.csv"`,
});
