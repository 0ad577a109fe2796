// Accounts at the bound of what a balance holds: Root fills some while everything else goes on, and takes the excess back when
// faults have stopped, so that whatever waits for room finds it.

import type { AccountId } from "../../actors/ids.ts";
import { ROOT } from "../../actors/ids.ts";
import { actorRef } from "../../actors/index.ts";
import { least, toNano, ZERO } from "../../actors/money.ts";
import { recharge, refund } from "../../src/admin/transfer-credit.ts";
import { RefusedError } from "../../src/base/errors.ts";
import type { Clients } from "./clients.ts";
import type { ProcessClock } from "./clock.ts";
import type { SimRandom } from "./random.ts";
import type { SimDisk } from "./store.ts";
import type { Trace } from "./trace.ts";
import type { Tree } from "./tree.ts";

const FOR_EVER = Number.POSITIVE_INFINITY;
/** A balance that no account comes by but by being filled. */
export const FULL = 4e15;
/** What is left of the bound, at most: less than many a refund. */
const LEFT = 200_000_000;

export interface Brimming {
  /** Fills an account but for a little. */
  fill(id?: AccountId): Promise<void>;
  /** Takes from every account that is full all that is free, upwards to Root. */
  drain(): Promise<void>;
}

export function createBrimming(parts: {
  readonly clients: Clients;
  readonly tree: Tree;
  readonly disk: SimDisk;
  readonly world: ProcessClock;
  readonly random: SimRandom;
  readonly trace: Trace;
}): Brimming {
  const { clients, tree, disk, world, random, trace } = parts;
  const ids = random.fork().forRuntime(world);
  const minted = () => ({ id: ids.id(), bornAt: world.wall() });

  const margins = (id: AccountId) =>
    clients.reach("margins", 9, (node) => node.system.ask(actorRef.account(id), "margins", {}));

  async function emptied(id: AccountId): Promise<void> {
    const { parent, stage } = await clients.reach("unfinishedWork", 9, (node) =>
      node.system.ask(actorRef.account(id), "unfinishedWork", {}),
    );
    const above = parent !== null && parent !== ROOT;
    if (above) await emptied(parent);
    const { free } = await margins(id);
    if (stage !== "open" || free === null || free < FULL) return;
    const { room } = await margins(parent ?? ROOT);
    const order = { ...minted(), from: id, amount: room === null ? free : least(free, room) };
    await clients.reach("drain", FOR_EVER, (node) => refund(node, order));
    trace.count("accounts drained");
    if (above) await emptied(parent);
  }

  return {
    async fill(id = random.pick(tree.known.slice(1)).id) {
      const { room } = await margins(id);
      const amount = (room ?? 0) - random.between(0, LEFT);
      if (amount <= 0) return;
      const order = { ...minted(), from: ROOT, to: id, amount: toNano(amount), days: 180, keep: ZERO };
      await clients.reach("fill", FOR_EVER, (node) => recharge(node, order));
      trace.count("accounts filled");
    },
    async drain() {
      const where = [{ field: "closed", is: "=", value: 0 }] as const;
      for (const { id, balance } of await disk.store.find({ table: "accounts", where, order: "id" })) {
        if (id === ROOT || Number(balance) < FULL) continue;
        await emptied(id as AccountId).catch((error) => {
          // Gone meanwhile, or charged.
          if (!(error instanceof RefusedError)) throw error;
          trace.count(`not drained: ${error.refusal.code}`);
        });
      }
    },
  };
}
