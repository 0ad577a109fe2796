// Queries and answers of bills: both structures, for the caller and for its descendants. Every figure is a sum of ledger lines.

import { Type } from "@sinclair/typebox";
import {
  answerOf,
  int,
  map,
  maybe,
  namedSchema,
  object,
  parameter,
  string,
  textSchema,
  usd,
} from "../schemas.ts";
import { DATES } from "./date-range.ts";

const Used = namedSchema(
  "Used",
  object({
    requests: int,
    prompt: int,
    completion: int,
    cached: int,
    cache_write: int,
    reasoning: int,
    cost: usd,
  }),
);

const Group = namedSchema(
  "UsageGroup",
  object({
    id: Type.Union([int, string], {
      description:
        "A model, the value of a tag, or the number of an account or API key (0 is the main key); `(other)` is what is not kept apart, `(none)` what has no such tag, `(all)` everything.",
    }),
    name: string,
    account: maybe(Type.Integer({ description: "Whose API key it is, in a bill over accounts" })),
    requests: int,
    prompt: int,
    completion: int,
    cached: int,
    cache_write: int,
    reasoning: int,
    cost: usd,
  }),
);

/** What `group` and `hours` add to either structure. */
const grouped = {
  groups: maybe(Type.Array(Group)),
  hourly: maybe(
    Type.Array(
      object({
        hour: Type.String({ format: "date-time", description: "The beginning of the hour, UTC" }),
        groups: Type.Array(Group),
      }),
    ),
  ),
};

const share = object({
  request_percentage: Type.Number({ minimum: 0, maximum: 100 }),
  cost_percentage: Type.Number({ minimum: 0, maximum: 100 }),
});

const fee = Type.Number({ description: "US dollars taken for this question" });
const date = Type.String({ format: "date" });

/** Structure B: day by day. */
const bill = {
  object: Type.Literal("bill_info"),
  daily_costs: Type.Array(
    object({
      date,
      total_requests: int,
      total_prompt: int,
      total_completion: int,
      total_credit_used: usd,
      line_items: Type.Array(object({ name: string, cost: usd, usage: Used })),
    }),
  ),
  usage_summary: map(Used),
  total_requests: int,
  total_prompt: int,
  total_completion: int,
  total_reasoning: int,
  total_credit_used: usd,
  token_summary: object({
    input_total: int,
    input_cached_total: int,
    input_non_cached_total: int,
    output_total: int,
    processed_total: int,
  }),
  query_fee: fee,
  ...grouped,
};

/** Structure A: a list of days. */
const list = {
  object: Type.Literal("list"),
  data: Type.Array(
    object({
      aggregation_timestamp: int,
      n_requests: int,
      n_context_tokens_total: int,
      n_generated_tokens_total: int,
      n_cached_tokens_total: int,
      usage_details: map(object({ requests: int, prompt: int, completion: int, cost: usd })),
    }),
  ),
  total_usage: object({
    requests: int,
    prompt_tokens: int,
    completion_tokens: int,
    cached_tokens: int,
    cost: usd,
  }),
  query_fee: fee,
  ...grouped,
};

const billed = object({
  id: int,
  name: string,
  alias: string,
  email: string,
  top_cost_model: string,
  top_request_model: string,
  total_requests: int,
  total_prompt: int,
  total_completion: int,
  total_reasoning: int,
  total_credit_used: usd,
  usage_analysis: share,
});

const listed = object({
  id: int,
  name: string,
  email: string,
  total_requests: int,
  total_cost: usd,
  usage_analysis: share,
});

/** `text/csv` of either: one row a day and model, or a group (and hour), and the totals. */
export const CsvSchema = Type.String({
  description:
    "The same figures as a table with a header line: a row for each day and model, or with `group` or `hours` for each group, or for each hour and group",
});

/** The answer of `GET /dashboard/bill`. */
export const BillSchema = answerOf(
  Type.Union([namedSchema("Bill", object(bill)), namedSchema("BillList", object(list))]),
);

/** The answer of `GET /x-bill`. */
export const DescendantBillSchema = answerOf(
  Type.Union([
    namedSchema(
      "DescendantBill",
      object({ ...bill, query_fee: maybe(fee), usage_users: Type.Array(billed) }),
    ),
    namedSchema(
      "DescendantBillList",
      object({ ...list, query_fee: maybe(fee), usage_users: Type.Array(listed) }),
    ),
  ]),
);

const form = {
  ...DATES,
  group: Type.Optional(
    parameter(
      Type.String({
        pattern: "^(model|api_key|account|tag:[a-z0-9_.-]{1,32})$",
        description: 'must be "model", "api_key", "account" or "tag:NAME"',
      }),
      "`model`, `api_key`, `account` or `tag:NAME`: adds `groups`, which add up to the bill's totals.",
    ),
  ),
  hours: Type.Optional(
    parameter(
      Type.String({
        pattern: "^0*([1-9]|[1-3][0-9]|4[0-8])$",
        description: "must be an integer from 1 to 48",
      }),
      "The last so many hours, the present one included, and no other days: adds `hourly`. No date may stand beside it.",
    ),
  ),
  object: Type.Optional(
    parameter(
      Type.Union([Type.Literal("bill_info"), Type.Literal("list")], {
        description: 'must be "bill_info" or "list"',
      }),
      "`bill_info`, where absent, or `list`.",
    ),
  ),
  format: Type.Optional(
    parameter(
      Type.Union([Type.Literal("json"), Type.Literal("csv")], { description: 'must be "json" or "csv"' }),
      "`csv`: a download of the same figures.",
    ),
  ),
};

/** The query of `GET /dashboard/bill`. */
export const BillQuerySchema = Type.Object(form, { additionalProperties: false });

const WHOSE =
  "An id (of a deleted account too), a name, an e-mail address, a filter such as `L2` or a DNA path; all descendants where absent.";

/** The query of `GET /x-bill`. */
export const DescendantBillQuerySchema = Type.Object(
  {
    ...form,
    user: Type.Optional(parameter(textSchema(254, 1), WHOSE)),
    u: Type.Optional(parameter(textSchema(254, 1), "The same as `user`.")),
  },
  { additionalProperties: false },
);
