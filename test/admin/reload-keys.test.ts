// LoadKeys: an Owner's keys are read from the store, and every Level hears of its members, on real actors.

import { expect, test } from "bun:test";
import type { AccountId, ProviderKeyId } from "../../actors/ids.ts";
import { actorRef, behaviors, type Protocol } from "../../actors/index.ts";
import type { ProviderKey } from "../../actors/key-pool/key-pool.ts";
import { reloadKeys } from "../../src/admin/level-membership.ts";
import { realClock, realRandom } from "../../src/base/clock.ts";
import { silent } from "../../src/base/log.ts";
import { memoryBus } from "../../src/bus/memory.ts";
import type { RuntimeLimits } from "../../src/runtime/limits.ts";
import { createSingleNodePlacement } from "../../src/runtime/placement/single-node.ts";
import { createSystem } from "../../src/runtime/system.ts";
import { until } from "../e2e/harness.ts";
import { memoryStore } from "../store/memory/memory.ts";

const OWNER = 2 as AccountId;

/** A system on a store that counts who is loaded from it. */
async function started(limits: Partial<RuntimeLimits>) {
  const clock = realClock();
  const store = memoryStore({ clock });
  const loaded: string[] = [];
  const loadSnapshot: typeof store.loadSnapshot = (actor) => {
    loaded.push(actor);
    return store.loadSnapshot(actor);
  };
  const system = createSystem<Protocol>({
    store: { ...store, loadSnapshot },
    bus: memoryBus(),
    clock,
    random: realRandom(clock),
    placement: createSingleNodePlacement({ registry: store, node: "n" }),
    behaviors,
    log: silent,
    limits,
  });
  await system.start();
  const add = (id: number, level: number) => {
    const secret = { box: `sealed-${id}`, keyId: "k" };
    const key = { id: id as ProviderKeyId, name: "", level, provider: "https://models.example/v1", secret };
    const given = { ...key, mask: "sk-****0001", privateKey: null, status: true, config: {} };
    return system.ask(actorRef.keyPool(OWNER), "add", {
      key: given as Omit<ProviderKey, "createdAt" | "updatedAt">,
    });
  };
  const idsIn = async (level: number) =>
    (await system.ask(actorRef.level(OWNER, level), "view", {})).keys.map(({ id }) => id as number);
  return { system, loaded, add, idsIn };
}

test("every Level hears who stands in it, also what it had missed", async () => {
  // No debt between actors is ever paid.
  const { system, add, idsIn } = await started({ effects: 0 });
  await add(1, 1);
  await add(2, 1);
  await add(3, -4);
  expect([await idsIn(1), await idsIn(-4)]).toEqual([[], []]);
  await reloadKeys(system, OWNER);
  expect([await idsIn(1), await idsIn(-4)]).toEqual([[1, 2], [3]]);
});

test("the keys are read from the store again, as soon as all Levels have them", async () => {
  const { system, loaded, add, idsIn } = await started({});
  await add(1, 1);
  const loads = () => loaded.filter((actor) => actor === `key-pool/${OWNER}`).length;
  const before = loads();
  await until("the pool is loaded again", async () => {
    await reloadKeys(system, OWNER);
    return loads() > before;
  });
  expect((await system.ask(actorRef.keyPool(OWNER), "list", {})).map(({ id }) => id as number)).toEqual([1]);
  expect(await idsIn(1)).toEqual([1]);
});
