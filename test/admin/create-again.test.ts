// A creation repeated with its command: after a crash at any step one account, credit moved once, and a key that works.

import { expect, test } from "bun:test";
import { ROOT } from "../../actors/ids.ts";
import { actorRef } from "../../actors/index.ts";
import { createAccounts } from "../../src/admin/create-account.ts";
import { deleteAccount } from "../../src/admin/delete-account.ts";
import { sweepClaims } from "../../src/admin/periodic-sweeps.ts";
import { realClock } from "../../src/base/clock.ts";
import { hashKey } from "../../src/gateway/account/identify.ts";
import { numbers } from "../../src/store/id-allocator.ts";
import { StoreBusyError } from "../../src/store/store-errors.ts";
import { usd } from "../actors/account-samples.ts";
import { memoryStore } from "../store/memory/memory.ts";
import { dyingAt, refusal, startTree } from "./tree.ts";

const NEVER = 99;

test.each([1, 2, 3, NEVER])("died at ask %d, and again: one account, one transfer", async (nth) => {
  const clock = realClock();
  const store = memoryStore({ clock });
  const tree = await startTree(store, clock);
  const parent = await tree.born(ROOT, "parent", 100);
  const order = {
    parent: parent.id,
    account: { name: "child", email: "child@example.com" },
    ...{ amount: usd(10), days: 180, keep: usd(0) },
    command: { id: "the-command", bornAt: clock.wall() },
  };
  const nextId = numbers(store, "account");
  const dying = createAccounts({ ...tree, system: dyingAt(tree.system, nth), nextId });
  await dying(order).catch((error) => expect(String(error)).toBe("Error: died"));

  const { record, key } = await createAccounts({ ...tree, nextId })(order);
  const { profile, balance } = await tree.system.ask(actorRef.account(record.profile.id), "read", {});
  expect([profile.name, balance, await tree.balance(parent.id)]).toEqual(["child", usd(10), usd(90)]);
  expect(profile.keyHash).toBe(hashKey(key));
  const claims = await Promise.all([`name:child`, `key:${hashKey(key)}`].map((one) => store.findClaim(one)));
  for (const claim of claims) expect(claim).toMatchObject({ account: profile.id, confirmed: true });
  expect((await tree.system.ask(actorRef.account(parent.id), "read", {})).children).toBe(1);
});

test("of an account that was deleted meanwhile: it is gone, its name is free, and nothing is given twice", async () => {
  const clock = realClock();
  const store = memoryStore({ clock });
  const tree = await startTree(store, clock);
  const parent = await tree.born(ROOT, "parent", 100);
  const order = {
    parent: parent.id,
    account: { name: "child", email: "child@example.com" },
    ...{ amount: usd(10), days: 180, keep: usd(0) },
    command: { id: "the-command", bornAt: clock.wall() },
  };
  const create = createAccounts({ ...tree, nextId: numbers(store, "account") });
  const { record } = await create(order);
  await deleteAccount(tree, { account: record.profile.id, by: ROOT, recursive: false });

  expect(await refusal(create(order))).toBe("user_not_found");
  expect(await store.findClaim("name:child")).toBeNull();
  expect(await tree.balance(parent.id)).toBe(usd(99.8));
});

test("whose claims cannot be confirmed: it is answered, and the sweep confirms them", async () => {
  let passedMs = 0;
  const clock = realClock(() => passedMs);
  const store = memoryStore({ clock });
  const tree = await startTree(store, clock);
  const parent = await tree.born(ROOT, "parent", 100);
  const busy = { ...store, confirm: async () => Promise.reject(new StoreBusyError("busy")) };
  const create = createAccounts({ ...tree, store: busy, nextId: numbers(store, "account") });
  const account = { name: "child", email: "child@example.com" };
  const { key } = await create({ parent: parent.id, account, amount: usd(10), days: 180, keep: usd(0) });

  passedMs += 120_000;
  await sweepClaims(tree);
  const claims = await Promise.all([`name:child`, `key:${hashKey(key)}`].map((one) => store.findClaim(one)));
  expect(claims.map((claim) => claim?.confirmed)).toEqual([true, true]);
});
