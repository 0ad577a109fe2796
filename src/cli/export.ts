// `export`: writes ledger lines to standard output, page by page, with backpressure.

import { realClock } from "../base/clock.ts";
import { COLUMNS, exportLines, FORMATS, type Format } from "../report/ledger-export.ts";
import { BadSetting, type Settings } from "../settings/settings.ts";
import { openStore } from "../store/open.ts";
import type { ParsedArguments } from "./arguments.ts";
import { orRefuse } from "./user-error.ts";

const DAY_MS = 86_400_000;

/** Help text of `export`. */
export const exportAbout =
  "Writes the ledger lines of all accounts to standard output, by account and number, from the day --from to the day\n" +
  "--to (YYYY-MM-DD, UTC, both included). --format: csv (default) or jsonl. Also beside a running server.\n\n" +
  `Columns:\n${COLUMNS.map(({ name, about }) => `  ${name.padEnd(18)} ${about}`).join("\n")}\n\n` +
  "In CSV a text that a spreadsheet would take for a formula has a ' before it.";

/**
 * Writes the lines of the given days to standard output. `asked` has the options by name; null when not
 * given. Throws BadSetting for bad options and for a store that cannot be opened.
 */
export async function exportLedger(settings: Settings, asked: ParsedArguments["values"]): Promise<void> {
  const from = dayAt("--from", asked.from ?? null);
  const until = dayAt("--to", asked.to ?? null) + DAY_MS;
  if (until <= from) throw new BadSetting("export: --to is before --from");
  const { head, line } = FORMATS[formatOf(asked.format ?? "csv")];
  const store = await orRefuse(() => openStore(settings.storeUrl, { clock: realClock(), readOnly: true }));
  const out = Bun.stdout.writer();
  try {
    // Above some length the result is a promise, which rejects when the text cannot be written.
    await out.write(head);
    for await (const lines of exportLines(store, { from, until })) {
      await out.write(lines.map(line).join(""));
      await out.flush();
    }
    await out.end();
  } catch (error) {
    if (!(error instanceof Error && "syscall" in error && "code" in error)) throw error;
    // The reader closed the pipe, as `head` does.
    if (error.code === "EPIPE") return;
    throw new BadSetting(`export: ${error.message}`);
  } finally {
    await store.close();
  }
}

function formatOf(text: string): Format {
  if (!Object.hasOwn(FORMATS, text)) throw new BadSetting(`export: --format is csv or jsonl, not "${text}"`);
  return text as Format;
}

/** Wall-clock milliseconds at which a day begins. Throws BadSetting for text that is not a day. */
function dayAt(option: string, text: string | null): number {
  if (text === null) throw new BadSetting(`export needs ${option} YYYY-MM-DD. Try export --help`);
  const at = /^\d{4}-\d{2}-\d{2}$/.test(text) ? Date.parse(`${text}T00:00:00Z`) : Number.NaN;
  // Date.parse takes 2026-02-30 for a day of March.
  if (Number.isNaN(at) || new Date(at).toISOString().slice(0, 10) !== text) {
    throw new BadSetting(`export: ${option} is a day as YYYY-MM-DD, not "${text}"`);
  }
  return at;
}
