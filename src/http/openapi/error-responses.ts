// The error responses of each endpoint, by status, with the codes that it can answer: those that follow from its access and its
// schemas, and those that its declaration names.

import type { TSchema } from "@sinclair/typebox";
import type { ErrorCode } from "../../base/error-codes.ts";
import type { Refusal } from "../../base/errors.ts";
import { asManagement, httpError } from "../errors.ts";
import { isIdempotentPath } from "../idempotency.ts";
import type { Access } from "../management.ts";
import type { DocumentedRoute as Route } from "../operation.ts";
import { isGatewayPath } from "../request-head.ts";

type Json = Record<string, unknown>;

/** Statuses of a provider's own refusals of a request, which pass through with their message, type and code. */
const PASSED_THROUGH: readonly number[] = [400, 404, 409, 413, 422];

/** Returns the error responses of a route by status. */
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

/** Returns the codes that follow from who may call an endpoint and from what it reads. */
function accessCodes({ role, scope }: Access, { method, path, hooks: { body, query } }: Route): ErrorCode[] {
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
    ...(scope === "none" ? [] : (["scope_missing"] as const)),
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
  // An endpoint that reads a body refuses one with a content coding that it does not know.
  if (codes.includes("body_too_large"))
    refusals.push({ code: "invalid_parameter", message: "", status: 415 });
  const found = refusals.map(httpError).map((one) => (isForwarded || isCharged ? one : asManagement(one)));
  const own = Map.groupBy(found, ({ status }) => status);
  const statuses = [...new Set([...own.keys(), ...(isForwarded ? PASSED_THROUGH : [])])].sort(
    (a, b) => a - b,
  );
  const wrap = wrapAt(path);
  return Object.fromEntries(
    statuses.map((status) => [
      String(status),
      responseOf(status, own.get(status) ?? [], isForwarded && PASSED_THROUGH.includes(status), wrap),
    ]),
  );
}

/** `isOpen`: a provider's own error may come with this status, so type and code may be any. */
function responseOf(
  status: number,
  own: readonly { readonly code: string; readonly type: string }[],
  isOpen: boolean,
  wrap: (error: Json) => Json,
): Json {
  const codes = own.map(({ code }) => code);
  const listed = [...codes.map((code) => `\`${code}\``), ...(isOpen ? ["the provider's own code"] : [])];
  const schema = wrap({
    type: "object",
    required: ["message", "type", "code"],
    properties: {
      message: { type: "string", description: "What is wrong, and what to do" },
      type: isOpen ? { type: "string" } : { type: "string", enum: [...new Set(own.map(({ type }) => type))] },
      code: isOpen ? { type: "string", examples: codes } : { type: "string", enum: codes },
      ...(isOpen || codes.includes("previous_response_not_found") ? { param: PARAM } : {}),
      ...(isOpen ? { details: DETAILS } : {}),
    },
  });
  return {
    description: `${MEANINGS[status] ?? "Refused"}: ${listed.join(", ")}`,
    headers: { "x-request-id": { $ref: "#/components/headers/x-request-id" } },
    content: { "application/json": { schema } },
  };
}

const PARAM: Json = {
  type: "string",
  description:
    "The parameter that the error is about: with `previous_response_not_found` the one that names the missing object, with `invalid_parameter` of a request that has to be translated the one that cannot be, with a provider's own error the one that it names",
};

const DETAILS: Json = {
  anyOf: [{ type: "object" }, { type: "array" }],
  description: "What an SDK may read, such as `error_code`; where there is any",
};

const shape = (error: Json): Json => ({ type: "object", required: ["error"], properties: { error } });

/** The error body of the messages style, which also has its kind and the request id at the top. */
const messagesShape = (error: Json): Json => ({
  type: "object",
  required: ["type", "error", "request_id"],
  properties: {
    type: { type: "string", const: "error" },
    error,
    request_id: { anyOf: [{ type: "string" }, { type: "null" }] },
  },
});

const shapeByHeader = (error: Json): Json => ({ anyOf: [shape(error), messagesShape(error)] });

/** The lists of models answer in the style of the SDK that asks. */
function wrapAt(path: string): (error: Json) => Json {
  if (path.startsWith("/v1/messages")) return messagesShape;
  return path.startsWith("/v1/models") ? shapeByHeader : shape;
}

const MEANINGS: Readonly<Record<number, string>> = {
  400: "Something in the request is wrong",
  401: "No account has this key",
  403: "Not allowed",
  404: "Not found",
  409: "In conflict with another request, as the provider reports",
  413: "Too large for the provider",
  415: "In a content coding that is not supported",
  422: "Refused by the provider",
  429: "A limit is reached",
  500: "A fault of the service",
  502: "The provider failed",
  503: "Not possible now",
  504: "The provider took too long",
};
