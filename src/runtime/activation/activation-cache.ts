// The actors in memory of this node: makes them when they are asked, has them saved, unloads the idle, loads the broken
// again, and lets go of those whose shard is another's.
//
// an activation breaks          another is made when it is asked, or after a second
// its append was lost           the next one after 20 ms, doubling up to a second; after ten in a row the shard is given up
// its shard is lost             no turn from then on; while the shard may still be drained, what was decided becomes durable
//                               and is saved; then it is dropped, and every loop about it ends
// it could not be saved then    the watermark stays before it until the shard is another's

import { sleep } from "../../base/clock.ts";
import { coalesce } from "../../base/coalesce.ts";
import { Semaphore } from "../../base/semaphore.ts";
import type { Save, Store } from "../../store/store.ts";
import { type ActorRef, type AnyBehavior, type Effect, refOf } from "../actor.ts";
import type { Placement } from "../placement/placement.ts";
import { shardOf } from "../shards.ts";
import type { Activation, ActivationParts } from "./activation.ts";
import { activate } from "./activation.ts";

export interface ActivationCache {
  /** The actor's activation, made now if there is none; null: not yet, its last appends were lost. Only for own shards. */
  getOrCreate(ref: ActorRef, name: string, shard: number): Activation | null;
  /** A message was answered: what is blank is not worth keeping. */
  evictIfEmpty(name: string, activation: Activation): void;
  /** Loads it, however often that fails, while its shard is this node's. */
  wake(name: string): Promise<void>;
  /** Every resident saves at its next chance. */
  saveSoon(): void;
  /** What is committed by now is saved; false: some of it could not be. */
  save(): Promise<boolean>;
  /** More nodes are over: what they held of the actors here is given back. */
  releaseDeadNodeHolds(): void;
  /** Some have something that no snapshot covers. */
  unsaved(): boolean;
  /** Drops one that is idle; another that is busy stays. */
  reload(name: string): Promise<void>;
  unload(): void;
  /** Resolves when nothing of these shards is here any more. */
  lose(shards: readonly number[]): Promise<void>;
  /** Wall ms: everything older is covered by a snapshot; null: nobody knows, since a broken one is not back yet. */
  watermark(): number | null;
  size(): number;
  mailboxMost(): number;
}

export type ResidentsParts = Pick<
  ActivationParts,
  "clock" | "random" | "committer" | "limits" | "counters" | "log" | "publish"
> & {
  readonly store: Store;
  readonly placement: Placement;
  readonly behaviorOf: (ref: ActorRef) => AnyBehavior;
  readonly owes: (from: ActorRef, effects: readonly Effect[]) => void;
  readonly toldAgain: (actor: ActorRef) => Promise<void>;
  readonly draining: () => boolean;
};

export function createActivationCache(parts: ResidentsParts): ActivationCache {
  const { store, clock, limits, counters, log, placement } = parts;
  const actors = new Map<string, Activation>();
  /** Of lost shards, and not dropped yet. */
  const leaving = new Set<Activation>();
  /** By lost shard: since when, and in which epoch of it, something is not saved that this node will not save any more. */
  const unsavable = new Map<number, { readonly since: number; readonly epoch: number }>();
  /** Broken and not loaded again: they may have left something unsaved. */
  const broken = new Set<string>();
  /** Appends lost in a row, and when (mono ms) the actor may be loaded again. */
  const refused = new Map<string, { readonly times: number; readonly until: number }>();
  const loads = new Semaphore(limits.loads);

  /** The epoch in which the table gives it to this node; 0: it does not. */
  function ownEpoch(shard: number): number {
    const node = placement.node();
    const owner = placement.ownerOf(shard);
    return node !== "" && owner?.node === node ? owner.epoch : 0;
  }

  function make(ref: ActorRef, name: string, shard: number): Activation {
    const epoch = ownEpoch(shard);
    /** Where the shard is this node's again, in a later epoch, that is for the next activation. */
    const thenOnly = (of: (shard: number) => number) => (shard: number) => (of(shard) === epoch ? epoch : 0);
    const activation: Activation = activate({
      ...parts,
      behavior: parts.behaviorOf(ref),
      ref,
      name,
      shard,
      epoch,
      unsure: broken.has(name),
      loads,
      epochOf: thenOnly(placement.epochOf),
      drainEpochOf: thenOnly(placement.drainEpochOf),
      departed: placement.deadNodes,
      fenced: (higher) => placement.fenced(shard, higher),
      landed: () => {
        if (refused.size > 0) refused.delete(name);
      },
      owes: (effects) => {
        if (effects.length > 0 && !leaving.has(activation)) parts.owes(ref, effects);
      },
      toldAgain: () => parts.toldAgain(ref),
      save: (save) => saves(save),
      broken: (why) => {
        if (actors.get(name) !== activation) return;
        actors.delete(name);
        if (why === "append_lost") wasRefused(name, shard);
        void reactivate(name);
      },
    });
    return activation;
  }

  function wasRefused(name: string, shard: number): void {
    const times = (refused.get(name)?.times ?? 0) + 1;
    refused.set(name, { times, until: clock.mono() + Math.min(1_000, 20 * 2 ** (times - 1)) });
    if (times < limits.lostInRow) return;
    log("error", "shard_given_up", { actor: name, shard, lost: times });
    refused.delete(name);
    placement.relinquish(shard);
  }

  function getOrCreate(ref: ActorRef, name: string, shard: number): Activation | null {
    const found = actors.get(name);
    if (found !== undefined) return found;
    const until = refused.get(name)?.until ?? 0;
    if (until > clock.mono()) return null;
    const made = make(ref, name, shard);
    actors.set(name, made);
    return made;
  }

  async function wake(name: string): Promise<void> {
    const ref = refOf(name);
    const shard = shardOf(name);
    while (!parts.draining() && ownEpoch(shard) > 0) {
      if (placement.epochOf(shard) > 0 && (await getOrCreate(ref, name, shard)?.loaded())) return;
      await sleep(clock, 1_000);
    }
  }

  /** A broken actor is loaded again although nobody asks: its ledger may hold a debt, or more than its documents. */
  async function reactivate(name: string): Promise<void> {
    if (broken.has(name)) return;
    broken.add(name);
    await sleep(clock, 1_000);
    if (broken.has(name)) await wake(name);
    broken.delete(name);
  }

  // ---- saving: all saves of one turn of the loop go to the store together

  let saving: { saves: Save[]; done: Promise<void> } | null = null;

  function saves(save: Save): Promise<void> {
    if (saving === null) {
      const group: Save[] = [];
      saving = {
        saves: group,
        done: Promise.resolve().then(() => {
          saving = null;
          return store.save(group);
        }),
      };
    }
    saving.saves.push(save);
    return saving.done;
  }

  const all = () => [...actors.values(), ...leaving];

  function keepUnsavable(shard: number, epoch: number, since: number): void {
    const before = unsavable.get(shard);
    if (before !== undefined && before.epoch > epoch) return;
    unsavable.set(shard, { epoch, since: before?.epoch === epoch ? Math.min(since, before.since) : since });
  }

  /** Makes durable and saves what may still be, and drops it. */
  async function release(activation: Activation): Promise<void> {
    const { shard } = activation;
    try {
      if (placement.drainEpochOf(shard) > 0) await activation.drained();
    } finally {
      const since = activation.unsavedSince();
      if (since !== null) keepUnsavable(shard, activation.epoch, since);
      activation.drop();
      leaving.delete(activation);
    }
  }

  return {
    getOrCreate,
    wake,
    evictIfEmpty(name, activation) {
      if (activation.blank() && actors.get(name) === activation) actors.delete(name);
    },
    saveSoon() {
      for (const activation of all()) activation.saveSoon();
    },
    /** Many may want it at once, and it is the same for all of them. */
    save: coalesce(async () => {
      const unsaved = all().filter((actor) => actor.unsavedSince() !== null);
      const saved = await Promise.all(unsaved.map((actor) => actor.saved()));
      return saved.every((one) => one);
    }),
    releaseDeadNodeHolds() {
      for (const activation of [...actors.values()]) activation.giveBack();
    },
    unsaved: () => all().some((actor) => actor.unsavedSince() !== null),
    async reload(name) {
      const activation = actors.get(name);
      if (activation === undefined) return;
      await activation.saved();
      if (actors.get(name) === activation && activation.idle()) actors.delete(name);
    },
    unload() {
      const now = clock.mono();
      const crowd = actors.size - limits.actors;
      const candidates = [...actors].filter(([, actor]) => actor.idle());
      if (crowd > 0) candidates.sort(([, a], [, b]) => a.lastUsed() - b.lastUsed());
      let over = crowd;
      for (const [name, actor] of candidates) {
        if (over-- <= 0 && now - actor.lastUsed() < limits.idleMs) continue;
        actors.delete(name);
        counters.passivated++;
      }
    },
    async lose(shards) {
      const lost = new Set(shards);
      const going: Activation[] = [];
      for (const [name, activation] of actors) {
        if (!lost.has(activation.shard)) continue;
        actors.delete(name);
        leaving.add(activation);
        going.push(activation);
      }
      for (const name of [...broken, ...refused.keys()]) {
        if (!lost.has(shardOf(name))) continue;
        broken.delete(name);
        refused.delete(name);
      }
      await Promise.all(going.map(release));
    },
    watermark() {
      if (broken.size > 0) return null;
      let oldest = clock.wall();
      for (const activation of all()) oldest = Math.min(oldest, activation.unsavedSince() ?? oldest);
      for (const [shard, { since, epoch }] of unsavable) {
        // In a later epoch the shard's own sweep covers it, also where the owner is this node again.
        if (ownEpoch(shard) === epoch) oldest = Math.min(oldest, since);
        else unsavable.delete(shard);
      }
      return oldest;
    },
    size: () => actors.size + leaving.size,
    mailboxMost: () => all().reduce((most, actor) => Math.max(most, actor.parked()), 0),
  };
}
