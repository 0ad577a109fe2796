// The books of one account, added up again from its ledger with arithmetic of its own: running balance, charges, days
// and transfers. It must not use the account's evolve or credit rules: a mistake there would be found twice and agree.

import type { AccountEvent, ChargeFacts, Transfer } from "../../actors/account/state.ts";
import { type PriceNumbers, recompute } from "../../actors/cost.ts";
import { ROOT } from "../../actors/ids.ts";
import { completionTokens, promptTokens } from "../../actors/usage.ts";
import type { LineEvent } from "./lines.ts";
import type { Findings } from "./verify-findings.ts";
import { POTS, SIGNS, type Totals } from "./verify-totals.ts";

export interface DayTotals {
  requests: number;
  prompt: number;
  completion: number;
  cached: number;
  cacheWrite: number;
  reasoning: number;
  cost: number;
}

export interface Day {
  readonly models: Map<string, DayTotals>;
  /** Seq of its last commit with a charge. */
  lastSeq: number;
}

export interface Book {
  balance: number;
  creditUsed: number;
  chargeAmount: number;
  /** Seq of the last commit with a line. */
  lastLineSeq: number;
  readonly days: Map<string, Day>;
  /** Given and neither settled nor returned. */
  readonly owing: Map<string, Transfer>;
  /** Transfers to hold against the other account's ledger once this commit is read. */
  readonly told: Told[];
}

/** What this account says of a transfer with another. */
export interface Told {
  readonly kind: "settled" | "returned" | "received";
  readonly id: string;
  /** The other account. */
  readonly other: number;
  readonly amount: number;
}

export const emptyBook = (): Book => ({
  balance: 0,
  creditUsed: 0,
  chargeAmount: 0,
  lastLineSeq: 0,
  days: new Map(),
  owing: new Map(),
  told: [],
});

/** What a book is kept with: whose it is, where its sums and findings go. */
export interface Keeping {
  readonly account: number;
  readonly totals: Totals;
  readonly findings: Findings;
}

/** Enters one commit of the account. `seq` is its place, `where` how findings name it. */
export function enter(
  book: Book,
  events: readonly { readonly at: number; readonly e: AccountEvent }[],
  keeping: Keeping,
  { seq, where }: { seq: number; where: string },
): void {
  for (const { at, e } of events) {
    if ("balanceAfter" in e) {
      enterLine(book, e, keeping, where);
      book.lastLineSeq = seq;
    }
    if (e.type === "charge") enterCharge(book, e, at, { seq, where, findings: keeping.findings });
    enterTransfer(
      book,
      e,
      events.map((one) => one.e),
      keeping,
      where,
    );
  }
}

function enterLine(book: Book, line: LineEvent, { account, totals, findings }: Keeping, where: string): void {
  const pot = POTS[line.type];
  if (pot === undefined) findings.add("running_balance", where, `there is no kind of line "${line.type}"`);
  const sum = book.balance + line.amount;
  if (!Number.isSafeInteger(sum) || sum !== line.balanceAfter) {
    findings.add(
      "running_balance",
      where,
      `${line.type} ${line.id}: ${book.balance} and ${line.amount} make ${sum}, its balance is ${line.balanceAfter}`,
    );
  }
  if (Math.sign(line.amount) === -SIGNS[line.type]) {
    findings.add("running_balance", where, `${line.type} ${line.id} has the amount ${line.amount}`);
  }
  // Each error is told once: what follows is measured by the line itself.
  book.balance = line.balanceAfter;
  totals.lines++;
  if (line.type === "grant" && isOwnGrant(line, account)) totals.minted += BigInt(line.amount);
  else if (pot !== "moved" && pot !== undefined) totals.spent[pot] -= BigInt(line.amount);
  if (line.type === "grant" || line.type === "transfer_in") book.chargeAmount += line.amount;
}

/** Root's grants to itself match its own charges: they come into being with the line. */
const isOwnGrant = ({ from }: { readonly from: number }, account: number): boolean =>
  account === ROOT && from === ROOT;

/** Bills sum up to so many models a day, further ones together. */
const MODELS_MOST = 1_000;
const OTHER_MODELS = "(other)";

function enterCharge(
  book: Book,
  charge: ChargeFacts & { readonly amount: number },
  at: number,
  { seq, where, findings }: { seq: number; where: string; findings: Findings },
): void {
  for (const [name, given, computed] of chargeNumbers(charge)) {
    if (given !== computed) {
      findings.add("charge", where, `charge ${charge.id}: ${name} is ${given}, computed ${computed}`);
    }
  }
  book.creditUsed += charge.cost;
  const name = new Date(at).toISOString().slice(0, 10);
  const day = book.days.get(name) ?? { models: new Map<string, DayTotals>(), lastSeq: seq };
  day.lastSeq = seq;
  book.days.set(name, day);
  const { usage, model } = charge;
  const key = day.models.has(model) || day.models.size < MODELS_MOST ? model : OTHER_MODELS;
  const sums = day.models.get(key) ?? NOTHING;
  day.models.set(key, {
    requests: sums.requests + 1,
    prompt: sums.prompt + charge.prompt,
    completion: sums.completion + charge.completion,
    cached: sums.cached + usage.inCached,
    cacheWrite: sums.cacheWrite + usage.inCacheWrite + usage.inCacheWrite1h,
    reasoning: sums.reasoning + usage.outReason,
    cost: sums.cost + charge.cost,
  });
}

const NOTHING: Readonly<DayTotals> = {
  requests: 0,
  prompt: 0,
  completion: 0,
  cached: 0,
  cacheWrite: 0,
  reasoning: 0,
  cost: 0,
};

function chargeNumbers(charge: ChargeFacts & { readonly amount: number }): [string, number, number][] {
  return [
    ["cost", charge.cost, recomputed(charge)],
    ["amount", charge.amount, -charge.cost || 0],
    ["prompt", charge.prompt, promptTokens(charge.usage)],
    ["completion", charge.completion, completionTokens(charge.usage)],
  ];
}

/** NaN, which equals nothing: the recorded numbers are no price at all. */
function recomputed({ usage, price }: ChargeFacts): number {
  try {
    return recompute(usage, price as PriceNumbers);
  } catch (error) {
    if (error instanceof Error) return Number.NaN;
    throw error;
  }
}

function enterTransfer(
  book: Book,
  event: AccountEvent,
  beside: readonly AccountEvent[],
  { account, totals, findings }: Keeping,
  where: string,
): void {
  const wrong = (what: string) => findings.add("transfer", where, what);
  const leaves = (id: string): Transfer | undefined => {
    const transfer = book.owing.get(id);
    if (transfer === undefined) wrong(`${event.type} ${id}, which is not owed`);
    book.owing.delete(id);
    return transfer;
  };
  switch (event.type) {
    case "minted":
      totals.minted += BigInt(event.amount);
      // Credit that came back to Root ceases to be: a receipt without a line. The giver is found by the mark.
      if (event.amount < 0 && !event.id.endsWith(":returned")) {
        book.told.push({ kind: "received", id: event.id, other: 0, amount: -event.amount });
      }
      return;
    case "owing": {
      const { id, amount } = event.transfer;
      const given = beside.some(
        (e) =>
          (e.type === "transfer_out" && e.id === id && e.amount === (-amount || 0)) ||
          (e.type === "minted" && e.id === id && e.amount === amount),
      );
      if (!given) wrong(`${id} of ${amount} is owed, but was not taken from the giver`);
      book.owing.set(id, event.transfer);
      return;
    }
    case "settled": {
      const transfer = leaves(event.id);
      if (transfer)
        book.told.push({ kind: "settled", id: event.id, other: transfer.to, amount: transfer.amount });
      return;
    }
    case "returned": {
      const transfer = leaves(event.id);
      if (!transfer) return;
      if (event.amount !== (account === ROOT ? 0 : transfer.amount)) {
        wrong(`${event.id} of ${transfer.amount} came back as ${event.amount}`);
      }
      book.told.push({ kind: "returned", id: event.id, other: transfer.to, amount: transfer.amount });
      return;
    }
    case "grant":
    case "transfer_in":
    case "refund":
      if (event.type === "grant" && isOwnGrant(event, account)) return;
      book.told.push({ kind: "received", id: event.id, other: event.from, amount: event.amount });
      return;
  }
}
