// What administrators do with the tree while requests run: recharges and refunds, moves, deletions of accounts and of
// whole subtrees, fees, changes of profiles. Each is asked through the service's own functions; a transfer is repeated
// with its id until it is answered, everything else is asked once and may be cut off by any crash.

import type { ProfileChange } from "../../actors/account/state.ts";
import { ROOT } from "../../actors/ids.ts";
import { actorRef } from "../../actors/index.ts";
import { toNano, ZERO } from "../../actors/money.ts";
import { deleteAccount } from "../../src/admin/delete-account.ts";
import { moveAccount } from "../../src/admin/move-account.ts";
import { recharge, refund } from "../../src/admin/transfer-credit.ts";
import { RefusedError } from "../../src/base/errors.ts";
import type { ApiKeyTraffic } from "./api-keys.ts";
import type { Checkers } from "./checkers.ts";
import type { Clients } from "./clients.ts";
import type { ProcessClock } from "./clock.ts";
import type { Load } from "./load.ts";
import type { SimRandom } from "./random.ts";
import type { Trace } from "./trace.ts";
import { type KnownAccount, REQUEST_COST, type Tree } from "./tree.ts";

const FOR_EVER = Number.POSITIVE_INFINITY;

/** Everything administrators do, by name; each is one errand. */
export function createAdministration(parts: {
  clients: Clients;
  tree: Tree;
  world: ProcessClock;
  random: SimRandom;
  trace: Trace;
  load: Load;
  checkers: Checkers;
  apiKeys: ApiKeyTraffic;
}): Readonly<Record<string, () => Promise<void>>> {
  const { clients, tree, world, random, trace, load, checkers, apiKeys } = parts;
  const ids = random.fork().forRuntime(world);
  const minted = () => ({ id: ids.id(), bornAt: world.wall() });
  /** Root seldom, since it is refused nearly everything here. */
  const anyone = (): KnownAccount => {
    const { known } = tree;
    return known.length === 1 || random.chance(0.05) ? known[0]! : random.pick(known.slice(1));
  };
  const amount = () => toNano(Math.ceil(REQUEST_COST * load.wealth * random.spread(0.01, 2)));

  /** Its parent now, as far as a client can know. */
  async function parentOf({ id }: KnownAccount) {
    const { profile } = await clients.reach("parent", 3, (node) =>
      node.system.ask(actorRef.account(id), "read", {}),
    );
    return profile.parent ?? ROOT;
  }

  function moved(id: string, what: string): void {
    if (!checkers.ledger.gave(id)) trace.violate("2 once", `${what} ${id} was answered, but is not stored`);
    trace.count(`${what}s answered`);
  }

  return {
    async recharge() {
      const account = anyone();
      const from = random.chance(0.3) ? ROOT : await parentOf(account);
      const order = { ...minted(), from, to: account.id, amount: amount(), days: 180, keep: ZERO };
      await clients.reach("recharge", FOR_EVER, (node) => recharge(node, order));
      moved(order.id, "recharge");
    },
    async refund() {
      const order = { ...minted(), from: anyone().id, amount: amount() };
      await clients.reach("refund", FOR_EVER, (node) => refund(node, order));
      moved(order.id, "refund");
    },
    async move() {
      const order = { ...minted(), account: anyone().id, parent: anyone().id, dna: null, by: ROOT };
      await clients.reach("move", random.between(1, 3), (node) => moveAccount(node, order));
      trace.count("moves answered");
    },
    async delete() {
      const { id, depth } = anyone();
      // A whole tree goes now and then; otherwise there would soon be nobody left.
      if (depth === 1 && random.chance(0.8)) return;
      const deletion = { account: id, by: ROOT, recursive: random.chance(0.5) };
      try {
        await clients.reach("delete", 1, (node) => deleteAccount(node, deletion));
        trace.count("deletions answered");
        tree.forget(id);
      } catch (error) {
        if (!(error instanceof RefusedError)) {
          trace.count("deletions cut off");
          tree.forget(id);
        }
        throw error;
      }
    },
    async fee() {
      const asking = anyone();
      const { id: account } = asking;
      const { id, bornAt } = minted();
      const fee = { id, amount: toNano(REQUEST_COST), apiKey: apiKeys.keyFor(asking) };
      await clients.reach("fee", FOR_EVER, (node) =>
        node.system.ask(actorRef.account(account), "fee", fee, { id, bornAt }),
      );
      trace.count("fees answered");
    },
    async topUp() {
      const { id } = anyone();
      const { asked } = await clients.reach("topUp", 1, (node) =>
        node.system.ask(actorRef.account(id), "topUp", { keep: ZERO }),
      );
      if (asked) trace.count("top-ups asked");
    },
    async update() {
      const { id } = anyone();
      const change: ProfileChange = random.pick([
        { autoQuota: toNano(REQUEST_COST * 5) },
        { softLimit: toNano(REQUEST_COST) },
        { userLimit: random.between(0, 3) },
        { rates: random.between(1, 2) },
      ]);
      await clients.reach("update", 1, (node) =>
        node.system.ask(actorRef.account(id), "update", { change, parent: null, by: ROOT }),
      );
      trace.count("updates answered");
    },
  };
}
