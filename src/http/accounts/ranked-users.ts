// Lists of accounts in the order of a name or a figure, and what their rows show beside the record. The store orders accounts by
// figures that trail their charges by at most two seconds; the records come from the accounts table.

import { type Nano, toUsd } from "../../../actors/money.ts";
import type { AccountRank, Conditions, DocumentBody, RankOrder, Store } from "../../store/store.ts";
import type { BesideRecord } from "./account-shape.ts";
import type { UsersQuery } from "./schemas.ts";

/** How a list is ordered, and what its rows show beside the record. */
export interface Ranking {
  readonly by: RankOrder;
  readonly descending: boolean;
  readonly beside: ReadonlySet<string>;
  /** Whether the plain list, which is in the order of ids, does not do. */
  readonly isNeeded: boolean;
}

/** Reads the order of a list, and what it shows. */
export function rankingOf({ sort = "id", order, with: beside = "" }: UsersQuery): Ranking {
  const shown = new Set(beside.split(",").filter((name) => name !== ""));
  return { by: sort, descending: order === "desc", beside: shown, isNeeded: sort !== "id" || shown.size > 0 };
}

/** Returns what a row shows beside the record. */
export const besideRecord = (
  { beside }: Ranking,
  { children, monthCost }: { readonly children: number; readonly monthCost: number },
): BesideRecord => ({
  ...(beside.has("children") ? { children } : {}),
  ...(beside.has("month_cost") ? { month_cost: toUsd(monthCost as Nano) } : {}),
});

/** The document of an account of a list, and what the month has cost it, in nano-dollars. */
export interface RankedRow {
  readonly document: DocumentBody;
  readonly monthCost: number;
}

/** Documents that are read together. */
const DOCUMENTS = 250;

/** A page of a list of `total` accounts. */
export interface RankedPage {
  readonly offset: number;
  readonly limit: number;
  readonly total: number;
}

/**
 * Returns the accounts of a page, or of all of a list for null, the documents read a few at a time. One that has left the table
 * meanwhile is left out. `month` is `YYYY-MM`.
 */
export async function rankedRows(
  store: Store,
  accounts: Conditions<"accounts">,
  { by, descending }: Ranking,
  { month, page }: { readonly month: string; readonly page: RankedPage | null },
): Promise<AsyncIterable<RankedRow>> {
  const list = { ...accounts, by, descending, month };
  if (page === null) return documentsOf(store, await store.rankAccounts(list));
  const { offset, total } = page;
  const limit = Math.min(page.limit, total - offset);
  if (offset <= total / 2) return documentsOf(store, await store.rankAccounts({ ...list, offset, limit }));
  // From the nearer end less has to be ordered.
  const fromEnd = { ...list, descending: !descending, offset: total - offset - limit, limit };
  return documentsOf(store, (await store.rankAccounts(fromEnd)).toReversed());
}

async function* documentsOf(store: Store, ranks: readonly AccountRank[]): AsyncGenerator<RankedRow> {
  for (let from = 0; from < ranks.length; from += DOCUMENTS) {
    const some = ranks.slice(from, from + DOCUMENTS);
    const where = [{ field: "id", is: "in", value: some.map(({ id }) => id) }] as const;
    const found = await store.find({ table: "accounts", where, order: "id" });
    const byId = new Map(found.map((document) => [document.id, document]));
    for (const { id, monthCost } of some) {
      const document = byId.get(id);
      if (document !== undefined) yield { document, monthCost };
    }
  }
}
