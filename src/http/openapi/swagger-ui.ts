// The OpenAPI document at /openapi.json, and Swagger UI at /swagger to read it and try it out. Everything comes from this
// service itself and works without any other, under a policy that allows nothing else: no inline script, no other host, no
// frame. What the document says is made elsewhere.

import { fileURLToPath } from "node:url";
import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { RefusedError } from "../../base/errors.ts";
import { operation } from "../operation.ts";
import { emptyUndecodedParts } from "../request-head.ts";
import { parameter } from "../schemas.ts";

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
 * `/openapi.json`, `/swagger` and the files of that page; none of them asks for a key. `document` makes the document of the
 * listener's routes: it is called once, with the first request.
 */
export function documentation(document: () => Promise<object>) {
  let json: Promise<string> | null = null;
  const jsonText = (): Promise<string> => {
    json ??= document().then((made) => JSON.stringify(made));
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
