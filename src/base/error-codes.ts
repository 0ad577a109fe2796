// Every code of a refusal: the HTTP status and error type with which clients see it, and what it means. Responses, the
// OpenAPI document and the pages of docs/ are derived from this table. It knows no response format.

interface ErrorRow {
  readonly status: 400 | 401 | 403 | 404 | 405 | 429 | 500 | 502 | 503 | 504;
  /** The `type` of the error body, where it differs from that of the status. */
  readonly type?: "insufficient_quota";
  readonly meaning: string;
}

/** The codes that clients can see. Source: contract section 2. */
export const ERROR_CODES = {
  invalid_json: { status: 400, meaning: "the body is not valid JSON" },
  invalid_parameter: { status: 400, meaning: "a value has the wrong type, range or form" },
  unknown_field: { status: 400, meaning: "the endpoint does not know a field" },
  missing_parameter: { status: 400, meaning: "a required field is missing" },
  duplicate_name: { status: 400, meaning: "another account or key has this name" },
  rate_below_parent: { status: 400, meaning: "Rates would be below those of the parent account" },
  resources_not_subset: {
    status: 400,
    meaning: "Resources would allow more than those of the parent account",
  },
  self_referencing_provider: { status: 400, meaning: "the provider is this service itself" },
  forbidden_provider_address: { status: 400, meaning: "the provider is at a private or reserved address" },
  invalid_pricing: { status: 400, meaning: "a price is not well-formed" },
  has_subaccounts: { status: 400, meaning: "the account has subaccounts" },
  ambiguous_identifier: { status: 400, meaning: "several accounts match the identifier" },
  confirm_mismatch: { status: 400, meaning: "the confirmation does not name today and the act" },
  insufficient_parent_balance: { status: 400, meaning: "the parent account has too little credit" },
  user_limit_reached: { status: 400, meaning: "the account may not have more subaccounts" },
  body_too_large: { status: 400, meaning: "the body exceeds MAX_BODY_MB" },
  idempotency_mismatch: { status: 400, meaning: "another request has used this Idempotency-Key" },
  idempotency_expired: { status: 400, meaning: "the answer of this Idempotency-Key is no longer kept" },
  key_limit_reached: { status: 400, meaning: "the account may not have or make more API keys" },
  previous_response_not_found: { status: 400, meaning: "no response or object has this id" },
  missing_api_key: { status: 401, meaning: "the request has no API key" },
  invalid_api_key: { status: 401, meaning: "no account has this API key, or the key is not valid any more" },
  account_disabled: { status: 403, meaning: "the account or one above it is disabled" },
  account_suspended: { status: 403, meaning: "the account or one above it is suspended" },
  ip_not_allowed: { status: 403, meaning: "AllowIPs does not contain the client's address" },
  model_not_allowed: { status: 403, meaning: "AllowModels does not contain the model" },
  level_not_allowed: { status: 403, meaning: "AllowLevels does not contain the Level" },
  path_not_allowed: { status: 403, meaning: "Resources does not contain the path" },
  scope_missing: { status: 403, meaning: "the API key has not the scope that the call needs" },
  not_owner: { status: 403, meaning: "only an Owner may do this" },
  not_root: { status: 403, meaning: "only Root may do this" },
  not_ancestor: { status: 403, meaning: "only an account above may do this" },
  field_not_settable: { status: 403, meaning: "the caller may not set this field" },
  not_manager: { status: 403, meaning: "the caller does not manage subaccounts" },
  not_found: { status: 404, meaning: "the path or the object does not exist" },
  user_not_found: { status: 404, meaning: "the account is not within the caller's reach" },
  key_not_found: {
    status: 404,
    meaning: "the Owner has no such provider key, or the account no such API key",
  },
  model_not_found: { status: 404, meaning: "no Level serves the model" },
  model_not_priced: { status: 404, meaning: "the model has no price" },
  method_not_allowed: { status: 405, meaning: "the path does not support the method" },
  rpm_exceeded: { status: 429, meaning: "the limit of requests in a minute is reached" },
  rph_exceeded: { status: 429, meaning: "the limit of requests in an hour is reached" },
  rpd_exceeded: { status: 429, meaning: "the limit of requests in a day is reached" },
  tpm_exceeded: { status: 429, meaning: "the limit of tokens in a minute is reached" },
  tph_exceeded: { status: 429, meaning: "the limit of tokens in an hour is reached" },
  tpd_exceeded: { status: 429, meaning: "the limit of tokens in a day is reached" },
  too_many_aborts: { status: 429, meaning: "the client has aborted too many requests" },
  upstream_rate_limited: { status: 429, meaning: "every usable provider key is resting" },
  insufficient_balance: { status: 429, type: "insufficient_quota", meaning: "the credit does not suffice" },
  hard_limit_reached: { status: 429, type: "insufficient_quota", meaning: "HardLimit is reached" },
  daily_limit_reached: { status: 429, type: "insufficient_quota", meaning: "DailyLimit is reached" },
  internal_error: { status: 500, meaning: "a bug of the service; the log has the request id" },
  upstream_failed: { status: 502, meaning: "all tries at providers failed" },
  no_available_key: { status: 503, meaning: "no provider key is usable now" },
  service_unavailable: { status: 503, meaning: "the service cannot answer now; a write may have been done" },
  upstream_timeout: { status: 504, meaning: "the provider did not answer in time" },
} as const satisfies Readonly<Record<string, ErrorRow>>;

/** A code that clients can see. */
export type ErrorCode = keyof typeof ERROR_CODES;

/**
 * Codes by which an actor asks its caller to decide anew or to wait. The caller handles each of them; none
 * reaches a client.
 */
const INTERNAL_CODES = [
  "stale_profile",
  "stale_config",
  "key_changed",
  "api_key_changed",
  "repeat_running",
  "closing_busy",
] as const;

/** A code of any refusal. */
export type RefusalCode = ErrorCode | (typeof INTERNAL_CODES)[number];

/** Whether clients can see this code. */
export const isErrorCode = (code: string): code is ErrorCode => Object.hasOwn(ERROR_CODES, code);

/**
 * Returns a code that came from stored data or from another node. One that this version does not know is
 * `internal_error`.
 */
export const parseRefusalCode = (code: string): RefusalCode =>
  isErrorCode(code) || isInternal(code) ? code : "internal_error";

const isInternal = (code: string): code is (typeof INTERNAL_CODES)[number] =>
  (INTERNAL_CODES as readonly string[]).includes(code);

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

/** A status of error responses: those of the codes, and 415. */
export type ErrorStatus = keyof typeof TYPES;

/** Returns the `type` of error bodies with this status. */
export const errorTypeOf = (status: ErrorStatus): string => TYPES[status];

/**
 * Returns status and type of a code. `own` is the status of this one refusal, where it is not that of the
 * code.
 */
export function errorRowOf(code: ErrorCode, own?: ErrorStatus): { status: ErrorStatus; type: string } {
  const row: ErrorRow = ERROR_CODES[code];
  const status = own ?? row.status;
  return { status, type: row.type ?? TYPES[status] };
}
