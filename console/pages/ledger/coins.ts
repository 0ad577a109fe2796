// The credit of an account as entries in the order in which they are spent, when each expires, and how much of it would then be left
// at the pace of the last days. A forecast is no figure of the ledger. It reads no clock.

import { addNanos, type Nanos, NO_NANOS, subtractNanos, toNanos } from "../../api/amount.ts";

const DAY_MS = 86_400_000;

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
  const sorted = entries.toSorted((one, other) => Date.parse(one.expires_at) - Date.parse(other.expires_at));
  // Spending reaches an entry when those before it are spent or have expired.
  let reachedAt = nowMs;
  return sorted.map((entry) => {
    const expiresAt = Date.parse(entry.expires_at);
    const daysLeft = Math.max(0, Math.floor((expiresAt - nowMs) / DAY_MS));
    if (pace === null) return { ...entry, daysLeft, unspent: null };
    const most = spentBetween(pace, reachedAt, expiresAt);
    const isSpent = most >= entry.amount;
    reachedAt = isSpent ? reachedAt + timeFor(pace, entry.amount) : Math.max(reachedAt, expiresAt);
    return { ...entry, daysLeft, unspent: isSpent ? NO_NANOS : subtractNanos(entry.amount, most) };
  });
}

/** What is spent from one instant to a later one; nothing where it is not later. */
const spentBetween = ({ spent, days }: Pace, fromMs: number, toMs: number): Nanos =>
  toMs <= fromMs ? NO_NANOS : toNanos((spent * BigInt(Math.floor(toMs - fromMs))) / BigInt(days * DAY_MS));

/** How many milliseconds it takes to spend an amount; the pace is above 0. */
const timeFor = ({ spent, days }: Pace, amount: Nanos): number =>
  Number((amount * BigInt(days * DAY_MS)) / spent);

/** A day of a month on which credit expires. */
export interface ExpiryDay {
  readonly amount: Nanos;
  readonly count: number;
}

/** A month in which credit expires. */
export interface ExpiryMonth {
  /** YYYY-MM. */
  readonly month: string;
  /** Weeks from Monday to Sunday; 0 stands for days of other months. */
  readonly weeks: readonly (readonly number[])[];
  readonly days: ReadonlyMap<number, ExpiryDay>;
}

/** Returns the months in which credit expires, in UTC, the first one first. */
export function expiryMonths(entries: readonly CreditEntry[]): readonly ExpiryMonth[] {
  const months = new Map<string, Map<number, ExpiryDay>>();
  for (const { amount, expires_at } of entries) {
    const date = new Date(expires_at).toISOString();
    const [month, day] = [date.slice(0, 7), Number(date.slice(8, 10))];
    const days = months.get(month) ?? new Map<number, ExpiryDay>();
    const { amount: sum, count } = days.get(day) ?? { amount: NO_NANOS, count: 0 };
    months.set(month, days.set(day, { amount: addNanos(sum, amount), count: count + 1 }));
  }
  return [...months]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([month, days]) => ({ month, days, weeks: weeksOf(month) }));
}

/** Returns the weeks of a month. */
function weeksOf(month: string): readonly (readonly number[])[] {
  const first = new Date(`${month}-01T00:00:00Z`);
  const lengthDays = new Date(Date.UTC(first.getUTCFullYear(), first.getUTCMonth() + 1, 0)).getUTCDate();
  // Sunday is 0 in the platform's count, and the last day of the week here.
  const before = (first.getUTCDay() + 6) % 7;
  const cells = Array.from({ length: Math.ceil((before + lengthDays) / 7) * 7 }, (_, cell) => {
    const day = cell - before + 1;
    return day < 1 || day > lengthDays ? 0 : day;
  });
  return Array.from({ length: cells.length / 7 }, (_, week) => cells.slice(week * 7, week * 7 + 7));
}
