// GET /swagger: the document to read and to try out, with Swagger UI. Everything comes from this service itself and works
// without any other, under a policy that allows nothing else: no inline script, no other host, no frame.

import { fileURLToPath } from "node:url";
import type { Context } from "../endpoint.ts";
import { errorResponse, httpError } from "../errors.ts";
import { matched } from "./cached.ts";

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

/** A key that was entered stays in this browser; no document is sent to a validator elsewhere. */
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

const SCRIPT = "text/javascript; charset=utf-8";
const STYLE = "text/css; charset=utf-8";

/** Files of the distribution that the page asks for; no other is served. */
const FILES: Readonly<Record<string, string>> = {
  "swagger-ui-bundle.js": SCRIPT,
  "swagger-ui.css": STYLE,
  "index.css": STYLE,
  "favicon-32x32.png": "image/png",
};

// Styles that a script sets on an element count as the script's; pictures inside the style sheet are data.
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

const headersOf = (type: string, cache: string) => ({
  "content-type": type,
  "cache-control": cache,
  "content-security-policy": POLICY,
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
});

/** The browser revalidates at each visit, because an update changes the files. */
const ASK = "no-cache";
const HOUR = "public, max-age=3600";

/** The page. No key is asked for. */
export const getSwagger = async ({ request }: Context): Promise<Response> =>
  matched(request, PAGE, headersOf("text/html; charset=utf-8", ASK));

/** What the page needs. Files are read with their first request and kept. */
export function getSwaggerFile() {
  const read = new Map<string, Promise<Uint8Array<ArrayBuffer>>>();
  const bytesOf = (name: string) => {
    let bytes = read.get(name);
    if (bytes === undefined) {
      const path = fileURLToPath(import.meta.resolve(`swagger-ui-dist/${name}`));
      bytes = Bun.file(path).bytes();
      read.set(name, bytes);
    }
    return bytes;
  };
  return async ({ request, params }: Context): Promise<Response> => {
    const name = params.file ?? "";
    if (name === "start.js") return matched(request, START, headersOf(SCRIPT, ASK));
    const type = Object.hasOwn(FILES, name) ? FILES[name] : undefined;
    if (type !== undefined) return matched(request, await bytesOf(name), headersOf(type, HOUR));
    return errorResponse(httpError({ code: "not_found", message: "Swagger UI has no such file." }), {});
  };
}
