// Changing a provider key, on real actors whose debts are never delivered: what an answered change says is in force at the
// Levels all the same, so that nobody has to wait for it.

import { beforeEach, describe, expect, test } from "bun:test";
import type { AccountId, ProviderKeyId } from "../../actors/ids.ts";
import { actorRef, behaviors, type Protocol } from "../../actors/index.ts";
import { addKeys } from "../../src/admin/add-key.ts";
import { changeKeys, type KeyChanges, type KeyEdit } from "../../src/admin/change-key.ts";
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
const clock = realClock();
const vault = createSecretVault(Buffer.alloc(32, 7).toString("base64"), null);

let system: ActorSystem<Protocol>;
let keys: KeyChanges;
let add: (level: number) => Promise<ProviderKeyId>;
let answer: SsrfVerdict;

beforeEach(async () => {
  const store = memoryStore({ clock });
  system = createSystem<Protocol>({
    store,
    bus: memoryBus(),
    clock,
    random: realRandom(clock),
    placement: createSingleNodePlacement({ registry: store, node: "n" }),
    behaviors,
    log: silent,
    // No debt between actors is ever paid.
    limits: { effects: 0 },
  });
  await system.start();
  answer = { ok: true, addresses: ["93.184.216.34"], pinned: { addresses: ["93.184.216.34"], name: "host" } };
  const guard: SsrfGuard = { checked: () => undefined, check: async () => answer };
  const upstream = createUpstreams({
    guard,
    transport: createFetchTransport(),
    clock,
    hostFacts: () => undefined,
    ...CLOUDS,
  });
  const parts = { system, guard, vault, upstream, listeners: () => [], publicUrls: [] };
  keys = changeKeys(parts);
  const adding = addKeys({ ...parts, nextId: numbers(store, "key") });
  const key = { owner: OWNER, name: "", secret: SECRET, privateKey: null, status: true, config: {} };
  add = async (level) => (await adding({ ...key, level, provider: "https://models.example/v1" })).key.id;
});

const edit = (id: ProviderKeyId, change: KeyEdit["change"], secret?: string) =>
  keys.edit({ owner: OWNER, id, change, secret });
const seen = async (level: number) => (await system.ask(actorRef.level(OWNER, level), "view", {})).keys;
const idsIn = async (level: number) => (await seen(level)).map(({ id }) => id);

test("a key that was added stands in its Level", async () => {
  const id = await add(4);
  expect(await idsIn(4)).toEqual([id]);
});

test("a key that changes its Level has left the one and entered the other", async () => {
  const [first, second, third] = [await add(4), await add(4), await add(5)];
  await edit(first, { level: 5 });
  expect([await idsIn(4), await idsIn(5)]).toEqual([[second], [first, third]]);
});

test("a key that was deleted has left its Level", async () => {
  const [first, second] = [await add(4), await add(4)];
  await keys.remove(OWNER, first);
  expect(await idsIn(4)).toEqual([second]);
  await keys.remove(OWNER, second);
  expect(await idsIn(4)).toEqual([]);
});

test("a new secret is sealed, and its Level has the new box", async () => {
  const id = await add(4);
  const { key: changed } = await edit(id, {}, "sk-another-secret-0123456wxyz");
  expect(changed.mask).toBe("sk-…wxyz");
  const [key] = await seen(4);
  expect(JSON.stringify(key)).not.toContain("another-secret");
  expect(vault.open(key!.secret)).toBe("sk-another-secret-0123456wxyz");
});

test("a provider is checked only when it changes", async () => {
  const id = await add(4);
  answer = { ok: false, kind: "address", reason: "is private" };
  await edit(id, { name: "renamed" });
  const moving = edit(id, { provider: "https://private.example/v1", name: "moved" });
  await expect(moving).rejects.toMatchObject({ refusal: { code: "forbidden_provider_address" } });
  const kept = await system.ask(actorRef.keyPool(OWNER), "read", { id });
  expect(kept).toMatchObject({ name: "renamed", provider: "https://models.example/v1" });
});

test("a key that is not there is said so before its provider is looked at", async () => {
  answer = { ok: false, kind: "address", reason: "is private" };
  const moving = edit(9 as ProviderKeyId, { provider: "https://private.example/v1" });
  await expect(moving).rejects.toMatchObject({ refusal: { code: "key_not_found" } });
});

test("changes at once that are fit only one by one: the later is judged by what the earlier left", async () => {
  const id = await add(4);
  await edit(id, { config: { provider_type: "cloud_a" } });
  const both = await Promise.allSettled([
    edit(id, { config: { api_versions: { chat: "v1" } } }),
    edit(id, { config: { provider_type: null } }),
  ]);
  expect(both.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
  const { config } = await system.ask(actorRef.keyPool(OWNER), "read", { id });
  expect([{ provider_type: "cloud_a", api_versions: { chat: "v1" } }, {}]).toContainEqual(config);
});

describe("a sleeping key", () => {
  const asleep = async () => fallAsleep(await add(4));
  const fallAsleep = async (id: ProviderKeyId) => {
    const failure = { what: "long", retryAfterMs: null, reason: "invalid_key", limit: 3 } as const;
    await system.ask(actorRef.level(OWNER, 4), "failed", {
      key: id,
      model: "m",
      startedAt: clock.wall(),
      ...failure,
    });
    return id;
  };
  const sleeps = async () => {
    const { health } = await system.ask(actorRef.level(OWNER, 4), "view", {});
    return health.some(({ sleepsUntil }) => sleepsUntil > clock.wall());
  };

  test.each<[string, boolean, Omit<KeyEdit, "owner" | "id">]>([
    ["wakes by hand", false, { change: {}, wake: true }],
    ["wakes by hand, renamed at the same time", false, { change: { name: "new" }, wake: true }],
    ["wakes with another secret", false, { change: {}, secret: "sk-another-secret-0123456wxyz" }],
    [
      "wakes with another secret of the same mask",
      false,
      { change: {}, secret: `${SECRET.slice(0, 3)}another-secret-${SECRET.slice(-4)}` },
    ],
    ["wakes with another Config", false, { change: { config: { api_style: "messages" } } }],
    ["sleeps on when it is renamed", true, { change: { name: "new" } }],
    ["sleeps on when nothing changes", true, { change: { config: {} } }],
    ["sleeps on when its secret is given as its mask", true, { change: {}, secret: "sk-…6789" }],
  ])("%s", async (_, asleepStill, given) => {
    const id = await asleep();
    expect(await sleeps()).toBe(true);
    await keys.edit({ owner: OWNER, id, ...given });
    expect(await sleeps()).toBe(asleepStill);
  });

  test.each<[string, boolean, () => string]>([
    ["wakes with another private key, which has the same mask", false, privateKeyPem],
    ["sleeps on when its private key is given as its mask", true, () => "---…----"],
  ])("%s", async (_, asleepStill, privateKey) => {
    const id = await add(4);
    const config = {
      ...{ provider_type: "cloud_b", client_email: "one@p-1.example.com", project_id: "p-1" },
      base_url: "https://models.example/v1/projects/p-1/locations/us-east5",
    };
    await keys.edit({ owner: OWNER, id, change: { config }, privateKey: privateKeyPem() });
    await fallAsleep(id);
    await keys.edit({ owner: OWNER, id, change: {}, privateKey: privateKey() });
    expect(await sleeps()).toBe(asleepStill);
  });
});
