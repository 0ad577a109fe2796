// GET /openapi.json: what this service offers, as an OpenAPI document. It is put together from the routes of the listener
// that is asked, from the schemas that really check requests, and from a row for each endpoint. It invents nothing: an
// endpoint without a row is left out, and fails a test.

import type { TObject } from "@sinclair/typebox";
import { Elysia } from "elysia";
import type { Content, DocumentedRoute as NewRoute } from "../operation.ts";
import { completeDocument, type GeneratedDocument } from "./document.ts";
import { errorsOf } from "./error-responses.ts";
import { type AcceptedBody, isRepeatable, type RowRoute } from "./openapi-route.ts";
import type { EndpointDoc, SecurityKind, Tag } from "./openapi-row.ts";
import { ROWS } from "./openapi-rows.ts";
import { type SchemaWriter, schemaWriter } from "./schema-names.ts";

type Json = Record<string, unknown>;

const TAGS: Readonly<Record<Tag, string>> = {
  Gateway: "Model requests, in the style of either SDK, and what goes with them.",
  Accounts: "The caller's subaccounts: create, find, recharge, limit, delete; their bills, ledgers and news.",
  Dashboard: "What an account may see of itself, whatever its balance.",
  Administration: "An Owner's provider keys, configuration and news. With ADMIN_PORT set only there.",
  Machines: "For load balancers, collectors and readers of this document.",
};

const SECURITY: Readonly<Record<SecurityKind, readonly Json[]>> = {
  none: [],
  bearer: [{ bearer: [] }],
  both: [{ bearer: [] }, { xApiKey: [] }],
};

/** The document of these routes, as plain JSON. */
export function documentOf(routes: readonly RowRoute[]): Json {
  const schemas = schemaWriter();
  const paths: Record<string, Json> = {};
  for (const route of routes) {
    const row = ROWS[`${route.method} ${route.path}`];
    if (row === undefined) continue;
    const path = writtenPath(route.path, row);
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operationOf(schemas, route, row) };
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

/** The package's; a test compares. */
const VERSION = "0.1.0";

function operationOf(schemas: SchemaWriter, route: RowRoute, row: EndpointDoc): Json {
  const taken = route.handle.takes;
  const body = row.body ?? taken?.body;
  const { description } = row;
  return {
    tags: [row.tag],
    operationId: operationId(route),
    summary: row.summary,
    ...(description === undefined ? {} : { description }),
    security: SECURITY[keysOf(taken, row)],
    parameters: parametersOf(schemas, route, row),
    ...(body === undefined && row.form === undefined
      ? {}
      : {
          requestBody: {
            required: taken?.bodyMayLack !== true,
            content: {
              ...(body && { "application/json": withExample(schemas.write(body), row.asked) }),
              ...(row.form && { "multipart/form-data": { schema: schemas.write(row.form) } }),
            },
          },
        }),
    responses: {
      200: {
        description: "As asked",
        headers: headersOf(row),
        content: contentOf(schemas, row.answers, row.answered),
      },
      ...besides(schemas, row),
      ...errorsOf(route, row),
    },
  };
}

function keysOf(taken: AcceptedBody | undefined, row: EndpointDoc): SecurityKind {
  if (row.keys !== undefined) return row.keys;
  if (taken === undefined) return "none";
  return taken.xApiKey === true ? "both" : "bearer";
}

const withExample = (schema: Json, example: unknown): Json =>
  example === undefined ? { schema } : { schema, example };

const contentOf = (schemas: SchemaWriter, content: Content, example?: unknown): Json =>
  Object.fromEntries(
    Object.entries(content).map(([type, schema]) => [
      type,
      withExample(schemas.write(schema), type === "application/json" ? example : undefined),
    ]),
  );

const headersOf = (row: EndpointDoc): Json => ({
  "x-request-id": { $ref: "#/components/headers/x-request-id" },
  ...Object.fromEntries(
    Object.entries(row.headers ?? {}).map(([name, description]) => [
      name,
      { description, schema: { type: "string" } },
    ]),
  ),
});

const besides = (schemas: SchemaWriter, row: EndpointDoc): Json =>
  Object.fromEntries(
    Object.entries(row.besides ?? {}).map(([status, { description, content }]) => [
      status,
      { description, ...(content === undefined ? {} : { content: contentOf(schemas, content) }) },
    ]),
  );

function parametersOf(schemas: SchemaWriter, route: RowRoute, row: EndpointDoc): Json[] {
  const query: TObject | undefined = row.query ?? route.handle.takes?.query;
  const said = row.params ?? {};
  const inPath = [...writtenPath(route.path, row).matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => ({
    name,
    in: "path",
    required: true,
    description: said[name],
    schema: { type: "string" },
  }));
  const inQuery = Object.entries(query?.properties ?? {}).map(([name, schema]) => ({
    name,
    in: "query",
    required: (query?.required ?? []).includes(name),
    description: said[name] ?? schema.description,
    schema: schemas.write(schema),
  }));
  const headers = Object.entries({
    ...row.sent,
    ...(isRepeatable(route) ? { "Idempotency-Key": REPEATED } : {}),
  }).map(([name, description]) => ({
    name,
    in: "header",
    required: false,
    description,
    schema: { type: "string" },
  }));
  return [...inPath, ...inQuery, ...headers];
}

const REPEATED =
  "1 to 255 printable ASCII characters: a repeat with it gets the first answer, and changes nothing more.";

/** The path as documents write it; the star is called as the row's first parameter is. */
const writtenPath = (path: string, row: EndpointDoc): string =>
  path.replace(/:(\w+)/g, "{$1}").replace("*", `{${Object.keys(row.params ?? {})[0] ?? "rest"}}`);

/** get + v1 + models + id */
const operationId = ({ method, path }: RowRoute): string =>
  [method.toLowerCase(), ...path.replace("*", "one").matchAll(/\w+/g)]
    .map(String)
    .map((word, i) => (i === 0 ? word : word[0]?.toUpperCase() + word.slice(1)))
    .join("");

/** The document of old and new routes together. */
export async function documentOfAll(routes: readonly RowRoute[], served: readonly NewRoute[]): Promise<Json> {
  const old = documentOf(routes) as { paths: Json; components: { schemas: Json } };
  const fresh = completeDocument(await generate(served), served) as {
    paths: Json;
    components: { schemas: Json };
  };
  const { schemas } = fresh.components;
  return {
    ...fresh,
    paths: mergedPaths(old.paths, fresh.paths),
    components: { ...fresh.components, schemas: { ...old.components.schemas, ...schemas } },
  };
}

const mergedPaths = (one: Json, other: Json): Json => {
  const all = { ...one };
  for (const [path, methods] of Object.entries(other))
    all[path] = { ...(all[path] as Json), ...(methods as Json) };
  return all;
};

/** Asks the plugin for its document of these routes. */
async function generate(routes: readonly NewRoute[]): Promise<GeneratedDocument> {
  const { swagger } = await import("@elysiajs/swagger");
  const app = new Elysia({ normalize: false });
  for (const { method, path, hooks } of routes) {
    const { body, params, query, response, detail } = hooks;
    const documented = path.replace("*", `:${detail?.["x-operation"]?.wildcard ?? "rest"}`);
    const schemas = Object.fromEntries(
      Object.entries({ body, params, query, response }).filter(([, schema]) => schema !== undefined),
    );
    app.route(method, documented, () => null, { ...schemas, detail: detail as object });
  }
  app.use(swagger({ path: "/page", specPath: "/document", excludeStaticFile: false }));
  const answer = await app.handle(new Request("http://localhost/document"));
  return (await answer.json()) as GeneratedDocument;
}
