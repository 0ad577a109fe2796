// What a transfer of credit does to both accounts, before it is made: their balances and the lines of their ledgers. The service moves
// the credit and decides whether it may; this only shows what it will do (contract section 3).

import { readField } from "../../api/account-fields.ts";
import { addNanos, type Nanos, NO_NANOS, subtractNanos, toNanos } from "../../api/amount.ts";
import type { CreditEntry } from "../../api/credits.ts";
import { DAY_MS } from "../../api/days.ts";

/** Days that credit is valid when none are given, and that refunds are always valid. */
export const DEFAULT_DAYS = 180;

/** The most days that the service takes. */
const DAYS_MAX = 36_500;

/** Reads the days that were typed, the default where there are none; null: the service would not take them. */
export function validityDays(text: string): number | null {
  if (text.trim() === "") return DEFAULT_DAYS;
  const reading = readField("Days", text);
  const days = reading.ok ? Number(reading.value) : 0;
  return days >= 1 && days <= DAYS_MAX ? days : null;
}

/** One side of a transfer. */
export interface TransferSide {
  readonly before: Nanos;
  /** Signed from this side. */
  readonly change: Nanos;
  readonly after: Nanos;
  /** The type of its line in the ledger. */
  readonly line: "grant" | "transfer_in" | "transfer_out" | "refund";
  /** The day on which what comes in expires, in UTC; null where credit goes out. */
  readonly expires: string | null;
}

/** Both sides; `above` is null where Root makes the credit, or it ends at Root. */
export interface TransferPlan {
  readonly account: TransferSide;
  readonly above: TransferSide | null;
}

/** What a transfer starts from. `amount` is positive; `above` is the balance of the account above, null where that is Root. */
export interface TransferFacts {
  readonly kind: "give" | "take";
  readonly amount: Nanos;
  readonly days: number;
  readonly balance: Nanos;
  readonly above: Nanos | null;
  readonly nowMs: number;
}

/** Returns what a transfer does. */
export function transferPlan({ kind, amount, days, balance, above, nowMs }: TransferFacts): TransferPlan {
  const expires = dayAfter(nowMs, kind === "give" ? days : DEFAULT_DAYS);
  const loss = toNanos(-amount);
  if (kind === "give") {
    const line = above === null ? "grant" : "transfer_in";
    return {
      account: { before: balance, change: amount, after: addNanos(balance, amount), line, expires },
      above: above === null ? null : outgoing(above, loss, "transfer_out"),
    };
  }
  return {
    account: outgoing(balance, loss, "refund"),
    above:
      above === null
        ? null
        : { before: above, change: amount, after: addNanos(above, amount), line: "refund", expires },
  };
}

const outgoing = (before: Nanos, change: Nanos, line: TransferSide["line"]): TransferSide => ({
  ...{ before, change, after: subtractNanos(before, toNanos(-change)), line, expires: null },
});

/** Returns the entries of credit of the account afterwards: a new one, or those that are left when the first to expire are taken. */
export function creditAfter(
  entries: readonly CreditEntry[],
  { kind, amount, days, nowMs }: Pick<TransferFacts, "kind" | "amount" | "days" | "nowMs">,
): readonly CreditEntry[] {
  if (kind === "give") return [...entries, { amount, expires_at: instantAfter(nowMs, days) }];
  let left = amount;
  return entries
    .toSorted((one, other) => Date.parse(one.expires_at) - Date.parse(other.expires_at))
    .flatMap((entry) => {
      const rest = subtractNanos(entry.amount, left);
      left = rest < 0n ? toNanos(-rest) : NO_NANOS;
      return rest > 0n ? [{ ...entry, amount: rest }] : [];
    });
}

/** Returns the instant so many days after `nowMs`, as ISO 8601; of days beyond the calendar the last one. */
const instantAfter = (nowMs: number, days: number): string =>
  new Date(Math.min(nowMs + days * DAY_MS, 253_402_300_799_000)).toISOString();

/** Returns its day in UTC, as YYYY-MM-DD. */
const dayAfter = (nowMs: number, days: number): string => instantAfter(nowMs, days).slice(0, 10);
