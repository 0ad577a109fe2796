// A creation that takes longer than the claims sweep waits: whatever is released under it, no account stands without its
// claims, no two accounts have one name, and the parent has paid for those that there are.

import { beforeEach, expect, test } from "bun:test";
import { type AccountId, ROOT } from "../../actors/ids.ts";
import { actorRef } from "../../actors/index.ts";
import { type Creation, createAccounts } from "../../src/admin/create-account.ts";
import { sweepClaims } from "../../src/admin/periodic-sweeps.ts";
import { realClock } from "../../src/base/clock.ts";
import { hashKey } from "../../src/gateway/account/identify.ts";
import { numbers } from "../../src/store/id-allocator.ts";
import { usd } from "../actors/account-samples.ts";
import { preparedEach } from "../e2e/prepared-each.ts";
import { memoryTree, refusal, type Tree } from "./tree.ts";

let offsetMs = 0;
beforeEach(() => {
  offsetMs = 0;
});
const tree = preparedEach(() => memoryTree(realClock(() => offsetMs)));
const parent = preparedEach(() => tree.born(ROOT, "parent", 100));

const order = (): Creation => ({
  parent: parent.id,
  account: { name: "child", email: "child@example.com" },
  ...{ amount: usd(10), days: 180, keep: usd(0) },
  command: { id: "the-command", bornAt: tree.clock.wall() },
});

/** The id of the account whose creation was begun first. */
let id: AccountId;

/** Creates while `meanwhile` happens once, just before the parent is asked. */
function creating(
  meanwhile: (id: AccountId) => Promise<unknown>,
): (creation: Creation) => Promise<{ key: string }> {
  let happened = false;
  const ask = (async (...given: Parameters<Tree["system"]["ask"]>) => {
    if (given[1] === "createChild" && !happened) {
      happened = true;
      id = (given[2] as unknown as { child: { id: AccountId } }).child.id;
      await meanwhile(id);
    }
    return tree.system.ask(...given);
  }) as Tree["system"]["ask"];
  const nextId = numbers(tree.store, "account");
  return createAccounts({ ...tree, system: { ...tree.system, ask }, nextId });
}

async function swept(): Promise<number> {
  offsetMs += 61_000;
  return sweepClaims(tree);
}

const named = async (name: string): Promise<AccountId | null> =>
  ((await tree.store.findClaim(`name:${name}`))?.account ?? null) as AccountId | null;

async function settled(): Promise<void> {
  for (let i = 0; i < 200 && (await tree.affairs(parent.id)).owes.length > 0; i++) await Bun.sleep(5);
  expect((await tree.affairs(parent.id)).owes).toEqual([]);
}

test("that loses its claims to the sweep begins anew, and moves its credit once", async () => {
  const { key } = await creating(async () => expect(await swept()).toBe(2))(order());
  const born = (await named("child"))!;
  expect(await tree.store.findClaim(`key:${hashKey(key)}`)).toMatchObject({ account: born, confirmed: true });
  expect((await tree.system.ask(actorRef.account(id), "creation", {})).state).toBe("forgone");
  expect([await tree.balance(born), await tree.balance(parent.id)]).toEqual([usd(10), usd(90)]);
  expect((await tree.affairs(parent.id)).children).toBe(1);
});

test("whose name is another's by then is refused, and its parent has its credit back", async () => {
  const late = creating(async () => {
    await swept();
    await tree.born(ROOT, "child", 1);
  });
  expect(await refusal(late(order()))).toBe("duplicate_name");
  await settled();
  expect(await tree.balance(parent.id)).toBe(usd(100));
  expect((await tree.affairs(parent.id)).children).toBe(0);
});

test("and crashes after its parent gave leaves nothing but a free name", async () => {
  const dying = creating(async (unborn) => {
    await swept();
    const child = { ...order().account, id: unborn, keyHash: "0".repeat(64) };
    const gift = { id: "the-command", bornAt: tree.clock.wall(), amount: usd(10), days: 180, keep: usd(0) };
    await tree.system.ask(
      actorRef.account(parent.id),
      "createChild",
      { ...gift, child },
      { id: "the-command" },
    );
    throw new Error("died");
  });
  await expect(dying(order())).rejects.toThrow("died");
  await settled();
  expect((await tree.affairs(parent.id)).children).toBe(0);
  expect([await named("child"), await tree.balance(parent.id)]).toEqual([null, usd(100)]);

  // Repeated with its command it is done after all.
  await creating(async () => {})(order());
  expect(await tree.balance((await named("child"))!)).toBe(usd(10));
  expect((await tree.affairs(parent.id)).children).toBe(1);
});

test("is left alone while its parent's gift is under way", async () => {
  const { key } = await creating(async () => {
    const child = { ...order().account, id: 77 as AccountId, keyHash: "7".repeat(64) };
    const claims = ["name:on-its-way", `key:${child.keyHash}`];
    for (const claim of claims) await tree.store.claim(claim, 77, "on-its-way", tree.clock.wall());
    offsetMs += 61_000;
    // Its birth is asked for, and the gift stands in the parent's ledger.
    const gift = { id: "on-its-way", bornAt: tree.clock.wall(), amount: usd(1), days: 180, keep: usd(0) };
    const born = { ...gift, child: { ...child, name: "on-its-way" } };
    await tree.system.ask(actorRef.account(parent.id), "createChild", born, { id: "on-its-way" });
    await sweepClaims(tree);
    expect(await named("on-its-way")).toBe(77 as AccountId);
  })(order());
  expect(key).toStartWith("sk-");
});
