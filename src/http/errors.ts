// Every error a client can see: one table code -> status and type, and one function that shapes the body.
// contract section 2. No other file of this room sets an error status.

import { type Refusal, RefusedError, UnavailableError } from "../base/errors.ts";
import { CODINGS } from "../gateway/content-coding.ts";
import { StoreBusyError, StoreLost, StoreTimeoutError } from "../store/store.ts";

const TYPES = {
  400: "invalid_request_error",
  401: "authentication_error",
  403: "permission_error",
  404: "not_found_error",
  405: "invalid_request_error",
  415: "invalid_request_error",
  429: "rate_limit_error",
  500: "server_error",
  502: "upstream_error",
  503: "upstream_error",
  504: "upstream_error",
} as const;

type Status = keyof typeof TYPES;

/** A status that no code stands for: the refusal itself says it. */
type OwnStatus = NonNullable<Refusal["status"]>;

const CODES: Readonly<Record<Exclude<Status, OwnStatus>, readonly string[]>> = {
  400: [
    "invalid_json",
    "invalid_parameter",
    "unknown_field",
    "missing_parameter",
    "duplicate_name",
    "rate_below_parent",
    "resources_not_subset",
    "self_referencing_provider",
    "forbidden_provider_address",
    "invalid_pricing",
    "has_subaccounts",
    "ambiguous_identifier",
    "confirm_mismatch",
    "insufficient_parent_balance",
    "user_limit_reached",
    "body_too_large",
    "idempotency_mismatch",
    "idempotency_expired",
    "previous_response_not_found",
  ],
  401: ["missing_api_key", "invalid_api_key"],
  403: [
    "account_disabled",
    "account_suspended",
    "ip_not_allowed",
    "model_not_allowed",
    "level_not_allowed",
    "path_not_allowed",
    "not_owner",
    "not_root",
    "not_ancestor",
    "field_not_settable",
    "not_manager",
  ],
  404: ["not_found", "user_not_found", "key_not_found", "model_not_found", "model_not_priced"],
  405: ["method_not_allowed"],
  429: [
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
  ],
  500: ["internal_error"],
  502: ["upstream_failed"],
  503: ["no_available_key", "service_unavailable"],
  504: ["upstream_timeout"],
};

const STATUS_OF = new Map<string, Status>(
  Object.entries(CODES).flatMap(([status, codes]) => codes.map((code) => [code, Number(status) as Status])),
);

/** No credit, or a limit of money: waiting does not help, so SDKs must not retry. */
const QUOTA = new Set(["insufficient_balance", "hard_limit_reached", "daily_limit_reached"]);
/** SDKs would sleep through longer waits; they get the true figure and are told not to. */
const LONG_WAIT_S = 30;

/** What a client is told: the table's row, or a provider's own words about the request. */
export interface HttpError {
  readonly status: number;
  readonly type: string;
  readonly code: string;
  readonly message: string;
  readonly param?: string;
  readonly details?: unknown;
  readonly headers: Readonly<Record<string, string>>;
}

export function httpError(refusal: Refusal): HttpError {
  const status = refusal.status ?? STATUS_OF.get(refusal.code);
  if (status === undefined) throw new Error(`no status for the code ${refusal.code}`);
  const quota = QUOTA.has(refusal.code);
  const headers: Record<string, string> = {};
  if (refusal.retryAfterS !== undefined) headers["retry-after"] = String(refusal.retryAfterS);
  if (status === 415) headers["accept-encoding"] = CODINGS.join(", ");
  if (quota || refusal.final || (refusal.retryAfterS ?? 0) > LONG_WAIT_S) headers["x-should-retry"] = "false";
  return {
    status,
    type: quota ? "insufficient_quota" : TYPES[status],
    code: refusal.code,
    message: refusal.message,
    ...(refusal.param === undefined ? {} : { param: refusal.param }),
    ...(refusal.errorDetails === undefined ? {} : { details: refusal.errorDetails }),
    headers,
  };
}

/** Management answers the same code with 400: the caller asks for a transfer, not for a model. */
export const asManagement = (found: HttpError): HttpError =>
  found.code === "insufficient_balance" ? { ...found, status: 400, type: TYPES[400], headers: {} } : found;

/** The error object as it stands in a body and in a stream's error event. */
export const errorOf = ({ message, type, code, param, details }: HttpError) => ({
  message,
  type,
  code,
  ...(param === undefined ? {} : { param }),
  ...(details === undefined ? {} : { details }),
});

export function errorResponse(found: HttpError, headers: Readonly<Record<string, string>>): Response {
  return new Response(JSON.stringify({ error: errorOf(found) }), {
    status: found.status,
    headers: { "content-type": "application/json", ...found.headers, ...headers },
  });
}

/** The same for SDKs of the messages style, who look for the type at the top, and for the id in the body. */
export function messagesError(found: HttpError, headers: Readonly<Record<string, string>>): Response {
  const requestId = headers["x-request-id"] ?? null;
  return new Response(JSON.stringify({ type: "error", error: errorOf(found), request_id: requestId }), {
    status: found.status,
    headers: {
      "content-type": "application/json",
      ...(requestId === null ? {} : { "request-id": requestId }),
      ...found.headers,
      ...headers,
    },
  });
}

/** An exception as a refusal; null: a bug, to be logged and answered with internal_error. */
export function refusalOf(error: unknown): Refusal | null {
  if (error instanceof RefusedError) return error.refusal;
  if (error instanceof DOMException && error.name === "AbortError") {
    return { code: "service_unavailable", message: "The client went away before its answer was ready." };
  }
  if (error instanceof StoreBusyError) {
    const message = "Too much is asked of the store at once. Nothing was done: ask again in a moment.";
    return { code: "service_unavailable", message, retryAfterS: 1 };
  }
  if (error instanceof UnavailableError || error instanceof StoreTimeoutError || error instanceof StoreLost) {
    return {
      code: "service_unavailable",
      message:
        "The service could not reach its store in time. Whether it happened is unknown: repeat the request.",
      retryAfterS: 1,
    };
  }
  return null;
}

export const INTERNAL: Refusal = {
  code: "internal_error",
  message: "Something broke inside the service. The request id helps to find it in the log.",
};
