// Changing a provider key, on real actors whose debts are never delivered: what an answered change says is in force at the
// Levels all the same, so that nobody has to wait for it.

import { beforeEach, expect, test } from "bun:test";
import type { AccountId, KeyId } from "../../actors/ids.ts";
import { behaviors, type Protocol, to } from "../../actors/index.ts";
import { addKeys } from "../../src/admin/add-key.ts";
import { changeKeys, type KeyChanges, type KeyEdit } from "../../src/admin/change-key.ts";
import { memoryBus } from "../../src/bus/memory.ts";
import { realClock, realRandom } from "../../src/runtime/clock.ts";
import { silent } from "../../src/runtime/log.ts";
import { soloPlacement } from "../../src/runtime/solo.ts";
import { type ActorSystem, createSystem } from "../../src/runtime/system.ts";
import { memoryStore } from "../../src/store/memory.ts";
import { numbers } from "../../src/store/numbers.ts";
import type { Guard, GuardAnswer } from "../../src/upstream/guard.ts";
import { createVault } from "../../src/upstream/vault.ts";

const OWNER = 2 as AccountId;
const SECRET = "sk-a-provider-secret-0123456789";
const clock = realClock();
const vault = createVault(Buffer.alloc(32, 7).toString("base64"), null);

let system: ActorSystem<Protocol>;
let keys: KeyChanges;
let add: (level: number) => Promise<KeyId>;
let answer: GuardAnswer;

beforeEach(async () => {
  const store = memoryStore({ clock });
  system = createSystem<Protocol>({
    store,
    bus: memoryBus(),
    clock,
    random: realRandom(clock),
    placement: soloPlacement({ registry: store, node: "n" }),
    behaviors,
    log: silent,
    // No debt between actors is ever paid.
    limits: { effects: 0 },
  });
  await system.start();
  answer = { ok: true, addresses: ["93.184.216.34"], pinned: { addresses: ["93.184.216.34"], name: "host" } };
  const guard: Guard = { checked: () => undefined, check: async () => answer };
  const parts = { system, guard, vault, listeners: () => [], publicUrls: [] };
  keys = changeKeys(parts);
  const adding = addKeys({ ...parts, nextId: numbers(store, "key") });
  const key = { owner: OWNER, name: "", secret: SECRET, status: true, config: {} };
  add = async (level) => (await adding({ ...key, level, provider: "https://models.example/v1" })).key.id;
});

const edit = (id: KeyId, change: KeyEdit["change"], secret?: string) =>
  keys.edit({ owner: OWNER, id, change, secret });
const seen = async (level: number) => (await system.ask(to.level(OWNER, level), "view", {})).keys;
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
  const { mask } = await edit(id, {}, "sk-another-secret-0123456wxyz");
  expect(mask).toBe("sk-…wxyz");
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
  const kept = await system.ask(to.keyPool(OWNER), "read", { id });
  expect(kept).toMatchObject({ name: "renamed", provider: "https://models.example/v1" });
});

test("a key that is not there is said so before its provider is looked at", async () => {
  answer = { ok: false, kind: "address", reason: "is private" };
  const moving = edit(9 as KeyId, { provider: "https://private.example/v1" });
  await expect(moving).rejects.toMatchObject({ refusal: { code: "key_not_found" } });
});
