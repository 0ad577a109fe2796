// The answers of the endpoints that the console asks, by path. Their types come from the schemas of the HTTP layer alone.

import type {
  AccountListSchema,
  AddedAccountSchema,
  DeletedAccountSchema,
  UpdatedAccountSchema,
} from "../../src/http/accounts/schemas.ts";
import type { ApiKeysSchema } from "../../src/http/api-keys/schemas.ts";
import type { AttentionSchema } from "../../src/http/attention/schemas.ts";
import type { BillSchema, DescendantBillSchema } from "../../src/http/bills/schemas.ts";
import type {
  ConfigurationSchema,
  ConfSchema,
  HistorySchema,
  PricePreviewSchema,
  PricesSchema,
  TestMailSchema,
} from "../../src/http/configuration/schemas.ts";
import type { LedgerSchema } from "../../src/http/dashboard/ledger-schemas.ts";
import type { RequestListSchema } from "../../src/http/dashboard/request-schemas.ts";
import type {
  ExplainSchema,
  InfoSchema,
  LiveSchema,
  LogsSchema,
  ModelsSchema,
  StatusSchema,
} from "../../src/http/dashboard/schemas.ts";
import type { ModelListSchema, QuoteSchema } from "../../src/http/gateway/schemas.ts";
import type { MoneySchema } from "../../src/http/money/schemas.ts";
import type { NewsListSchema } from "../../src/http/news/schemas.ts";
import type { ClusterSchema } from "../../src/http/operations/schemas.ts";
import type { KeyEventsSchema, KeyListSchema } from "../../src/http/provider-keys/schemas.ts";
import type { Exact } from "./exact-json.ts";

type AnswerOf<S> = S extends { readonly static: unknown } ? Exact<S["static"]> : never;
/** The structure of bills that the console asks for. */
type DailyBill<S extends { readonly static: unknown }> = Extract<AnswerOf<S>, { object: "bill_info" }>;

/** What GET answers at these paths. */
export interface Answers {
  "/dashboard/status": AnswerOf<typeof StatusSchema>;
  "/dashboard/info": AnswerOf<typeof InfoSchema>;
  "/dashboard/live": AnswerOf<typeof LiveSchema>;
  "/x-info": AnswerOf<typeof LiveSchema>;
  "/dashboard/bill": DailyBill<typeof BillSchema>;
  "/x-bill": DailyBill<typeof DescendantBillSchema>;
  "/dashboard/ledger": AnswerOf<typeof LedgerSchema>;
  "/x-ledger": AnswerOf<typeof LedgerSchema>;
  "/dashboard/requests": AnswerOf<typeof RequestListSchema>;
  "/x-requests": AnswerOf<typeof RequestListSchema>;
  "/dashboard/explain": AnswerOf<typeof ExplainSchema>;
  "/x-explain": AnswerOf<typeof ExplainSchema>;
  "/dashboard/keys": AnswerOf<typeof ApiKeysSchema>;
  "/dashboard/logs": AnswerOf<typeof LogsSchema>;
  "/dashboard/models": AnswerOf<typeof ModelsSchema>;
  "/v1/models": Extract<AnswerOf<typeof ModelListSchema>, { object: "list" }>;
  "/dashboard/news": AnswerOf<typeof NewsListSchema>;
  "/x-users": AnswerOf<typeof AccountListSchema>;
  "/x-dna": AnswerOf<typeof AccountListSchema>;
  "/x-attention": AnswerOf<typeof AttentionSchema>;
  "/x-keys": AnswerOf<typeof KeyListSchema>;
  "/x-events": AnswerOf<typeof KeyEventsSchema>;
  "/x-conf": AnswerOf<typeof ConfSchema>;
  "/x-config": AnswerOf<typeof ConfigurationSchema>;
  "/x-config/history": AnswerOf<typeof HistorySchema>;
  "/x-prices": AnswerOf<typeof PricesSchema>;
  "/x-money": AnswerOf<typeof MoneySchema>;
  "/x-cluster": AnswerOf<typeof ClusterSchema>;
}

/** What writes of accounts answer: `POST /x-users`, `PUT` and `DELETE /x-users/{id}`. */
export interface AccountWrites {
  added: AnswerOf<typeof AddedAccountSchema>;
  updated: AnswerOf<typeof UpdatedAccountSchema>;
  deleted: AnswerOf<typeof DeletedAccountSchema>;
}

/** What an Owner's configuration is asked by POST: `/x-config/preview`, `/x-config/test-mail`. */
export interface ConfigAnswers {
  preview: AnswerOf<typeof PricePreviewSchema>;
  testMail: AnswerOf<typeof TestMailSchema>;
}
/** What `POST /v1/quote` answers. */
export type Quote = AnswerOf<typeof QuoteSchema>;

/** A path of `Answers`. */
export type AnswerPath = keyof Answers;
