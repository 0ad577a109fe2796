// Another SECRETS_KEY: both secrets of a provider key move into its boxes, once, and stay what they are; and their Levels
// have the new boxes.

import { expect, test } from "bun:test";
import type { AccountId, ProviderKeyId } from "../../actors/ids.ts";
import { actorRef } from "../../actors/index.ts";
import type { ProviderKey } from "../../actors/key-pool/provider-key.ts";
import { openedSecrets } from "../../src/admin/key-secrets.ts";
import { resealAll } from "../../src/admin/reencrypt-secrets.ts";
import { realClock } from "../../src/base/clock.ts";
import { createSecretVault, maskOf } from "../../src/upstream/secret-vault.ts";
import { until } from "../e2e/harness.ts";
import { preparedEach } from "../e2e/prepared-each.ts";
import { memoryTree } from "./tree.ts";

const [OLD, NEW] = [1, 2].map((byte) => Buffer.alloc(32, byte).toString("base64")) as [string, string];
const OWNER = 2 as AccountId;
const clock = realClock();
const before = createSecretVault(OLD, null);
const between = createSecretVault(NEW, OLD);
const after = createSecretVault(NEW, null);

const tree = preparedEach(() => memoryTree(clock));

async function add(id: number, secret: string, privateKey?: string): Promise<void> {
  const key = {
    ...{ id: id as ProviderKeyId },
    ...{ name: "", level: 4, provider: "https://models.example/v1", status: true, config: {} },
    ...{ secret: before.seal(secret), mask: maskOf(secret) },
    ...(privateKey && { privateKey: { secret: before.seal(privateKey), mask: maskOf(privateKey) } }),
  };
  await tree.system.ask(actorRef.keyPool(OWNER), "add", { key });
}
const keys = () => tree.system.ask(actorRef.keyPool(OWNER), "list", {});
const reseal = () => resealAll({ ...tree, vault: between });

test("a SecretKey and a private key are sealed anew, and only once", async () => {
  await add(1, "the-first-secret");
  await add(2, "the-second-secret", "the-private-key");
  const masks = (all: readonly ProviderKey[]) => all.map(({ mask, privateKey }) => [mask, privateKey?.mask]);
  const shown = masks(await keys());
  expect(await reseal()).toEqual({ owners: 1, keys: 3, resealed: 3 });
  expect((await keys()).map((key) => openedSecrets(after, key))).toEqual([
    { secret: "the-first-secret", privateKey: null },
    { secret: "the-second-secret", privateKey: "the-private-key" },
  ]);
  expect(masks(await keys())).toEqual(shown);
  expect(await reseal()).toEqual({ owners: 1, keys: 3, resealed: 0 });
});

test("a private key that was exchanged meanwhile stays what it is", async () => {
  await add(1, "the-first-secret", "the-former-private-key");
  const [key] = await keys();
  const privateKey = { secret: after.seal("the-new-private-key"), mask: "the…-key" };
  await tree.system.ask(actorRef.keyPool(OWNER), "update", { id: key!.id, change: { privateKey } });
  const late = {
    id: key!.id,
    was: key!.privateKey!.secret.box,
    secret: after.seal("the-former-private-key"),
  };
  expect(await tree.system.ask(actorRef.keyPool(OWNER), "reseal", { secrets: [late] })).toEqual({
    resealed: 0,
  });
  expect(after.open((await keys())[0]!.privateKey!.secret)).toBe("the-new-private-key");
});

test("what no key at hand opens is not touched: the error says which key is missing", async () => {
  await add(1, "the-first-secret", "the-private-key");
  await expect(resealAll({ ...tree, vault: after })).rejects.toThrow("SECRETS_KEY_OLD");
  expect(openedSecrets(after, (await keys())[0]!)).toBeNull();
  expect(openedSecrets(before, (await keys())[0]!)).not.toBeNull();
});

test("a key that sleeps sleeps on, and its Level has the new boxes", async () => {
  await add(1, "the-first-secret", "the-private-key");
  await add(2, "the-second-secret");
  const level = actorRef.level(OWNER, 4);
  const view = () => tree.system.ask(level, "view", {});
  await until("the Level knows its keys", async () => (await view()).keys.length === 2);
  for (const key of [1, 2] as ProviderKeyId[]) {
    const failure = { what: "long", retryAfterMs: null, reason: "invalid_key", limit: 3 } as const;
    await tree.system.ask(level, "failed", { key, model: "m", startedAt: clock.wall(), ...failure });
  }
  const { health } = await view();
  expect(health.map(({ sleepsUntil }) => sleepsUntil > clock.wall())).toEqual([true, true]);
  await reseal();
  await until("the Level has the new boxes", async () => {
    const boxes = (await view()).keys.flatMap(({ secret, privateKey }) => [secret, privateKey ?? secret]);
    return boxes.every(({ keyId }) => keyId === after.keyId);
  });
  expect((await view()).health).toEqual(health);
});
