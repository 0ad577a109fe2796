// The errors of each endpoint, by status, with the codes that it can answer: those that follow from who may call it and from
// what it takes, and those that its row names. A code that no status is known for breaks the document, and so its test.

import type { TSchema } from "@sinclair/typebox";
import type { ErrorCode } from "../../base/error-codes.ts";
import type { Refusal } from "../../base/errors.ts";
import { asManagement, httpError } from "../errors.ts";
import { isIdempotentPath } from "../idempotency.ts";
import type { Access } from "../management.ts";
import type { DocumentedRoute as Route } from "../operation.ts";
import { isGatewayPath } from "../request-head.ts";

type Json = Record<string, unknown>;

/** A provider's own refusal of what a request says goes through with its status, its words, its type and its code. */
const PROVIDERS: readonly number[] = [400, 404, 409, 413, 422];

/** Error responses of a route by status. */
export function errorResponses({ method, path, hooks }: Route): Record<string, Json> {
  const { "x-access": access, "x-operation": extra = {} } = hooks.detail ?? {};
  const codes: ErrorCode[] = [
    ...(access === undefined ? [] : accessCodes(access, { method, path, hooks })),
    ...(extra.errors ?? []),
  ];
  return byStatus(codes, path, {
    isForwarded: extra.isForwarded === true,
    isCharged: access?.isCharged === true,
  });
}

/** What an endpoint refuses because of whom it asks for and what it reads. */
function accessCodes({ role }: Access, { method, path, hooks: { body, query } }: Route): ErrorCode[] {
  const isRead = method === "GET" && !isGatewayPath(path);
  return [
    ...(body === undefined
      ? []
      : (["invalid_json", "invalid_parameter", "body_too_large", ...fieldCodes(body)] as const)),
    ...(query === undefined ? [] : (["invalid_parameter", ...fieldCodes(query)] as const)),
    ...(/[:*]/.test(path) ? (["invalid_parameter"] as const) : []),
    ...(method !== "GET" && isIdempotentPath(path)
      ? (["invalid_parameter", "idempotency_mismatch", "idempotency_expired"] as const)
      : []),
    ...(["missing_api_key", "invalid_api_key", "account_disabled"] as const),
    ...(isRead ? [] : (["account_suspended"] as const)),
    "ip_not_allowed",
    ...(role === "owner" ? (["not_owner"] as const) : []),
    ...(role === "root" ? (["not_root"] as const) : []),
    "rpm_exceeded",
    "internal_error",
    "service_unavailable",
  ];
}

const fieldCodes = (schema: TSchema): ErrorCode[] => [
  ...(schema.additionalProperties === false ? (["unknown_field"] as const) : []),
  ...((schema.required ?? []).length > 0 ? (["missing_parameter"] as const) : []),
];

function byStatus(
  codes: readonly ErrorCode[],
  path: string,
  { isForwarded, isCharged }: { readonly isForwarded: boolean; readonly isCharged: boolean },
): Record<string, Json> {
  const refusals = [...new Set(codes)].map((code): Refusal => ({ code, message: "" }));
  // A path that reads a body refuses one in a coding that it does not read.
  if (codes.includes("body_too_large"))
    refusals.push({ code: "invalid_parameter", message: "", status: 415 });
  const found = refusals.map(httpError).map((one) => (isForwarded || isCharged ? one : asManagement(one)));
  const own = Map.groupBy(found, ({ status }) => status);
  const statuses = [...new Set([...own.keys(), ...(isForwarded ? PROVIDERS : [])])].sort((a, b) => a - b);
  const wrap = path.startsWith("/v1/messages") ? messagesShape : shape;
  return Object.fromEntries(
    statuses.map((status) => [
      String(status),
      responseOf(status, own.get(status) ?? [], isForwarded && PROVIDERS.includes(status), wrap),
    ]),
  );
}

/** `others`: a provider may say what it likes with this status. */
function responseOf(
  status: number,
  own: readonly { readonly code: string; readonly type: string }[],
  others: boolean,
  wrap: (error: Json) => Json,
): Json {
  const codes = own.map(({ code }) => code);
  const said = [...codes.map((code) => `\`${code}\``), ...(others ? ["the provider's own code"] : [])];
  const schema = wrap({
    type: "object",
    required: ["message", "type", "code"],
    properties: {
      message: { type: "string", description: "What is wrong, and what to do" },
      type: others ? { type: "string" } : { type: "string", enum: [...new Set(own.map(({ type }) => type))] },
      code: others ? { type: "string", examples: codes } : { type: "string", enum: codes },
      ...(codes.includes("previous_response_not_found") ? { param: PARAM } : {}),
      ...(others ? { details: DETAILS } : {}),
    },
  });
  return {
    description: `${SAID[status] ?? "Refused"}: ${said.join(", ")}`,
    headers: { "x-request-id": { $ref: "#/components/headers/x-request-id" } },
    content: { "application/json": { schema } },
  };
}

const PARAM: Json = {
  type: "string",
  description: "The parameter that names what is not there; with `previous_response_not_found`",
};

const DETAILS: Json = {
  anyOf: [{ type: "object" }, { type: "array" }],
  description: "What an SDK may decide by, such as `error_code`; where there is any",
};

const shape = (error: Json): Json => ({ type: "object", required: ["error"], properties: { error } });

/** The messages style also says at the top what it is, and which request it was. */
const messagesShape = (error: Json): Json => ({
  type: "object",
  required: ["type", "error", "request_id"],
  properties: {
    type: { type: "string", const: "error" },
    error,
    request_id: { anyOf: [{ type: "string" }, { type: "null" }] },
  },
});

const SAID: Readonly<Record<number, string>> = {
  400: "Something in the request is wrong",
  401: "No account has this key",
  403: "Not allowed",
  404: "Not there",
  409: "In conflict with another request, says the provider",
  413: "Too large for the provider",
  415: "In a coding that is not read",
  422: "Refused by the provider",
  429: "A limit is reached",
  500: "A fault of the service",
  502: "The provider failed",
  503: "Not possible now",
  504: "The provider took too long",
};
