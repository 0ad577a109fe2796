// The baselines of the guard, bench/baseline.json: for each processor on which they were measured, one ratio for each kind of
// request. Ratios differ between processors by more than what the guard calls worse, so each has its own.

import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { join } from "node:path";
import { type Static, Type } from "@sinclair/typebox";
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

/** What the guard's kinds of requests cost on one processor. */
export type Baseline = Readonly<Static<typeof BaselineSchema>>;

const thisProcessor = (): string => cpus()[0]?.model.trim() ?? "unknown";

/** Throws when the file is not a list of baselines. */
const readAll = (): readonly Baseline[] =>
  existsSync(PATH) ? Value.Parse(Type.Array(BaselineSchema), JSON.parse(readFileSync(PATH, "utf8"))) : [];

/** Returns the baselines to judge this machine by, none when there are none. Throws when the file is not a list of them. */
export const readBaselines = (): readonly Baseline[] => baselinesOf(readAll(), thisProcessor());

/** Returns the baseline of a processor; for one that has none, those of all the others. */
export function baselinesOf(all: readonly Baseline[], processor: string): readonly Baseline[] {
  const own = all.filter((one) => one.processor === processor);
  return own.length > 0 ? own : all;
}

/**
 * Returns the ratio of a kind that judges it: the greatest, since an unknown processor may be like any of them; undefined when
 * no baseline has the kind.
 */
export function ratioIn(baselines: readonly Baseline[], kind: string): number | undefined {
  const ratios = baselines.flatMap((one) => one.ratios[kind] ?? []);
  return ratios.length === 0 ? undefined : Math.max(...ratios);
}

/** Writes the baseline of this processor with today's date; those of the others stay. */
export function writeBaseline(ratios: Readonly<Record<string, number>>): void {
  const processor = thisProcessor();
  const baseline: Baseline = {
    date: new Date().toISOString().slice(0, 10),
    bun: Bun.version,
    cores: cpus().length,
    processor,
    ratios,
  };
  const others = readAll().filter((one) => one.processor !== processor);
  const all = [...others, baseline].sort((a, b) => (a.processor < b.processor ? -1 : 1));
  writeFileSync(PATH, `${JSON.stringify(all, null, 2)}\n`);
}
