// The result of the last verification as the store keeps it: one row of the registry, the only thing that a
// verification writes. It is written in one short step at its end, beside a running server too.

import type { Registry } from "../../store/store.ts";
import type { Verified } from "./verify.ts";

/** What is kept of a verification. */
export interface LastVerify {
  /** When it ended, wall-clock milliseconds. */
  readonly at: number;
  /** Ledger lines and accounts that were read. */
  readonly lines: number;
  readonly accounts: number;
  readonly differences: number;
  /** How long it took. */
  readonly ms: number;
}

/** The key of the row in the registry. */
export const LAST_VERIFY = "verify";

/** What is to be kept of a verification that has ended `at` (wall-clock milliseconds) after so many ms. */
export const lastVerifyOf = ({ totals, findingCount }: Verified, at: number, ms: number): LastVerify => ({
  at,
  lines: totals.lines,
  accounts: totals.accounts,
  differences: findingCount,
  ms: Math.round(ms),
});

/** Reads the row. Returns null when nothing was verified yet, or when the row is none of this program's. */
export async function readLastVerify(registry: Pick<Registry, "read">): Promise<LastVerify | null> {
  const row = await registry.read(LAST_VERIFY);
  if (row === null) return null;
  const found = parsed(row.value);
  const { at, lines, accounts, differences, ms } = found;
  const all = { at, lines, accounts, differences, ms };
  return Object.values(all).every((value) => Number.isSafeInteger(value)) ? (all as LastVerify) : null;
}

function parsed(text: string): Partial<Record<keyof LastVerify, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? value : {};
  } catch {
    return {};
  }
}
