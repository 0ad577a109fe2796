// Makes the OpenAPI document of routes: @elysiajs/swagger generates it from their schemas, and document.ts completes it. The
// plugin serves nothing to clients, because its own page loads scripts from another host.

import { Elysia } from "elysia";
import type { DocumentedRoute } from "../operation.ts";
import { completeDocument, type GeneratedDocument } from "./document.ts";

/** Returns the document of these routes. */
export const documentOf = async (routes: readonly DocumentedRoute[]): Promise<object> =>
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
