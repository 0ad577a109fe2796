// How a failure is said inside a messages stream: under one of the types that clients of this dialect know.

import { frame } from "../../sse/sse-writer.ts";
import type { StreamError } from "../dialect.ts";

/** Types that mean the same in both worlds. */
const KNOWN: ReadonlySet<string> = new Set([
  "api_error",
  "authentication_error",
  "billing_error",
  "conflict_error",
  "invalid_request_error",
  "not_found_error",
  "overloaded_error",
  "permission_error",
  "rate_limit_error",
  "request_too_large",
  "timeout_error",
]);

/** A code says more than its type. */
const BY_CODE: ReadonlyMap<string, string> = new Map([
  ["no_available_key", "overloaded_error"],
  ["service_unavailable", "overloaded_error"],
  ["upstream_rate_limited", "rate_limit_error"],
  ["upstream_timeout", "timeout_error"],
]);

const BY_TYPE: ReadonlyMap<string, string> = new Map([["insufficient_quota", "billing_error"]]);

/** The event at which clients raise an error. Whatever is no known failure is one of the service. */
export function messagesStreamError(
  { message, type, code, details }: StreamError,
  requestId: string,
): Uint8Array {
  const known = BY_CODE.get(code) ?? BY_TYPE.get(type) ?? (KNOWN.has(type) ? type : "api_error");
  const error = {
    type: known,
    message,
    ...(code === "" ? {} : { code }),
    ...(details === undefined ? {} : { details }),
  };
  return frame("error", JSON.stringify({ type: "error", error, request_id: requestId }));
}
