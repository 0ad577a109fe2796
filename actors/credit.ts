// Prepaid credit: entries with an expiry, the earliest spent first, and a debt when spending went further.
//
// The book balance is entries − owed; it changes by ledger lines only. An entry whose time has come is "due": it leaves
// by an `expired` line as soon as no hold needs it. What a reader sees meanwhile (`balanceAt`) has it taken off already.

import { assert } from "../src/base/errors.ts";
import { least, minus, most, type Nano, plus, toNano, ZERO } from "./money.ts";

export interface Entry {
  readonly amount: Nano;
  /** Wall ms. */
  readonly expiresAt: number;
}

export interface Credit {
  /** By expiry, ascending; all amounts positive. */
  entries: Entry[];
  /** Spent beyond the entries. Entries and a debt never stand together. */
  owed: Nano;
}

export const noCredit = (): Credit => ({ entries: [], owed: ZERO });

const ENTRIES_MAX = 1_000;

const sum = (entries: readonly Entry[]): Nano =>
  entries.reduce((total, entry) => plus(total, entry.amount), ZERO);

/** Entries − owed: the balance of the ledger's last line. */
export const bookBalance = (credit: Credit): Nano => minus(sum(credit.entries), credit.owed);

const due = (credit: Credit, now: number): Nano =>
  sum(credit.entries.filter((entry) => entry.expiresAt <= now));

/** The due part that no hold needs: it can leave now. Holds take the earliest entries, so they use the due ones first. */
export const expirable = (credit: Credit, held: Nano, now: number): Nano =>
  most(ZERO, minus(due(credit, now), held));

/** What the account has at this moment, holds not taken off (contract section 3). */
export const balanceAt = (credit: Credit, held: Nano, now: number): Nano =>
  minus(bookBalance(credit), expirable(credit, held, now));

/** What a new hold, a transfer or a deduction may take at this moment. May be negative. */
export const availableAt = (credit: Credit, held: Nano, now: number): Nano =>
  minus(balanceAt(credit, held, now), held);

/** What may be spent of a balance with its overdraft: all of it, or as much as is held exactly. */
export const withOverdraft = (balance: Nano, xCredit: Nano): Nano =>
  toNano(Math.min(balance + xCredit, Number.MAX_SAFE_INTEGER));

/** Wall ms of the earliest expiry; null without entries. */
export const nextExpiry = (credit: Credit): number | null => credit.entries[0]?.expiresAt ?? null;

/** Adds an entry; a debt is paid from it first. Same expiry: one entry. At 1,000 entries the two latest become one. */
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

/** Takes an amount, earliest expiry first; what the entries lack becomes debt. Answers what was taken from where. */
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

/** Takes a debt away that nobody will pay. Entries and a debt never stand together, so nothing else changes. */
export function pay(credit: Credit, amount: Nano): void {
  assert(amount >= 0 && amount <= credit.owed, "no more is written off than is owed");
  credit.owed = minus(credit.owed, amount);
}

/** Which entries `spend` would take, without taking: recorded in a transfer, so that a return restores their expiry. */
export function spendingBreakdown(credit: Credit, amount: Nano): Entry[] {
  return spend({ entries: [...credit.entries], owed: credit.owed }, amount);
}

/** Takes due credit off: the latest of the due entries first, since holds stand on the earliest. */
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
