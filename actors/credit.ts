// Prepaid credit: entries that expire, of which the earliest is spent first, and a debt once spending exceeds
// them.
//
// The book balance is entries − owed; only ledger lines change it. An entry whose expiry has passed is due:
// an `expire` line removes it as soon as no hold needs it. Until then `balanceAt` does not include it.
// Amounts are nano-dollars, `now` is wall-clock ms. Nothing here reads a clock.

import { assert } from "../src/base/errors.ts";
import { least, minus, most, type Nano, plus, toNano, ZERO } from "./money.ts";

/** An amount of credit with its expiry. */
export interface Entry {
  readonly amount: Nano;
  /** Wall-clock ms. */
  readonly expiresAt: number;
}

/** The credit of an account. The functions below change it in place. */
export interface Credit {
  /** Sorted by expiry, ascending; all amounts are positive. */
  entries: Entry[];
  /** What was spent beyond the entries; 0 while there are entries. */
  owed: Nano;
}

/** Returns a credit without entries and debt. */
export const noCredit = (): Credit => ({ entries: [], owed: ZERO });

const ENTRIES_MAX = 1_000;

const sum = (entries: readonly Entry[]): Nano =>
  entries.reduce((total, entry) => plus(total, entry.amount), ZERO);

/** Returns entries − owed, which is the balance after the ledger's last line. */
export const bookBalance = (credit: Credit): Nano => minus(sum(credit.entries), credit.owed);

const due = (credit: Credit, now: number): Nano =>
  sum(credit.entries.filter((entry) => entry.expiresAt <= now));

/**
 * Returns the due amount that no hold needs. Holds take the earliest entries, so they use the due ones first.
 */
export const expirable = (credit: Credit, held: Nano, now: number): Nano =>
  most(ZERO, minus(due(credit, now), held));

/** Returns the balance at `now` without expired credit; holds are not subtracted (contract section 3). */
export const balanceAt = (credit: Credit, held: Nano, now: number): Nano =>
  minus(bookBalance(credit), expirable(credit, held, now));

/**
 * Returns what a new hold, transfer or fee may take at `now`: the balance without holds. It may be negative.
 */
export const availableAt = (credit: Credit, held: Nano, now: number): Nano =>
  minus(balanceAt(credit, held, now), held);

/** Returns balance plus overdraft, capped at the largest exact amount. */
export const withOverdraft = (balance: Nano, xCredit: Nano): Nano =>
  toNano(Math.min(balance + xCredit, Number.MAX_SAFE_INTEGER));

/** Returns the earliest expiry in wall-clock ms, or null if there are no entries. */
export const nextExpiry = (credit: Credit): number | null => credit.entries[0]?.expiresAt ?? null;

/**
 * Adds an entry after paying the debt from it. Entries with the same expiry are merged; beyond ENTRIES_MAX
 * the two latest are merged, with the later expiry.
 */
export function grant(credit: Credit, entry: Entry): void {
  assert(entry.amount >= 0, "credit is granted in non-negative amounts");
  const paid = least(entry.amount, credit.owed);
  credit.owed = minus(credit.owed, paid);
  const amount = minus(entry.amount, paid);
  if (amount === 0) return;
  const at = credit.entries.findIndex((other) => other.expiresAt >= entry.expiresAt);
  const place = at < 0 ? credit.entries.length : at;
  const twin = credit.entries[place];
  if (twin?.expiresAt === entry.expiresAt) {
    credit.entries[place] = { amount: plus(twin.amount, amount), expiresAt: twin.expiresAt };
    return;
  }
  credit.entries.splice(place, 0, { amount, expiresAt: entry.expiresAt });
  if (credit.entries.length <= ENTRIES_MAX) return;
  const [a, b] = credit.entries.splice(-2) as [Entry, Entry];
  credit.entries.push({ amount: plus(a.amount, b.amount), expiresAt: b.expiresAt });
}

/**
 * Spends an amount, earliest expiry first; the rest becomes debt. Returns the entries, or parts of them, that
 * it took.
 */
export function spend(credit: Credit, amount: Nano): Entry[] {
  assert(amount >= 0, "credit is spent in non-negative amounts");
  const taken: Entry[] = [];
  let rest = amount;
  while (rest > 0 && credit.entries.length > 0) {
    const first = credit.entries[0]!;
    const part = least(first.amount, rest);
    taken.push({ amount: part, expiresAt: first.expiresAt });
    rest = minus(rest, part);
    if (part === first.amount) credit.entries.shift();
    else credit.entries[0] = { amount: minus(first.amount, part), expiresAt: first.expiresAt };
  }
  credit.owed = plus(credit.owed, rest);
  return taken;
}

/** Reduces the debt by an amount that is written off. Throws if the amount exceeds the debt. */
export function pay(credit: Credit, amount: Nano): void {
  assert(amount >= 0 && amount <= credit.owed, "no more is written off than is owed");
  credit.owed = minus(credit.owed, amount);
}

/**
 * Returns what `spend` would take, without spending. A transfer records it, so that a return restores the
 * expiries.
 */
export function spendingBreakdown(credit: Credit, amount: Nano): Entry[] {
  return spend({ entries: [...credit.entries], owed: credit.owed }, amount);
}

/** Removes due credit, the latest due entries first, since holds use the earliest. Throws if less is due. */
export function expire(credit: Credit, amount: Nano, now: number): void {
  let rest: number = amount;
  const kept = credit.entries.filter((entry) => entry.expiresAt > now);
  const dueEntries = credit.entries.filter((entry) => entry.expiresAt <= now);
  for (let i = dueEntries.length - 1; i >= 0 && rest > 0; i--) {
    const entry = dueEntries[i]!;
    const part = Math.min(entry.amount, rest);
    rest -= part;
    dueEntries[i] = { amount: toNano(entry.amount - part), expiresAt: entry.expiresAt };
  }
  assert(rest === 0, "more credit expires than is due");
  credit.entries = [...dueEntries.filter((entry) => entry.amount > 0), ...kept];
}
