// Provider keys and how they fare: added, moved, disabled, renewed and removed by their Owners; failures reported by
// requests that began a while ago; wakes of one key or all; looks at the Levels.

import { type AccountId, ownerOf, type ProviderKeyId, ROOT } from "../../actors/ids.ts";
import { actorRef } from "../../actors/index.ts";
import type { ProviderKey } from "../../actors/key-pool/key-pool.ts";
import { notifyLevels, wakeKey, wakeKeys } from "../../src/admin/level-membership.ts";
import { RefusedError } from "../../src/base/errors.ts";
import type { Span } from "./check-keys.ts";
import type { Checkers } from "./checkers.ts";
import type { Clients } from "./clients.ts";
import type { ProcessClock } from "./clock.ts";
import { FLAPPING_LEVEL } from "./flapping-keys.ts";
import type { SimNode } from "./node.ts";
import type { SimRandom } from "./random.ts";
import type { Trace } from "./trace.ts";
import type { Tree } from "./tree.ts";

const LEVELS_MAX = 3;
const FAILURES = 3;
const TRIES = 200;

export function createFailingKeys(parts: {
  clients: Clients;
  tree: Tree;
  world: ProcessClock;
  random: SimRandom;
  trace: Trace;
  checkers: Checkers;
}): Readonly<Record<string, () => Promise<void>>> {
  const { clients, tree, world, random, trace } = parts;
  const { keys } = parts.checkers;
  const ids = random.fork().forRuntime(world);
  const pause = (ms: number) => new Promise<void>((resolve) => void world.after(ms, resolve));
  const reach = <T>(what: string, attempt: (node: SimNode) => Promise<T>): Promise<T> =>
    clients.reach(what, TRIES, attempt);
  const minted = () => ({ id: ids.id(), bornAt: world.wall() });

  /** The first Owners only, so that keys meet. */
  async function anOwner(): Promise<AccountId> {
    const some = tree.known.slice(0, 4);
    const { profile } = await reach("profile", (node) =>
      node.system.ask(actorRef.account(random.pick(some).id), "profile", {}),
    );
    return profile.id === ROOT ? ROOT : ownerOf(profile);
  }

  const listOf = (owner: AccountId) =>
    reach("list keys", (node) => node.system.ask(actorRef.keyPool(owner), "list", {}));

  async function aKey(): Promise<{ owner: AccountId; key: ProviderKey } | null> {
    const owner = await anOwner();
    const all = (await listOf(owner)).filter(({ level }) => level !== FLAPPING_LEVEL);
    return all.length === 0 ? null : { owner, key: random.pick(all) };
  }

  /** Open until it was answered: who gives up does not know when it came about, if at all. */
  async function during<T>(span: Span, run: () => Promise<T>): Promise<T> {
    try {
      const result = await run();
      keys.over(span);
      return result;
    } catch (error) {
      if (error instanceof RefusedError) keys.over(span);
      throw error;
    }
  }

  async function change(owner: AccountId, key: ProviderKey): Promise<void> {
    const level = random.between(1, LEVELS_MAX);
    const renewed = ids.id();
    const given = random.pick([
      { level },
      { status: !key.status },
      { secret: { keyId: "1", box: renewed }, mask: renewed.slice(-4) },
    ]);
    const command = minted();
    await during(keys.changes(key.id), async () => {
      const input = { id: key.id, change: given };
      await reach("change key", (node) => node.system.ask(actorRef.keyPool(owner), "update", input, command));
      await reach("tell Levels", (node) => notifyLevels(node.system, owner, [key.level, level]));
    });
    trace.count("keys changed");
  }

  return {
    async addKey() {
      const owner = await anOwner();
      const id = (await reach("block", (node) => node.store.reserveIds("key", 1))) as ProviderKeyId;
      const level = random.between(1, LEVELS_MAX);
      const key = {
        ...{ id, name: "", level, provider: "https://provider.example/v1", status: true, config: {} },
        ...{ secret: { keyId: "1", box: ids.id() }, mask: `${id}` },
      };
      const command = minted();
      await during(keys.changes(id), async () => {
        await reach("add key", (node) => node.system.ask(actorRef.keyPool(owner), "add", { key }, command));
        await reach("tell Levels", (node) => notifyLevels(node.system, owner, [level]));
      });
      trace.count("keys added");
    },
    async changeKey() {
      const found = await aKey();
      if (found !== null) await change(found.owner, found.key);
    },
    async removeKey() {
      const found = await aKey();
      if (found === null || random.chance(0.7)) return;
      const { owner, key } = found;
      const command = minted();
      await during(keys.changes(key.id), async () => {
        await reach("remove key", (node) =>
          node.system.ask(actorRef.keyPool(owner), "remove", { id: key.id }, command),
        );
        await reach("tell Levels", (node) => notifyLevels(node.system, owner, [key.level]));
      });
      trace.count("keys removed");
    },
    async fail() {
      const found = await aKey();
      if (found === null) return;
      const { owner, key } = found;
      const what = random.pick(["fail", "fail", "long", "rest"] as const);
      for (let times = random.between(1, FAILURES); times > 0; times--) {
        const startedAt = world.wall();
        await pause(random.pause(200));
        const report = {
          ...{ key: key.id, model: "small", startedAt, what, reason: what },
          ...{ retryAfterMs: null, limit: FAILURES },
        };
        const command = minted();
        await during(keys.fails(key.id), () =>
          reach("report", (node) =>
            node.system.ask(actorRef.level(owner, key.level), "failed", report, command),
          ),
        );
      }
      trace.count("failures reported");
    },
    async wake() {
      const found = await aKey();
      if (found === null) return;
      const { owner, key } = found;
      const one = random.chance(0.5);
      await during(keys.wakes(owner, one ? key.id : null), () =>
        reach("wake", async ({ system }) => {
          if (!one) return wakeKeys(system, owner);
          // Where it stands may have changed since it was listed.
          await wakeKey(system, owner, await system.ask(actorRef.keyPool(owner), "read", { id: key.id }));
        }),
      );
      trace.count("wakes answered");
      await look(owner, key.level);
    },
    async lookAtLevel() {
      await look(await anOwner(), random.between(1, LEVELS_MAX));
    },
  };

  async function look(owner: AccountId, level: number): Promise<void> {
    const since = keys.begin();
    const view = await reach("view", (node) => node.system.ask(actorRef.level(owner, level), "view", {}));
    keys.look(owner, view, since, world.wall());
  }
}
