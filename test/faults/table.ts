// All rows of the bench, and what of the stand-in they leave out: a fault without a row is a failure of the bench itself.

import { FAULTS } from "../provider/faults.ts";
import { REFUSALS } from "../provider/refusals.ts";
import { KNOBS } from "../provider/script.ts";
import type { Row, Sheet } from "./rows.ts";
import { FAULT_SHEETS } from "./table-of-faults.ts";
import { FOREIGN_SHEETS } from "./table-of-foreign-reasoning.ts";
import { KNOB_SHEETS } from "./table-of-knobs.ts";
import { REFUSAL_SHEETS } from "./table-of-refusals.ts";

const faults = (sheets: Readonly<Record<string, Sheet>>): Row[] =>
  Object.entries(sheets).map(([name, sheet]) => ({ name, script: `fault=${name}`, sheet }));

export const ROWS: readonly Row[] = [
  ...faults(FAULT_SHEETS),
  ...faults(REFUSAL_SHEETS),
  ...Object.entries(KNOB_SHEETS).map(([name, sheet]) => ({ name, script: name, sheet })),
  ...Object.entries(FOREIGN_SHEETS).map(([script, sheet]) => {
    return { name: script.replace(/^fault=/, ""), script, sheet, isForeign: true } as const;
  }),
];

/** Knobs that make an answer slow, or packed in a way that nobody asked for. */
const WAITS = ["head_ms", "first_ms", "chunk_ms", "pings", "gzip"];

/** Everything that the stand-in can do wrong and that no row has. */
export function unlisted(rows: readonly Row[] = ROWS): string[] {
  const named = new Set(rows.flatMap(({ name }) => [name.split(" ")[0]!, name.split("=")[0]!]));
  const usages = Array.isArray(KNOBS.usage.kind) ? KNOBS.usage.kind.map((form) => `usage=${form}`) : [];
  const all = [...Object.keys(FAULTS), ...Object.keys(REFUSALS), ...usages, ...WAITS];
  return all.filter((name) => !named.has(name));
}

/** Rows for something that the stand-in does not have. */
export const unknown = (rows: readonly Row[] = ROWS): string[] =>
  rows
    .map(({ name }) => name)
    .filter((name) => {
      const word = name.split(" ")[0]!;
      return !(word in FAULTS || word in REFUSALS || word.split("=")[0]! in KNOBS);
    });
