// The rows of the table of accounts: a page of subaccounts, and below those that are open their own, asked for when they are
// opened. What is shown is bounded: of an open account the first subaccounts, then a row that leads to its list.

import type { Account, AccountPage } from "../../api/accounts.ts";

/** How many subaccounts an open row shows. */
export const OPEN_ROWS_MAX = 20;

/** A row of the table. */
export type AccountRow =
  | { readonly kind: "account"; readonly account: Account; readonly depth: number; readonly isOpen: boolean }
  /** What an open account has besides the rows above. */
  | { readonly kind: "more"; readonly parent: Account; readonly depth: number; readonly hidden: number };

/** Returns the rows of `top` with those of the accounts in `open`, as far as `pages` has them. */
export function rowsOf(
  top: readonly Account[],
  open: ReadonlySet<number>,
  pages: ReadonlyMap<number, AccountPage>,
  depth = 0,
): readonly AccountRow[] {
  return top.flatMap((account): readonly AccountRow[] => {
    const isOpen = open.has(account.ID);
    const row: AccountRow = { kind: "account", account, depth, isOpen };
    const page = isOpen ? pages.get(account.ID) : undefined;
    if (page === undefined) return [row];
    const hidden = page.total - page.rows.length;
    const more: AccountRow = { kind: "more", parent: account, depth: depth + 1, hidden };
    return [row, ...rowsOf(page.rows, open, pages, depth + 1), ...(hidden > 0 ? [more] : [])];
  });
}
