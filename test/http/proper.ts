// What every answer must be, whatever was sent: never a 5xx of our own, errors in the contract's shape, a request id.

import { expect } from "bun:test";
import type { Json } from "../e2e/harness.ts";

const CODES: Readonly<Record<number, readonly string[]>> = {
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
    "insufficient_parent_balance",
    "insufficient_balance",
    "user_limit_reached",
    "has_subaccounts",
    "ambiguous_identifier",
    "body_too_large",
    "confirm_mismatch",
    "upstream_rejected",
    "idempotency_mismatch",
    "idempotency_expired",
    "key_limit_reached",
  ],
  401: ["missing_api_key", "invalid_api_key"],
  403: [
    "scope_missing",
    "not_owner",
    "not_root",
    "not_ancestor",
    "not_manager",
    "field_not_settable",
    "ip_not_allowed",
  ],
  404: ["not_found", "user_not_found", "key_not_found", "model_not_found", "model_not_priced"],
  405: ["method_not_allowed"],
  429: ["insufficient_balance"],
};

const TYPES: Readonly<Record<number, string>> = {
  ...{ 400: "invalid_request_error", 401: "authentication_error", 403: "permission_error" },
  ...{ 404: "not_found_error", 405: "invalid_request_error", 429: "insufficient_quota" },
  ...{ 502: "upstream_error" },
};

/** The path of a field. */
const PARAM = /^[\w.[\]-]{1,200}$/;

export interface Seen {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Json;
  readonly text: string;
}

/**
 * An error of the contract: this status (or one of these) and its type, this code or else one of the status's row, and a
 * sentence for the reader.
 */
export function properError(answer: Seen, status: number | readonly number[] = 400, code?: string): void {
  expect([status].flat()).toContain(answer.status);
  expect(answer.headers.get("x-request-id")).toBeString();
  expect(answer.headers.get("content-type")).toStartWith("application/json");
  // Below /v1/messages the body also says so at its top, and names the request.
  if (answer.headers.has("request-id")) {
    const requestId = answer.headers.get("x-request-id");
    expect(answer.headers.get("request-id")).toBe(requestId);
    expect(answer.body).toEqual({ type: "error", error: answer.body.error, request_id: requestId });
  } else expect(Object.keys(answer.body)).toEqual(["error"]);
  const { param, ...others } = answer.body.error;
  expect(Object.keys(others).sort()).toEqual(["code", "message", "type"]);
  const { message, type, code: found } = others;
  // A provider's refusal of a field names it.
  if (param !== undefined)
    expect([found, param]).toEqual(["upstream_rejected", expect.stringMatching(PARAM)]);
  expect(type).toBe(TYPES[answer.status]!);
  expect(code === undefined ? CODES[answer.status]! : [code]).toContain(found);
  expect(message.length).toBeWithin(10, 1_000);
  // What was sent may be quoted; nothing of the inside may show.
  expect(message).not.toMatch(/\n +at |TypeError|RangeError|SQLITE|node_modules|\.ts:\d/);
}

/** The headers of a list: how many there are, and the page, its size and the number of pages where it has pages. */
export const pageHeaders = ({ headers }: Pick<Seen, "headers">): (string | null)[] =>
  ["X-Total-Count", "X-Page", "X-Per-Page", "X-Total-Pages"].map((name) => headers.get(name));

/** Any answer that is no failure of the service. */
export function proper(answer: Seen): void {
  if (answer.status === 200) expect(answer.headers.get("x-request-id")).toBeString();
  else properError(answer, [400, 401, 403, 404, 405, 429]);
}
