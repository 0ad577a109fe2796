// The credit of an account as entries in the order in which they are spent, when each expires, how much of it would then be left at the
// pace of the last days, and until when all of it lasts. A forecast is no figure of the ledger. It reads no clock.

import { type Nanos, NO_NANOS, subtractNanos, toNanos } from "./amount.ts";
import { DAY_MS } from "./days.ts";

/** An entry of credit as the service states it. */
export interface CreditEntry {
  readonly amount: Nanos;
  /** ISO 8601. */
  readonly expires_at: string;
}

/** What was spent in so many days up to now. */
export interface Pace {
  readonly spent: Nanos;
  readonly days: number;
}

/** An entry in the order of spending. */
export interface Coin extends CreditEntry {
  /** Whole days until it expires; 0 on the last one. */
  readonly daysLeft: number;
  /** What would be left of it when it expires, at this pace; null where the pace is not known. */
  readonly unspent: Nanos | null;
}

/** Returns the entries in the order in which they are spent: the one that expires first goes first. */
export function coinsOf(entries: readonly CreditEntry[], pace: Pace | null, nowMs: number): readonly Coin[] {
  return spentInOrder(entries, pace, nowMs).coins;
}

/** When nothing is left of a credit. */
export interface CreditEnd {
  readonly atMs: number;
  /** Whole days until then. */
  readonly daysLeft: number;
  /** Whether the last of it expires then, and is not spent. */
  readonly expires: boolean;
}

/** Returns until when credit lasts at a pace; null: there is none. */
export function creditEndOf(entries: readonly CreditEntry[], pace: Pace, nowMs: number): CreditEnd | null {
  const { coins, endMs } = spentInOrder(entries, pace, nowMs);
  const last = coins.at(-1);
  if (last === undefined) return null;
  const expires = (last.unspent ?? NO_NANOS) > 0n;
  return { atMs: endMs, daysLeft: Math.max(0, Math.floor((endMs - nowMs) / DAY_MS)), expires };
}

/** Spends entries one after the other. `endMs`: when the last of them is spent or has expired. */
function spentInOrder(entries: readonly CreditEntry[], pace: Pace | null, nowMs: number) {
  const sorted = entries.toSorted((one, other) => Date.parse(one.expires_at) - Date.parse(other.expires_at));
  // Spending reaches an entry when those before it are spent or have expired.
  let endMs = nowMs;
  const coins: readonly Coin[] = sorted.map((entry) => {
    const expiresAt = Date.parse(entry.expires_at);
    const daysLeft = Math.max(0, Math.floor((expiresAt - nowMs) / DAY_MS));
    if (pace === null) return { ...entry, daysLeft, unspent: null };
    const most = spentBetween(pace, endMs, expiresAt);
    const isSpent = most >= entry.amount;
    endMs = isSpent ? endMs + timeFor(pace, entry.amount) : Math.max(endMs, expiresAt);
    return { ...entry, daysLeft, unspent: isSpent ? NO_NANOS : subtractNanos(entry.amount, most) };
  });
  return { coins, endMs };
}

/** What is spent from one instant to a later one; nothing where it is not later. */
const spentBetween = ({ spent, days }: Pace, fromMs: number, toMs: number): Nanos =>
  toMs <= fromMs ? NO_NANOS : toNanos((spent * BigInt(Math.floor(toMs - fromMs))) / BigInt(days * DAY_MS));

/** How many milliseconds it takes to spend an amount; the pace is above 0. */
const timeFor = ({ spent, days }: Pace, amount: Nanos): number =>
  Number((amount * BigInt(days * DAY_MS)) / spent);
