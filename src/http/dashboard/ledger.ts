// Ledger lines of an account: their query, their shape, and reading them, the newest first and always by pages.

import { type Static, Type } from "@sinclair/typebox";
import type { AccountId } from "../../../actors/ids.ts";
import { lineCount, lineShape, numberedLines } from "../../report/ledger-lines.ts";
import type { Store } from "../../store/store.ts";
import {
  answerOf,
  digits,
  flagSchema,
  int,
  maybe,
  namedSchema,
  object,
  oneOf,
  orNull,
  paged,
  parameter,
  positivePageOf,
  string,
  textSchema,
  time,
  usd,
} from "../schemas.ts";

const request = {
  request_id: maybe(orNull(Type.String({ description: "what the client saw as x-request-id" }))),
  model: maybe(string),
  answered_model: maybe(
    Type.String({ description: "the model that the provider named in its answer, where it is another" }),
  ),
  level: maybe(int),
  basis: maybe(Type.String({ description: "provider, partial or estimate" })),
  prompt_tokens: maybe(int),
  completion_tokens: maybe(int),
  path: maybe(string),
  stream: maybe(flagSchema),
};

const figures = object({ CreditUsed: maybe(usd), ChargeAmount: maybe(usd), XCredit: maybe(usd) });

const LedgerLine = namedSchema(
  "LedgerLine",
  object({
    id: string,
    type: oneOf(
      "grant",
      "transfer_in",
      "transfer_out",
      "refund",
      "charge",
      "late_charge",
      "query_fee",
      "delete_fee",
      "expire",
      "write_off",
      "auto_quota",
      "adjust",
    ),
    amount: Type.Number({ description: "US dollars, signed from the account's side" }),
    balance_after: usd,
    created_at: time,
    ...request,
    operation_id: maybe(string),
    to: maybe(int),
    from: maybe(orNull(int)),
    why: maybe(string),
    by: maybe(int),
    before: maybe(figures),
    after: maybe(figures),
  }),
);

/** The answer of `GET /dashboard/ledger`. */
export const LedgerSchema = answerOf(
  namedSchema("Ledger", object({ lines: Type.Array(LedgerLine), ...paged })),
);

const ledgerPage = {
  page: Type.Optional(parameter(digits, "From 1.")),
  size: Type.Optional(parameter(digits, "24 where absent, at most 1000.")),
};

/** The query of `GET /dashboard/ledger`. */
export const LedgerQuerySchema = Type.Object(ledgerPage, { additionalProperties: false });

/** The query of `GET /x-ledger`. */
export const DescendantLedgerQuerySchema = Type.Object(
  {
    user: parameter(textSchema(254, 1), "An id (of a deleted account too), a name or an e-mail address."),
    ...ledgerPage,
  },
  { additionalProperties: false },
);

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
