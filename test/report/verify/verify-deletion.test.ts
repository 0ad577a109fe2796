// What only the end of an account may write: each injected by itself into books that are right in everything else, so that
// nothing but this rule can tell.

import { expect, test } from "bun:test";
import type { AccountEvent } from "../../../actors/account/state.ts";
import { ZERO } from "../../../actors/money.ts";
import { NO_USAGE } from "../../../actors/pricing/usage.ts";
import { emptyBook, enter } from "../../../src/report/verify/account-book.ts";
import { noLedgerTotals } from "../../../src/report/verify/conservation.ts";
import { createFindings, type Rule } from "../../../src/report/verify/findings.ts";
import { factsOf } from "../../actors/account-samples.ts";

const CENTS = 10_000_000;
type Planted = Record<string, unknown>[];

const line = (type: string, amount: number, balanceAfter: number, id = type) => ({
  ...{ type, id, amount, balanceAfter },
});
const emptied = (fee: number, refunded: number) => ({ type: "emptied", id: "S", fee, refunded });
const refunded = (amount: number) => [
  line("refund_out", -amount, 0, "S:refund"),
  { type: "owing", transfer: { id: "S:refund", to: 2, amount } },
];
/** A request that used nothing, as its price explains. */
const free = {
  ...factsOf({ id: "late", usage: NO_USAGE, prompt: 0, completion: 0, cost: ZERO }),
  price: {
    group: "ChatPricing",
    name: "m",
    prices: { OutputText: 1 },
    multipliers: { model: 1, rates: 1, factor: 1 },
  },
  ...line("charge", 0, 0, "late"),
};
const late = [{ ...free, type: "late_charge" }, line("write_off", 0, 0, "late:write_off")];

/** Each account begins with five cents owed, or owned. */
const owes = line("query_fee", -5 * CENTS, -5 * CENTS, "fee");
const owns = line("returned", 5 * CENTS, 5 * CENTS, "birth");

const ROWS: [what: string, rules: Rule[], ...commits: Planted[]][] = [
  ["a debt written off at the end", [], [owes], [line("write_off", 5 * CENTS, 0), emptied(0, 0)]],
  ["a debt written off in the middle of life", ["write_off"], [owes], [line("write_off", 5 * CENTS, 0)]],
  ["a fee at the end", [], [owns], [line("delete_fee", -5 * CENTS, 0), emptied(5 * CENTS, 0)]],
  ["a fee in the middle of life", ["deletion"], [owns], [line("delete_fee", -5 * CENTS, 0)]],
  [
    "a fee that is not the recorded one",
    ["deletion"],
    [owns],
    [line("delete_fee", -5 * CENTS, 0), emptied(0, 0)],
  ],
  [
    "a fee beyond the usual one",
    ["deletion"],
    [line("returned", 21 * CENTS, 21 * CENTS, "birth")],
    [line("delete_fee", -21 * CENTS, 0), emptied(21 * CENTS, 0)],
  ],
  ["a refund as recorded", [], [owns], [...refunded(5 * CENTS), emptied(0, 5 * CENTS)]],
  [
    "a refund that is not the recorded one",
    ["deletion"],
    [owns],
    [...refunded(5 * CENTS), emptied(0, CENTS)],
  ],
  ["a late charge after the end", [], [emptied(0, 0)], late],
  ["a late charge in the middle of life", ["deletion"], late],
  ["a charge after the end", ["deletion"], [emptied(0, 0)], [free]],
];

test.each(ROWS)("%s: %p", (_, rules, ...commits) => {
  const findings = createFindings();
  const book = emptyBook();
  const keeping = { account: 7, totals: noLedgerTotals(), findings };
  commits.forEach((events, i) => {
    const entered = events.map((e) => ({ at: 0, e: e as unknown as AccountEvent }));
    enter(book, entered, keeping, { seq: i + 1, where: `account/7 #${i + 1}` });
  });
  // The birth of the credit is no part of these books.
  const found = findings.kept.filter(({ rule }) => rule !== "transfer");
  expect(found.map(({ rule }) => rule)).toEqual(rules);
});
