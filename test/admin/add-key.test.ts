// Adding a provider key, on real actors: completion of LEVEL_MAPPER, sealing, and which addresses are refused how.

import { beforeEach, describe, expect, test } from "bun:test";
import type { AccountId } from "../../actors/ids.ts";
import { actorRef, behaviors, type Protocol } from "../../actors/index.ts";
import { addKeys, type NewKey } from "../../src/admin/add-key.ts";
import { realClock, realRandom } from "../../src/base/clock.ts";
import { silent } from "../../src/base/log.ts";
import { memoryBus } from "../../src/bus/memory.ts";
import { createSingleNodePlacement } from "../../src/runtime/placement/single-node.ts";
import { type ActorSystem, createSystem } from "../../src/runtime/system.ts";
import { numbers } from "../../src/store/id-allocator.ts";
import { DEFAULT_API_VERSIONS } from "../../src/upstream/cloud-a.ts";
import { createFetchTransport } from "../../src/upstream/fetch-transport.ts";
import { createSecretVault } from "../../src/upstream/secret-vault.ts";
import type { SsrfGuard, SsrfVerdict } from "../../src/upstream/ssrf-guard.ts";
import { createUpstreams } from "../../src/upstream/upstream-by-type.ts";
import { memoryStore } from "../store/memory/memory.ts";
import { privateKeyPem } from "./private-key.ts";

const OWNER = 2 as AccountId;
const SECRET = "sk-a-provider-secret-0123456789";
const CLOUDS = { cloudAApiVersions: DEFAULT_API_VERSIONS, cloudBTokenUrl: "https://tokens.example" };
const PEM = privateKeyPem();
const clock = realClock();
const vault = createSecretVault(Buffer.alloc(32, 7).toString("base64"), null);

let system: ActorSystem<Protocol>;
let add: (change: Partial<NewKey>) => ReturnType<ReturnType<typeof addKeys>>;
let answer: SsrfVerdict;

beforeEach(async () => {
  const store = memoryStore({ clock });
  const random = realRandom(clock);
  const placement = createSingleNodePlacement({ registry: store, node: "n" });
  system = createSystem<Protocol>({
    store,
    bus: memoryBus(),
    clock,
    random,
    placement,
    behaviors,
    log: silent,
  });
  await system.start();
  answer = { ok: true, addresses: ["93.184.216.34"], pinned: { addresses: ["93.184.216.34"], name: "host" } };
  const guard: SsrfGuard = { checked: () => undefined, check: async () => answer };
  const listeners = () => [{ host: "127.0.0.1", port: 8080 }];
  const upstream = createUpstreams({
    guard,
    transport: createFetchTransport(),
    clock,
    hostFacts: () => undefined,
    ...CLOUDS,
  });
  const create = addKeys({
    ...{ system, guard, vault, upstream, nextId: numbers(store, "key"), listeners, publicUrls: [] },
  });
  const key = {
    ...{ owner: OWNER, name: "", level: 1, secret: SECRET, privateKey: null, status: true, config: {} },
  };
  add = (change) => create({ ...key, provider: "https://api.openai.com/v1", ...change });
});

describe("LEVEL_MAPPER is completed", () => {
  test("with the prefixes of a known provider, and never over what is mapped", async () => {
    const change = { levelMapper: { "gpt-*": 9 } };
    await system.ask(actorRef.owner(OWNER), "configure", { change, by: OWNER });
    const { levelMapper } = await add({ level: 4 });
    expect(levelMapper["o3*"]).toBe(4);
    expect(levelMapper).not.toHaveProperty("gpt-*");
    const config = await system.ask(actorRef.owner(OWNER), "read", {});
    expect([config.levelMapper["gpt-*"], config.levelMapper["o3*"]]).toEqual([9, 4]);
  });

  test("once: a second key of the same provider adds nothing", async () => {
    await add({ level: 4 });
    expect((await add({ level: 5 })).levelMapper).toEqual({});
  });

  test("with nothing for a host whose models are not known", async () => {
    expect((await add({ provider: "https://models.example/v1" })).levelMapper).toEqual({});
  });
});

test("the pool has the secret sealed, and its mask", async () => {
  await add({});
  const [key] = await system.ask(actorRef.keyPool(OWNER), "list", {});
  expect(JSON.stringify(key)).not.toContain(SECRET);
  expect(vault.open(key!.secret)).toBe(SECRET);
  expect(key!.mask).toBe("sk-…6789");
});

const CLOUD_B = {
  provider: "https://us-east5-aiplatform.googleapis.com/v1/projects/p-1/locations/us-east5",
  config: { provider_type: "cloud_b", client_email: "one@p-1.example.com" },
};

describe("LEVEL_MAPPER is left alone by", () => {
  test.each<[string, Partial<NewKey>]>([
    [
      "cloud_a, whatever its model_mapping names",
      {
        provider: "https://ours.openai.azure.com",
        config: { provider_type: "cloud_a", model_mapping: { "gpt-*": "ours", o3: "also" } },
      },
    ],
    ["cloud_a behind a host of known models", { config: { provider_type: "cloud_a" } }],
    ["cloud_b", { ...CLOUD_B, privateKey: PEM }],
  ])("%s", async (_, change) => {
    expect((await add(change)).levelMapper).toEqual({});
    expect((await system.ask(actorRef.owner(OWNER), "read", {})).levelMapper).toEqual({});
  });
});

test("a private key is sealed apart from Config, with its mask", async () => {
  await add({ ...CLOUD_B, privateKey: `\n${PEM.replaceAll("\n", "\\n")}\n` });
  const [key] = await system.ask(actorRef.keyPool(OWNER), "list", {});
  expect(key!.config).toEqual(CLOUD_B.config);
  expect(JSON.stringify(key)).not.toContain(PEM.split("\n")[3]!);
  expect(key!.privateKey!.mask).toBe("---…----");
  expect(vault.open(key!.privateKey!.secret)).toBe(PEM.trim());
});

test("the SecretKey of a cloud_b key may be the private key itself", async () => {
  const { key } = await add({ ...CLOUD_B, secret: PEM });
  expect(key.privateKey).toBeUndefined();
});

describe("refused, and nothing added:", () => {
  test.each([
    ["a malformed URL", "invalid_parameter", { ok: false, kind: "url", reason: "is no URL" }],
    [
      "a name that does not resolve",
      "invalid_parameter",
      { ok: false, kind: "unresolved", reason: "is unknown" },
    ],
    ["a private address", "forbidden_provider_address", { ok: false, kind: "address", reason: "is private" }],
  ] as const)("%s: %s", async (_what, code, refused) => {
    answer = refused;
    await expect(add({})).rejects.toMatchObject({ refusal: { code } });
    expect(await system.ask(actorRef.keyPool(OWNER), "list", {})).toEqual([]);
  });

  test("the service's own listener: self_referencing_provider", async () => {
    answer = { ok: true, addresses: ["127.0.0.1"], pinned: { addresses: ["127.0.0.1"], name: null } };
    const own = { provider: "http://127.0.0.1:8080/v1" };
    await expect(add(own)).rejects.toMatchObject({ refusal: { code: "self_referencing_provider" } });
  });
});
