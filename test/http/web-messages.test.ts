// Requests of the server as Elysia gets them.

import { expect, test } from "bun:test";
import { webRequestOf } from "../../src/http/web-messages.ts";
import { serverRequest } from "./server/requests.ts";

test.each([
  ["x.example", "http://x.example/metrics?a=b"],
  ["x.example:8080", "http://x.example:8080/metrics?a=b"],
  ["[::1]:8080", "http://[::1]:8080/metrics?a=b"],
  // Checks of some balancers send an empty one.
  ["", "http://localhost/metrics?a=b"],
  ["x.example:99999", "http://localhost/metrics?a=b"],
])("the Host %p does not change the path", (host, url) => {
  expect(webRequestOf(serverRequest("GET /metrics?a=b", { host }))?.url).toBe(url);
});
