// Rows of what any account may see and do of itself.

import { Explain, Info, Ledger, Live, Logs, Models, ShortStatus, Status } from "../dashboard/schemas.ts";
import { type EndpointDoc, json, type Rows } from "./openapi-row.ts";

const INFO: EndpointDoc = {
  tag: "Dashboard",
  summary: "Get the caller's account: credit, limits, use of today and this month",
  answers: json(Info),
};

const LOGS: EndpointDoc = {
  tag: "Dashboard",
  summary: "List operation log lines about the caller and its descendants, and of what it did",
  params: {
    action: "Only lines of this action, such as `update_user`.",
    target_id: "Only lines about this account, key or item.",
    status: "`success` or `failed`.",
    page: "From 1.",
    size: "24 where absent, at most 100.",
  },
  answers: json(Logs),
};

const STATUS = {
  id: 3,
  name: "team-blue",
  email: "blue@acme.example",
  balance: 9.87,
  dna: ".1.2.",
};

export const DASHBOARD_ROWS: Rows = {
  "GET /dashboard/status": {
    tag: "Dashboard",
    summary: "Get who the caller is, and its balance",
    answers: json(Status),
    answered: {
      object: "user_status",
      ...STATUS,
      alias: "team-blue",
      public_key: "pk-0123456789abcdef",
      user_api_balance: 0,
      manage: true,
      admin: false,
    },
  },
  "GET /dashboard/x-user-status": {
    tag: "Dashboard",
    summary: "Get the same, shorter",
    answers: json(ShortStatus),
    answered: STATUS,
  },
  "GET /dashboard/info": INFO,
  "GET /dashboard/x-user-info": INFO,
  "GET /dashboard/logs": LOGS,
  "GET /dashboard/x-user-logs": LOGS,
  "GET /dashboard/models": {
    tag: "Dashboard",
    summary: "List the models that the caller can call, with its prices",
    answers: json(Models),
    answered: {
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
  },
  "GET /dashboard/live": {
    tag: "Dashboard",
    summary: "Get the account with its use by model, for polling",
    answers: json(Live),
  },
  "GET /dashboard/ledger": {
    tag: "Dashboard",
    summary: "List the caller's ledger lines, newest first",
    params: { page: "From 1.", size: "24 where absent, at most 1000." },
    answers: json(Ledger),
    answered: {
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
          path: "/v1/chat/completions",
          stream: false,
        },
      ],
      total: 1,
      page: 1,
      size: 24,
      has_more: false,
    },
  },
  "GET /dashboard/explain": {
    tag: "Dashboard",
    summary: "Explain where a request would go, or where one went",
    params: {
      model: "The model asked for; either this or `request`.",
      request: "The `x-request-id` of a request that was made.",
      path: "The gateway's path it is asked on; chat completions where absent.",
    },
    answers: json(Explain),
    refuses: ["missing_parameter", "not_found"],
  },
};
