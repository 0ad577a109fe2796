// `/dashboard/*`, `/x-ledger` and `/x-explain`: what an account may see of itself, and its ancestors of it. Nothing here depends
// on the balance or on gateway limits. The endpoints are declared here; what they answer is made in the files beside it.

import { Elysia } from "elysia";
import { toUsd } from "../../../actors/money.ts";
import type { ConfigCache } from "../../gateway/account/config-cache.ts";
import type { CallableParts } from "../../gateway/routing/callable-models.ts";
import { LedgerPages } from "../../report/ledger-page.ts";
import { descendant, ofDescendant } from "../accounts/account-lookup.ts";
import { recordedAccount } from "../bills/billed-accounts.ts";
import { type ManagementParts, management } from "../management.ts";
import { operation } from "../operation.ts";
import { NoQuerySchema } from "../schemas.ts";
import { type ExplainParts, explained } from "./explain.ts";
import { infoShape, shortStatusShape, statusShape } from "./info.ts";
import { ledgerOf } from "./ledger.ts";
import {
  DescendantLedgerQuerySchema,
  LedgerCsvSchema,
  LedgerQuerySchema,
  LedgerSchema,
} from "./ledger-schemas.ts";
import { logsOf } from "./logs.ts";
import { pricedModels } from "./models.ts";
import {
  DescendantExplainQuerySchema,
  ExplainQuerySchema,
  ExplainSchema,
  InfoSchema,
  LogsQuerySchema,
  LogsSchema,
  ModelsSchema,
  ShortStatusSchema,
  StatusSchema,
} from "./schemas.ts";

/** What the dashboard needs. */
export interface DashboardParts extends ManagementParts, CallableParts, ExplainParts {
  readonly configs: ConfigCache;
  /** Where the administration is served; null where it is at the same address. */
  readonly adminUrl: string | null;
}

const READS = { role: "any", scope: "read", audit: null } as const;
/** What pages ask for again and again. */
const TAGGED = { ...READS, hasEtag: true } as const;

/** The dashboard. Source: specification, "Dashboard"; contract sections 3 and 5. */
export const dashboard = (parts: DashboardParts) => {
  const ledgers = { ...parts, ledgerPages: new LedgerPages(parts.store, parts.clock) };
  return new Elysia({ normalize: false })
    .use(management(parts))
    .get(
      "/dashboard/status",
      async ({ call: { caller } }) => {
        const { config } = await parts.configs.accountContext(caller.profile.id);
        return statusShape(caller, toUsd(config.config.userApiBalance), parts.adminUrl);
      },
      {
        // A console asks what the key may do before it asks for anything else.
        access: { ...READS, scope: "none" },
        query: NoQuerySchema,
        response: StatusSchema,
        detail: STATUS_DETAIL,
      },
    )
    .get("/dashboard/x-user-status", ({ call }) => shortStatusShape(call.caller), {
      access: READS,
      query: NoQuerySchema,
      response: ShortStatusSchema,
      detail: SHORT_STATUS_DETAIL,
    })
    .get(
      "/dashboard/info",
      async ({ call: { caller } }) => infoShape(caller, await parts.configs.maps(caller.profile)),
      info("getInfo"),
    )
    .get(
      "/dashboard/x-user-info",
      async ({ call: { caller } }) => infoShape(caller, await parts.configs.maps(caller.profile)),
      info("getUserInfo"),
    )
    .get("/dashboard/models", ({ call }) => pricedModels(parts, call.caller.profile.id), {
      access: READS,
      query: NoQuerySchema,
      response: ModelsSchema,
      detail: MODELS_DETAIL,
    })
    .get("/dashboard/logs", ({ call, query }) => logsOf(parts.store, call.caller, query), logs("listLogs"))
    .get(
      "/dashboard/x-user-logs",
      ({ call, query }) => logsOf(parts.store, call.caller, query),
      logs("listUserLogs"),
    )
    .get(
      "/dashboard/ledger",
      ({ call, query, request }) => ledgerOf(ledgers, call.caller.profile.id, query, request),
      { access: TAGGED, query: LedgerQuerySchema, response: LedgerSchema, detail: LEDGER_DETAIL },
    )
    .get(
      "/x-ledger",
      async ({ call, query: { user, ...query }, request }) => {
        const { id } = await recordedAccount(parts, call.caller, user);
        return ledgerOf(ledgers, id, query, request);
      },
      {
        access: TAGGED,
        query: DescendantLedgerQuerySchema,
        response: LedgerSchema,
        detail: DESCENDANT_LEDGER_DETAIL,
      },
    )
    .get(
      "/dashboard/explain",
      ({ call: { caller }, query }) => explained(parts, { of: caller, showsKeys: caller.isOwner, query }),
      { access: TAGGED, query: ExplainQuerySchema, response: ExplainSchema, detail: EXPLAIN_DETAIL },
    )
    .get(
      "/x-explain",
      async ({ call: { caller }, query }) => {
        const of = await descendant(parts, caller, query.user);
        return ofDescendant(query.user, explained(parts, { of, showsKeys: caller.isOwner, query }));
      },
      {
        access: TAGGED,
        query: DescendantExplainQuerySchema,
        response: ExplainSchema,
        detail: DESCENDANT_EXPLAIN_DETAIL,
      },
    );
};

const info = (operationId: string) => ({
  access: READS,
  query: NoQuerySchema,
  response: InfoSchema,
  detail: operation({
    tag: "Dashboard",
    operationId,
    summary: "Get the caller's account: credit, limits, use of today and this month",
  }),
});

const logs = (operationId: string) => ({
  access: TAGGED,
  query: LogsQuerySchema,
  response: LogsSchema,
  detail: operation({
    tag: "Dashboard",
    operationId,
    summary: "List operation log lines about the caller and its descendants, and of what it did",
  }),
});

const STATUS_EXAMPLE = {
  id: 3,
  name: "team-blue",
  email: "blue@acme.example",
  balance: 9.87,
  dna: ".1.2.",
};

const STATUS_DETAIL = operation({
  operationId: "getStatus",
  tag: "Dashboard",
  summary: "Get who the caller is, and its balance",
  answerExample: {
    object: "user_status",
    ...STATUS_EXAMPLE,
    alias: "team-blue",
    public_key: "pk-0123456789abcdef",
    user_api_balance: 0,
    manage: true,
    admin: false,
    scopes: ["invoke", "read", "manage"],
  },
});

const SHORT_STATUS_DETAIL = operation({
  operationId: "getShortStatus",
  tag: "Dashboard",
  summary: "Get the same, shorter",
  answerExample: STATUS_EXAMPLE,
});

const MODELS_DETAIL = operation({
  operationId: "listPricedModels",
  tag: "Dashboard",
  summary: "List the models that the caller can call, with its prices",
  answerExample: {
    models: [
      {
        id: "gpt-4o-mini",
        provider: "openai",
        context_window: 128_000,
        max_output_tokens: 16_384,
        price: { InputText: 0.15, OutputText: 0.6 },
      },
    ],
  },
});

const LEDGER_DESCRIPTION =
  "A line must pass all filters that are given. With filters lines trail by up to two seconds; turn pages in their order, since " +
  "a page far behind is searched for and may be 503 after 5 seconds. As CSV without `page` and `size` it is a download of all lines.";

const LEDGER_DETAIL = operation({
  operationId: "listLedgerLines",
  tag: "Dashboard",
  summary: "List the caller's ledger lines, newest first",
  description: LEDGER_DESCRIPTION,
  answerContent: { "text/csv": LedgerCsvSchema },
  answerExample: {
    lines: [
      {
        id: "4pXq",
        type: "charge",
        amount: -0.0000024,
        balance_after: 9.9999976,
        created_at: "2026-01-01T00:00:00.000Z",
        request_id: "4pXq",
        model: "gpt-4o-mini",
        level: 1,
        basis: "provider",
        prompt_tokens: 8,
        completion_tokens: 2,
        cached: 0,
        reasoning: 0,
        path: "/v1/chat/completions",
        stream: false,
        ms: 840,
        attempts: 1,
        tags: { team: "search" },
        api_key: 0,
        api_key_name: "main",
      },
    ],
    total: 1,
    page: 1,
    size: 24,
    has_more: false,
  },
});

const EXPLAIN_DETAIL = operation({
  operationId: "explainRequest",
  tag: "Dashboard",
  summary: "Explain where a request would go, or where one went",
  errors: ["missing_parameter", "not_found", "key_not_found"],
});

const DESCENDANT_LEDGER_DETAIL = operation({
  operationId: "listDescendantLedgerLines",
  tag: "Accounts",
  summary: "List a descendant's ledger lines, newest first",
  description: LEDGER_DESCRIPTION,
  answerContent: { "text/csv": LedgerCsvSchema },
  errors: ["ambiguous_identifier", "user_not_found"],
});

const DESCENDANT_EXPLAIN_DETAIL = operation({
  operationId: "explainDescendantRequest",
  tag: "Accounts",
  summary: "Explain where a descendant's request would go, or where one went",
  errors: ["missing_parameter", "ambiguous_identifier", "user_not_found", "not_found", "key_not_found"],
});
