// The tree of accounts that clients make: by the service's own function, or by repeating one createChild until it
// answers. A creation whose outcome stays unknown is forgotten by its client; the account may exist all the same.

import type { AccountId } from "../../actors/ids.ts";
import { ROOT } from "../../actors/ids.ts";
import { actorRef } from "../../actors/index.ts";
import { type Nano, toNano } from "../../actors/money.ts";
import type { RateLimits } from "../../actors/rate-window.ts";
import type { Creation } from "../../src/admin/create-account.ts";
import { RefusedError } from "../../src/base/errors.ts";
import { hashKey } from "../../src/gateway/account/identify.ts";
import type { Checkers } from "./checkers.ts";
import type { Clients } from "./clients.ts";
import type { ProcessClock } from "./clock.ts";
import type { Load } from "./load.ts";
import type { SimRandom } from "./random.ts";
import type { Trace } from "./trace.ts";

export interface KnownAccount {
  readonly id: AccountId;
  readonly keyHash: string;
  readonly depth: number;
  /** What it was given. */
  readonly credit: number;
}

/** What requests ask for. */
export const MODELS = ["small", "large", "speech"];
/** An average request's worst case. */
export const REQUEST_COST = 2_000_000;
export interface Tree {
  readonly known: KnownAccount[];
  /** Makes one account somewhere. */
  grow(): Promise<void>;
  /** Somebody asked for its deletion: nobody uses it any more, but for what is under way. */
  forget(id: AccountId): void;
}

export function createTree(parts: {
  clients: Clients;
  world: ProcessClock;
  random: SimRandom;
  trace: Trace;
  load: Load;
  checkers: Checkers;
}): Tree {
  const { clients, world, random, trace, load, checkers } = parts;
  const ids = random.fork().forRuntime(world);
  const known: KnownAccount[] = [
    { id: ROOT, keyHash: hashKey("root-key-of-the-simulation-000001"), depth: 0, credit: 0 },
  ];
  let made = 0;

  function draw(parent: KnownAccount): Creation {
    const wanted = Math.ceil(REQUEST_COST * load.wealth * random.spread(0.1, 10));
    const amount = parent.id === ROOT ? wanted : Math.min(wanted, Math.ceil(parent.credit * random.unit()));
    const again = made > 0 && random.chance(0.03);
    const name = `account-${again ? random.below(made) : made++}`;
    return {
      parent: parent.id,
      account: {
        name,
        email: `${name}@example.org`,
        ...(random.chance(load.limited) ? drawLimits(random) : {}),
        ...(random.chance(load.quota) ? { autoQuota: toNano(REQUEST_COST * random.between(1, 20)) } : {}),
      },
      amount: toNano(amount),
      // Whole days are long in a run of minutes: short-lived credit lives for a few 1024ths of one (84.375 s each).
      days: random.chance(load.shortLived) ? random.between(1, 4) / 1_024 : 180,
      keep: toNano(random.chance(0.2) ? REQUEST_COST : 0),
    };
  }

  async function byService(creation: Creation): Promise<{ id: AccountId; keyHash: string }> {
    const { record, key } = await clients.reach("create", 1, (node) => node.create(creation));
    return { id: record.profile.id, keyHash: record.profile.keyHash || hashKey(key) };
  }

  async function byHand(creation: Creation): Promise<{ id: AccountId; keyHash: string }> {
    const id = (await clients.reach("block", 9, (node) => node.store.reserveIds("account", 1))) as AccountId;
    const by = ids.id();
    const keyHash = hashKey(by);
    const bornAt = world.wall();
    const claims = [`name:${creation.account.name.toLowerCase()}`, `key:${keyHash}`];
    for (const claim of claims) {
      const mine = await clients.reach("claim", 9, (node) => node.store.claim(claim, id, by, bornAt));
      if (!mine) throw new RefusedError({ code: "duplicate_name", message: claim });
    }
    const input = { ...creation, id: by, bornAt, child: { ...creation.account, id, keyHash } };
    try {
      await clients.reach("createChild", Number.POSITIVE_INFINITY, (node) =>
        node.system.ask(actorRef.account(creation.parent), "createChild", input, { id: by, bornAt }),
      );
    } catch (error) {
      if (!(error instanceof RefusedError)) throw error;
      for (const claim of claims) await clients.reach("release", 99, (node) => node.store.release(claim, by));
      throw error;
    }
    if (!checkers.ledger.gave(by))
      trace.violate("2 once", `createChild ${by} was answered, but is not stored`);
    await clients.reach("read newborn", Number.POSITIVE_INFINITY, async (node) => {
      const { state } = await node.system.ask(actorRef.account(id), "creation", {});
      // Its parent's debt is on the way.
      if (state === "open") throw new Error(state);
      if (state === "forgone") throw new RefusedError({ code: "not_found", message: "the sweep was faster" });
      // Or deleted already, with its parent.
      return await node.system.ask(actorRef.account(id), "read", {});
    });
    for (const claim of claims) await clients.reach("confirm", 99, (node) => node.store.confirm(claim, by));
    return { id, keyHash };
  }

  return {
    known,
    forget(id) {
      const at = known.findIndex((one) => one.id === id);
      if (at > 0) known.splice(at, 1);
    },
    async grow() {
      const parents = known.filter(({ depth }) => depth < load.depth);
      const parent = random.chance(0.3) ? known[0]! : random.pick(parents);
      const creation = draw(parent);
      try {
        const make = random.chance(load.byService) ? byService : byHand;
        const { id, keyHash } = await make(creation);
        known.push({ id, keyHash, depth: parent.depth + 1, credit: creation.amount });
        trace.count("accounts made");
      } catch (error) {
        if (!(error instanceof RefusedError)) throw error;
        trace.count(`creation refused ${error.refusal.code}`);
      }
    },
  };
}

function drawLimits(random: SimRandom): { hardLimit?: Nano; limits: Partial<RateLimits> } {
  const tight = (most: number) => Math.round(random.spread(1, most));
  const limits: Partial<Record<keyof RateLimits, number>> = {};
  if (random.chance(0.5)) limits.rpm = tight(60);
  if (random.chance(0.3)) limits.rph = tight(200);
  if (random.chance(0.2)) limits.rpd = tight(400);
  if (random.chance(0.5)) limits.tpm = Math.round(random.spread(500, 100_000));
  if (random.chance(0.2)) limits.tph = Math.round(random.spread(1_000, 500_000));
  return random.chance(0.5)
    ? { limits, hardLimit: toNano(Math.round(REQUEST_COST * random.spread(0.5, 50))) }
    : { limits };
}
