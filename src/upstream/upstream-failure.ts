// Classifies a provider's failure: one row per failure kind, with its effect on the key and on the request.
// No other file interprets a provider's error; only the cleaned `pass` of it reaches a client.

import type { CancelSignal } from "../base/cancellation.ts";
import type { HeaderReader } from "../base/header-reader.ts";
import { cleanDetails, type ErrorDetails } from "./error-details.ts";
import { clean, type ProviderError, readError, retryAfter } from "./provider-error.ts";

/** The kinds of failure; see `FAILURE_RULES` for their effects. */
export type FailureKind =
  | "invalid_key"
  | "no_permission"
  | "model_unavailable"
  | "path_missing"
  | "foreign_reasoning"
  | "quota_gone"
  | "rate_limited"
  | "too_big_for_tpm"
  | "overloaded"
  | "server_error"
  | "timeout"
  | "unreachable"
  | "no_connection"
  | "error_body"
  | "empty_stream"
  | "not_streamed"
  | "answer_too_large"
  | "redirect"
  | "conflict"
  | "rejected"
  | "client_gone";

/** A classified failure of an attempt. */
export interface UpstreamFailure {
  readonly name: FailureKind;
  /** The provider's HTTP status; 0 means that there was no response. */
  readonly status: number;
  /** Milliseconds for which the key should rest, as the provider stated. */
  readonly retryAfterMs?: number;
  /** The provider's cleaned answer about the request's content, for the client. */
  readonly pass?: {
    readonly status: number;
    readonly message: string;
    readonly type: string;
    readonly code: string;
    /** The parameter that the error is about; undefined when the provider named none. */
    readonly param?: string;
    /** Cleaned details by which an SDK may decide; undefined when the provider gave none. */
    readonly details?: ErrorDetails;
  };
  /** One line for the log, without secrets. */
  readonly note: string;
}

/** The effect of each failure on the key, and whether another key may be tried (`over`). */
export const FAILURE_RULES: Readonly<
  Record<
    FailureKind,
    { readonly key: "fail" | "long" | "rest" | "pass_over" | "none"; readonly over: boolean }
  >
> = {
  invalid_key: { key: "long", over: true },
  no_permission: { key: "fail", over: true },
  model_unavailable: { key: "pass_over", over: true },
  // The same key gets the request translated.
  path_missing: { key: "none", over: true },
  // The same key gets the request without the reasoning that another organization of its provider has encrypted.
  foreign_reasoning: { key: "none", over: true },
  quota_gone: { key: "long", over: true },
  rate_limited: { key: "rest", over: true },
  too_big_for_tpm: { key: "none", over: true },
  overloaded: { key: "fail", over: true },
  server_error: { key: "fail", over: true },
  timeout: { key: "fail", over: true },
  unreachable: { key: "fail", over: true },
  // This node has too many open, whatever the key.
  no_connection: { key: "none", over: false },
  error_body: { key: "fail", over: true },
  empty_stream: { key: "fail", over: true },
  // The provider has made the answer, and bills it: another key would make it once more.
  not_streamed: { key: "none", over: false },
  answer_too_large: { key: "none", over: false },
  redirect: { key: "fail", over: true },
  conflict: { key: "none", over: true },
  rejected: { key: "none", over: false },
  client_gone: { key: "none", over: false },
};

/** The parts of an answer by which it is classified. */
export interface Evidence {
  /** The provider's HTTP status; it is 200 for an error body or an error inside a stream. */
  readonly status: number;
  readonly headers?: HeaderReader;
  readonly bodyText: string;
  /** The requested model, by the provider's name. */
  readonly model: string;
  /** Wall-clock milliseconds, for a retry-after that is a date. */
  readonly nowMs: number;
}

/**
 * One row of a table: all its conditions must hold, and the first row that holds decides the failure kind.
 */
interface Rule {
  readonly name: FailureKind;
  readonly status?: readonly number[];
  /** Must match one of code, type and detail. */
  readonly word?: RegExp;
  readonly message?: RegExp;
  readonly unless?: RegExp;
}

// A provider's 400 quotes the client's request, so a pattern that affects a key must be anchored at the
// message's start. Otherwise a client could put shared keys to sleep with a well-chosen parameter.
const QUOTED = /extra inputs|input should|not permitted|field required|unexpected|invalid value/i;
/** Stands before a word of the client that a provider quotes without marks. */
const REFUSED_WORD = /\b(invalid|unknown|unsupported|unrecognized|param(eter)?s?)\b/i;

/** Cases where the code misleads: the message is more specific, or a 400 is not the client's fault. */
const EXCEPTIONS: readonly Rule[] = [
  {
    name: "quota_gone",
    status: [200, 400, 403, 429],
    message:
      /^(your )?credit balance is too low|^you have reached your specified (API|workspace) usage limits/i,
    unless: QUOTED,
  },
  {
    name: "quota_gone",
    status: [200, 403, 429],
    message: /^[a-z ]{0,60}\binsufficient (account )?(balance|credits?)\b/i,
    unless: REFUSED_WORD,
  },
  {
    name: "quota_gone",
    word: /^RESOURCE_EXHAUSTED$/,
    message: /per\s?day|daily|free.?tier/i,
    unless: /per\s?minute/i,
  },
  { name: "invalid_key", status: [400], message: /^API key (not valid|expired|not found)/i, unless: QUOTED },
  {
    name: "too_big_for_tpm",
    status: [200, 413, 429],
    message: /request too large for|limit:? [\d,]+, requested:? [\d,]+/i,
  },
  // Reasoning that another key keeps, or none, which the request can do without.
  {
    name: "foreign_reasoning",
    status: [200, 400, 404],
    message: /^item (with id )?['"`]rs_[\w-]+['"`] not found/i,
  },
  { name: "overloaded", status: [200, 429, 500], message: /engine\b.{0,20}\boverloaded/i },
  {
    name: "rejected",
    status: [200, 400, 403, 413, 422],
    message: /context length|prompt is too long|context limit|exceeds? the maximum number of tokens/i,
  },
  {
    name: "model_unavailable",
    status: [200, 400, 403, 404],
    message:
      /^((publisher|the|this|requested) )*(model|deployment)s?\b[\s/:]*([`'"]?[^\s`'"/:][^\s`'"]*[`'"]?,? *)?(was |is |does |do )?not (exist|found|available|servable)|^(unknown|no such) (model|deployment)\b/i,
  },
  // OpenAI's answer to a chat model at /v1/embeddings, which any client can cause.
  {
    name: "model_unavailable",
    status: [403],
    message: /^you are not allowed to generate embeddings from this model/i,
  },
  { name: "model_unavailable", status: [404], message: /^model: |^(resource )?not found\.?$/i },
];

/**
 * Error codes by severity: a spend limit in the details outweighs the `rate_limit_error` of the same error.
 */
const WORDS: readonly Rule[] = [
  {
    name: "quota_gone",
    word: /^(insufficient_quota|credit_balance_exhausted|(organization|project)_spend_limit_exceeded|organization_usage_limit_exceeded|billing_hard_limit_reached|billing_not_active|billing_error|(enforced|contract)_spend_limit_reached|exceeded_current_quota_error|insufficient_balance|111[0-3]|130[489]|base_resp:1008)$/,
  },
  {
    name: "invalid_key",
    word: /^(invalid_api_key|API_KEY_INVALID|API_KEY_EXPIRED|authentication_error|invalid_authentication_error|UNAUTHENTICATED|account_deactivated|100[0-4]|base_resp:(1004|2049))$/,
  },
  { name: "model_unavailable", word: /^(model_not_found|DeploymentNotFound|OperationNotSupported|1211)$/ },
  {
    name: "no_permission",
    word: /^(permission_error|permission_denied|PERMISSION_DENIED|unsupported_country_region_territory)$/,
  },
  {
    name: "overloaded",
    word: /^(overloaded_error|server_is_overloaded|engine_overloaded(_error)?|service_unavailable_error|UNAVAILABLE)$/,
  },
  {
    name: "rate_limited",
    word: /^(rate_limit_exceeded|rate_limit_error|rate_limit_reached_error|slow_down|tokens|requests|RESOURCE_EXHAUSTED|130[235]|base_resp:(1002|1041))$/,
  },
  { name: "foreign_reasoning", word: /^invalid_encrypted_content$/ },
  {
    name: "rejected",
    word: /^(context_length_exceeded|request_too_large|content_filter|content_policy_violation|moderation_blocked|sensitive|data_inspection_failed|1210|1261|1301|base_resp:(1026|1027|1039|2013))$/,
  },
  { name: "timeout", word: /^(timeout_error|DEADLINE_EXCEEDED|base_resp:1001)$/ },
  {
    name: "server_error",
    status: [200],
    word: /^(server_error|api_error|internal_server_error|INTERNAL|base_resp:(1000|1013))$/,
  },
  // What a status would say, of an error that came with a success status, such as one inside a stream. The type
  // accompanies more telling codes, which are rows above.
  { name: "conflict", status: [200], word: /^conflict_error$/ },
  { name: "model_unavailable", status: [200], word: /^not_found_error$/ },
  { name: "rejected", status: [200], word: /^invalid_request_error$/ },
];

/** The meaning of a status when no rule holds. Every other 4xx and 5xx is `server_error`. */
const BY_STATUS: Readonly<Record<number, FailureKind>> = {
  400: "rejected",
  401: "invalid_key",
  402: "quota_gone",
  403: "no_permission",
  404: "rejected",
  // The `accept` header of sound is the client's.
  406: "rejected",
  408: "timeout",
  409: "conflict",
  410: "model_unavailable",
  413: "rejected",
  // The content type of a form has the client's boundary.
  415: "rejected",
  422: "rejected",
  // A server of tools that the client named could not be reached.
  424: "rejected",
  429: "rate_limited",
  // All headers that are forwarded come from the client.
  431: "rejected",
  451: "no_permission",
  503: "overloaded",
  529: "overloaded",
};

/** Network errors by code or name; any other is `unreachable`. */
const BY_ERROR: Readonly<Record<string, FailureKind>> = {
  TimeoutError: "timeout",
  ETIMEDOUT: "timeout",
  ECONNLIMIT: "no_connection",
  ETOOLARGE: "answer_too_large",
  AbortError: "client_gone",
  ZlibError: "server_error",
};

const RESTS: ReadonlySet<FailureKind> = new Set(["rate_limited", "overloaded"]);
const PASSES: ReadonlySet<FailureKind> = new Set([
  "rejected",
  "model_unavailable",
  "conflict",
  "foreign_reasoning",
]);
/** Statuses that are returned to the client unchanged; any other (a 403 for a long prompt) becomes a 400. */
const PASS_STATUS: ReadonlySet<number> = new Set([400, 404, 409, 413, 422]);
/** Failures whose message is logged: they concern the key. Messages about a request may quote the prompt. */
const LOGGED: ReadonlySet<FailureKind> = new Set([
  "invalid_key",
  "no_permission",
  "quota_gone",
  "rate_limited",
]);

const RETRY_MAX_MS = 24 * 3_600_000;

/** Classifies a provider's error answer: by `EXCEPTIONS`, then by code, type and details, then by status. */
export function classify(evidence: Evidence): UpstreamFailure {
  const error = readError(evidence.bodyText);
  const name = nameOf(evidence, error);
  const waitMs = RESTS.has(name) ? (retryAfter(evidence) ?? error?.retryMs ?? null) : null;
  const words = error === null ? [] : [error.code, error.type, error.detail].filter((w) => WORD.test(w));
  const errorText = error !== null && LOGGED.has(name) ? [clean(error.message).slice(0, 200)] : [];
  return {
    name,
    status: evidence.status,
    ...(waitMs === null ? {} : { retryAfterMs: Math.min(waitMs, RETRY_MAX_MS) }),
    ...(PASSES.has(name) ? { pass: passOf(evidence.status, name, error) } : {}),
    note: [`status ${evidence.status}`, ...words, ...errorText].join(" "),
  };
}

/**
 * Whether an answer says that the host lacks the path. An error that is about the model, a parameter or an id comes from a
 * host that has it.
 */
export function isMissingPath({ status, bodyText, model }: Evidence): boolean {
  if (status !== 404 && status !== 405 && status !== 501) return false;
  const error = readError(bodyText);
  if (error === null) return true;
  const text = `${error.code} ${error.type} ${error.message}`;
  return !(model !== "" && text.includes(model)) && error.param === "" && !ABOUT_CONTENT.test(text);
}

const ABOUT_CONTENT =
  /model|deployment|\bids?\b|\b(item|file|image|object|container|voice)s?\b|previous_response|voice_not_found/i;

/**
 * Classifies an error thrown while connecting or reading. An abort is the client's unless it is a timeout.
 */
export function fromError(error: unknown): UpstreamFailure {
  const named = error instanceof Error ? error.name : "";
  const code = error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";
  const name = BY_ERROR[code] ?? BY_ERROR[named] ?? "unreachable";
  return { name, status: 0, note: WORD.test(code) ? code : WORD.test(named) ? named : "failed" };
}

/**
 * Classifies why a request or its reading stopped: the reason of an abort tells a deadline from the client.
 */
export function cutBy(signal: Pick<CancelSignal, "aborted" | "reason">, error: unknown): UpstreamFailure {
  if (!signal.aborted) return fromError(error);
  const reason: unknown = signal.reason;
  return reason instanceof Error && reason.name === "TimeoutError"
    ? fromError(reason)
    : { name: "client_gone", status: 0, note: "the client has gone" };
}

function nameOf({ status, model }: Evidence, error: ProviderError | null): FailureKind {
  if (status >= 300 && status < 400) return "redirect";
  if (error === null) {
    // A 404 without an error object means that the server does not have the path, which is not the client's
    // fault.
    return status === 200 ? "server_error" : status === 404 ? "model_unavailable" : byStatus(status);
  }
  // Some providers answer 200 and give the status as the error code.
  const real = status === 200 && /^[45]\d\d$/.test(error.code) ? Number(error.code) : status;
  const rule = [...EXCEPTIONS, ...WORDS].find((r) => holds(r, real, error));
  if (rule !== undefined) return rule.name;
  if (real === 404 && model !== "" && error.message.includes(model)) return "model_unavailable";
  return real === 200 ? "error_body" : byStatus(real);
}

const byStatus = (status: number): FailureKind => BY_STATUS[status] ?? "server_error";

function holds(rule: Rule, status: number, error: ProviderError): boolean {
  if (rule.status !== undefined && !rule.status.includes(status)) return false;
  const { word } = rule;
  if (word !== undefined && ![error.code, error.type, error.detail].some((text) => word.test(text)))
    return false;
  if (rule.message !== undefined && !rule.message.test(error.message)) return false;
  return rule.unless === undefined || !rule.unless.test(error.message);
}

function passOf(
  status: number,
  name: FailureKind,
  error: ProviderError | null,
): NonNullable<UpstreamFailure["pass"]> {
  const fallback = name === "model_unavailable" ? 404 : 400;
  const message = clean(error?.message ?? "");
  const details = cleanDetails(error?.details);
  const isLost = error?.code === LOST_RESPONSE;
  return {
    status: name !== "model_unavailable" && !isLost && PASS_STATUS.has(status) ? status : fallback,
    message: message === "" ? "The provider rejected the request." : message,
    type: wordOr(error?.type, "invalid_request_error"),
    code: wordOr(error?.code, "upstream_rejected"),
    ...(error !== null && isParam(error.param) ? { param: error.param } : {}),
    ...(details === null ? {} : { details }),
  };
}

/** Always 400, as from this service itself (contract section 4), though hosts answer 404 too: clients look for both. */
const LOST_RESPONSE = "previous_response_not_found";

/** The path of a field, such as `input[2].content[0].image_url`. Anything else could hold what the provider must not say. */
const PARAM = /^[A-Za-z_]\w{0,63}(?:\.\w{1,64}|\[\d{1,6}\]){0,12}$/;
const isParam = (param: string): boolean => PARAM.test(param) && clean(param) === param;

const WORD = /^[\w.:-]{1,80}$/;
const wordOr = (text: string | undefined, other: string): string =>
  text !== undefined && WORD.test(text) && !/^sk-|^org-/.test(text) ? text : other;
