// The way `cloud_a`: one address and one name for every kind of path, version and mapping; and what of a deployment's name
// may leave.

import { afterAll, describe, expect, test } from "bun:test";
import type { Destination, ProviderModelNaming } from "../../src/upstream/upstream.ts";
import { attemptWith, CHAT, echoOf, keyAt, SECRET, startRig } from "./rig.ts";

const { upstream, at, close } = startRig();
afterAll(close);

const HOST = "https://res.openai.azure.com";
const destination = (config: object = {}, change: Partial<Destination> = {}): Destination => ({
  provider: HOST,
  config: { provider_type: "cloud_a", ...config },
  path: CHAT,
  model: "gpt-4o",
  stream: false,
  ...change,
});
const addressOf = (config: object = {}, change: Partial<Destination> = {}): string =>
  String(upstream.address(destination(config, change)));
const namingOf = (config: object = {}, change: Partial<Destination> = {}): ProviderModelNaming =>
  upstream.naming(destination(config, change));

const DATED = "2025-04-01-preview";

describe("the dated address of", () => {
  const PATHS: readonly (readonly [path: string, url: string])[] = [
    [CHAT, `${HOST}/openai/deployments/gpt-4o/chat/completions?api-version=${DATED}`],
    ["/v1/completions", `${HOST}/openai/deployments/gpt-4o/completions?api-version=${DATED}`],
    ["/v1/embeddings", `${HOST}/openai/deployments/gpt-4o/embeddings?api-version=2024-10-21`],
    ["/v1/responses", `${HOST}/openai/responses?api-version=${DATED}`],
    ["/v1/responses/resp_1?stream=true", `${HOST}/openai/responses/resp_1?stream=true&api-version=${DATED}`],
    ["/v1/audio/speech", `${HOST}/openai/deployments/gpt-4o/audio/speech?api-version=${DATED}`],
    [
      "/v1/audio/transcriptions",
      `${HOST}/openai/deployments/gpt-4o/audio/transcriptions?api-version=${DATED}`,
    ],
    ["/v1/audio/translations", `${HOST}/openai/deployments/gpt-4o/audio/translations?api-version=${DATED}`],
    ["/v1/images/generations", `${HOST}/openai/deployments/gpt-4o/images/generations?api-version=${DATED}`],
    ["/v1/images/edits", `${HOST}/openai/deployments/gpt-4o/images/edits?api-version=${DATED}`],
  ];
  test.each(PATHS)("%s", (path, url) => expect(addressOf({}, { path })).toBe(url));
});

describe("the v1 address of", () => {
  const V1 = { chat: "v1", embeddings: "v1", responses: "v1", audio: "v1", images: "v1" };
  const PATHS = [
    "/chat/completions",
    "/completions",
    "/embeddings",
    "/responses",
    "/audio/speech",
    "/images/generations",
  ];
  test.each(PATHS)("%s", (tail) =>
    expect(addressOf({ api_versions: V1 }, { path: `/v1${tail}` })).toBe(`${HOST}/openai/v1${tail}`),
  );
});

describe("a path that does not exist there has no address", () => {
  test.each([
    "/v1/messages",
    "/v1/messages/count_tokens",
    "/v1/rerank",
    "/v1/moderations",
    "/v1/images/variations",
  ])("%s", async (path) => {
    expect(upstream.address(destination({}, { path }))).toBe(`Provider of type cloud_a has no ${path}`);
    const sent = await upstream.send(attemptWith(keyAt("cloud_a", at("")), { path }));
    expect(sent).toMatchObject({ ok: false, signal: { name: "model_unavailable" } });
  });
});

describe("the api-version is", () => {
  // biome-ignore format: a table
  const VERSIONS: readonly (readonly [rule: string, config: object, path: string, behind: string])[] = [
    ["the Config's", { api_versions: { chat: "2024-10-21" } }, CHAT, "deployments/gpt-4o/chat/completions?api-version=2024-10-21"],
    [
      "the default where the Config names other kinds",
      { api_versions: { audio: "v1" } },
      CHAT,
      `deployments/gpt-4o/chat/completions?api-version=${DATED}`,
    ],
    ["none for v1", { api_versions: { chat: "v1" } }, CHAT, "v1/chat/completions"],
    ["none for latest", { api_versions: { chat: "latest" } }, CHAT, "v1/chat/completions"],
    ["preview for preview", { api_versions: { chat: "preview" } }, CHAT, "v1/chat/completions?api-version=preview"],
    ["never the client's", {}, `${CHAT}?api-version=2020-01-01`, `deployments/gpt-4o/chat/completions?api-version=${DATED}`],
  ];
  test.each(VERSIONS)("%s", (_, config, path, behind) =>
    expect(addressOf(config, { path })).toBe(`${HOST}/openai/${behind}`),
  );
});

describe("of the Provider", () => {
  const V1 = { api_versions: { chat: "v1" } };
  const PROVIDERS: readonly (readonly [provider: string, url: string])[] = [
    [HOST, `${HOST}/openai/v1/chat/completions`],
    [`${HOST}/`, `${HOST}/openai/v1/chat/completions`],
    [`${HOST}/openai`, `${HOST}/openai/v1/chat/completions`],
    [`${HOST}/openai/`, `${HOST}/openai/v1/chat/completions`],
    [`${HOST}/openai/v1`, `${HOST}/openai/v1/chat/completions`],
    [`${HOST}/openai/v1/`, `${HOST}/openai/v1/chat/completions`],
    ["https://front.example/team/openai", "https://front.example/team/openai/v1/chat/completions"],
    ["https://front.example:8443/team", "https://front.example:8443/team/openai/v1/chat/completions"],
    ["https://front.example/myopenai", "https://front.example/myopenai/openai/v1/chat/completions"],
  ];
  test.each(PROVIDERS)("%s", (provider, url) => expect(addressOf(V1, { provider })).toBe(url));
  test("a query or a fragment is refused", () => {
    expect(addressOf({}, { provider: `${HOST}?a=1` })).toMatch(/query/);
    expect(addressOf({}, { provider: `${HOST}#a` })).toMatch(/fragment/);
  });
});

describe("the deployment is", () => {
  const model_mapping = { "gpt-4o": "exact", "gpt-*": "short", "gpt-4*": "long", "*": "rest" };
  const MODELS: readonly (readonly [rule: string, config: object, model: string, deployment: string])[] = [
    ["the one of exactly that name", { model_mapping }, "gpt-4o", "exact"],
    ["else the longest pattern's", { model_mapping }, "gpt-4.1", "long"],
    ["else a shorter one's", { model_mapping }, "gpt-5", "short"],
    ["else that of *", { model_mapping }, "o3", "rest"],
    ["else called like the model", { model_mapping: { "gpt-*": "short" } }, "o3", "o3"],
    ["called like the model without a mapping", {}, "o3", "o3"],
  ];
  test.each(MODELS)("%s", (_, config, model, deployment) => {
    expect(addressOf(config, { model })).toContain(`/openai/deployments/${deployment}/chat/`);
    expect(namingOf(config, { model }).model).toBe(deployment);
  });
  test("written as an address can have it", () => {
    expect(addressOf({ model_mapping: { "*": "my dep?ü%" } })).toContain(
      "/deployments/my%20dep%3F%C3%BC%25/chat/",
    );
    expect(namingOf({ model_mapping: { "*": "my dep?ü%" } }).model).toBe("my dep?ü%");
  });
  test.each([".", "..", "a/../b", "a\\b", ""])("never %p, which would be another path", (model) => {
    const address = upstream.address(destination({}, { model }));
    expect(address).toEqual(expect.stringContaining("model_mapping"));
  });
  test("named in the body of v1 and of responses", () => {
    const config = { model_mapping, api_versions: { chat: "v1" } };
    expect(namingOf(config)).toEqual({ model: "exact", add: {} });
    expect(namingOf({ model_mapping }, { path: "/v1/responses" }).model).toBe("exact");
  });
});

describe("the usage of a stream", () => {
  test.each(["2024-02-01", "2024-08-01-preview"])("is not asked of %s", (chat) =>
    expect(namingOf({ api_versions: { chat } }).without).toEqual(["stream_options"]),
  );
  test.each(["2024-09-01-preview", "2024-10-21", "v1"])("is asked of %s", (chat) =>
    expect(namingOf({ api_versions: { chat } }).without).toBeUndefined(),
  );
});

test("the key travels as api-key alone", async () => {
  const { headers } = await echoOf(upstream, attemptWith(keyAt("cloud_a", at(""))));
  expect(headers["api-key"]).toBe(SECRET);
  expect(headers).not.toHaveProperty("authorization");
});

describe("the deployment's name", () => {
  const key = {
    ...keyAt("cloud_a", at("/answer")),
    config: { provider_type: "cloud_a", model_mapping: { "*": "secret-dep" } },
  };
  const said = async (message: string): Promise<string> => {
    const body = JSON.stringify({ error: { code: "content_filter", message } });
    const headers = { "x-status": "400" };
    const result = await upstream.send(attemptWith(key, { body, headers }));
    return result.ok ? "it succeeded" : JSON.stringify(result.signal.pass);
  };
  test.each([
    "the deployment secret-dep was filtered",
    "'Secret-Dep' was filtered",
    "at /openai/deployments/secret-dep/chat",
    "secret-dep.",
  ])("does not leave in %p", async (message) => {
    expect(await said(message)).toMatch(/content_filter/);
    expect(await said(message)).not.toMatch(/secret-dep/i);
  });
  test("is no part of another word", async () => {
    expect(await said("non-secret-deployment")).toContain("non-secret-deployment");
  });
  test("spoils no word of the error's, however plain it is", async () => {
    const plain = { ...key, config: { provider_type: "cloud_a", model_mapping: { "*": "error" } } };
    const body = JSON.stringify({ error: { code: "context_length_exceeded", message: "an error at error" } });
    const result = await upstream.send(attemptWith(plain, { body, headers: { "x-status": "400" } }));
    expect(result).toMatchObject({
      ok: false,
      signal: {
        name: "rejected",
        pass: { code: "context_length_exceeded", message: "an [removed] at [removed]" },
      },
    });
  });
  test("stays when it is the model's own", async () => {
    const same = { ...key, config: { provider_type: "cloud_a" } };
    const body = JSON.stringify({ error: { code: "content_filter", message: "gpt-4o was filtered" } });
    const result = await upstream.send(
      attemptWith(same, { body, model: "gpt-4o", headers: { "x-status": "400" } }),
    );
    expect(result).toMatchObject({ ok: false, signal: { pass: { message: "gpt-4o was filtered" } } });
  });
  test("is taken out of an error inside a 200 too", async () => {
    const result = await upstream.send(attemptWith(key, { body: "{}", headers: { "x-status": "200" } }));
    if (!result.ok) throw new Error(result.signal.name);
    const error = { error: { code: "x", message: `secret-dep with ${SECRET}` } };
    expect(JSON.parse(result.scrub(JSON.stringify(error)))).toEqual({
      error: { code: "x", message: "[removed] with [removed]" },
    });
  });
});
