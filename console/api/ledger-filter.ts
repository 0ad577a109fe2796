// The filters of ledger lines as addresses carry them: links that lead from an amount to its lines, and the query of those lines.

import { addressOf, type Query } from "./call.ts";

/** What may stand in the address of a list of ledger lines; an empty text is no filter. */
export const LEDGER_FILTERS = { type: "", model: "", api_key: "", tag: "", from: "", to: "", request: "" };

/** Filters of ledger lines. */
export type LedgerFilter = Readonly<Record<keyof typeof LEDGER_FILTERS, string>>;

/** Returns the filters alone of a view that has other parameters too. */
export const ledgerFilterOf = (view: LedgerFilter): LedgerFilter => ({
  type: view.type,
  model: view.model,
  api_key: view.api_key,
  tag: view.tag,
  from: view.from,
  to: view.to,
  request: view.request,
});

/** Whether any line could be left out. */
export const isFiltered = (filter: Partial<LedgerFilter>): boolean =>
  Object.values(filter).some((value) => value !== "");

/**
 * Returns the address of the ledger lines that an amount is made of. `base`: where the account's pages begin. `proves`: the
 * amount itself as a plain decimal, which the page compares with their sum.
 */
export const linesAddress = (base: string, filter: Partial<LedgerFilter>, proves?: string): string => {
  const query: Query = { ...filter, ...(proves === undefined ? {} : { proves }) };
  return addressOf(`${base}/ledger`, query);
};
