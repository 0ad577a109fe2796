// What the address of the page of requests holds.

import { LEDGER_FILTERS, type LedgerFilter } from "../../api/ledger-filter.ts";

/** The parameters of the address, as they are without it. `open`: the request of the sheet. */
export const REQUESTS_VIEW = { ...LEDGER_FILTERS, view: "charged", refused: "", open: "", page: "1" };

/** What the address holds. */
export type RequestsView = LedgerFilter & typeof REQUESTS_VIEW;
/** Changes some of it. Without a page it goes back to the first one. */
export type ChangeView = (changes: Partial<typeof REQUESTS_VIEW>) => void;
