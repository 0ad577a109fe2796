// An account folded a second time, by this room's own few lines: amounts, entries, spending, admissions. It shares no
// code with the actors, so an error there cannot hide here.

import type { AccountEvent } from "../../actors/account/state.ts";
import type { Commit } from "../../src/store/store.ts";
import { KeyOracle } from "./key-oracle.ts";

export interface DayModel {
  requests: number;
  prompt: number;
  completion: number;
  cost: number;
}

export interface Oracle {
  /** The running sum of all lines. */
  balance: number;
  /** Unspent credit by expiry, ascending. */
  entries: { amount: number; expiresAt: number }[];
  owed: number;
  charged: number;
  chargeIds: Set<string>;
  received: number;
  children: number;
  /** What this account gave and does not know to have arrived: id to amount and what it was made of. */
  owing: Map<
    string,
    { amount: number; taken: readonly { amount: number; expiresAt: number }[]; child: boolean }
  >;
  /** Mails about the soft limit, by month. */
  alerts: Map<string, { dueAt: number; limit: number; spent: number }>;
  /** `YYYY-MM-DD` then model. */
  days: Map<string, Map<string, DayModel>>;
  /** Every request that left a trace in the ledger, as windows count it. */
  requests: { at: number; tokens: number; model: string; isAgain?: true }[];
  /** Its named keys. */
  readonly keys: KeyOracle;
}

export const emptyOracle = (): Oracle => ({
  balance: 0,
  entries: [],
  owed: 0,
  charged: 0,
  chargeIds: new Set(),
  received: 0,
  children: 0,
  owing: new Map(),
  alerts: new Map(),
  days: new Map(),
  requests: [],
  keys: new KeyOracle(),
});

const isoDay = (at: number) => new Date(at).toISOString().slice(0, 10);

export function add(oracle: Oracle, event: AccountEvent, at: number): void {
  if ("balanceAfter" in event) oracle.balance += event.amount;
  oracle.keys.add(event, at);
  switch (event.type) {
    case "owing": {
      const { id, amount, taken, child } = event.transfer;
      oracle.owing.set(id, { amount, taken, child: child !== null });
      if (child !== null) oracle.children++;
      return;
    }
    case "settled":
      oracle.owing.delete(event.id);
      return;
    case "returned": {
      const debt = oracle.owing.get(event.id);
      oracle.owing.delete(event.id);
      for (const part of debt?.taken ?? []) give(oracle, part.amount, part.expiresAt);
      if (debt?.child) oracle.children--;
      return;
    }
    case "transfer_out":
    case "refund_out":
    case "query_fee":
    case "late_charge":
      take(oracle, -event.amount, event.taken);
      return;
    case "delete_fee":
      take(oracle, -event.amount);
      return;
    case "write_off":
      oracle.owed -= event.amount;
      return;
    case "soft_limit_reached":
      if (oracle.alerts.has(event.month)) throw new Error(`a second alert in ${event.month}`);
      oracle.alerts.set(event.month, {
        ...{ dueAt: at, limit: event.limit, spent: spentIn(oracle, event.month) },
      });
      return;
    case "child_joined":
      oracle.children++;
      return;
    case "child_left":
      oracle.children--;
      return;
    case "grant":
    case "transfer_in":
    case "auto_quota":
    case "refund":
      give(oracle, event.amount, event.expiresAt);
      if (event.type !== "refund") oracle.received += event.amount;
      return;
    case "charge":
      take(oracle, event.cost, event.taken);
      oracle.charged += event.cost;
      oracle.chargeIds.add(event.id);
      addDay(oracle, isoDay(at), event);
      oracle.requests.push({
        at: event.admittedAt,
        tokens: event.prompt + event.completion,
        model: event.model,
        ...(event.counted && { isAgain: true }),
      });
      return;
    case "released":
      oracle.requests.push({ at: event.admittedAt, tokens: 0, model: event.model });
      return;
    case "expire": {
      let rest = -event.amount;
      for (const part of event.parts ?? []) {
        let missing = part.amount as number;
        for (const entry of oracle.entries) {
          if (entry.expiresAt !== part.expiresAt || entry.expiresAt > at) continue;
          const taken = Math.min(missing, entry.amount);
          entry.amount -= taken;
          missing -= taken;
        }
        if (missing > 0) throw new Error("credit expires that is not due");
        rest -= part.amount;
      }
      const due = oracle.entries.filter((entry) => entry.expiresAt <= at).reverse();
      for (const entry of due) {
        const part = Math.min(rest, entry.amount);
        entry.amount -= part;
        rest -= part;
      }
      oracle.entries = oracle.entries.filter((entry) => entry.amount > 0);
      return;
    }
  }
}

export function addCommit(oracle: Oracle, commit: Commit): void {
  for (const { at, e } of commit.events) add(oracle, e as AccountEvent, at);
}

/**
 * The part of the balance that is due and that no hold stands on: who was admitted first chooses first, the earliest
 * credit that was valid then.
 */
export function duePart(
  oracle: Oracle,
  holds: readonly { readonly cost: number; readonly at: number }[],
  now: number,
): number {
  const due = oracle.entries.filter((entry) => entry.expiresAt <= now).map((entry) => ({ ...entry }));
  for (const hold of [...holds].sort((a, b) => a.at - b.at)) {
    let need = hold.cost;
    for (const entry of due) {
      if (entry.expiresAt <= hold.at) continue;
      const part = Math.min(need, entry.amount);
      entry.amount -= part;
      need -= part;
    }
  }
  return due.reduce((sum, entry) => sum + entry.amount, 0);
}

/** Cost of the days whose name starts with this: a day, or a month. */
export function spentIn(oracle: Oracle, prefix: string): number {
  let sum = 0;
  for (const [day, models] of oracle.days) {
    if (!day.startsWith(prefix)) continue;
    for (const { cost } of models.values()) sum += cost;
  }
  return sum;
}

/** Requests and tokens admitted after `from`. */
export function windowOf(oracle: Oracle, from: number): { requests: number; tokens: number } {
  let requests = 0;
  let tokens = 0;
  for (const request of oracle.requests) {
    if (request.at <= from) continue;
    // A `released` before it has counted it.
    if (!request.isAgain) requests++;
    tokens += request.tokens;
  }
  return { requests, tokens };
}

function give(oracle: Oracle, amount: number, expiresAt: number): void {
  const paid = Math.min(amount, oracle.owed);
  oracle.owed -= paid;
  if (amount === paid) return;
  oracle.entries.push({ amount: amount - paid, expiresAt });
  oracle.entries.sort((a, b) => a.expiresAt - b.expiresAt);
}

type Part = { readonly amount: number; readonly expiresAt: number };

/** Takes the parts that the line names, and of lines that name none the earliest entries. */
function take(oracle: Oracle, amount: number, parts: readonly Part[] = []): void {
  let rest = amount;
  for (const part of parts) {
    const entry = oracle.entries.find(({ expiresAt }) => expiresAt === part.expiresAt);
    if (entry === undefined || entry.amount < part.amount)
      throw new Error("a line takes credit that is not there");
    entry.amount -= part.amount;
    rest -= part.amount;
  }
  for (const entry of oracle.entries) {
    const part = Math.min(rest, entry.amount);
    entry.amount -= part;
    rest -= part;
  }
  oracle.entries = oracle.entries.filter((entry) => entry.amount > 0);
  oracle.owed += rest;
}

function addDay(
  oracle: Oracle,
  day: string,
  charge: { model: string; prompt: number; completion: number; cost: number },
): void {
  const models = oracle.days.get(day) ?? new Map<string, DayModel>();
  oracle.days.set(day, models);
  const sum = models.get(charge.model) ?? { requests: 0, prompt: 0, completion: 0, cost: 0 };
  models.set(charge.model, sum);
  sum.requests++;
  sum.prompt += charge.prompt;
  sum.completion += charge.completion;
  sum.cost += charge.cost;
}
