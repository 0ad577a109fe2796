// Root and a tree of accounts on a real system over any store, for what administration does beyond one actor.

import type { ByKey } from "../../actors/account/api-keys.ts";
import type { UnfinishedWork } from "../../actors/account/closing.ts";
import { type ApiKeySettings, SCOPES } from "../../actors/api-key/api-key.ts";
import { type AccountId, MAIN_API_KEY } from "../../actors/ids.ts";
import { actorRef, behaviors, type Protocol } from "../../actors/index.ts";
import { ZERO } from "../../actors/money.ts";
import { createAccounts } from "../../src/admin/create-account.ts";
import { createRootAccount } from "../../src/admin/create-root.ts";
import { type Clock, realClock, realRandom } from "../../src/base/clock.ts";
import { RefusedError } from "../../src/base/errors.ts";
import { silent } from "../../src/base/log.ts";
import { memoryBus } from "../../src/bus/memory.ts";
import { hashKey } from "../../src/gateway/account/identify.ts";
import { createSingleNodePlacement } from "../../src/runtime/placement/single-node.ts";
import { type ActorSystem, createSystem } from "../../src/runtime/system.ts";
import { numbers } from "../../src/store/id-allocator.ts";
import type { Store } from "../../src/store/store.ts";
import { usd } from "../actors/account-samples.ts";
import { memoryStore } from "../store/memory/memory.ts";

export interface Born {
  readonly id: AccountId;
  readonly name: string;
  readonly keyHash: string;
}

export async function startTree(store: Store, clock: Clock) {
  const random = realRandom(clock);
  const placement = createSingleNodePlacement({ registry: store, node: "test" });
  const system = createSystem<Protocol>({
    ...{ store, bus: memoryBus(), clock, random, placement, behaviors, log: silent },
  });
  await system.start();
  await createRootAccount({ system, store, clock, random, chosen: "the-first-key-of-root-0123456789abcdef" });
  const parts = { system, store, clock, random, log: silent };
  const create = createAccounts({ ...parts, nextId: numbers(store, "account") });
  return {
    ...parts,
    async born(parent: AccountId, name: string, dollars: number): Promise<Born> {
      const account = { name, email: `${name}@example.com` };
      const { record, key } = await create({ parent, account, amount: usd(dollars), days: 180, keep: ZERO });
      return { id: record.profile.id, name, keyHash: hashKey(key) };
    },
    balance: async (id: AccountId) => (await system.ask(actorRef.account(id), "read", {})).balance,
    affairs: (id: AccountId): Promise<UnfinishedWork> =>
      system.ask(actorRef.account(id), "unfinishedWork", {}),
    document: async (id: AccountId) =>
      (await store.find({ table: "accounts", where: [{ field: "id", is: "=", value: id }], order: "id" }))[0],
  };
}

/** The same over a store in memory; `clock`: the time of this machine unless the test has its own. */
export const memoryTree = (clock: Clock = realClock()) => startTree(memoryStore({ clock }), clock);

export type Tree = Awaited<ReturnType<typeof startTree>>;

/** The settings of a named key that may ask for everything. */
export const openSettings = (name: string): ApiKeySettings => ({
  ...{ name, scopes: ["invoke"], allowModels: [], allowIps: [], resources: [], tags: {} },
  ...{ hardLimit: ZERO, dailyLimit: ZERO, rpm: 0, tpm: 0, expiresAt: null, status: true },
});

/** The main key of an account as the caller of a command about keys. */
export const byMainKey = ({ id, keyHash }: Born): ByKey => ({
  by: {
    ...{ account: id, apiKey: MAIN_API_KEY, name: "main", scopes: SCOPES.filter((one) => one !== "admin") },
    ...{ allowModels: [], resources: [], allowIps: [], expiresAt: null },
  },
  byHash: keyHash,
});

/** A system whose process dies at the `nth` ask that it is given: that one is not made, nor any later one. */
export function dyingAt(system: ActorSystem<Protocol>, nth: number): ActorSystem<Protocol> {
  let asked = 0;
  const ask = ((...given: Parameters<typeof system.ask>) => {
    if (++asked >= nth) return Promise.reject(new Error("died"));
    return system.ask(...given);
  }) as typeof system.ask;
  return { ...system, ask };
}

/** The code of the refusal; null when there was none. */
export async function refusal(work: Promise<unknown>): Promise<string | null> {
  try {
    await work;
    return null;
  } catch (error) {
    if (error instanceof RefusedError) return error.refusal.code;
    throw error;
  }
}
