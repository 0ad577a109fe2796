// Queries and answers of ledgers.

import { type Static, Type } from "@sinclair/typebox";
import {
  answerOf,
  digits,
  flagSchema,
  int,
  map,
  maybe,
  namedSchema,
  object,
  oneOf,
  orNull,
  paged,
  parameter,
  string,
  textSchema,
  time,
  usd,
} from "../schemas.ts";
import { TIME_RANGE } from "../time-range.ts";

const TYPES = [
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
] as const;

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
  cached: maybe(Type.Integer({ description: "tokens of the prompt that the provider had cached" })),
  reasoning: maybe(Type.Integer({ description: "tokens of the completion that were reasoning" })),
  path: maybe(string),
  stream: maybe(flagSchema),
  ms: maybe(Type.Integer({ description: "milliseconds from the request's admission to its charge" })),
  attempts: maybe(Type.Integer({ description: "how many attempts at providers it took" })),
  tags: maybe(map(string)),
  api_key: maybe(Type.Integer({ description: "the API key that caused the line; 0 is the main key" })),
  api_key_name: maybe(Type.String({ description: "the name that it had then" })),
};

const figures = object({ CreditUsed: maybe(usd), ChargeAmount: maybe(usd), XCredit: maybe(usd) });

const LedgerLine = namedSchema(
  "LedgerLine",
  object({
    id: string,
    type: oneOf(...TYPES),
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

const NOT_COUNTED = "null where counting them takes more than 5 seconds";

/** The answer of `GET /dashboard/ledger`. */
export const LedgerSchema = answerOf(
  namedSchema(
    "Ledger",
    object({
      lines: Type.Array(LedgerLine),
      ...paged,
      total: orNull(Type.Integer({ description: "null with filters, unless totals are asked for" })),
      count: maybe(orNull(Type.Integer({ description: `how many lines pass the filters; ${NOT_COUNTED}` }))),
      sum: maybe(
        orNull(Type.Number({ description: `US dollars, the sum of their amounts; ${NOT_COUNTED}` })),
      ),
    }),
  ),
);

/** `text/csv` of the same: a header line and one row per line. */
export const LedgerCsvSchema = Type.String({ description: "The same lines as a table with a header line" });

const ledgerQuery = {
  page: Type.Optional(parameter(digits, "From 1.")),
  size: Type.Optional(parameter(digits, "24 where absent, at most 1000.")),
  ...TIME_RANGE,
  type: Type.Optional(
    parameter(
      Type.Unsafe<(typeof TYPES)[number]>(
        Type.Union(
          TYPES.map((type) => Type.Literal(type)),
          { description: `must be one of ${TYPES.join(", ")}` },
        ),
      ),
      "Only lines of this type.",
    ),
  ),
  model: Type.Optional(parameter(textSchema(256, 1), "Only charges of this model.")),
  api_key: Type.Optional(
    parameter(
      Type.String({
        pattern: "^[0-9]{1,15}$",
        description: "must be the number of an API key; 0 is the main key",
      }),
      "Only what this API key caused; 0 is the main key.",
    ),
  ),
  tag: Type.Optional(parameter(textSchema(97, 3), "Only requests with this tag, as `name:value`.")),
  request: Type.Optional(
    parameter(
      textSchema(128, 1),
      "Only lines of the request with this id: its `x-request-id`, or the service's own.",
    ),
  ),
  format: Type.Optional(
    parameter(
      Type.Union([Type.Literal("json"), Type.Literal("csv")], { description: 'must be "json" or "csv"' }),
      "`csv`: a download; of all lines that pass, where neither `page` nor `size` is given.",
    ),
  ),
  totals: Type.Optional(
    parameter(
      Type.Union([Type.Literal("true"), Type.Literal("false")], { description: "must be true or false" }),
      "`true`: also how many lines pass, and the sum of their amounts.",
    ),
  ),
};

/** The query of `GET /dashboard/ledger`. */
export const LedgerQuerySchema = Type.Object(ledgerQuery, { additionalProperties: false });

/** The parameters of a ledger. */
export type LedgerQuery = Static<typeof LedgerQuerySchema>;

/** The query of `GET /x-ledger`. */
export const DescendantLedgerQuerySchema = Type.Object(
  {
    user: parameter(textSchema(254, 1), "An id (of a deleted account too), a name or an e-mail address."),
    ...ledgerQuery,
  },
  { additionalProperties: false },
);
