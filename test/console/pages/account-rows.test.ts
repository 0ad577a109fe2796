// The rows of the table of accounts with those that are open.

import { expect, test } from "bun:test";
import type { Account } from "../../../console/api/accounts.ts";
import { rowsOf } from "../../../console/pages/accounts/account-rows.ts";

const account = (ID: number): Account => ({ ID, Name: `account ${ID}` }) as Account;

test("open accounts have their subaccounts below them, and a row that leads to those that are not shown", () => {
  const pages = new Map([
    [2, { rows: [account(20), account(21)], total: 5 }],
    [21, { rows: [account(210)], total: 1 }],
  ]);
  const rows = rowsOf([account(1), account(2), account(3)], new Set([2, 3, 21]), pages);
  const text = rows.map((row) =>
    row.kind === "account"
      ? `${row.depth} ${row.account.ID}`
      : `${row.depth} ${row.hidden} of ${row.parent.ID}`,
  );
  expect(text).toEqual(["0 1", "0 2", "1 20", "1 21", "2 210", "1 3 of 2", "0 3"]);
});

test("a closed account shows none, whatever is known of it", () => {
  const pages = new Map([[1, { rows: [account(10)], total: 1 }]]);
  expect(rowsOf([account(1)], new Set(), pages)).toHaveLength(1);
});
