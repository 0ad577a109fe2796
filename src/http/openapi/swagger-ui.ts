// The OpenAPI document at /openapi.json, and Swagger UI at /swagger to read it and try it out. Everything comes from this
// service itself and works without any other, under a policy that allows nothing else: no inline script, no other host, no
// frame. @elysiajs/swagger generates the document and serves nothing to clients, because its own page loads scripts from
// another host; document.ts completes what it generates.

import { fileURLToPath } from "node:url";
import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { RefusedError } from "../../base/errors.ts";
import { type DocumentedRoute, operation } from "../operation.ts";
import { emptyUndecodedParts } from "../request-head.ts";
import { parameter } from "../schemas.ts";
import { completeDocument, type GeneratedDocument } from "./document.ts";

// Addresses are relative, so that all of it also works below a proxy's path.
const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>arborgate: API</title>
<link rel="icon" type="image/png" href="swagger/favicon-32x32.png">
<link rel="stylesheet" href="swagger/swagger-ui.css">
<link rel="stylesheet" href="swagger/index.css">
</head>
<body>
<div id="swagger-ui"></div>
<script src="swagger/swagger-ui-bundle.js"></script>
<script src="swagger/start.js"></script>
</body>
</html>
`;

/** An API key that is entered stays in this browser; the document is sent to no validator elsewhere. */
const START = `SwaggerUIBundle({
  url: "openapi.json",
  dom_id: "#swagger-ui",
  deepLinking: true,
  persistAuthorization: true,
  displayRequestDuration: true,
  filter: true,
  validatorUrl: null,
});
`;

const HTML = "text/html; charset=utf-8";
const SCRIPT = "text/javascript; charset=utf-8";
const STYLE = "text/css; charset=utf-8";

/** Files of the distribution that the page loads; no other is served. */
const FILES: Readonly<Record<string, string>> = {
  "swagger-ui-bundle.js": SCRIPT,
  "swagger-ui.css": STYLE,
  "index.css": STYLE,
  "favicon-32x32.png": "image/png",
};

// Styles that a script sets on an element count as the script's; images inside the style sheet are data.
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

const fileHeaders = (type: string, cache: string) => ({
  "content-type": type,
  "cache-control": cache,
  "content-security-policy": POLICY,
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
});

/** The browser revalidates at each visit, because an update changes the files. */
const REVALIDATE = "no-cache";
const HOUR = "public, max-age=3600";
const JSON_HEADERS = { "content-type": "application/json", "cache-control": REVALIDATE };

/** What these endpoints have in common: a client that names the entity tag of what it has gets 304. */
const CACHED = {
  tag: "Machines",
  requestHeaders: { "If-None-Match": "The entity tags of what the client has already." },
  otherResponses: { 304: { description: "What If-None-Match names is still the same" } },
} as const;

/**
 * `/openapi.json`, `/swagger` and the files of that page; none of them asks for a key. `routes` returns those that the
 * listener serves: it is called once, with the first request for the document.
 */
export function documentation(routes: () => readonly DocumentedRoute[]) {
  let json: Promise<string> | null = null;
  const jsonText = (): Promise<string> => {
    json ??= createOpenApiDocument(routes()).then((document) => JSON.stringify(document));
    return json;
  };
  const bytesOf = distributionFiles();
  return new Elysia({ normalize: false })
    .onTransform(({ params }) => emptyUndecodedParts(params))
    .get("/openapi.json", async ({ request }) => matched(request, await jsonText(), JSON_HEADERS), {
      detail: operation({
        ...CACHED,
        operationId: "getOpenApiDocument",
        summary: "Get this document",
        answerContent: { "application/json": Type.Object({}, { additionalProperties: true }) },
      }),
    })
    .get("/swagger", ({ request }) => matched(request, PAGE, fileHeaders(HTML, REVALIDATE)), {
      detail: operation({
        ...CACHED,
        operationId: "getSwaggerUi",
        summary: "Read this document and try it out, in a browser",
        answerContent: { "text/html": Type.String() },
      }),
    })
    .get(
      "/swagger/:file",
      async ({ request, params: { file } }) => {
        if (file === "start.js") return matched(request, START, fileHeaders(SCRIPT, REVALIDATE));
        const type = Object.hasOwn(FILES, file) ? FILES[file] : undefined;
        if (type === undefined) {
          throw new RefusedError({ code: "not_found", message: "Swagger UI has no such file." });
        }
        return matched(request, await bytesOf(file), fileHeaders(type, HOUR));
      },
      {
        params: Type.Object({ file: parameter(Type.String(), "Its name.") }),
        detail: operation({
          ...CACHED,
          operationId: "getSwaggerUiFile",
          summary: "Get a file of that page",
          answerContent: {
            "text/javascript": Type.String(),
            "text/css": Type.String(),
            "image/png": Type.String({ format: "binary" }),
          },
          errors: ["not_found"],
        }),
      },
    );
}

/** Creates the document of these routes. */
export const createOpenApiDocument = async (routes: readonly DocumentedRoute[]): Promise<object> =>
  completeDocument(await generate(routes), routes);

/** Lets the plugin generate its document from an application of its own, which serves only that. */
async function generate(routes: readonly DocumentedRoute[]): Promise<GeneratedDocument> {
  // The plugin brings more than the service needs, so it is loaded with the first request for the document.
  const { swagger } = await import("@elysiajs/swagger");
  const app = new Elysia({ normalize: false });
  for (const { method, path, hooks } of routes) {
    const { body, params, query, response, detail } = hooks;
    // The plugin leaves out paths with a star.
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

/** Returns a reader of files of the distribution, each of which is read with its first request and kept. */
function distributionFiles(): (name: string) => Promise<Uint8Array<ArrayBuffer>> {
  const read = new Map<string, Promise<Uint8Array<ArrayBuffer>>>();
  return (name) => {
    let bytes = read.get(name);
    if (bytes === undefined) {
      bytes = Bun.file(fileURLToPath(import.meta.resolve(`swagger-ui-dist/${name}`))).bytes();
      read.set(name, bytes);
    }
    return bytes;
  };
}

/** Returns the body with its entity tag, or 304 when the client names that tag. */
function matched(
  request: Request,
  body: string | Uint8Array<ArrayBuffer>,
  headers: Readonly<Record<string, string>>,
): Response {
  const etag = entityTag(body);
  const known = (request.headers.get("if-none-match") ?? "")
    .split(",")
    .map((one) => one.trim().replace(/^W\//, ""));
  const all = { ...headers, etag };
  return known.includes(etag) || known.includes("*")
    ? new Response(null, { status: 304, headers: all })
    : new Response(body, { headers: all });
}

/** Made of size and hash. */
const entityTag = (body: string | Uint8Array<ArrayBuffer>): string =>
  `"${body.length.toString(36)}-${Bun.hash(body).toString(36)}"`;
