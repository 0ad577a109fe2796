// Ledger lines, newest first and always by pages: one's own, and those of accounts below, deleted ones too.

import { Type } from "@sinclair/typebox";
import type { AccountId } from "../../../actors/ids.ts";
import { RefusedError } from "../../base/errors.ts";
import { lineCount, lineShape, numberedLines } from "../../report/ledger-lines.ts";
import type { Store } from "../../store/store.ts";
import { recordedAccount } from "../bills/billed-accounts.ts";
import { answer, endpoint, type ManagementAnswer } from "../endpoint.ts";
import type { ManagementParts } from "../management.ts";
import { digits, pageOf, textSchema } from "../schemas.ts";

export interface LedgerParts extends ManagementParts {
  readonly store: Store;
}

const paged = { page: Type.Optional(digits), size: Type.Optional(digits) };
const OwnQuery = Type.Object(paged, { additionalProperties: false });
const DescendantQuery = Type.Object({ user: textSchema(254, 1), ...paged }, { additionalProperties: false });

/** contract section 5: GET /dashboard/ledger. */
export const getLedger = (parts: LedgerParts) =>
  endpoint(parts, { who: "any", query: OwnQuery }, ({ caller, query }) =>
    linesOf(parts.store, caller.profile.id, query),
  );

/** contract section 5: GET /x-ledger?user=…, for its ancestors. */
export const getDescendantLedger = (parts: LedgerParts) =>
  endpoint(parts, { who: "any", query: DescendantQuery }, async ({ caller, query }) => {
    const { id } = await recordedAccount(parts, caller, query.user);
    return linesOf(parts.store, id, query);
  });

async function linesOf(
  store: Store,
  id: AccountId,
  query: { readonly page?: string; readonly size?: string },
): Promise<ManagementAnswer> {
  const { page, size } = pageOf(query, { size: 24, most: 1_000 });
  if (page === 0 || size === 0) {
    throw new RefusedError({
      code: "invalid_parameter",
      message: '"page" and "size" must be at least 1 here.',
    });
  }
  const total = await lineCount(store, id);
  const newest = total - (page - 1) * size;
  const lines = await numberedLines(store, id, Math.max(1, newest - size + 1), newest);
  return answer({ lines: lines.map(lineShape), total, page, size, has_more: newest - size > 0 });
}
