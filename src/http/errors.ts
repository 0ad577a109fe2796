// Error responses: a refusal, or a provider's own error, becomes a status, headers and a body (contract section 2). The codes
// are in base/error-codes.ts. No other file of src/http sets an error status.

import { errorRowOf, errorTypeOf, isErrorCode } from "../base/error-codes.ts";
import { assert, type Refusal, RefusedError, UnavailableError } from "../base/errors.ts";
import type { HeaderReader } from "../base/header-reader.ts";
import { CODINGS } from "../gateway/content-coding.ts";
import { StoreBusyError, StoreLostError, StoreTimeoutError } from "../store/store-errors.ts";
import type { ServerResponse } from "./server/server-response.ts";

/** The type of errors for which waiting does not help, so that SDKs must not retry. */
const INSUFFICIENT_QUOTA = "insufficient_quota";
/** SDKs would sleep through longer waits, so with those they get the true wait and `x-should-retry: false`. */
const LONG_WAIT_S = 30;

/** An error response: the row of a code, or a provider's own error about the request. */
export interface HttpError {
  readonly status: number;
  readonly type: string;
  readonly code: string;
  readonly message: string;
  readonly param?: string;
  readonly details?: unknown;
  readonly headers: Readonly<Record<string, string>>;
}

/** Returns the error response of a refusal. Throws for a code that no client may see. */
export function httpError({ code, ...refusal }: Refusal): HttpError {
  assert(isErrorCode(code), `the code ${code} is for callers inside the service`);
  const { status, type } = errorRowOf(code, refusal.status);
  const isQuota = type === INSUFFICIENT_QUOTA;
  const headers: Record<string, string> = {};
  if (refusal.retryAfterS !== undefined) headers["retry-after"] = String(refusal.retryAfterS);
  if (status === 415) headers["accept-encoding"] = CODINGS.join(", ");
  if (isQuota || refusal.final || (refusal.retryAfterS ?? 0) > LONG_WAIT_S) {
    headers["x-should-retry"] = "false";
  }
  return {
    status,
    type,
    code,
    message: refusal.message,
    ...(refusal.param === undefined ? {} : { param: refusal.param }),
    ...(refusal.errorDetails === undefined ? {} : { details: refusal.errorDetails }),
    headers,
  };
}

/** Returns the error as management endpoints answer it: `insufficient_balance` is 400 where no model is asked for. */
export const asManagement = (found: HttpError): HttpError =>
  found.code === "insufficient_balance"
    ? { ...found, status: 400, type: errorTypeOf(400), headers: {} }
    : found;

/** Returns the error object of a body, and of the error event of a stream. */
export const errorOf = ({ message, type, code, param, details }: HttpError) => ({
  message,
  type,
  code,
  ...(param === undefined ? {} : { param }),
  ...(details === undefined ? {} : { details }),
});

/** Returns the response of an error. */
export const errorResponse = (
  found: HttpError,
  headers: Readonly<Record<string, string>>,
): ServerResponse => ({
  status: found.status,
  headers: { "content-type": "application/json", ...found.headers, ...headers },
  body: JSON.stringify({ error: errorOf(found) }),
});

/** Returns the response for SDKs of the messages style, which read a type at the top, and the request id in the body. */
export function messagesError(found: HttpError, headers: Readonly<Record<string, string>>): ServerResponse {
  const requestId = headers["x-request-id"] ?? null;
  return {
    status: found.status,
    headers: {
      "content-type": "application/json",
      ...(requestId === null ? {} : { "request-id": requestId }),
      ...found.headers,
      ...headers,
    },
    body: JSON.stringify({ type: "error", error: errorOf(found), request_id: requestId }),
  };
}

const isAtOrBelow = (path: string, parent: string): boolean =>
  path === parent || path.startsWith(`${parent}/`);

/**
 * Returns how the errors of a request are shaped: as SDKs of the messages style read them below /v1/messages, and at the lists
 * of models where such an SDK asks, which the header `anthropic-version` tells.
 */
export const errorAt = (path: string, headers: HeaderReader): typeof errorResponse =>
  isAtOrBelow(path, "/v1/messages") || (isAtOrBelow(path, "/v1/models") && headers.has("anthropic-version"))
    ? messagesError
    : errorResponse;

const OUTCOME_UNKNOWN = "Whether it happened is unknown: repeat the request.";

/**
 * Returns an exception as a refusal, or null for a bug, which is to be logged and answered with `internal_error`. `isWrite`:
 * the request may have changed something before the exception.
 */
export function refusalOf(error: unknown, isWrite = false): Refusal | null {
  if (error instanceof RefusedError) return error.refusal;
  if (error instanceof DOMException && error.name === "AbortError") {
    return { code: "service_unavailable", message: "The client went away before its answer was ready." };
  }
  if (error instanceof StoreBusyError) {
    // Only the last write found the store busy; those before it may have been done.
    const outcome = isWrite ? OUTCOME_UNKNOWN : "Nothing was done: ask again in a moment.";
    const message = `Too much is asked of the store at once. ${outcome}`;
    return { code: "service_unavailable", message, retryAfterS: 1 };
  }
  if (
    error instanceof UnavailableError ||
    error instanceof StoreTimeoutError ||
    error instanceof StoreLostError
  ) {
    return {
      code: "service_unavailable",
      message: `The service could not reach its store in time. ${OUTCOME_UNKNOWN}`,
      retryAfterS: 1,
    };
  }
  return null;
}

/** The refusal of a request that met a bug. */
export const INTERNAL: Refusal = {
  code: "internal_error",
  message: "Something broke inside the service. The request id helps to find it in the log.",
};
