// Translates a provider's error to the other dialect by one table of type, code and status, which is used in
// both directions. It handles only errors about the request; clients never receive errors about a provider
// key.

import type { StreamError } from "../dialect.ts";

/**
 * The fields that classify an error. The message is searched only for phrases that have a code in the other
 * dialect.
 */
export interface ErrorWords {
  readonly status: number;
  readonly message?: string;
  readonly type: string;
  /** The error code; empty when there is none. */
  readonly code: string;
}

interface Row {
  readonly messages: string;
  readonly chat: string;
  /** The chat code; null means that the type is enough and an existing code stays. */
  readonly code: string | null;
  readonly status: number;
  /** Statuses that are more specific than the row's and stay. */
  readonly keeps: readonly number[];
}

const row = (
  messages: string,
  chat: string,
  code: string | null,
  status: number,
  keeps: readonly number[] = [],
): Row => ({ messages, chat, code, status, keeps });

const INVALID = row("invalid_request_error", "invalid_request_error", null, 400, [404, 409, 413, 422]);
const FAILED = row("api_error", "server_error", null, 500, [502]);

// Status 529 is specific to one provider, so an overload becomes 503 in both dialects.
const ROWS: readonly Row[] = [
  INVALID,
  row("authentication_error", "authentication_error", "invalid_api_key", 401),
  row("billing_error", "insufficient_quota", "insufficient_quota", 402),
  row("permission_error", "permission_error", null, 403),
  row("not_found_error", "not_found_error", "model_not_found", 404),
  row("conflict_error", "invalid_request_error", "conflict", 409),
  row("request_too_large", "invalid_request_error", "request_too_large", 413),
  row("rate_limit_error", "rate_limit_error", "rate_limit_exceeded", 429),
  FAILED,
  row("timeout_error", "server_error", "timeout", 504),
  row("overloaded_error", "service_unavailable_error", "overloaded", 503),
];

/** Statuses that differ for chat clients, which expect 429 for an exhausted quota. */
const CHAT_STATUS: ReadonlyMap<string, number> = new Map([["billing_error", 429]]);

/** Further chat types, with their messages type. */
const CHAT_TYPES: readonly (readonly [string, string])[] = [
  ["tokens", "rate_limit_error"],
  ["requests", "rate_limit_error"],
];

const BY_MESSAGES = new Map(ROWS.map((one) => [one.messages, one]));
const BY_CODE = new Map(ROWS.flatMap((one) => (one.code === null ? [] : [[one.code, one] as const])));
/** Rows by chat type, for errors without a code; the first row of a type counts. */
const BY_CHAT = new Map([
  ...ROWS.toReversed().map((one) => [one.chat, one] as const),
  ...CHAT_TYPES.map(([type, messages]) => [type, BY_MESSAGES.get(messages) ?? FAILED] as const),
]);
const BY_STATUS = new Map([
  ...ROWS.map((one) => [one.status, one] as const),
  [529, BY_MESSAGES.get("overloaded_error") ?? FAILED],
]);

const byStatus = (status: number): Row =>
  BY_STATUS.get(status) ?? (status >= 400 && status < 500 ? INVALID : FAILED);

/** Messages for which chat clients expect a code, so that they can shorten the prompt and retry. */
const TOO_LONG = /prompt is too long|exceeds? (the )?context (limit|window)/i;

/** Translates a messages provider's error for a chat client; other fields stay. */
export function chatErrorOf<E extends ErrorWords>(error: E): E {
  const found = BY_MESSAGES.get(error.type) ?? byStatus(error.status);
  const status = CHAT_STATUS.get(found.messages) ?? statusOf(found, error.status);
  const lengthCode =
    found === INVALID && TOO_LONG.test(error.message ?? "") ? "context_length_exceeded" : null;
  return { ...error, type: found.chat, code: lengthCode ?? found.code ?? error.code, status };
}

/**
 * Translates a provider's error for a responses client, whose errors have the chat form: a chat provider's stays as it
 * is.
 */
export const responsesErrorOf: Readonly<Record<"chat" | "messages", <E extends ErrorWords>(error: E) => E>> =
  {
    chat: (error) => error,
    messages: chatErrorOf,
  };

/** Codes of failed responses, by code or type of the error. */
const FAILED_CODES: ReadonlyMap<string, string> = new Map([
  ["upstream_rate_limited", "rate_limit_exceeded"],
  ["rate_limit_exceeded", "rate_limit_exceeded"],
  ["rate_limit_error", "rate_limit_exceeded"],
  ["context_length_exceeded", "context_length_exceeded"],
  ["insufficient_quota", "insufficient_quota"],
  ["invalid_request_error", "invalid_prompt"],
]);

/** Returns the `error` of a failed response, with a code that clients of this style know. */
export const responseErrorOf = ({ code, type, message }: StreamError) => ({
  code: FAILED_CODES.get(code) ?? FAILED_CODES.get(type) ?? "server_error",
  message,
});

/** Translates a chat provider's error for a messages client; other fields stay, including the code. */
export function messagesErrorOf<E extends ErrorWords>(error: E): E {
  const typed = BY_CHAT.get(error.type);
  // The type of an invalid request is less specific than the status.
  const found = BY_CODE.get(error.code) ?? (typed === INVALID ? undefined : typed) ?? byStatus(error.status);
  return { ...error, type: found.messages, status: statusOf(found, error.status) };
}

const statusOf = ({ status, keeps }: Row, given: number): number => (keeps.includes(given) ? given : status);
