// Which answers say that a host lacks a path, and how long that is remembered.

import { describe, expect, test } from "bun:test";
import { MissingPaths } from "../../src/upstream/missing-paths.ts";
import { isMissingPath } from "../../src/upstream/upstream-failure.ts";
import { manualClock } from "../runtime/manual-clock.ts";

const PATH = "/v1/responses";

describe("an answer says that the path is missing", () => {
  const error = (message: string, more: object = {}) => JSON.stringify({ error: { message, ...more } });
  // biome-ignore format: a table
  const CASES: readonly (readonly [what: string, status: number, bodyText: string, isMissing: boolean])[] = [
    ["404 without words", 404, "", true],
    ["404 with a page", 404, "<html>404 page not found</html>", true],
    ["404 about the address", 404, error("Invalid URL (POST /v1/responses)", { code: "unknown_url" }), true],
    ["404 about nothing", 404, '{"detail":"Not Found"}', true],
    ["405", 405, error("Method Not Allowed"), true],
    ["404 about the model by name", 404, error("m-1 is unknown here"), false],
    ["404 about a model", 404, error("The model does not exist", { code: "model_not_found" }), false],
    ["404 about a deployment", 404, error("", { code: "DeploymentNotFound" }), false],
    ["404 about a parameter", 404, error("Not found", { param: "input" }), false],
    ["404 about an id", 404, error("Response with id 'resp_1' not found."), false],
    ["404 about an item", 404, error("Item 'rs_1' not found"), false],
    ["400", 400, error("Invalid URL (POST /v1/responses)"), false],
    ["404 about a file", 404, error("No such file"), false],
    ["404 about a voice", 404, error("", { code: "voice_not_found" }), false],
    ["501", 501, error("Not Implemented"), true],
  ];
  test.each(CASES)("%s", (_, status, bodyText, isMissing) => {
    expect(isMissingPath({ status, bodyText, model: "m-1", nowMs: 0 })).toBe(isMissing);
  });
});

describe("a missing path", () => {
  test("is that of a host name, port and base path: other APIs of the host may have it", () => {
    const paths = new MissingPaths(manualClock());
    paths.add("https://a.example:8443/v1", PATH, "m");
    for (const same of ["https://a.example:8443", "https://a.example:8443/", "https://A.example:8443/v1/"])
      expect(paths.has(same, PATH, "m")).toBe(true);
    expect(paths.has("https://a.example:8443/openai/v1", PATH, "m")).toBe(false);
    expect(paths.has("https://a.example/v1", PATH, "m")).toBe(false);
    expect(paths.has("https://a.example:8443/v1", "/v1/rerank", "m")).toBe(false);
    expect(paths.has("nowhere", PATH, "m")).toBe(false);
  });
  test("is one of all models where requests go on translated, and of its own model elsewhere", () => {
    const paths = new MissingPaths(manualClock());
    for (const path of [PATH, "/v1/embeddings"]) paths.add("https://a.example", path, "m");
    const known = (path: string) =>
      ["m", "other"].map((model) => paths.has("https://a.example", path, model));
    expect([known(PATH), known("/v1/embeddings")]).toEqual([
      [true, true],
      [true, false],
    ]);
  });
  test("is forgotten after an hour", async () => {
    const clock = manualClock();
    const paths = new MissingPaths(clock);
    paths.add("https://a.example", PATH, "m");
    await clock.advance(3_599_999);
    expect(paths.has("https://a.example", PATH, "m")).toBe(true);
    await clock.advance(1);
    expect(paths.has("https://a.example", PATH, "m")).toBe(false);
  });
  test("is one of a thousand at most: the oldest is forgotten", () => {
    const paths = new MissingPaths(manualClock());
    for (let n = 0; n <= 1_000; n++) paths.add(`https://h${n}.example`, PATH, "m");
    expect([0, 1, 1_000].map((n) => paths.has(`https://h${n}.example`, PATH, "m"))).toEqual([
      false,
      true,
      true,
    ]);
  });
});
