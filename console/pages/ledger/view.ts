// What the address of the page Credits and ledger holds.

import { LEDGER_FILTERS } from "../../api/ledger-filter.ts";

/**
 * The parameters of the address, as they are without it. `proves`: what its lines should cost together, as a decimal; `open`: the
 * request of the sheet.
 */
export const LEDGER_VIEW = { ...LEDGER_FILTERS, proves: "", open: "", page: "1" };

/** What the address holds. */
export type LedgerView = typeof LEDGER_VIEW;
