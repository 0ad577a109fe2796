// Prepaid credit: entries that expire, of which the earliest is spent first, and a debt once spending exceeds
// them. An entry that had expired when its spender was admitted is spent only when no other is left.
//
// The book balance is entries − owed; only ledger lines change it. An entry whose expiry has passed is due:
// an `expire` line removes what no hold needs. Until then `balanceAt` does not include that. A hold needs only
// entries that were valid when its request was admitted, the earliest first.
// Amounts are nano-dollars, `now` is wall-clock ms. Nothing here reads a clock.

import { assert } from "../src/base/errors.ts";
import { least, minus, type Nano, negate, plus, toNano, ZERO } from "./money.ts";

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

function sum(entries: readonly Entry[]): Nano {
  let total = ZERO;
  for (const { amount } of entries) total = plus(total, amount);
  return total;
}

/** Returns entries − owed, which is the balance after the ledger's last line. */
export const bookBalance = (credit: Credit): Nano => minus(sum(credit.entries), credit.owed);

/** A hold as credit sees it: what it reserves, and the wall-clock ms at which its request was admitted. */
export interface Reserved {
  readonly cost: Nano;
  readonly admittedAt: number;
}

/** All holds on a credit. */
export interface OpenHolds {
  readonly holds: { values(): Iterable<Reserved> };
}

/** All holds on a credit, and the sum of their costs. */
export interface HeldCredit extends OpenHolds {
  readonly heldCost: Nano;
}

const NOTHING: readonly Entry[] = [];

/** Returns whether an entry has expired at `now` and is not removed yet. */
export function hasDueEntries({ entries }: Credit, now: number): boolean {
  const first = entries[0];
  return first !== undefined && first.expiresAt <= now;
}

/**
 * Returns the due entries, or parts of them, that no hold needs. The holds are served in the order of their
 * admission; each takes the earliest entries that were valid then. Costs nothing while no entry is due.
 */
export function expirableParts(credit: Credit, { holds }: OpenHolds, now: number): readonly Entry[] {
  if (!hasDueEntries(credit, now)) return NOTHING;
  const free = credit.entries.filter((entry) => entry.expiresAt <= now).map((entry) => ({ ...entry }));
  const inOrder = [...holds.values()].sort((a, b) => a.admittedAt - b.admittedAt);
  // What had expired at one admission had expired at every later one, so no hold looks back.
  let at = 0;
  for (const { cost, admittedAt } of inOrder) {
    let need = cost;
    while (need > 0 && at < free.length) {
      const entry = free[at]!;
      const part = entry.expiresAt <= admittedAt ? ZERO : least(need, entry.amount);
      need = minus(need, part);
      if (part > 0) free[at] = { amount: minus(entry.amount, part), expiresAt: entry.expiresAt };
      if (part === 0 || part === entry.amount) at++;
    }
    if (at === free.length) break;
  }
  return free.filter((entry) => entry.amount > 0);
}

/** Returns the sum of `expirableParts`. */
export const expirable = (credit: Credit, held: HeldCredit, now: number): Nano =>
  sum(expirableParts(credit, held, now));

/** Returns the balance at `now` without expired credit; holds are not subtracted (contract section 3). */
export const balanceAt = (credit: Credit, held: HeldCredit, now: number): Nano =>
  minus(bookBalance(credit), expirable(credit, held, now));

/**
 * Returns what a new hold, transfer or fee may take at `now`: the balance without holds. It may be negative.
 */
export const availableAt = (credit: Credit, held: HeldCredit, now: number): Nano =>
  minus(balanceAt(credit, held, now), held.heldCost);

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
 * Spends an amount: these parts of entries, or else the earliest expiry first; the rest becomes debt. Returns
 * the entries, or parts of them, that it took.
 */
export function spend(credit: Credit, amount: Nano, parts?: readonly Entry[]): readonly Entry[] {
  assert(amount >= 0, "credit is spent in non-negative amounts");
  if (parts !== undefined) {
    credit.owed = plus(credit.owed, minus(amount, sum(parts)));
    for (const part of parts) removePart(credit, part);
    return parts;
  }
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
 * Returns what a spender takes that was admitted at `admittedAt`, without spending: entries that were valid then, and
 * only then those that had expired, each the earliest first. A transfer records it, so that a return restores the
 * expiries.
 */
export function spendingBreakdown({ entries }: Credit, amount: Nano, admittedAt: number): readonly Entry[] {
  const valid = entries.filter(({ expiresAt }) => expiresAt > admittedAt);
  const expired = entries.filter(({ expiresAt }) => expiresAt <= admittedAt);
  return spend({ entries: [...valid, ...expired], owed: ZERO }, amount);
}

/**
 * Returns the parts that the line of a spender must name: those of `spendingBreakdown` while a hold keeps an entry that
 * had expired when the spender was admitted. Otherwise undefined, because the earliest entries are the right ones.
 */
export const partsToName = (
  credit: Credit,
  amount: Nano,
  admittedAt: number,
): readonly Entry[] | undefined =>
  amount > 0 && hasDueEntries(credit, admittedAt) ? spendingBreakdown(credit, amount, admittedAt) : undefined;

/** Returns a copy of the credit after `expire` lines that are decided but not yet evolved. */
export function creditAfter(
  credit: Credit,
  expired: readonly { readonly amount: Nano; readonly parts?: readonly Entry[] }[],
  now: number,
): Credit {
  const copy: Credit = { entries: [...credit.entries], owed: credit.owed };
  for (const { amount, parts } of expired) expire(copy, negate(amount), now, parts);
  return copy;
}

function removePart(credit: Credit, part: Entry): void {
  const at = credit.entries.findIndex(({ expiresAt }) => expiresAt === part.expiresAt);
  const amount = minus(credit.entries[at]?.amount ?? ZERO, part.amount);
  assert(amount >= 0, "more of an entry is spent than there is");
  credit.entries.splice(at, 1, ...(amount === 0 ? [] : [{ amount, expiresAt: part.expiresAt }]));
}

/**
 * Removes due credit: these parts of entries. Lines that were written before parts were recorded have none;
 * theirs is the latest due credit. Throws if less is due.
 */
export function expire(credit: Credit, amount: Nano, now: number, parts?: readonly Entry[]): void {
  const dueEntries = credit.entries.filter((entry) => entry.expiresAt <= now);
  const kept = credit.entries.filter((entry) => entry.expiresAt > now);
  let rest: number = amount;
  const remove = (i: number, most: number): void => {
    const entry = dueEntries[i]!;
    const part = Math.min(entry.amount, most);
    rest -= part;
    dueEntries[i] = { amount: toNano(entry.amount - part), expiresAt: entry.expiresAt };
  };
  if (parts === undefined) for (let i = dueEntries.length - 1; i >= 0 && rest > 0; i--) remove(i, rest);
  for (const part of parts ?? []) {
    const i = dueEntries.findIndex((entry) => entry.expiresAt === part.expiresAt);
    if (i >= 0) remove(i, part.amount);
  }
  assert(rest === 0, "more credit expires than is due");
  credit.entries = [...dueEntries.filter((entry) => entry.amount > 0), ...kept];
}
