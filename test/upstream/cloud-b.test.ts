// The way `cloud_b`: where a key's project and location lie, the address and the body's additions for each kind of model, and
// which of the client's headers pass.

import { afterAll, describe, expect, test } from "bun:test";
import type { Destination } from "../../src/upstream/upstream.ts";
import { attemptWith, CHAT, echoOf, keyAt, PEM, startRig, TOKEN } from "./rig.ts";

const { upstream, at, close } = startRig();
afterAll(close);

const EAST = "https://us-east5-aiplatform.googleapis.com";
const BASE = `${EAST}/v1/projects/p-1/locations/us-east5`;
const MESSAGES = "/v1/messages";
const GEMINI = "gemini-2.5-flash";
const CLAUDE = "claude-sonnet-4-5-20250929";
const CLAUDES = "/publishers/anthropic/models";
const VERSION = { anthropic_version: "vertex-2023-10-16" };

const destination = (config: object = {}, change: Partial<Destination> = {}): Destination => ({
  provider: BASE,
  config: { provider_type: "cloud_b", ...config },
  path: CHAT,
  model: GEMINI,
  stream: false,
  ...change,
});
const addressOf = (config: object = {}, change: Partial<Destination> = {}): string =>
  String(upstream.address(destination(config, change)));

describe("project and location are read from", () => {
  const BEHIND = "/endpoints/openapi/chat/completions";
  const at = (host: string, location: string, project = "p-1", version = "/v1") =>
    `https://${host}${version}/projects/${project}/locations/${location}`;
  // biome-ignore format: a table
  const ROOTS: readonly (readonly [rule: string, config: object, root: string])[] = [
    ["the Provider", {}, BASE],
    ["base_url before the Provider", { base_url: at("aiplatform.googleapis.com", "global") }, at("aiplatform.googleapis.com", "global")],
    ["an address with a slash behind", { base_url: `${BASE}/` }, BASE],
    ["an address down to the endpoints", { base_url: `${BASE}/endpoints/openapi` }, BASE],
    ["an address down to a publisher", { base_url: `${BASE}/publishers/anthropic/models/x` }, BASE],
    [
      "the beta paths",
      { base_url: at("us-east5-aiplatform.googleapis.com", "us-east5", "p-1", "/v1beta1") },
      at("us-east5-aiplatform.googleapis.com", "us-east5", "p-1", "/v1beta1"),
    ],
    ["an address without a version", { base_url: `${EAST}/projects/p-1/locations/us-east5` }, BASE],
    ["an address with project_id beside", { base_url: BASE, project_id: "p-2" }, BASE.replace("p-1", "p-2")],
    ["project_id alone", { base_url: `${EAST}/v1/locations/us-east5`, project_id: "p-2" }, BASE.replace("p-1", "p-2")],
    ["the United States as a whole", { base_url: at("aiplatform.us.rep.googleapis.com", "us") }, at("aiplatform.us.rep.googleapis.com", "us")],
    ["Europe as a whole", { base_url: at("aiplatform.eu.rep.googleapis.com", "eu") }, at("aiplatform.eu.rep.googleapis.com", "eu")],
    [
      "a host of one's own, as it is",
      { base_url: "http://127.0.0.1:9/a/v1/projects/p/locations/l" },
      "http://127.0.0.1:9/a/v1/projects/p/locations/l",
    ],
    [
      "a project below a domain",
      { base_url: at("aiplatform.googleapis.com", "global", "example.com:p") },
      at("aiplatform.googleapis.com", "global", "example.com:p"),
    ],
  ];
  test.each(ROOTS)("%s", (_, config, root) => expect(addressOf(config)).toBe(root + BEHIND));
});

describe("a key is at fault", () => {
  // biome-ignore format: a table
  const FAULTS: readonly (readonly [rule: string, config: object, said: RegExp])[] = [
    ["without a location", { base_url: `${EAST}/v1/projects/p-1` }, /locations/],
    ["without a project", { base_url: `${EAST}/v1/locations/us-east5` }, /projects.*project_id/],
    ["at the host of another location", { base_url: BASE.replace(/us-east5$/, "europe-west1") }, /europe-west1-aiplatform/],
    ["at the global host with a location", { base_url: "https://aiplatform.googleapis.com/v1/projects/p/locations/us-east5" }, /us-east5-aiplatform/],
    ["at a location's host, globally", { base_url: `${EAST}/v1/projects/p/locations/global` }, /aiplatform\.googleapis/],
    [
      "at a location that is called like what every object has",
      { base_url: BASE.replace(/us-east5$/, "constructor") },
      /https:\/\/constructor-aiplatform/,
    ],
    ["at the cloud's host without TLS", { base_url: BASE.replace("https", "http") }, /https/],
    ["with a query", { base_url: `${BASE}?a=1` }, /query/],
    ["with an address that is none", { base_url: "here" }, /not a valid URL/],
    ["with a project that is another path", { base_url: BASE, project_id: "../p" }, /letters, digits/],
    ["with a project of dots", { base_url: BASE, project_id: ".." }, /letters, digits/],
  ];
  test.each(FAULTS)("%s", async (_, config, said) => {
    expect(upstream.address(destination(config))).toEqual(expect.stringMatching(said));
    const key = { ...keyAt("cloud_b", at("")), config: { provider_type: "cloud_b", ...config } };
    expect(await upstream.send(attemptWith(key))).toMatchObject({
      ok: false,
      signal: { name: "unreachable" },
    });
  });
});

describe("the address and the name of", () => {
  interface Case {
    readonly path?: string;
    readonly stream?: boolean;
    readonly model: string;
    readonly behind: string;
    readonly name: string | null;
    readonly add?: object;
  }
  const OPENAPI = "/endpoints/openapi/chat/completions";
  const CASES: Readonly<Record<string, Case>> = {
    "a Gemini model": { model: GEMINI, behind: OPENAPI, name: `google/${GEMINI}` },
    "a Gemini model with its maker": { model: `google/${GEMINI}`, behind: OPENAPI, name: `google/${GEMINI}` },
    "another maker's model": { model: "meta/llama-4-maas", behind: OPENAPI, name: "meta/llama-4-maas" },
    "a Claude model": {
      path: MESSAGES,
      model: "claude-opus-5",
      behind: `${CLAUDES}/claude-opus-5:rawPredict`,
      name: null,
      add: VERSION,
    },
    "a Claude model, streamed": {
      path: MESSAGES,
      stream: true,
      model: "claude-opus-5",
      behind: `${CLAUDES}/claude-opus-5:streamRawPredict`,
      name: null,
      add: VERSION,
    },
    "a dated Claude model": {
      path: MESSAGES,
      model: CLAUDE,
      behind: `${CLAUDES}/claude-sonnet-4-5@20250929:rawPredict`,
      name: null,
      add: VERSION,
    },
    "a Claude model in the cloud's own name": {
      path: MESSAGES,
      model: "claude-sonnet-4-5@20250929",
      behind: `${CLAUDES}/claude-sonnet-4-5@20250929:rawPredict`,
      name: null,
      add: VERSION,
    },
    "the one Claude model with a version of its own": {
      path: MESSAGES,
      model: "claude-3-5-sonnet-20241022",
      behind: `${CLAUDES}/claude-3-5-sonnet-v2@20241022:rawPredict`,
      name: null,
      add: VERSION,
    },
    "a Claude model whose tokens are counted": {
      path: "/v1/messages/count_tokens",
      model: CLAUDE,
      behind: `${CLAUDES}/count-tokens:rawPredict`,
      name: "claude-sonnet-4-5@20250929",
      add: VERSION,
    },
  };
  test.each(Object.entries(CASES))(
    "%s",
    (_, { path = CHAT, stream = false, model, behind, name, add = {} }) => {
      expect(addressOf({}, { path, stream, model })).toBe(BASE + behind);
      expect(upstream.naming(destination({}, { path, stream, model }))).toEqual({
        model: name,
        add: { ...add },
      });
    },
  );
});

describe("nobody serves", () => {
  const PATHS: readonly (readonly [path: string, model: string])[] = [
    [CHAT, "claude-opus-5"],
    [MESSAGES, GEMINI],
    [MESSAGES, "claude/../../x"],
    ["/v1/messages/count_tokens", GEMINI],
    ["/v1/embeddings", "gemini-embedding-001"],
    ["/v1/responses", GEMINI],
    ["/v1/rerank", GEMINI],
    ["/v1/moderations", GEMINI],
  ];
  test.each(PATHS)("%s for %s", async (path, model) => {
    expect(upstream.address(destination({}, { path, model }))).toEqual(
      expect.stringMatching(/^Provider of type cloud_b/),
    );
    const sent = await upstream.send(attemptWith(keyAt("cloud_b", at("")), { path, model }));
    expect(sent).toMatchObject({ ok: false, signal: { name: "model_unavailable" } });
  });
});

describe("to a Claude model", () => {
  const sent = (headers: Record<string, string>) =>
    echoOf(
      upstream,
      attemptWith(keyAt("cloud_b", at("")), { path: MESSAGES, model: "claude-opus-5", headers }),
    );
  test("the version does not travel as a header", async () => {
    const { headers } = await sent({ "anthropic-version": "2023-06-01" });
    expect(headers).not.toHaveProperty("anthropic-version");
    expect(headers.authorization).toBe(`Bearer ${TOKEN}`);
  });
  test("of the beta features those travel that are known there", async () => {
    const betas =
      "prompt-caching-2024-07-31, context-1m-2025-08-07,oauth-2025-04-20,interleaved-thinking-2025-05-14";
    expect((await sent({ "anthropic-beta": betas })).headers["anthropic-beta"]).toBe(
      "context-1m-2025-08-07,interleaved-thinking-2025-05-14",
    );
  });
  test("no header of beta features travels when none is known", async () => {
    expect((await sent({ "Anthropic-Beta": "oauth-2025-04-20" })).headers).not.toHaveProperty(
      "anthropic-beta",
    );
  });
});

describe("the private key", () => {
  const key = keyAt("cloud_b", at(""));
  test("may stand in place of the secret", async () => {
    const seen = await echoOf(upstream, attemptWith({ ...key, privateKey: null, secret: PEM }));
    expect(seen.headers.authorization).toBe(`Bearer ${TOKEN}`);
  });
  test("missing is an invalid key", async () => {
    const sent = await upstream.send(attemptWith({ ...key, privateKey: null }));
    expect(sent).toMatchObject({ ok: false, signal: { name: "invalid_key" } });
  });
  test("without a client_email is an invalid key", async () => {
    const { client_email: _, ...config } = key.config;
    const sent = await upstream.send(attemptWith({ ...key, config }));
    expect(sent).toMatchObject({ ok: false, signal: { name: "invalid_key" } });
  });
  test("that is none is an invalid key, and is not repeated", async () => {
    const sent = await upstream.send(attemptWith({ ...key, privateKey: PEM.slice(0, 200) }));
    expect(sent).toMatchObject({ ok: false, signal: { name: "invalid_key" } });
    expect(JSON.stringify(sent)).not.toContain(PEM.slice(40, 60));
  });
});

test("the project's name stays out of an error", async () => {
  const key = keyAt("cloud_b", at("/answer"));
  const body = JSON.stringify({
    error: { code: 400, message: "quota of p-1 and p-12", status: "INVALID_ARGUMENT" },
  });
  const sent = await upstream.send(attemptWith(key, { body, headers: { "x-status": "400" } }));
  expect(sent).toMatchObject({ ok: false, signal: { pass: { message: "quota of [removed] and p-12" } } });
});
