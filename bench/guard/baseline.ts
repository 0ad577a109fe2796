// The baseline of the guard, bench/baseline.json: one ratio for each kind of request, and on what machine they were measured.

import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { join } from "node:path";
import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";

const PATH = join(import.meta.dirname, "../baseline.json");

const BaselineSchema = Type.Object({
  date: Type.String(),
  bun: Type.String(),
  cores: Type.Integer({ minimum: 1 }),
  processor: Type.String(),
  /** By kind: CPU time of the service per request, as a ratio to the pass-through's. */
  ratios: Type.Record(Type.String(), Type.Number({ exclusiveMinimum: 0 })),
});

export interface Baseline {
  readonly date: string;
  readonly bun: string;
  readonly cores: number;
  readonly processor: string;
  readonly ratios: Readonly<Record<string, number>>;
}

/** Returns null when there is no baseline. Throws when the file is not one. */
export const readBaseline = (): Baseline | null =>
  existsSync(PATH) ? Value.Parse(BaselineSchema, JSON.parse(readFileSync(PATH, "utf8"))) : null;

/** Writes the file anew, with this machine and today's date. */
export function writeBaseline(ratios: Readonly<Record<string, number>>): void {
  const baseline: Baseline = {
    date: new Date().toISOString().slice(0, 10),
    bun: Bun.version,
    cores: cpus().length,
    processor: cpus()[0]?.model.trim() ?? "unknown",
    ratios,
  };
  writeFileSync(PATH, `${JSON.stringify(baseline, null, 2)}\n`);
}
