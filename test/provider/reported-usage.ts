// How the endpoints that have one honest form of usage bend it: honest, zeros, nonsense, no details, nothing at all.
// Chat and messages have forms of their own, met in the wild.

import type { Script, UsageForm } from "./script.ts";

type Bend = (counts: object) => object | undefined;

const NONSENSE: readonly unknown[] = [-5, "12", 1e300, 99_999_999_999];

/** Forms without a row report it honestly. */
const BENDS: Readonly<Partial<Record<UsageForm, Bend>>> = {
  none: () => undefined,
  zero: (counts) => eachCount(counts, () => 0),
  garbage: (counts) => eachCount(counts, (nth) => NONSENSE[nth % NONSENSE.length]),
  null_details: (counts) =>
    Object.fromEntries(
      Object.entries(counts).map(([name, value]) => [name, typeof value === "object" ? null : value]),
    ),
};

/** Returns the counts as the script has them reported; undefined when they are not. */
export const reportedUsage = (script: Script, counts: object): object | undefined =>
  (BENDS[script.usage ?? "asked"] ?? ((honest) => honest))(counts);

/** As a field to spread into a body. */
export function usageField(script: Script, counts: object): { readonly usage?: object } {
  const usage = reportedUsage(script, counts);
  return usage === undefined ? {} : { usage };
}

function eachCount(counts: object, replaced: (nth: number) => unknown): object {
  let nth = 0;
  const walk = (value: unknown): unknown => {
    if (typeof value === "number") return replaced(nth++);
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, walk(inner)]));
  };
  return walk(counts) as object;
}
