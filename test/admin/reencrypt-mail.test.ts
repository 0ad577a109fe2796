// Another SECRETS_KEY: mail passwords move into its boxes as provider secrets do, once, and stay what they are.

import { expect, test } from "bun:test";
import type { AccountId } from "../../actors/ids.ts";
import { actorRef } from "../../actors/index.ts";
import type { SealedSecret } from "../../actors/key-pool/provider-key.ts";
import { resealAll } from "../../src/admin/reencrypt-secrets.ts";
import { realClock } from "../../src/base/clock.ts";
import { createSecretVault } from "../../src/upstream/secret-vault.ts";
import { memoryStore } from "../store/memory/memory.ts";
import { startTree } from "./tree.ts";

const [OLD, NEW] = [1, 2].map((byte) => Buffer.alloc(32, byte).toString("base64")) as [string, string];

test("a mail password is sealed anew, and only once", async () => {
  const clock = realClock();
  const { system, store } = await startTree(memoryStore({ clock }), clock);
  const owner = actorRef.owner(2 as AccountId);
  const change = { emailPass: createSecretVault(OLD, null).seal("correct horse") };
  await system.ask(owner, "configure", { change, by: 2 as AccountId });
  const vault = createSecretVault(NEW, OLD);
  expect(await resealAll({ system, store, vault })).toMatchObject({ keys: 1, resealed: 1 });
  const { emailPass } = await system.ask(owner, "read", {});
  expect(createSecretVault(NEW, null).open(emailPass!)).toBe("correct horse");
  expect(await resealAll({ system, store, vault })).toMatchObject({ keys: 1, resealed: 0 });
});

test("a password that is set at the same time stays", async () => {
  const clock = realClock();
  const { system, store } = await startTree(memoryStore({ clock }), clock);
  const by = 2 as AccountId;
  const owner = actorRef.owner(by);
  const vault = createSecretVault(NEW, OLD);
  const set = (emailPass: SealedSecret) => system.ask(owner, "configure", { change: { emailPass }, by });
  await set(createSecretVault(OLD, null).seal("the former one"));
  let isSet = false;
  const ask = (async (...given: Parameters<typeof system.ask>) => {
    if (given[1] === "configure" && !isSet) {
      isSet = true;
      await set(vault.seal("the later one"));
    }
    return system.ask(...given);
  }) as typeof system.ask;

  expect(await resealAll({ system: { ...system, ask }, store, vault })).toMatchObject({
    keys: 1,
    resealed: 0,
  });
  const { emailPass } = await system.ask(owner, "read", {});
  expect(vault.open(emailPass!)).toBe("the later one");
});
