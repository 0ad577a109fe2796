// What requests cost by day and provider key: a fold of charges, which stores keep behind the commits, for the
// newest day and the one before. Defines which line counts where; how a store keeps the sums is its own matter.

import type { LinesOfCommit } from "./line-rows.ts";

/** The sum of one provider key on one day (`YYYY-MM-DD`, UTC), nano-dollars. */
export interface KeyCost {
  readonly day: string;
  readonly key: number;
  readonly cost: bigint;
}

/** A sum as a store keeps it, with what it is the sum of: the commits of its actor after one seq, up to another. */
export interface ActorKeyCost extends KeyCost {
  readonly after: number;
  readonly seq: number;
}

const DAY_MS = 86_400_000;
const CHARGES: ReadonlySet<unknown> = new Set(["charge", "late_charge"]);

/** The day of a time, wall-clock milliseconds. */
export const dayOfTime = (at: number): string => new Date(at).toISOString().slice(0, 10);

/** The day before. The sums of earlier days than the one before the newest are dropped. */
export const dayBefore = (day: string): string => dayOfTime(Date.parse(day) - DAY_MS);

/** The provider key that answered the request of a line, with what its account paid; null for any other line. */
export function keyCostOf(e: unknown): { readonly key: number; readonly cost: number } | null {
  if (typeof e !== "object" || e === null) return null;
  const { type, amount, attempts } = e as Readonly<Record<string, unknown>>;
  if (!CHARGES.has(type) || typeof amount !== "number" || amount === 0 || !Array.isArray(attempts))
    return null;
  // The last attempt is the one that answered.
  const key: unknown = attempts.at(-1)?.key;
  return Number.isSafeInteger(key) ? { key: key as number, cost: -amount } : null;
}

/** Adds up the lines of commits by day and provider key. */
export class KeyCostSums {
  /** Sums by day, as a number of days since 1970, then by key. */
  readonly #days = new Map<number, Map<number, bigint>>();

  /** Adds the lines of a commit. */
  add({ events }: Pick<LinesOfCommit, "events">): void {
    for (const { at, line, e } of events) {
      const found = line ? keyCostOf(e) : null;
      if (found !== null) this.addCost(at, found);
    }
  }

  /** Adds what `keyCostOf` found in a line of this time, wall-clock milliseconds. */
  addCost(at: number, { key, cost }: { readonly key: number; readonly cost: number }): void {
    const day = Math.floor(at / DAY_MS);
    const sums = this.#days.get(day) ?? new Map<number, bigint>();
    this.#days.set(day, sums);
    sums.set(key, (sums.get(key) ?? 0n) + BigInt(cost));
  }

  /** Returns all sums, in no order. */
  sums(): KeyCost[] {
    return [...this.#days].flatMap(([number, sums]) => {
      const day = dayOfTime(number * DAY_MS);
      return [...sums].map(([key, cost]) => ({ day, key, cost }));
    });
  }
}
