// What accounts do with their named keys: they and those above them make, cap, narrow, disable, expire, rotate and delete keys
// by the service's own functions; requests come with any secret that was ever shown.

import type { ApiKeyChange, CallingKey } from "../../actors/api-key/api-key.ts";
import {
  type AccountId,
  type ApiKeyId,
  ancestorsOf,
  MAIN_API_KEY,
  MAIN_API_KEY_NAME,
} from "../../actors/ids.ts";
import { actorRef } from "../../actors/index.ts";
import { toNano, ZERO } from "../../actors/money.ts";
import { NO_TAGS } from "../../actors/tags.ts";
import { addApiKey, rotateApiKey } from "../../src/admin/api-keys.ts";
import { hashKey } from "../../src/gateway/account/identify.ts";
import type { Clients } from "./clients.ts";
import type { ProcessClock } from "./clock.ts";
import type { Load } from "./load.ts";
import type { SimRandom } from "./random.ts";
import type { Trace } from "./trace.ts";
import { type KnownAccount, MODELS, REQUEST_COST, type Tree } from "./tree.ts";

/** A key that clients know of, with every secret that they were shown. */
interface KnownKey {
  readonly id: ApiKeyId;
  readonly hashes: string[];
}

export interface ApiKeyTraffic {
  /** By name; each is one errand. */
  readonly errands: Readonly<Record<string, () => Promise<void>>>;
  /** The secret with which a request comes. */
  secretFor(account: KnownAccount): string;
  /** The key that asks for something that has a fee. */
  keyFor(account: KnownAccount): ApiKeyId;
}

export function createApiKeyTraffic(parts: {
  clients: Clients;
  tree: Tree;
  world: ProcessClock;
  random: SimRandom;
  trace: Trace;
  load: Load;
}): ApiKeyTraffic {
  const { clients, tree, world, random, trace, load } = parts;
  const ids = random.fork().forRuntime(world);
  const known = new Map<AccountId, KnownKey[]>();
  let names = 0;

  const keysOf = ({ id }: KnownAccount): KnownKey[] => known.get(id) ?? [];

  /** Mostly accounts that have a key, so that keys meet more than one thing. */
  function anyone(): KnownAccount {
    const having = tree.known.filter((account) => keysOf(account).length > 0);
    return having.length > 0 && random.chance(0.7) ? random.pick(having) : random.pick(tree.known);
  }

  /** The account's main key, or that of somebody above it. */
  async function by(account: KnownAccount): Promise<{ by: CallingKey; byHash: string }> {
    const { profile } = await clients.reach("keys of", 3, (node) =>
      node.system.ask(actorRef.account(account.id), "read", {}),
    );
    const above = ancestorsOf(profile.dna);
    const caller = above.length > 0 && random.chance(0.5) ? random.pick(above) : account.id;
    const none = { allowModels: [], resources: [], allowIps: [], expiresAt: null };
    const scopes = ["invoke", "read", "manage"] as const;
    const main = { account: caller, apiKey: MAIN_API_KEY, name: MAIN_API_KEY_NAME, scopes, ...none };
    return { by: main, byHash: account.keyHash };
  }

  const minted = () => ({ id: ids.id(), bornAt: world.wall() });

  function drawCaps() {
    const cap = () => toNano(Math.round(REQUEST_COST * random.spread(0.5, 20)));
    return {
      hardLimit: random.chance(0.4) ? cap() : ZERO,
      dailyLimit: random.chance(0.4) ? cap() : ZERO,
      rpm: random.chance(0.3) ? random.between(1, 20) : 0,
      tpm: random.chance(0.3) ? Math.round(random.spread(500, 50_000)) : 0,
    };
  }

  const drawExpiry = (): number | null =>
    random.chance(0.3) ? Math.round(world.wall() + random.spread(1_000, 100_000)) : null;

  async function change(what: string, draw: () => ApiKeyChange): Promise<void> {
    const account = anyone();
    const [key] = keysOf(account).length > 0 ? [random.pick(keysOf(account))] : [];
    if (key === undefined) return;
    const input = { apiKey: key.id, change: draw(), editedFrom: null, ...(await by(account)) };
    await clients.reach(what, 2, (node) =>
      node.system.ask(actorRef.account(account.id), "changeApiKey", input),
    );
    trace.count(`api keys ${what}`);
  }

  async function make(): Promise<void> {
    const account = anyone();
    const settings = {
      ...{
        name: `key-${names++}`,
        scopes: ["invoke"] as const,
        allowModels: [],
        allowIps: [],
        resources: [],
      },
      ...{ ...drawCaps(), tags: NO_TAGS, expiresAt: drawExpiry(), status: true },
    };
    const addition = { settings, ...(await by(account)), command: minted() };
    const { row, secret } = await clients.reach("add key", random.between(1, 4), (node) =>
      addApiKey(node, account.id, addition),
    );
    known.set(account.id, [...keysOf(account), { id: row.id, hashes: [hashKey(secret)] }]);
    trace.count("api keys made");
  }

  return {
    errands: {
      make,
      makeAnother: make,
      cap: () => change("capped", drawCaps),
      narrow: () =>
        change("narrowed", () => ({ allowModels: random.chance(0.5) ? [random.pick(MODELS)] : [] })),
      expire: () => change("given an end", () => ({ expiresAt: drawExpiry() })),
      disable: () => change("disabled", () => ({ status: false })),
      enable: () => change("enabled", () => ({ status: true })),
      async rotate() {
        const account = anyone();
        if (keysOf(account).length === 0) return;
        const key = random.pick(keysOf(account));
        const overlapMs = random.chance(0.6) ? Math.round(random.spread(500, 60_000)) : 0;
        const rotation = { apiKey: key.id, overlapMs, ...(await by(account)), command: minted() };
        const { secret } = await clients.reach("rotate key", random.between(1, 4), (node) =>
          rotateApiKey(node, account.id, rotation),
        );
        key.hashes.push(hashKey(secret));
        trace.count("api keys rotated");
      },
      async remove() {
        const account = anyone();
        if (keysOf(account).length === 0 || random.chance(0.5)) return;
        const input = { apiKey: random.pick(keysOf(account)).id, ...(await by(account)) };
        await clients.reach("delete key", 2, (node) =>
          node.system.ask(actorRef.account(account.id), "deleteApiKey", input),
        );
        trace.count("api keys deleted");
      },
      async list() {
        const { id } = anyone();
        await clients.reach("list keys", 3, (node) => node.system.ask(actorRef.account(id), "apiKeys", {}));
      },
    },
    secretFor(account) {
      const keys = keysOf(account);
      if (keys.length === 0 || !random.chance(load.keyed)) return account.keyHash;
      const { hashes } = random.pick(keys);
      return random.chance(0.7) ? hashes.at(-1)! : random.pick(hashes);
    },
    keyFor(account) {
      const keys = keysOf(account);
      return keys.length > 0 && random.chance(load.keyed) ? random.pick(keys).id : MAIN_API_KEY;
    },
  };
}
