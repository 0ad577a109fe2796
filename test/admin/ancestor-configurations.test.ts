// What an account's own word is stamped with: whose configurations are read, in which order, and that a newborn's limits
// carry the stamp.

import { beforeEach, describe, expect, test } from "bun:test";
import type { Profile } from "../../actors/account/state.ts";
import { type AccountId, ROOT } from "../../actors/ids.ts";
import { actorRef, type Protocol } from "../../actors/index.ts";
import { ZERO } from "../../actors/money.ts";
import { configurationsAbove } from "../../src/admin/ancestor-configurations.ts";
import { createAccounts } from "../../src/admin/create-account.ts";
import type { ActorSystem } from "../../src/runtime/system.ts";
import { numbers } from "../../src/store/id-allocator.ts";
import { usd } from "../actors/account-samples.ts";
import { manualClock } from "../runtime/manual-clock.ts";
import { memoryStore } from "../store/memory/memory.ts";
import { startTree, type Tree } from "./tree.ts";

const id = (value: number) => value as AccountId;

/** The actors that are asked, in their order. */
async function asked(account: { id: number; parent: number | null; dna: string }): Promise<string[]> {
  const found: string[] = [];
  const system = {
    async ask(actor: { kind: string; id: string }) {
      // A later one must not be asked before an earlier one has answered.
      await Promise.resolve();
      found.push(`${actor.kind}/${actor.id}`);
      return { version: 1 };
    },
  } as unknown as Pick<ActorSystem<Protocol>, "ask">;
  await configurationsAbove(system, { ...account, id: id(account.id) } as Profile);
  return found;
}

describe("the configurations above", () => {
  test("an account are its Owner's, then Root's", async () => {
    expect(await asked({ id: 8, parent: 7, dna: ".1.2.7." })).toEqual(["owner/2", "owner/1"]);
  });

  test("an Owner are its own, then Root's", async () => {
    expect(await asked({ id: 2, parent: 1, dna: ".1." })).toEqual(["owner/2", "owner/1"]);
  });

  test("Root are its own", async () => {
    expect(await asked({ id: 1, parent: null, dna: "." })).toEqual(["owner/1"]);
  });
});

describe("a newborn", () => {
  let tree: Tree;
  let owner: AccountId;
  beforeEach(async () => {
    const clock = manualClock();
    tree = await startTree(memoryStore({ clock }), clock);
    owner = (await tree.born(ROOT, "anna", 100)).id;
    const by = ROOT;
    await tree.system.ask(actorRef.owner(ROOT), "configure", { change: { resources: [] }, by });
    for (const _ of [1, 2])
      await tree.system.ask(actorRef.owner(owner), "configure", { change: { resources: [] }, by });
  });

  async function born(parent: AccountId, modelLimits?: Profile["modelLimits"]): Promise<Profile> {
    const create = createAccounts({ ...tree, nextId: numbers(tree.store, "account") });
    const account = { name: `born-${parent}`, email: "a@b.example", ...(modelLimits && { modelLimits }) };
    const { record } = await create({ parent, account, amount: usd(2), days: 1, keep: ZERO });
    return record.profile;
  }

  test("with limits has them stamped with its Owner and both versions", async () => {
    const { modelLimits, stamps } = await born(owner, { m: { rpm: 1 } });
    expect(modelLimits).toEqual({ m: { rpm: 1 } });
    expect(stamps).toEqual({ modelMapper: {}, modelLimits: { m: { owner, config: 2, root: 1 } } });
  });

  test("that is an Owner has itself in the stamp, and no version of its own yet", async () => {
    const profile = await born(ROOT, { m: { rpm: 1 } });
    expect(profile.stamps?.modelLimits).toEqual({ m: { owner: profile.id, config: 0, root: 1 } });
  });

  test("without limits has no stamps", async () => {
    expect((await born(owner)).stamps).toBeUndefined();
  });
});
