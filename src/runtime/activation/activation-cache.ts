// The activations of this node: creates them on demand, has them saved, evicts idle ones, reloads failed
// ones, and drops those whose shard this node lost.
//
// situation                what follows
// an activation fails      the next command creates another one; without one it is reloaded after a second
// its append was lost      the next activation waits 20 ms, doubling up to 1 s; after `lostInRow` losses in a
//                          row the shard is relinquished
// its shard is lost        no further turns; while the shard may be drained, what was decided becomes durable
//                          and is saved; then the actor is dropped and its retries end
// that save fails          the watermark stays before it until another node owns the shard

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
  /**
   * Returns the actor's activation, which is created when there is none. Returns null while the actor must
   * wait after lost appends. Only for shards of this node.
   */
  getOrCreate(ref: ActorRef, name: string, shard: number): Activation | null;
  /** Called after a reply: evicts an activation that never stored anything and holds nothing. */
  evictIfEmpty(name: string, activation: Activation): void;
  /** Loads the actor, with retries for as long as its shard is this node's. */
  wake(name: string): Promise<void>;
  /** Requests a save of every activation at its next chance. */
  saveSoon(): void;
  /** Saves what is committed by now. Returns false when some of it could not be saved. */
  save(): Promise<boolean>;
  /** Called when more nodes are dead: releases their holds on the actors here. */
  releaseDeadNodeHolds(): void;
  /** Returns whether some activation has commits that no snapshot covers. */
  unsaved(): boolean;
  /** Drops the activation once it is saved, if it is then idle. */
  reload(name: string): Promise<void>;
  /** Evicts activations that are idle for longer than `idleMs`, and more above the limit of actors. */
  unload(): void;
  /** Resolves when no activation of these shards is left here. */
  lose(shards: readonly number[]): Promise<void>;
  /**
   * Returns the wall-clock ms before which everything is covered by snapshots. Returns null when it is
   * unknown, because a failed activation is not reloaded yet.
   */
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

/** Creates the empty cache of this node. It writes snapshots and documents to the store. */
export function createActivationCache(parts: ResidentsParts): ActivationCache {
  const { store, clock, limits, counters, log, placement } = parts;
  const actors = new Map<string, Activation>();
  /** Activations of lost shards that are not dropped yet. */
  const leaving = new Set<Activation>();
  /**
   * By lost shard: the wall-clock ms since which, and the epoch in which, commits are left that this node
   * will not save.
   */
  const unsavable = new Map<number, { readonly since: number; readonly epoch: number }>();
  /** Actors that failed and are not reloaded yet: they may have unsaved commits. */
  const broken = new Set<string>();
  /** Appends lost in a row, and when (monotonic ms) the actor may be loaded again. */
  const refused = new Map<string, { readonly times: number; readonly until: number }>();
  const loads = new Semaphore(limits.loads);

  /** Returns the epoch in which the table assigns the shard to this node; 0 when it does not. */
  function ownEpoch(shard: number): number {
    const node = placement.node();
    const owner = placement.ownerOf(shard);
    return node !== "" && owner?.node === node ? owner.epoch : 0;
  }

  function make(ref: ActorRef, name: string, shard: number): Activation {
    const epoch = ownEpoch(shard);
    /** If this node regains the shard in a later epoch, that epoch belongs to the next activation. */
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

  /**
   * Reloads a failed actor although no command asks for it, because its ledger may have pending effects or be
   * ahead of its documents.
   */
  async function reactivate(name: string): Promise<void> {
    if (broken.has(name)) return;
    broken.add(name);
    await sleep(clock, 1_000);
    if (broken.has(name)) await wake(name);
    broken.delete(name);
  }

  // ---- saving: all saves of one turn of the event loop go to the store together

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

  /** Makes durable and saves what still may be, then drops the activation. */
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
    /** Concurrent callers share one save, because it is the same for all. */
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
        // In a later epoch the shard's own recovery scan covers it, even if this node is the owner again.
        if (ownEpoch(shard) === epoch) oldest = Math.min(oldest, since);
        else unsavable.delete(shard);
      }
      return oldest;
    },
    size: () => actors.size + leaving.size,
    mailboxMost: () => all().reduce((most, actor) => Math.max(most, actor.parked()), 0),
  };
}
