// Another SECRETS_KEY: mail passwords move into its boxes as provider secrets do, once, and stay what they are.

import { expect, test } from "bun:test";
import type { AccountId } from "../../actors/ids.ts";
import { actorRef } from "../../actors/index.ts";
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
