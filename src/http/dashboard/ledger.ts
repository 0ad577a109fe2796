// Ledger lines of an account, the newest first and always by pages.

import type { Static } from "@sinclair/typebox";
import type { AccountId } from "../../../actors/ids.ts";
import { lineCount, lineShape, numberedLines } from "../../report/ledger-lines.ts";
import type { Store } from "../../store/store.ts";
import { positivePageOf } from "../schemas.ts";
import type { LedgerSchema } from "./schemas.ts";

/** Returns one page of an account's ledger. Source: contract section 5. */
export async function ledgerOf(
  store: Store,
  id: AccountId,
  query: { readonly page?: string; readonly size?: string },
): Promise<Static<typeof LedgerSchema>> {
  const { page, size } = positivePageOf(query, { size: 24, most: 1_000 });
  const total = await lineCount(store, id);
  const newest = total - (page - 1) * size;
  const lines = await numberedLines(store, id, Math.max(1, newest - size + 1), newest);
  return { lines: lines.map(lineShape), total, page, size, has_more: newest - size > 0 };
}
