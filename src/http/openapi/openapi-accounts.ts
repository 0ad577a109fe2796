// Rows of the caller's subaccounts: the accounts themselves, their bills and ledgers, and why their requests go where they go.

import { Explain, Ledger } from "../dashboard/schemas.ts";
import { json, type Rows } from "./openapi-row.ts";

export const ACCOUNT_ROWS: Rows = {
  "GET /x-ledger": {
    tag: "Accounts",
    summary: "List a descendant's ledger lines, newest first",
    params: {
      user: "An id (of a deleted account too), a name or an e-mail address.",
      page: "From 1.",
      size: "24 where absent, at most 1000.",
    },
    answers: json(Ledger),
    refuses: ["ambiguous_identifier", "user_not_found"],
  },
  "GET /x-explain": {
    tag: "Accounts",
    summary: "Explain where a descendant's request would go, or where one went",
    params: {
      user: "An id, a name or an e-mail address.",
      model: "The model asked for; either this or `request`.",
      request: "The `x-request-id` of a request that was made.",
      path: "The gateway's path it is asked on; chat completions where absent.",
    },
    answers: json(Explain),
    refuses: ["missing_parameter", "ambiguous_identifier", "user_not_found", "not_found"],
  },
};
