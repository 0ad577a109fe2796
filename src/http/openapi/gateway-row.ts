// What all paths of the gateway have in common: what they refuse, and the headers that they take and give.

import type { EndpointDoc } from "./openapi-row.ts";

/** Whatever is asked for. */
const ANY_REFUSES = [
  "invalid_parameter",
  "missing_api_key",
  "invalid_api_key",
  "account_disabled",
  "account_suspended",
  "ip_not_allowed",
  "path_not_allowed",
  "rpm_exceeded",
  "rph_exceeded",
  "rpd_exceeded",
  "tpm_exceeded",
  "tph_exceeded",
  "tpd_exceeded",
  "too_many_aborts",
  "upstream_rate_limited",
  "insufficient_balance",
  "hard_limit_reached",
  "daily_limit_reached",
  "internal_error",
  "upstream_failed",
  "no_available_key",
  "service_unavailable",
  "upstream_timeout",
];

const REFUSES = [
  ...ANY_REFUSES,
  "invalid_json",
  "missing_parameter",
  "body_too_large",
  "idempotency_mismatch",
  "idempotency_expired",
  "model_not_allowed",
  "level_not_allowed",
  "model_not_found",
  "model_not_priced",
];

const HEADERS = {
  "x-arbor-model": "The model that answered.",
  "x-arbor-level": "The Level of the key that answered.",
  "x-arbor-attempts": "How many calls to providers it took.",
  "x-arbor-cost": "What it cost, in US dollars to the last digit; on whole answers.",
};

const SENT = {
  "Idempotency-Key":
    "1 to 255 printable ASCII characters: a repeat with it gets the first answer and no second charge.",
  "x-arbor-cost": "`stream`: a stream tells its cost in a comment before its closing event.",
};

type Own =
  | "summary"
  | "description"
  | "body"
  | "form"
  | "asked"
  | "sent"
  | "answers"
  | "answered"
  | "refuses";

/** The row of a path of the gateway's table; `refuses`: beyond what all of them do. */
export const gatewayRow = ({ refuses = [], sent, ...row }: Pick<EndpointDoc, Own>): EndpointDoc => ({
  tag: "Gateway",
  keys: "both",
  passes: true,
  headers: HEADERS,
  ...row,
  refuses: [...REFUSES, ...refuses],
  sent: { ...SENT, ...sent },
});

/** The row of a path at which something kept is asked for. */
export const keptRow = (
  row: Pick<EndpointDoc, "summary" | "description" | "params" | "query" | "answers" | "answered">,
): EndpointDoc => ({
  tag: "Gateway",
  keys: "both",
  passes: true,
  refuses: [...ANY_REFUSES, "not_found"],
  ...row,
});
