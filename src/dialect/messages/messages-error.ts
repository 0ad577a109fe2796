// Writes errors inside a messages stream, under one of the types that clients of this dialect know.

import { frame } from "../../sse/sse-writer.ts";
import type { StreamError } from "../dialect.ts";

/** Types that the gateway and this dialect share. */
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

/** Types by the gateway's error code, which is more specific than its type. */
const BY_CODE: ReadonlyMap<string, string> = new Map([
  ["no_available_key", "overloaded_error"],
  ["service_unavailable", "overloaded_error"],
  ["upstream_rate_limited", "rate_limit_error"],
  ["upstream_timeout", "timeout_error"],
]);

const BY_TYPE: ReadonlyMap<string, string> = new Map([["insufficient_quota", "billing_error"]]);

/** Returns the event on which clients raise an error. An unknown type becomes `api_error`. */
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
