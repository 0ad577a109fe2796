// Every answer that the tests of a run were given, a sample of each kind, compared with the document of the service: whatever
// a test was about, what it saw was promised. Loaded before all tests (bunfig.toml), so that its hook comes after them all.

import { afterAll } from "bun:test";
import { recorded } from "./e2e/recorded.ts";

afterAll(async () => {
  const answers = recorded();
  // Tests of parts ask nothing, and need not wait for the document.
  if (answers.length === 0) return;
  const { createOpenApiDocument } = await import("../src/http/openapi/swagger-ui.ts");
  const { routesOf } = await import("../src/http/app.ts");
  const { faultsOf, promisedBy } = await import("./http/documented-answers.ts");
  const document = await createOpenApiDocument(routesOf({} as Parameters<typeof routesOf>[0]));
  const faults = faultsOf(promisedBy(JSON.parse(JSON.stringify(document))), answers);
  if (faults.length > 0)
    throw new Error(`not as the document says:\n${[...new Set(faults)].slice(0, 30).join("\n")}`);
});
