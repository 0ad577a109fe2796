// Config of a provider key: which fields there are, to which type of key each belongs, what each type needs; how changes
// merge, and that what comes of them is judged as a whole.

import { beforeAll, describe, expect, test } from "bun:test";
import { privateKeyPem } from "../../admin/private-key.ts";
import type { Json } from "../../e2e/harness.ts";
import { prepared, useBench } from "../../e2e/use-bench.ts";
import { keyBody } from "../bodies.ts";
import { properError } from "../proper.ts";
import { settingsOf } from "./rows.ts";

const PEM = privateKeyPem();
const OTHER = privateKeyPem();
const mapping = (model_mapping: object) => ({ ...A, model_mapping });
const entries = (length: number) =>
  Object.fromEntries(Array.from({ length }, (_, i) => [`model-${i}`, "one"]));
const MASK = "---…----";
const SECRET = "sk-provider-0123456789abcdef";

let A: Json;
let B: Json;
const bench = useBench({
  settings: { PUBLIC_URL: "https://gate.example:8443", CLOUD_A_API_VERSIONS: '{"chat":"2024-10-21"}' },
});
const owner = prepared(() => bench.owner({ keys: 0 }));
beforeAll(async () => {
  A = { provider_type: "cloud_a" };
  B = {
    provider_type: "cloud_b",
    base_url: `${bench.provider.url}/v1/projects/p-1/locations/us-east5`,
    client_email: "one@p-1.example.com",
    private_key: PEM,
  };
});

const add = (Config: unknown, more: object = {}) =>
  bench.call(owner.key, "POST", "/x-keys", keyBody(bench.provider.url, { Config, ...more }));
const put = (key: Json, change: object) => bench.call(owner.key, "PUT", `/x-keys/${key.ID}`, change);
const read = async ({ ID }: Json) =>
  settingsOf((await bench.call(owner.key, "GET", `/x-keys/${ID}`)).body.key);
const added = async (config: Json, more: object = {}) => {
  const { status, body } = await add(config, more);
  expect([status, body.error?.message]).toEqual([200, undefined]);
  return body.key;
};
const count = async () =>
  Number((await bench.call(owner.key, "GET", "/x-keys?page=0")).headers.get("x-total-count"));

/** Refused so, and no key the more. */
async function refused(given: ReturnType<typeof add>, code: string, ...words: string[]): Promise<void> {
  const before = await count();
  const answer = await given;
  properError(answer, 400, code);
  for (const word of words) expect(answer.body.error.message).toContain(word);
  expect(await count()).toBe(before);
}

describe("is taken and answered as it was given:", () => {
  test.each<[string, () => object]>([
    ["nothing", () => ({})],
    ["provider_type standard", () => ({ provider_type: "standard" })],
    ["api_style of a standard key", () => ({ provider_type: "standard", api_style: "messages" })],
    ["api_style without a type, which is standard", () => ({ api_style: "chat" })],
    ["cloud_a alone", () => A],
    ["responses of a standard key", () => ({ responses: true })],
    ["responses of a cloud_a key", () => ({ ...A, responses: false })],
    [
      "model_mapping with names, patterns and the default",
      () => mapping({ "gpt-4o": "my-4o", "gpt-4o*": "other 4o", "*": "rest" }),
    ],
    ["1,024 entries of model_mapping", () => mapping(entries(1_024))],
    [
      "api_versions of each kind",
      () => ({
        ...A,
        api_versions: {
          ...{ chat: "2024-10-21", embeddings: "2025-04-01-preview", responses: "v1", audio: "latest" },
          ...{ images: "preview" },
        },
      }),
    ],
    ["api_versions of some kinds", () => ({ ...A, api_versions: { chat: "2024-10-21" } })],
  ])("%s", async (_, config) => {
    const key = await added(config());
    expect(key.Config).toEqual(config());
    expect(await read(key)).toEqual(key);
  });

  test("cloud_b, but for its private key, which is masked", async () => {
    const key = await added({ ...B, project_id: "p-2" });
    expect(key.Config).toEqual({ ...B, project_id: "p-2", private_key: MASK });
    expect(await read(key)).toEqual(key);
  });
});

describe("is refused where a field is not what it must be:", () => {
  test.each<[string, () => Json, string]>([
    ["provider_type", () => ({ provider_type: "cloud_c" }), "Config.provider_type"],
    ["api_style", () => ({ api_style: "telegraph" }), "Config.api_style"],
    ["responses", () => ({ responses: "yes" }), "Config.responses"],
    [
      "responses of a cloud_b key, whose provider has none",
      () => ({ ...B, responses: true }),
      "Config.responses",
    ],
    ["model_mapping as a text", () => ({ ...A, model_mapping: "gpt-4o=mine" }), "Config.model_mapping"],
    ["model_mapping as a list", () => ({ ...A, model_mapping: ["mine"] }), "Config.model_mapping"],
    ["a deployment that is no text", () => mapping({ "gpt-4o": 1 }), "model_mapping"],
    ["a deployment without a name", () => mapping({ "gpt-4o": "" }), "model_mapping"],
    ["a deployment of dots", () => mapping({ "gpt-4o": ".." }), "deployment"],
    ["a deployment with a slash", () => mapping({ "gpt-4o": "a/b" }), "deployment"],
    ["a deployment that is a pattern", () => mapping({ "gpt-*": "gpt-*" }), "deployment"],
    ["a deployment with a line break", () => mapping({ "gpt-4o": "a\nb" }), "deployment"],
    ["a deployment of 257 characters", () => mapping({ "gpt-4o": "x".repeat(257) }), "256"],
    ["a pattern without a name", () => mapping({ "": "one" }), "empty"],
    ["a pattern of 257 characters", () => mapping({ ["x".repeat(257)]: "one" }), "256"],
    ["a pattern of half a character", () => mapping({ "half \ud800": "one" }), "no name"],
    ["1,025 entries", () => mapping(entries(1_025)), "1024"],
    [
      "a version that is none",
      () => ({ ...A, api_versions: { chat: "newest" } }),
      "Config.api_versions.chat",
    ],
    [
      "a version with a query",
      () => ({ ...A, api_versions: { chat: "v1&x=1" } }),
      "Config.api_versions.chat",
    ],
    [
      "a version with a line break",
      () => ({ ...A, api_versions: { chat: "v1\n" } }),
      "Config.api_versions.chat",
    ],
    ["api_versions as a text", () => ({ ...A, api_versions: "v1" }), "Config.api_versions"],
    ["project_id", () => ({ ...B, project_id: "p/../q" }), "Config.project_id"],
    ["client_email", () => ({ ...B, client_email: "nobody" }), "Config.client_email"],
    ["base_url that is no URL", () => ({ ...B, base_url: "projects/p/locations/l" }), "Config.base_url"],
    [
      "base_url of another scheme",
      () => ({ ...B, base_url: "ftp://x.example/projects/p/locations/l" }),
      "Config.base_url",
    ],
    [
      "base_url without a location",
      () => ({ ...B, base_url: `${bench.provider.url}/v1/projects/p` }),
      "location",
    ],
    [
      "base_url without a project",
      () => ({ ...B, base_url: `${bench.provider.url}/v1/locations/l` }),
      "project",
    ],
    [
      "base_url of another location than its host",
      () => ({
        ...B,
        base_url: "https://us-east5-aiplatform.googleapis.com/v1/projects/p/locations/europe-west1",
      }),
      "europe-west1",
    ],
    ["private_key as a number", () => ({ ...B, private_key: 1 }), "Config.private_key"],
  ])("%s", async (_, config, word) => {
    await refused(add(config()), "invalid_parameter", word);
  });

  test.each([
    ["Config", () => ({ Unknown: 1 }), "Config.Unknown"],
    ["Config of the wrong case", () => ({ Provider_Type: "standard" }), "Config.Provider_Type"],
    ["api_versions", () => ({ ...A, api_versions: { video: "v1" } }), "Config.api_versions.video"],
  ])("an unknown field of %s, by its name, with those that are known", async (where, config, word) => {
    const known = where === "api_versions" ? "embeddings" : "provider_type";
    await refused(add(config()), "unknown_field", word, known);
  });
});

describe("a field of another type is refused, saying whose it is:", () => {
  test.each<[string, string, () => Json, Json]>([
    ["standard", "cloud_a", () => ({}), { model_mapping: { "*": "one" } }],
    ["standard", "cloud_a", () => ({ provider_type: "standard" }), { api_versions: { chat: "v1" } }],
    ["standard", "cloud_b", () => ({}), { base_url: "https://models.example/projects/p/locations/l" }],
    ["standard", "cloud_b", () => ({}), { project_id: "p" }],
    ["standard", "cloud_b", () => ({}), { client_email: "one@p.example" }],
    ["standard", "cloud_b", () => ({}), { private_key: PEM }],
    ["cloud_a", "standard", () => A, { api_style: "chat" }],
    ["cloud_a", "cloud_b", () => A, { project_id: "p" }],
    ["cloud_a", "cloud_b", () => A, { private_key: PEM }],
    ["cloud_b", "standard", () => B, { api_style: "messages" }],
    ["cloud_b", "cloud_a", () => B, { model_mapping: { "*": "one" } }],
    ["cloud_b", "cloud_a", () => B, { api_versions: {} }],
  ])("at %s, one of %s", async (type, other, config, stray) => {
    const field = `Config.${Object.keys(stray)[0]}`;
    await refused(add({ ...config(), ...stray }), "invalid_parameter", field, other, type);
  });
});

describe("cloud_b needs", () => {
  test.each(["client_email", "private_key"])("%s", async (field) => {
    await refused(add({ ...B, [field]: undefined }), "missing_parameter", `Config.${field}`);
  });

  test("project and location in base_url or in Provider", async () => {
    const config = { ...B, base_url: undefined };
    await refused(add(config), "invalid_parameter", "Provider", "location");
    await added(config, { Provider: B.base_url });
  });

  test("a project in project_id where the address has none", async () => {
    const base_url = `${bench.provider.url}/v1/locations/us-east5`;
    await added({ ...B, base_url, project_id: "p-1" });
  });

  test("no private_key where SecretKey is one", async () => {
    const key = await added({ ...B, private_key: undefined }, { SecretKey: PEM });
    expect(key.Config).not.toHaveProperty("private_key");
  });

  test.each<[string, () => string]>([
    ["nothing but dashes", () => "-----BEGIN PRIVATE KEY-----\n-----END PRIVATE KEY-----"],
    ["another text", () => "the-private-key-of-nobody-0123456789"],
    ["half of it", () => PEM.slice(0, PEM.length / 2)],
    ["the form of another maker", () => privateKeyPem("rsa", "pkcs1")],
    ["another kind of key", () => privateKeyPem("ec")],
    ["one that is too short", () => privateKeyPem("small")],
    ["a mask", () => MASK],
  ])("a private key that is one: not %s, and it is not repeated", async (_, pem) => {
    const answer = await add({ ...B, private_key: pem() });
    properError(answer, 400, "invalid_parameter");
    expect(answer.body.error.message).toStartWith('"Config.private_key": must be');
    const [, line = pem()] = pem().split("\n");
    expect(answer.text).not.toContain(line === "-----END PRIVATE KEY-----" ? line : line.slice(0, 20));
  });

  test("a private key with its line breaks as two characters, too", async () => {
    const key = await added({ ...B, private_key: `${PEM.replaceAll("\n", "\\n")}` });
    expect(key.Config.private_key).toBe(MASK);
  });
});

describe("base_url obeys the rules of Provider:", () => {
  const PLACE = "/v1/projects/p/locations/l";
  test.each<[string, () => string, string]>([
    ["a private network", () => `http://10.0.0.1${PLACE}`, "forbidden_provider_address"],
    ["the metadata of clouds", () => `http://169.254.169.254${PLACE}`, "forbidden_provider_address"],
    ["a user and password", () => `http://a:b@127.0.0.1:9${PLACE}`, "invalid_parameter"],
    ["a name that nobody has", () => `http://nobody.invalid${PLACE}`, "invalid_parameter"],
    ["this service", () => `${bench.url}${PLACE}`, "self_referencing_provider"],
    ["its public address", () => `https://GATE.example.:8443${PLACE}`, "self_referencing_provider"],
  ])("%s", async (_, base, code) => {
    await refused(add({ ...B, base_url: base() }), code, "Config.base_url");
    const key = await added(B);
    const answer = await put(key, { Config: { base_url: base() } });
    properError(answer);
    expect([answer.body.error.code, await read(key)]).toEqual([code, key]);
  });
});

describe("says where a key is called:", () => {
  const cloudB = () => ({ ...B, project_id: "p-2" });
  /** The address at which a key of this Config is called. */
  const calledAt = async (Config: object, model = "gpt-4o"): Promise<string> => {
    const { ID } = await added(Config);
    return (await bench.call(owner.key, "POST", `/x-keys/${ID}/test`, { model })).body.url.replace(
      bench.provider.url,
      "",
    );
  };

  test.each([{}, { provider_type: "standard" }])("provider_type %j: standard", async (Config) => {
    expect(await calledAt(Config)).toBe("/v1/chat/completions");
  });

  test("provider_type cloud_a and cloud_b", async () => {
    expect(await calledAt({ provider_type: "cloud_a" })).toStartWith("/openai/");
    expect(await calledAt(cloudB())).toContain("/locations/");
  });

  test.each([
    ["gpt-4o", "exact"],
    ["gpt-4o-mini", "longest"],
    ["gpt-5", "shorter"],
    ["other", "default"],
  ])("model_mapping leads %s to the deployment %s", async (model, deployment) => {
    const model_mapping = { "gpt-*": "shorter", "gpt-4o": "exact", "gpt-4o*": "longest", "*": "default" };
    const url = await calledAt({ provider_type: "cloud_a", model_mapping }, model);
    expect(url).toStartWith(`/openai/deployments/${deployment}/chat/completions`);
  });

  test("api_versions of the kind, else the deployment's default", async () => {
    const at = (api_versions?: object) =>
      calledAt({ provider_type: "cloud_a", ...(api_versions && { api_versions }) });
    expect(await at({ chat: "2025-04-01-preview" })).toEndWith("?api-version=2025-04-01-preview");
    expect(await at({ images: "2025-04-01-preview" })).toEndWith("?api-version=2024-10-21");
    expect(await at()).toEndWith("?api-version=2024-10-21");
    expect(await at({ chat: "v1" })).toBe("/openai/v1/chat/completions");
  });

  test("base_url: where project and location stand", async () => {
    expect(await calledAt(B)).toBe("/v1/projects/p-1/locations/us-east5/endpoints/openapi/chat/completions");
  });

  test("project_id: instead of the URL's", async () => {
    expect(await calledAt(cloudB())).toContain("/projects/p-2/locations/us-east5/");
  });
});

describe("a change", () => {
  test("is merged field by field, and null takes a field away", async () => {
    const key = await added({ ...A, model_mapping: { a: "one", b: "two" }, api_versions: { chat: "v1" } });
    const after = await put(key, { Config: { api_versions: null } });
    expect(after.body.key.Config).toEqual({ ...A, model_mapping: { a: "one", b: "two" } });
  });

  test("replaces model_mapping and api_versions as a whole", async () => {
    const key = await added({ ...A, model_mapping: { a: "one", b: "two" }, api_versions: { chat: "v1" } });
    const Config = { model_mapping: { c: "three" }, api_versions: { images: "latest" } };
    expect((await put(key, { Config })).body.key.Config).toEqual({ ...A, ...Config });
  });

  test("to another type is made together with the fields of the former one", async () => {
    const key = await added({ ...A, model_mapping: { a: "one" } });
    const alone = await put(key, { Config: { provider_type: "standard" } });
    properError(alone);
    expect(alone.body.error.message).toContain("Config.model_mapping");
    expect(await read(key)).toEqual(key);
    const whole = await put(key, { Config: { provider_type: null, model_mapping: null } });
    expect(whole.body.key.Config).toEqual({});
  });

  test("to cloud_b brings all that it needs", async () => {
    const key = await added({});
    const lacking = await put(key, { Config: { ...B, client_email: undefined } });
    properError(lacking);
    expect(lacking.body.error.message).toContain("Config.client_email");
    expect((await put(key, { Config: B })).body.key.Config).toEqual({ ...B, private_key: MASK });
  });

  test("away from cloud_b takes the private key away as well", async () => {
    const key = await added(B);
    const Config = { provider_type: null, base_url: null, client_email: null };
    const kept = await put(key, { Config });
    properError(kept);
    expect(kept.body.error.message).toContain("Config.private_key");
    expect((await put(key, { Config: { ...Config, private_key: null } })).body.key.Config).toEqual({});
  });

  test("that repeats the mask of the private key leaves it, another key replaces it", async () => {
    const key = await added(B);
    const kept = await put(key, { Config: { private_key: MASK, project_id: "p-3" } });
    expect(kept.body.key.Config).toEqual({ ...key.Config, project_id: "p-3" });
    const replaced = await put(key, { Config: { private_key: OTHER } });
    expect(replaced.body.key.Config.private_key).toBe(MASK);
    const line = (await lines()).find(({ details }) => details.includes("private_key"));
    expect(line.details).toBe('Config.private_key: "another of the same mask"');
  });

  test("does not take the private key from a key that has no other", async () => {
    const key = await added(B);
    properError(await put(key, { Config: { private_key: null } }), 400, "missing_parameter");
    expect(await read(key)).toEqual(key);
    const both = await put(key, { SecretKey: PEM, Config: { private_key: null } });
    expect(both.body.key.Config).not.toHaveProperty("private_key");
    properError(await put(key, { SecretKey: SECRET }));
  });

  test("of Provider is judged with Config", async () => {
    const key = await added({ ...B, base_url: undefined }, { Provider: B.base_url });
    properError(await put(key, { Provider: bench.provider.url }));
    expect(await read(key)).toEqual(key);
  });

  test.each(["model_mapping", "api_versions"])("of %s is checked as a new one is", async (field) => {
    const key = await added(A);
    const bad = field === "model_mapping" ? { a: ".." } : { chat: "x" };
    properError(await put(key, { Config: { [field]: bad } }));
    expect(await read(key)).toEqual(key);
  });
});

const lines = async (): Promise<Json[]> =>
  (await bench.call(owner.key, "GET", "/dashboard/logs?size=5")).body.logs;
