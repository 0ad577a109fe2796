// The errors of each endpoint, by status, with the codes that it can answer: those that follow from who may call it and from
// what it takes, and those that its row names. A code that no status is known for breaks the document, and so its test.

import { asManagement, problem } from "./errors.ts";
import { type DocumentedRoute, isRepeatable, type Taken } from "./openapi-route.ts";
import type { Row } from "./openapi-row.ts";

type Json = Record<string, unknown>;

/** A provider's own refusal of what a request says goes through with its words, its type and its code. */
const PROVIDERS = [400, 404, 413, 422] as const;

/** Error responses by status. */
export function errorsOf(route: DocumentedRoute, row: Row): Record<string, Json> {
  const { path } = route;
  const taken = route.handle.takes;
  const gateway = row.passes === true;
  const codes = [
    ...new Set([...(taken === undefined ? [] : commonCodes(taken, route)), ...(row.refuses ?? [])]),
  ];
  const found = codes.map((code) => {
    const known = problem({ code, message: "" });
    return gateway || taken?.pays === true ? known : asManagement(known);
  });
  const byStatus = Map.groupBy(found, ({ status }) => status);
  const statuses = [...new Set([...byStatus.keys(), ...(gateway ? PROVIDERS : [])])].sort((a, b) => a - b);
  const messages = path.startsWith("/v1/messages");
  return Object.fromEntries(
    statuses.map((status) => {
      const own = byStatus.get(status) ?? [];
      const open = gateway && (PROVIDERS as readonly number[]).includes(status);
      const names = [...new Set(own.map(({ code }) => code))];
      const types = [...new Set(own.map(({ type }) => type))];
      const words = open ? "; or the provider's own refusal of the request" : "";
      return [
        String(status),
        {
          description: `${SAID[status] ?? "Refused"}: ${names.map((name) => `\`${name}\``).join(", ")}${words}`,
          headers: { "x-request-id": { $ref: "#/components/headers/x-request-id" } },
          content: {
            "application/json": {
              schema: wrapped(
                messages,
                open
                  ? { type: { type: "string" }, code: { type: "string", examples: names } }
                  : { type: { type: "string", enum: types }, code: { type: "string", enum: names } },
              ),
            },
          },
        },
      ];
    }),
  );
}

const SAID: Readonly<Record<number, string>> = {
  400: "Something in the request is wrong",
  401: "No account has this key",
  403: "Not allowed",
  404: "Not there",
  413: "Too large for the provider",
  422: "Refused by the provider",
  429: "A limit is reached",
  500: "A fault of the service",
  502: "The provider failed",
  503: "Not possible now",
  504: "The provider took too long",
};

function wrapped(messages: boolean, { type, code }: { type: Json; code: Json }): Json {
  const error = {
    type: "object",
    required: ["message", "type", "code"],
    properties: {
      message: { type: "string", description: "What is wrong, and what to do" },
      type,
      code,
    },
  };
  return messages
    ? {
        type: "object",
        required: ["type", "error", "request_id"],
        properties: {
          type: { type: "string", const: "error" },
          error,
          request_id: { anyOf: [{ type: "string" }, { type: "null" }] },
        },
      }
    : { type: "object", required: ["error"], properties: { error } };
}

/** What an endpoint refuses because of what it asks for. */
function commonCodes({ who, body, query, writes }: Taken, route: DocumentedRoute): string[] {
  const changing = body !== undefined || writes === true;
  return [
    ...(body === undefined ? [] : ["invalid_json", "invalid_parameter", "body_too_large", ...looked(body)]),
    ...(query === undefined ? [] : ["invalid_parameter", ...looked(query)]),
    ...(/[:*]/.test(route.path) ? ["invalid_parameter"] : []),
    ...(isRepeatable(route) ? ["invalid_parameter", "idempotency_mismatch", "idempotency_expired"] : []),
    "missing_api_key",
    "invalid_api_key",
    "account_disabled",
    ...(changing ? ["account_suspended"] : []),
    "ip_not_allowed",
    ...(who === "owner" ? ["not_owner"] : []),
    ...(who === "root" ? ["not_root"] : []),
    "rpm_exceeded",
    "internal_error",
    "service_unavailable",
  ];
}

const looked = (schema: NonNullable<Taken["body"]>): string[] => [
  ...(schema.additionalProperties === false ? ["unknown_field"] : []),
  ...((schema.required ?? []).length > 0 ? ["missing_parameter"] : []),
];
