// Checker 18: AutoQuota gives as soon as the parent can, whatever it answered before; and a deletion whose refund does not
// fit is refused before it begins, or waits. Tried when faults have stopped, by the gateway's and the service's own functions.

import { type AccountId, ROOT } from "../../actors/ids.ts";
import { actorRef } from "../../actors/index.ts";
import { type Nano, toNano, ZERO } from "../../actors/money.ts";
import { deleteAccount } from "../../src/admin/delete-account.ts";
import { recharge, refund } from "../../src/admin/transfer-credit.ts";
import { sleep } from "../../src/base/clock.ts";
import { RefusedError, UnavailableError } from "../../src/base/errors.ts";
import type { AccountContext } from "../../src/gateway/account/account-context.ts";
import { createAutoQuota } from "../../src/gateway/admission/auto-quota.ts";
import type { ActorSystem } from "../../src/runtime/system.ts";
import { type Brimming, FULL } from "./brimming.ts";
import type { ProcessClock } from "./clock.ts";
import type { SimNode } from "./node.ts";
import type { SimRandom } from "./random.ts";
import type { SimDisk } from "./store.ts";
import type { Trace } from "./trace.ts";

const POOR = new RefusedError({ code: "insufficient_balance", message: "" });
/** Half of it is more than the fee of a deletion and what is left of the bound of an account that is filled. */
const DOLLARS = 1_000_000_000;

/** Who drives a deletion, its caller and the sweep, may each have looked before the parent filled up. */
const DRIVERS = 2;

interface Parts {
  readonly nodes: readonly SimNode[];
  readonly accounts: readonly AccountId[];
  readonly brimming: Brimming;
  readonly disk: SimDisk;
  readonly world: ProcessClock;
  readonly random: SimRandom;
  readonly trace: Trace;
}

export async function checkCredit(parts: Parts): Promise<void> {
  for (const [i, id] of parts.accounts.entries()) {
    const at = parts.nodes[i % parts.nodes.length]!;
    await parts.brimming.drain();
    await new CreditCheck(parts, at, id).run().catch((error) => {
      // Gone, or going, or its parent is.
      if (!(error instanceof RefusedError)) throw error;
    });
  }
}

class CreditCheck {
  readonly #parts: Parts;
  readonly #node: SimNode;
  readonly #id: AccountId;
  readonly #minted: () => { id: string; bornAt: number };

  constructor(parts: Parts, node: SimNode, id: AccountId) {
    this.#parts = parts;
    this.#node = node;
    this.#id = id;
    const ids = parts.random.fork().forRuntime(parts.world);
    this.#minted = () => ({ id: ids.id(), bornAt: parts.world.wall() });
  }

  async run(): Promise<void> {
    const { parent } = await this.#affairs();
    if (parent === null || parent === ROOT) return;
    if (await this.#quota(parent)) await this.#deletion(parent);
  }

  /** Returns false when the parent could not give after all. */
  async #quota(parent: AccountId): Promise<boolean> {
    const { system, clock } = this.#node;
    const autoQuota = createAutoQuota({ system, clock });
    const free = (await this.#margins(parent)).free ?? 0;
    // Going, and so not drained.
    if (free >= FULL) return false;
    const amount = toNano(Math.max(0, free) + DOLLARS);
    const change = { autoQuota: amount };
    await system.ask(actorRef.account(this.#id), "update", { change, parent: null, by: ROOT });
    // Its own request is refused too, and remembered.
    await system.ask(actorRef.account(this.#id), "topUp", { keep: ZERO });
    while ((await this.#affairs()).asksForQuota) await sleep(this.#parts.world, 50);
    const before = this.#lines("auto_quota");
    await this.#give(parent, toNano(amount - Math.min(0, free)));
    const { profile } = await system.ask(actorRef.account(this.#id), "profile", {});
    const accountContext = { account: { profile }, config: { config: { userMinBalance: ZERO } } };
    await autoQuota.topUpAfter(accountContext as unknown as AccountContext, POOR);
    this.#count("quotas tried");
    if (this.#lines("auto_quota") > before) return true;
    const left = (await this.#margins(parent)).free ?? 0;
    if (left >= amount)
      this.#fail(`account ${this.#id} asks in vain for ${amount}, account ${parent} has ${left}`);
    return false;
  }

  async #deletion(parent: AccountId): Promise<void> {
    const { brimming } = this.#parts;
    const { balance } = await this.#node.system.ask(actorRef.account(this.#id), "read", {});
    // The credit that came has paid a debt.
    if (balance < DOLLARS / 2) return;
    // What is under way from there may come back, and needs its room.
    const owes = async () =>
      (await this.#node.system.ask(actorRef.account(parent), "unfinishedWork", {})).owes;
    while ((await owes()).length > 0) await sleep(this.#parts.world, 50);
    await brimming.fill(parent);
    const all = { account: this.#id, by: ROOT, recursive: true };
    const refused = await outcome(deleteAccount(this.#node, all));
    if (refused !== "invalid_parameter") {
      this.#fail(`account ${parent} is full, and the deletion of account ${this.#id} ends with ${refused}`);
    }
    if ((await this.#affairs()).stage !== "open")
      this.#fail(`account ${this.#id} closes although it was refused`);
    // Room at the look, none at the move.
    const order = { ...this.#minted(), from: parent, amount: balance };
    await refund(this.#node, order);
    const before = this.#lines("returned");
    const filling = this.#fillingBefore("settleClosing", () => brimming.fill(parent));
    const raced = await outcome(deleteAccount({ ...this.#node, system: filling }, all));
    this.#count(`deletions raced: ${raced}`);
    const returned = this.#lines("returned") - before;
    if (returned > DRIVERS) this.#fail(`account ${this.#id} had its refund back ${returned} times`);
  }

  #fillingBefore(command: string, fill: () => Promise<void>): ActorSystem<never> {
    const { system } = this.#node;
    let isFull = false;
    const ask = (async (...given: Parameters<typeof system.ask>) => {
      if (given[1] === command && !isFull) {
        isFull = true;
        await fill();
      }
      return system.ask(...given);
    }) as typeof system.ask;
    return { ...system, ask } as never;
  }

  #affairs = () => this.#node.system.ask(actorRef.account(this.#id), "unfinishedWork", {});
  #margins = (id: AccountId) => this.#node.system.ask(actorRef.account(id), "margins", {});
  #count = (what: string) => this.#parts.trace.count(what);
  #fail = (message: string) => this.#parts.trace.violate("18 credit", message);

  #give(account: AccountId, amount: Nano): Promise<void> {
    const order = { ...this.#minted(), from: ROOT, to: account, amount, days: 180, keep: ZERO };
    return recharge(this.#node, order);
  }

  /** How many events of this type its ledger has. */
  #lines(wanted: string): number {
    const commits = this.#parts.disk.ledger.get(`account/${this.#id}`) ?? [];
    const events = commits.flatMap((commit) => commit.events.map(({ e }) => e as { type: string }));
    return events.filter(({ type }) => type === wanted).length;
  }
}

const outcome = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => "deleted",
    (error) => {
      if (error instanceof RefusedError) return error.refusal.code;
      if (error instanceof UnavailableError) return "waits";
      throw error;
    },
  );
