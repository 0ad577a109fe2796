// Recomputes the books of one account from its ledger with its own arithmetic: running balance, charges, days
// and transfers. It must not use the account's `evolve` or credit rules: a mistake there would be repeated
// here and go unnoticed.

import type { AccountEvent, ChargeFacts, Transfer } from "../../../actors/account/state.ts";
import { ROOT } from "../../../actors/ids.ts";
import type { LineEvent } from "../ledger-lines.ts";
import { type ApiKeyBook, emptyApiKeyBook, enterApiKey } from "./api-key-book.ts";
import { type LedgerTotals, POTS, SIGNS } from "./conservation.ts";
import type { Findings } from "./findings.ts";
import { verifyNumbers } from "./verify-charge.ts";
import { type Ending, verifyDeletion } from "./verify-deletion.ts";

/** Sums of one day and model; `cost` is in nano-dollars, at most the largest exact amount. */
export interface DayTotals {
  requests: number;
  prompt: number;
  completion: number;
  cached: number;
  cacheWrite: number;
  reasoning: number;
  cost: number;
}

/** The sums of a day, by model. */
export interface Day {
  readonly models: Map<string, DayTotals>;
  /** Seq of the day's last commit with a charge. */
  lastSeq: number;
}

/** The recomputed books of one account; amounts are in nano-dollars. */
export interface Book extends Ending {
  creditUsed: number;
  chargeAmount: number;
  /** Seq of the last commit with a line. */
  lastLineSeq: number;
  readonly days: Map<string, Day>;
  /** Transfers given, and neither settled nor returned yet. */
  readonly owing: Map<string, Transfer>;
  readonly apiKeys: ApiKeyBook;
  /** Transfers to compare with the other account's ledger after this commit. */
  readonly transfers: TransferRecord[];
}

/** What this account's ledger says about a transfer with another account. */
export interface TransferRecord {
  readonly kind: "settled" | "returned" | "received";
  readonly id: string;
  /** The other account. */
  readonly other: number;
  readonly amount: number;
}

/** Creates the books of an account without events. */
export const emptyBook = (): Book => ({
  balance: 0,
  creditUsed: 0,
  chargeAmount: 0,
  emptied: false,
  deleteFee: 0,
  lastLineSeq: 0,
  days: new Map(),
  owing: new Map(),
  apiKeys: emptyApiKeyBook(),
  transfers: [],
});

/** The account of a book, and where its sums and findings go. */
export interface Keeping {
  readonly account: number;
  readonly totals: LedgerTotals;
  readonly findings: Findings;
}

/**
 * Adds one commit to the book; it changes the book and totals, and reports findings. `seq` is that of the
 * commit, `where` is how findings name it.
 */
export function enter(
  book: Book,
  events: readonly { readonly at: number; readonly e: AccountEvent }[],
  keeping: Keeping,
  { seq, where }: { seq: number; where: string },
): void {
  const beside = events.map((one) => one.e);
  for (const { at, e } of events) {
    verifyDeletion(book, e, beside, keeping.findings, where);
    if ("balanceAfter" in e) {
      enterLine(book, e, keeping, where);
      book.lastLineSeq = seq;
    }
    if (e.type === "charge") enterCharge(book, e, at, { seq, where, findings: keeping.findings });
    if (e.type === "late_charge") verifyNumbers(e, where, keeping.findings);
    if (e.type === "adjust") enterAdjusted(book, e, keeping.findings, where);
    // A returned refund must be given again.
    if (e.type === "emptied" || e.type === "returned") book.emptied = e.type === "emptied";
    if (e.type === "write_off") enterLoss(book, e, keeping.findings, where);
    enterApiKey(book.apiKeys, e, at, { findings: keeping.findings, where });
    enterTransfer(book, e, beside, keeping, where);
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
  const sign = SIGNS[line.type];
  if (sign === 0 ? line.amount !== 0 : Math.sign(line.amount) === -sign) {
    findings.add("running_balance", where, `${line.type} ${line.id} has the amount ${line.amount}`);
  }
  // Continues with the recorded balance, so that each error is reported once.
  book.balance = line.balanceAfter;
  totals.lines++;
  if (line.type === "grant" && isOwnGrant(line, account)) totals.minted += BigInt(line.amount);
  else if (pot !== "moved" && pot !== "nothing" && pot !== undefined)
    totals.spent[pot] -= BigInt(line.amount);
  if (RECHARGES.has(line.type)) book.chargeAmount += line.amount;
}

/** Line types that count as recharges. */
const RECHARGES: ReadonlySet<string> = new Set(["grant", "transfer_in", "auto_quota"]);

/** A manual adjustment must record the figures that were there before. */
function enterAdjusted(
  book: Book,
  { id, before, after }: Extract<LineEvent, { type: "adjust" }>,
  findings: Findings,
  where: string,
): void {
  for (const name of ["creditUsed", "chargeAmount"] as const) {
    const set = after[name];
    if (set === undefined) continue;
    if (before[name] !== book[name]) {
      findings.add("adjust", where, `adjust ${id}: ${name} was ${before[name]}, computed ${book[name]}`);
    }
    book[name] = set;
  }
}

/** A write-off must clear a debt exactly, and nothing else. */
function enterLoss(book: Book, { id, amount }: LineEvent, findings: Findings, where: string): void {
  if (book.balance === 0) return;
  findings.add("write_off", where, `write_off ${id} of ${amount} leaves ${book.balance} instead of nothing`);
}

/** Root's grants to itself offset its own charges; the credit is created by the line. */
const isOwnGrant = ({ from }: { readonly from: number }, account: number): boolean =>
  account === ROOT && from === ROOT;

/** Models per day that a usage document tells apart; further ones are summed under `OTHER_MODELS`. */
const MODELS_MAX = 1_000;
const OTHER_MODELS = "(other)";

function enterCharge(
  book: Book,
  charge: ChargeFacts & { readonly amount: number },
  at: number,
  { seq, where, findings }: { seq: number; where: string; findings: Findings },
): void {
  verifyNumbers(charge, where, findings);
  book.creditUsed += charge.cost;
  const name = new Date(at).toISOString().slice(0, 10);
  const day = book.days.get(name) ?? { models: new Map<string, DayTotals>(), lastSeq: seq };
  day.lastSeq = seq;
  book.days.set(name, day);
  const { usage, model } = charge;
  const key = day.models.has(model) || day.models.size < MODELS_MAX ? model : OTHER_MODELS;
  const sums = day.models.get(key) ?? NOTHING;
  day.models.set(key, {
    requests: sums.requests + 1,
    prompt: sums.prompt + charge.prompt,
    completion: sums.completion + charge.completion,
    cached: sums.cached + usage.inCached,
    cacheWrite: sums.cacheWrite + usage.inCacheWrite + usage.inCacheWrite1h,
    reasoning: sums.reasoning + usage.outReason,
    cost: Math.min(sums.cost + charge.cost, Number.MAX_SAFE_INTEGER),
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
      // Credit that returns to Root is destroyed, which is a receipt without a line. The giver is found by
      // the dedup id.
      if (event.amount < 0 && !event.id.endsWith(":returned")) {
        book.transfers.push({ kind: "received", id: event.id, other: 0, amount: -event.amount });
      }
      return;
    case "owing": {
      const { id, amount } = event.transfer;
      const given = beside.some(
        (e) =>
          ((e.type === "transfer_out" || e.type === "refund_out") &&
            e.id === id &&
            e.amount === (-amount || 0)) ||
          (e.type === "minted" && e.id === id && e.amount === amount),
      );
      if (!given) wrong(`${id} of ${amount} is owed, but was not taken from the giver`);
      book.owing.set(id, event.transfer);
      return;
    }
    case "settled": {
      const transfer = leaves(event.id);
      if (transfer)
        book.transfers.push({ kind: "settled", id: event.id, other: transfer.to, amount: transfer.amount });
      return;
    }
    case "returned": {
      const transfer = leaves(event.id);
      if (!transfer) return;
      if (event.amount !== (account === ROOT ? 0 : transfer.amount)) {
        wrong(`${event.id} of ${transfer.amount} came back as ${event.amount}`);
      }
      book.transfers.push({ kind: "returned", id: event.id, other: transfer.to, amount: transfer.amount });
      return;
    }
    case "grant":
    case "transfer_in":
    case "auto_quota":
    case "refund":
      if (event.type === "grant" && isOwnGrant(event, account)) return;
      book.transfers.push({ kind: "received", id: event.id, other: event.from, amount: event.amount });
      return;
  }
}
