// The figures by which lists of accounts are ordered, and the query of such a list. The figures come from account documents and
// change with every charge, so no index holds them and they stand beside the indexed fields. Nothing here reads or writes a
// store.

import assert from "node:assert/strict";
import { checkedGroups } from "./indexed-fields.ts";
import type { Conditions, DocumentBody } from "./tables.ts";

/** The figures of an account, as its document states them; amounts in nano-dollars. */
export interface AccountFigures {
  readonly account: number;
  readonly balance: number;
  /** The newest month with a charge, `YYYY-MM` in UTC; empty before the first charge. */
  readonly month: string;
  /** What that month's charges cost. */
  readonly monthCost: number;
}

/** What a list of accounts is ordered by; equal ones by their id, in the same direction. */
export const RANK_ORDERS = ["id", "name", "balance", "month_cost"] as const;

/** The name of an order. */
export type RankOrder = (typeof RANK_ORDERS)[number];

/** A part of the accounts that meet the conditions, in an order. The default of `limit` is all. */
export interface RankQuery extends Conditions<"accounts"> {
  readonly by: RankOrder;
  readonly descending?: boolean;
  /** `YYYY-MM`. The cost of another month counts as 0, so that a month begins without a write. */
  readonly month: string;
  readonly offset?: number;
  readonly limit?: number;
}

/** An account of a list, and what the query's month has cost it, in nano-dollars. */
export interface AccountRank {
  readonly id: number;
  readonly monthCost: number;
}

const MONTH = /^\d{4}-\d\d$/;

/** Throws for a query that no store may run. */
export function checkRanks(query: RankQuery): void {
  checkedGroups(query);
  assert(RANK_ORDERS.includes(query.by), `unknown order: ${query.by}`);
  assert(MONTH.test(query.month), `a month is YYYY-MM, not ${query.month}`);
  for (const bound of [query.offset ?? 0, query.limit ?? 0]) {
    assert(Number.isSafeInteger(bound) && bound >= 0, `offset and limit are whole numbers, not ${bound}`);
  }
}

/**
 * Returns the figures of an account's document; null for a body without an id. A document of an earlier version states no
 * month: it reads as one without charges.
 */
export function accountFigures({ id, balance, month, monthCost }: DocumentBody): AccountFigures | null {
  if (!Number.isSafeInteger(id)) return null;
  return {
    account: id as number,
    balance: Number.isSafeInteger(balance) ? (balance as number) : 0,
    month: typeof month === "string" ? month : "",
    monthCost: Number.isSafeInteger(monthCost) ? (monthCost as number) : 0,
  };
}
