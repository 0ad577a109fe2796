// Completes the OpenAPI document that @elysiajs/swagger makes from the routes. It is pure: the same routes give the same
// document. The plugin labels JSON Schema 2020 as OpenAPI 3.0.3, writes keywords of schemas on responses, and knows neither
// media types nor errors; all of that is made here from what the routes declare. It invents nothing.

import { type TSchema, Type } from "@sinclair/typebox";
import { isIdempotentPath } from "../idempotency.ts";
import type { Content, DocumentedRoute, Operation, OperationExtra } from "../operation.ts";
import { isGatewayPath } from "../request-head.ts";
import { isOptionalBody, PURPOSE } from "../schemas.ts";
import { errorResponses } from "./error-responses.ts";
import { type SchemaWriter, schemaWriter } from "./schema-names.ts";

type Json = Record<string, unknown>;

/** The part of the plugin's document that is read. */
export interface GeneratedDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Json>>>>;
}

const TAGS: Readonly<Record<Operation["tag"], string>> = {
  Gateway: "Model requests, in the style of either SDK, and what goes with them.",
  Accounts: "The caller's subaccounts: create, find, recharge, limit, delete; their bills, ledgers and news.",
  Dashboard: "What an account may see of itself, whatever its balance.",
  Administration: "An Owner's provider keys, configuration and news. With ADMIN_PORT set only there.",
  Machines: "For load balancers, collectors and readers of this document.",
};

/** The version of the package; a test compares them. */
const VERSION = "0.1.0";

/** Returns the completed document. `generated` is the plugin's document of exactly these routes. */
export function completeDocument(generated: GeneratedDocument, routes: readonly DocumentedRoute[]): Json {
  const schemas = schemaWriter();
  const paths: Record<string, Json> = {};
  for (const route of routes) {
    const path = route.path.replace(/:(\w+)/g, "{$1}").replace("*", `{${extraOf(route).wildcard ?? "rest"}}`);
    const method = route.method.toLowerCase();
    const operation = generated.paths[path]?.[method];
    if (operation === undefined || route.hooks.detail?.operationId === undefined) continue;
    paths[path] = { ...paths[path], [method]: completeOperation(schemas, operation, route) };
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "arborgate",
      version: VERSION,
      description:
        "A gateway for model requests and the accounts that pay for them. Money is in US dollars, times are ISO 8601 in UTC. " +
        "Every response carries `x-request-id`; errors say what is wrong and what to do.",
    },
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    paths,
    components: {
      securitySchemes: {
        bearer: { type: "http", scheme: "bearer", description: "An account's API key" },
        xApiKey: { type: "apiKey", in: "header", name: "x-api-key", description: "The same key, below /v1" },
      },
      headers: {
        "x-request-id": {
          description: "The client's own, if it is 1 to 128 printable ASCII characters, else a fresh one.",
          schema: { type: "string" },
        },
      },
      schemas: schemas.named,
    },
  };
}

const extraOf = ({ hooks }: DocumentedRoute): OperationExtra => hooks.detail?.["x-operation"] ?? {};

function completeOperation(schemas: SchemaWriter, generated: Json, route: DocumentedRoute): Json {
  const extra = extraOf(route);
  const { tags, operationId, summary, description } = generated;
  const { security = [] } = route.hooks.detail ?? {};
  const alsoXApiKey = security.length > 0 && isGatewayPath(route.path);
  return {
    tags,
    operationId,
    summary,
    ...descriptionOf(description, route),
    security: alsoXApiKey ? [...security, { xApiKey: [] }] : security,
    parameters: parametersOf(schemas, (generated.parameters ?? []) as readonly Json[], route),
    ...requestBodyOf(schemas, route),
    responses: {
      200: {
        description: "Success",
        headers: { "x-request-id": REQUEST_ID, ...(hasEtag(route) ? ETAG : {}), ...answerHeaders(extra) },
        content: {
          ...answerJson(schemas, route.hooks.response, extra.answerExample),
          ...contentOf(schemas, extra.answerContent),
        },
      },
      ...(hasEtag(route) ? NOT_MODIFIED : {}),
      ...Object.fromEntries(
        Object.entries(extra.otherResponses ?? {}).map(([status, { description, content }]) => [
          status,
          { description, ...(content === undefined ? {} : { content: contentOf(schemas, content) }) },
        ]),
      ),
      ...errorResponses(route),
    },
  };
}

/** Adds what the API key needs to what the author of an endpoint states. */
function descriptionOf(stated: unknown, { hooks, path }: DocumentedRoute): Json {
  const { security = [], "x-access": access } = hooks.detail ?? {};
  const scope = access?.scope ?? (security.length > 0 && isGatewayPath(path) ? "invoke" : "none");
  const needs = scope === "none" ? [] : [SCOPE_NOTES[scope]];
  const paragraphs = [...(typeof stated === "string" ? [stated] : []), ...needs];
  return paragraphs.length === 0 ? {} : { description: paragraphs.join("\n\n") };
}

const SCOPE_NOTES = {
  invoke: "The API key needs the scope `invoke`.",
  read: "The API key needs the scope `read`.",
  manage: "The API key needs the scope `manage`.",
  admin: "The API key needs the scope `admin`.",
  main_key: "Only for the main key of an account.",
} as const;
const hasEtag = ({ hooks }: DocumentedRoute): boolean => hooks.detail?.["x-access"]?.hasEtag === true;

const ETAG = {
  etag: {
    description: "Of a JSON answer that is no unpaged list: send it in `If-None-Match` when asking again.",
    schema: { type: "string" },
  },
};

const NOT_MODIFIED = {
  304: {
    description: "The answer is still the one that `If-None-Match` names; without a body",
    headers: ETAG,
  },
};

const IF_NONE_MATCH = "Tags of answers that are known already, or `*`: if one of them is the answer, 304.";

const REQUEST_ID = { $ref: "#/components/headers/x-request-id" };

const answerHeaders = ({ answerHeaders: headers = {} }: OperationExtra): Json =>
  Object.fromEntries(
    Object.entries(headers).map(([name, description]) => [name, { description, schema: { type: "string" } }]),
  );

const withExample = (schema: Json, example: unknown): Json =>
  example === undefined ? { schema } : { schema, example };

const contentOf = (schemas: SchemaWriter, content: Content = {}): Json =>
  Object.fromEntries(
    Object.entries(content).map(([type, schema]) => [type, { schema: schemas.write(schema) }]),
  );

/** Removes `additionalProperties: false`, which Elysia writes on answers that do not state it: later versions may add fields. */
function answerJson(schemas: SchemaWriter, schema: TSchema | undefined, example: unknown): Json {
  if (schema === undefined) return {};
  const { additionalProperties, ...open } = schema;
  const written = schemas.write(additionalProperties === false ? (open as TSchema) : schema);
  return { "application/json": withExample(written, example) };
}

function requestBodyOf(schemas: SchemaWriter, route: DocumentedRoute): Json {
  const { body } = route.hooks;
  const { requestContent, requestExample } = extraOf(route);
  if (body === undefined && requestContent === undefined) return {};
  const json =
    body === undefined ? {} : { "application/json": withExample(schemas.write(body), requestExample) };
  return {
    requestBody: {
      required: !isOptionalBody(body),
      content: { ...json, ...contentOf(schemas, requestContent) },
    },
  };
}

/** Returns the plugin's parameters with their purposes, and behind them the headers. */
function parametersOf(
  schemas: SchemaWriter,
  generated: readonly Json[],
  route: DocumentedRoute,
): readonly Json[] {
  const { params, query } = route.hooks;
  const declared = { path: params?.properties ?? {}, query: query?.properties ?? {} };
  // The plugin has the part that a star stands for twice: by its name in the path, and as the schema's star.
  const listed = generated.filter(({ name }) => name !== "*");
  const own = listed.map(({ name, in: place, required }) => {
    const schema = declared[place as "path" | "query"][name as string] ?? WILDCARD;
    const { [PURPOSE]: purpose, ...plain } = schema;
    const description = purpose ?? schema.description ?? params?.properties["*"]?.[PURPOSE];
    return { name, in: place, required, description, schema: schemas.write(plain as TSchema) };
  });
  const headers = Object.entries({
    ...extraOf(route).requestHeaders,
    ...(hasEtag(route) ? { "If-None-Match": IF_NONE_MATCH } : {}),
    ...(route.method !== "GET" && isIdempotentPath(route.path) ? { "Idempotency-Key": IDEMPOTENCY_KEY } : {}),
  }).map(([name, description]) => ({
    name,
    in: "header",
    required: false,
    description,
    schema: { type: "string" },
  }));
  return [...own, ...headers];
}

const WILDCARD: TSchema = Type.String();

const IDEMPOTENCY_KEY =
  "1 to 255 printable ASCII characters: a repeat with it gets the first answer, and changes nothing more.";
