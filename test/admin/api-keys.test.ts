// The secrets of named keys: after a crash at any step a repeat of the command gives one key and a secret that works, and no
// claim outlives its secret.

import { beforeEach, describe, expect, test } from "bun:test";
import { DELETED_KEY_MS } from "../../actors/api-key/api-key.ts";
import { type AccountId, type ApiKeyId, ROOT } from "../../actors/ids.ts";
import { actorRef } from "../../actors/index.ts";
import { addApiKey, rotateApiKey } from "../../src/admin/api-keys.ts";
import { deleteAccount } from "../../src/admin/delete-account.ts";
import { sweepClaims, sweepExpiry } from "../../src/admin/periodic-sweeps.ts";
import { realClock } from "../../src/base/clock.ts";
import { UnavailableError } from "../../src/base/errors.ts";
import { hashKey } from "../../src/gateway/account/identify.ts";
import type { Store } from "../../src/store/store.ts";
import { memoryStore } from "../store/memory/memory.ts";
import { type Born, byMainKey, openSettings, refusal, startTree, type Tree } from "./tree.ts";

const HOUR_MS = 3_600_000;

let tree: Tree;
let owner: Born;
let passedMs = 0;
beforeEach(async () => {
  passedMs = 0;
  const clock = realClock(() => passedMs);
  tree = await startTree(memoryStore({ clock }), clock);
  owner = await tree.born(ROOT, "blue", 10);
});

const command = (id: string) => ({ id, bornAt: tree.clock.wall() });
type Parts = Pick<Tree, "system" | "store" | "clock" | "random">;
const add = (name: string, parts: Parts = tree, id = `add-${name}`) =>
  addApiKey(parts, owner.id, { settings: openSettings(name), ...byMainKey(owner), command: command(id) });
const rotate = (apiKey: ApiKeyId, overlapMs: number, parts: Parts = tree, id: string = tree.random.id()) =>
  rotateApiKey(parts, owner.id, { apiKey, overlapMs, ...byMainKey(owner), command: command(id) });
const remove = (apiKey: ApiKeyId) =>
  tree.system.ask(actorRef.account(owner.id), "deleteApiKey", { apiKey, ...byMainKey(owner) });

/** Whether the claim of a secret is confirmed; null when there is none. */
const claimOf = async (secret: string) =>
  (await tree.store.findClaim(`key:${hashKey(secret)}`))?.confirmed ?? null;
const enters = (secret: string) =>
  refusal(
    tree.system.ask(actorRef.account(owner.id), "identify", {
      ...{ keyHash: hashKey(secret), ip: "127.0.0.1", scope: "invoke", suspendedToo: false },
    }),
  );
const keys = async () => (await tree.system.ask(actorRef.account(owner.id), "apiKeys", {})).keys;
const secretsKnown = async () =>
  (await tree.system.ask(actorRef.account(owner.id), "profile", {})).secretHashes.length;

/** All claims of secrets, named keys' and main keys'. */
async function claims(): Promise<number> {
  const found = await Promise.all(made.map((key) => tree.store.findClaim(key)));
  return found.filter((claim) => claim !== null).length;
}
let made: string[] = [];

/** The tree with a store that remembers what is claimed, and dies at the first of `calls` that is made. */
function dyingStore(...calls: readonly ("claim" | "confirm" | "release")[]): Parts {
  const died = async (): Promise<never> => {
    throw new Error("died");
  };
  made = [];
  const claim: Store["claim"] = (key, ...rest) => {
    made.push(key);
    return tree.store.claim(key, ...rest);
  };
  const dead = Object.fromEntries(calls.map((call) => [call, died]));
  return { ...tree, store: { ...tree.store, claim, ...dead } };
}

/** The tree with a system that dies before (`done` false) or after the account executes `type`. */
function dyingSystem(type: string, done: boolean): Parts {
  const { store } = dyingStore();
  const ask = (async (...given: Parameters<typeof tree.system.ask>) => {
    if (given[1] !== type) return tree.system.ask(...given);
    if (done) await tree.system.ask(...given);
    throw new UnavailableError("account", "died");
  }) as typeof tree.system.ask;
  return { ...tree, store, system: { ...tree.system, ask } };
}

const sweep = async () => {
  passedMs += 120_000;
  await sweepClaims(tree);
  await sweepExpiry(tree);
};

describe("adding a key", () => {
  test("gives a secret that is claimed and lets in", async () => {
    const { row, secret } = await add("ci");
    expect(row).toMatchObject({ id: 1, name: "ci", hash: hashKey(secret), createdBy: owner.id });
    expect([await claimOf(secret), await enters(secret)]).toEqual([true, null]);
  });

  test("a refusal leaves no claim", async () => {
    await add("ci");
    const parts = dyingStore();
    expect(await refusal(add("CI", parts, "another"))).toBe("duplicate_name");
    expect([made.length, await claims()]).toEqual([1, 0]);
  });

  test("died at the claim, or before the command: nothing happened, and the sweep frees the secret", async () => {
    await expect(add("ci", dyingStore("claim"))).rejects.toThrow("died");
    await expect(add("ci", dyingSystem("addApiKey", false))).rejects.toThrow();
    expect(await claims()).toBe(1);
    await sweep();
    expect([await claims(), (await keys()).length]).toEqual([0, 0]);
  });

  test.each([
    ["after the command", () => dyingSystem("addApiKey", true)],
    ["at the confirmation", () => dyingStore("confirm")],
  ])("died %s: a repeat gives the same key another secret, and the lost one is freed", async (_, dying) => {
    await expect(add("ci", dying())).rejects.toThrow();
    const { row, secret } = await add("ci");
    expect((await keys()).map(({ id, hash }) => [id, hash])).toEqual([[row.id, hashKey(secret)]]);
    expect([await claimOf(secret), await enters(secret)]).toEqual([true, null]);
    await sweep();
    expect([await claims(), await claimOf(secret), await secretsKnown()]).toEqual([0, true, 1]);
  });

  test("died after the command, and no repeat: the sweep confirms the claim", async () => {
    await expect(add("ci", dyingSystem("addApiKey", true))).rejects.toThrow();
    await sweep();
    expect((await tree.store.findClaim(made[0]!))?.confirmed).toBe(true);
  });

  test("a repeat after an answer that was lost ends the first secret", async () => {
    const first = await add("ci");
    const second = await add("ci");
    expect(second.row.id).toBe(first.row.id);
    expect([await enters(first.secret), await enters(second.secret)]).toEqual(["invalid_api_key", null]);
    await sweep();
    expect([await claimOf(first.secret), await claimOf(second.secret)]).toEqual([null, true]);
  });

  test("a late repeat does not end the secret of a rotation that came after", async () => {
    const { row } = await add("ci");
    const { secret } = await rotate(row.id, 0);
    const parts = dyingStore();
    expect(await refusal(add("ci", parts))).toBe("key_not_found");
    expect([await enters(secret), await claims()]).toEqual([null, 0]);
  });

  test("a claim that the sweep released meanwhile is made again", async () => {
    const slow = {
      ...tree,
      system: {
        ...tree.system,
        ask: (async (...given: Parameters<typeof tree.system.ask>) => {
          await sweep();
          return tree.system.ask(...given);
        }) as typeof tree.system.ask,
      },
    };
    const { secret } = await add("ci", slow);
    expect(await claimOf(secret)).toBe(false);
    await sweep();
    expect([await claimOf(secret), await enters(secret)]).toEqual([true, null]);
  });
});

describe("rotating a key", () => {
  let first: Awaited<ReturnType<typeof add>>;
  beforeEach(async () => {
    first = await add("ci");
  });

  test("without overlap the old secret ends at once, and its claim with the next sweep", async () => {
    const { secret } = await rotate(first.row.id, 0);
    expect([await enters(first.secret), await enters(secret)]).toEqual(["invalid_api_key", null]);
    expect(await claimOf(first.secret)).toBe(true);
    await sweep();
    expect([await claimOf(first.secret), await claimOf(secret)]).toEqual([null, true]);
  });

  test("with overlap both are good until its end", async () => {
    const { secret } = await rotate(first.row.id, HOUR_MS);
    await sweep();
    expect([await enters(first.secret), await claimOf(first.secret)]).toEqual([null, true]);
    passedMs += HOUR_MS;
    expect(await enters(first.secret)).toBe("invalid_api_key");
    await sweep();
    expect([await claimOf(first.secret), await claimOf(secret), await secretsKnown()]).toEqual([
      null,
      true,
      1,
    ]);
  });

  test("a refusal leaves no claim", async () => {
    const parts = dyingStore();
    expect(await refusal(rotate(77 as ApiKeyId, 0, parts))).toBe("key_not_found");
    expect([made.length, await claims()]).toEqual([1, 0]);
  });

  test("died before the command: the old secret lives on", async () => {
    await expect(rotate(first.row.id, 0, dyingSystem("rotateApiKey", false))).rejects.toThrow();
    await sweep();
    expect([await claims(), await claimOf(first.secret), await enters(first.secret)]).toEqual([
      0,
      true,
      null,
    ]);
  });

  test.each([
    ["after the command", () => dyingSystem("rotateApiKey", true)],
    ["at the confirmation", () => dyingStore("confirm")],
  ])("died %s: a repeat keeps the overlap of the secret that was shown", async (_, dying) => {
    await expect(rotate(first.row.id, HOUR_MS, dying(), "again")).rejects.toThrow();
    const { secret } = await rotate(first.row.id, HOUR_MS, tree, "again");
    expect([await enters(first.secret), await enters(secret)]).toEqual([null, null]);
    await sweep();
    expect([await claims(), await claimOf(first.secret), await claimOf(secret)]).toEqual([0, true, true]);
  });
});

describe("the end of a secret", () => {
  test("a deleted key's claim stays as long as its refusal says why", async () => {
    const { row, secret } = await add("ci");
    await remove(row.id);
    await sweep();
    expect([await claimOf(secret), await enters(secret)]).toEqual([true, "invalid_api_key"]);
    passedMs += DELETED_KEY_MS;
    await sweep();
    expect([await claimOf(secret), await secretsKnown()]).toEqual([null, 0]);
  });

  test("died between the release and the forgetting: the next sweep ends it", async () => {
    const { row, secret } = await add("ci");
    await rotate(row.id, 0);
    const { system } = tree;
    const ask = (async (...given: Parameters<typeof system.ask>) => {
      if (given[1] === "forgetSecrets") throw new Error("died");
      return system.ask(...given);
    }) as typeof system.ask;
    await sweepExpiry({ ...tree, system: { ...system, ask } });
    expect([await claimOf(secret), await secretsKnown()]).toEqual([null, 2]);
    await sweep();
    expect(await secretsKnown()).toBe(1);
  });

  test("a claim that names another account is not released", async () => {
    const { row, secret } = await add("ci");
    await rotate(row.id, 0);
    const key = `key:${hashKey(secret)}`;
    await tree.store.release(key, (await tree.store.findClaim(key))!.by);
    await tree.store.claim(key, ROOT, "somebody", tree.clock.wall());
    await tree.store.confirm(key, "somebody");
    await sweep();
    expect((await tree.store.findClaim(key))?.account).toBe(ROOT);
  });

  test("a deleted account frees all its secrets, and no sweep asks it again", async () => {
    const kept = await add("kept");
    const gone = await add("gone");
    await remove(gone.row.id);
    const next = await rotate(kept.row.id, HOUR_MS);
    await deleteAccount(tree, { account: owner.id as AccountId, by: ROOT, recursive: false });
    const all = [kept, gone, next].map(({ secret }) => claimOf(secret));
    expect(await Promise.all(all)).toEqual([null, null, null]);
    passedMs += 2 * DELETED_KEY_MS;
    expect(await sweepExpiry(tree)).toBe(0);
  });
});
