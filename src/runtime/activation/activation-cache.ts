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
import type { Save } from "../../store/store.ts";
import { type ActorRef, type AnyBehavior, type Effect, refOf } from "../actor.ts";
import type { ActorObserver } from "../actor-observer.ts";
import type { Placement } from "../placement/placement.ts";
import { shardOf } from "../shards.ts";
import { Activation } from "./activation.ts";
import { type ActivationHost, ActorContext } from "./actor-context.ts";
import type { SaveExtent } from "./snapshot-writer.ts";

type HostServices = Pick<
  ActivationHost,
  "store" | "clock" | "random" | "committer" | "limits" | "counters" | "log" | "publish" | "resyncHolds"
>;

export interface ActivationCacheParts extends HostServices {
  readonly placement: Placement;
  readonly behaviorOf: (ref: ActorRef) => AnyBehavior;
  /** Called with the effects that an actor of this node owes. */
  readonly enqueue: (from: ActorRef, effects: readonly Effect[]) => void;
  readonly draining: () => boolean;
  readonly observer: ActorObserver | undefined;
}

/** Activations that a periodic save takes at a time: of all of them a part, and a few at least. */
const SAVES_MIN = 8;
const SAVE_STEPS = 64;

/** The activations of a node. It writes snapshots and documents to the store. */
export class ActivationCache {
  private readonly host: ActivationHost;
  private readonly activations = new Map<string, Activation>();
  /** The actors that were empty after their last reply, the one used last at the end; some may have stored something since. */
  private readonly empty = new Set<string>();
  /** Activations of lost shards that are not dropped yet. */
  private readonly leaving = new Map<ActorContext, Activation>();
  /**
   * By lost shard: the wall-clock ms since which, and the epoch in which, commits are left that this node
   * will not save.
   */
  private readonly unsavable = new Map<number, { readonly since: number; readonly epoch: number }>();
  /** Actors that failed and are not reloaded yet: they may have unsaved commits. */
  private readonly failed = new Set<string>();
  /** Appends lost in a row, and when (monotonic ms) the actor may be loaded again. */
  private readonly lostAppends = new Map<string, { readonly times: number; readonly until: number }>();
  /** The saves of one turn of the event loop, which go to the store together. */
  private saveGroup: { readonly saves: Save[]; readonly done: Promise<void> } | null = null;

  constructor(private readonly parts: ActivationCacheParts) {
    const { placement } = parts;
    this.host = {
      ...parts,
      loads: new Semaphore(parts.limits.loads),
      deadNodes: placement.deadNodes,
      epochOf: placement.epochOf,
      drainEpochOf: placement.drainEpochOf,
      fenced: placement.fenced,
      loaded: (ref, state) => parts.observer?.loaded(ref, state),
      committed: ({ name, ref }, commit) => {
        if (this.lostAppends.size > 0) this.lostAppends.delete(name);
        parts.observer?.committed(ref, commit);
      },
      enqueue: (actor, effects) => {
        if (effects.length > 0 && !this.leaving.has(actor)) parts.enqueue(actor.ref, effects);
      },
      save: (save) => this.saveTogether(save),
      ended: (actor, why) => this.ended(actor, why),
    };
  }

  /**
   * Returns the actor's activation, which is created when there is none. Returns null while the actor must
   * wait after lost appends. Only for shards of this node.
   */
  getOrCreate(ref: ActorRef, name: string, shard: number): Activation | null {
    const found = this.activations.get(name);
    if (found !== undefined) return found;
    const until = this.lostAppends.get(name)?.until ?? 0;
    if (until > this.host.clock.mono()) return null;
    const behavior = this.parts.behaviorOf(ref);
    const actor = new ActorContext(this.host, behavior, ref, name, shard, this.ownEpoch(shard));
    const made = new Activation(actor, this.failed.has(name));
    this.activations.set(name, made);
    return made;
  }

  /** Returns the actor's activation, loaded or not; undefined when there is none. */
  find(name: string): Activation | undefined {
    return this.activations.get(name);
  }

  /**
   * Called after a reply. Of the activations that never stored anything and hold nothing, a few stay: names that somebody
   * guesses must not fill the memory. None stays whose first commit may still be stored by an earlier owner or activation, since
   * it would go on without it until it writes: nothing fences what has no commit.
   */
  boundEmpty(name: string, activation: Activation): void {
    if (!activation.isEmpty() || this.activations.get(name) !== activation) return;
    if (this.host.store.appendsOutliveSender || activation.mayBeAppended) {
      this.activations.delete(name);
      return;
    }
    const { empty } = this;
    empty.delete(name);
    empty.add(name);
    if (empty.size <= this.host.limits.emptyActors) return;
    const oldest = empty.values().next().value!;
    empty.delete(oldest);
    if (this.activations.get(oldest)?.isEmpty()) this.activations.delete(oldest);
  }

  /** Loads the actor, with retries for as long as its shard is this node's. */
  async ensureLoaded(name: string): Promise<void> {
    const { placement, draining } = this.parts;
    const ref = refOf(name);
    const shard = shardOf(name);
    while (!draining() && this.ownEpoch(shard) > 0) {
      if (placement.epochOf(shard) > 0 && (await this.getOrCreate(ref, name, shard)?.untilLoaded())) return;
      await sleep(this.host.clock, 1_000);
    }
  }

  /** Returns the epoch in which the table assigns the shard to this node; 0 when it does not. */
  private ownEpoch(shard: number): number {
    const { placement } = this.parts;
    const node = placement.node();
    const owner = placement.ownerOf(shard);
    return node !== "" && owner?.node === node ? owner.epoch : 0;
  }

  private ended(actor: ActorContext, why: string): void {
    const { name } = actor;
    if (this.activations.get(name)?.actor !== actor) return;
    this.activations.delete(name);
    if (why === "append_lost") this.appendLost(actor);
    void this.reactivate(name);
  }

  private appendLost({ name, shard }: ActorContext): void {
    const { clock, limits, log } = this.host;
    const times = (this.lostAppends.get(name)?.times ?? 0) + 1;
    this.lostAppends.set(name, { times, until: clock.mono() + Math.min(1_000, 20 * 2 ** (times - 1)) });
    if (times < limits.lostInRow) return;
    log("error", "shard_given_up", { actor: name, shard, lost: times });
    this.lostAppends.delete(name);
    this.parts.placement.relinquish(shard);
  }

  /**
   * Reloads a failed actor although no command asks for it, because its ledger may have pending effects or be
   * ahead of its documents.
   */
  private async reactivate(name: string): Promise<void> {
    if (this.failed.has(name)) return;
    this.failed.add(name);
    await sleep(this.host.clock, 1_000);
    if (this.failed.has(name)) await this.ensureLoaded(name);
    this.failed.delete(name);
  }

  // ---- saving

  private saveTogether(save: Save): Promise<void> {
    if (this.saveGroup === null) {
      const saves: Save[] = [];
      const done = Promise.resolve().then(() => {
        this.saveGroup = null;
        return this.host.store.save(saves);
      });
      this.saveGroup = { saves, done };
    }
    this.saveGroup.saves.push(save);
    return this.saveGroup.done;
  }

  private all(): Activation[] {
    return [...this.activations.values(), ...this.leaving.values()];
  }

  /**
   * Requests a save, at its next chance, of every activation that has something to write. Those that can be saved at once are
   * saved some at a time: to make text of the states and documents of a hundred actors takes longer than others should wait for
   * the event loop. With many activations there are more at a time, so that all come in time.
   */
  readonly saveSoon: () => Promise<void> = coalesce(() => this.saveEach("due"));

  /** As `saveSoon`, but with the snapshots of all that none covers: for a node that leaves or has too many actors. */
  readonly saveWhole: () => Promise<void> = coalesce(() => this.saveEach("whole"));

  private saveEach(extent: SaveExtent): Promise<void> {
    return this.eachInSteps((activation) => activation.saveSoon(extent));
  }

  /** Begins a save of each activation, unless it returns null, and waits for some of them at a time. */
  private async eachInSteps(save: (activation: Activation) => Promise<void> | null): Promise<void> {
    const all = this.all();
    const atOnce = Math.min(this.host.limits.saves, Math.max(SAVES_MIN, Math.ceil(all.length / SAVE_STEPS)));
    const writes: Promise<void>[] = [];
    for (const activation of all) {
      const write = save(activation);
      if (write !== null && writes.push(write) >= atOnce) await Promise.all(writes.splice(0));
    }
    await Promise.all(writes);
  }

  /**
   * Saves the documents of what is committed by now, some actors at a time as `saveSoon`. Returns false when some of them could not
   * be saved. Concurrent callers share one save, because it is the same for all.
   */
  readonly save: () => Promise<boolean> = coalesce(async () => {
    let isAllSaved = true;
    await this.eachInSteps((activation) => {
      if (activation.isDocumented()) return null;
      return activation.save("documents").then((isSaved) => {
        isAllSaved &&= isSaved;
      });
    });
    return isAllSaved;
  });

  /** Returns whether some activation has commits that no snapshot covers. */
  hasUncovered(): boolean {
    return this.all().some((actor) => actor.uncoveredSince() !== null);
  }

  /**
   * Returns the wall-clock ms before which everything is covered by snapshots. Returns null when it is
   * unknown, because a failed activation is not reloaded yet.
   */
  watermark(): number | null {
    if (this.failed.size > 0) return null;
    let oldest = this.host.clock.wall();
    for (const activation of this.all()) oldest = Math.min(oldest, activation.uncoveredSince() ?? oldest);
    for (const [shard, { since, epoch }] of this.unsavable) {
      // In a later epoch the shard's own recovery scan covers it, even if this node is the owner again.
      if (this.ownEpoch(shard) === epoch) oldest = Math.min(oldest, since);
      else this.unsavable.delete(shard);
    }
    return oldest;
  }

  // ---- the end of activations

  /** Called when more nodes are dead: releases their holds on the actors here. */
  releaseDeadNodeHolds(): void {
    for (const activation of [...this.activations.values()]) activation.releaseDeadNodeHolds();
  }

  /** Drops the activation once it is saved, if it is then idle. */
  async reload(name: string): Promise<void> {
    const activation = this.activations.get(name);
    if (activation === undefined) return;
    await activation.save("whole");
    if (this.activations.get(name) === activation && activation.isIdle()) this.activations.delete(name);
  }

  /**
   * Evicts activations that are idle for longer than `idleMs`, and more above the limit of actors. The idle ones
   * that stay forget what is too old.
   */
  evictIdle(): void {
    const { clock, limits } = this.host;
    const usedBefore = clock.mono() - limits.idleMs;
    for (const [name, actor] of this.activations) {
      if (!actor.isIdle()) continue;
      if (actor.lastUsedAt() <= usedBefore) this.passivate(name);
      else actor.forgetOld();
    }
    const excess = this.activations.size - limits.actors;
    if (excess <= 0) return;
    const idle = [...this.activations].filter(([, actor]) => actor.isIdle());
    idle.sort(([, a], [, b]) => a.lastUsedAt() - b.lastUsedAt());
    for (const [name] of idle.slice(0, excess)) this.passivate(name);
    // Some may stay for their snapshots alone.
    if (this.activations.size > limits.actors) void this.saveWhole();
  }

  private passivate(name: string): void {
    this.activations.delete(name);
    this.host.counters.passivated++;
  }

  /** Drains and drops the activations of lost shards. Resolves when none of them is left here. */
  async dropShards(shards: readonly number[]): Promise<void> {
    const lost = new Set(shards);
    const going: Activation[] = [];
    for (const [name, activation] of this.activations) {
      if (!lost.has(activation.shard)) continue;
      this.activations.delete(name);
      this.leaving.set(activation.actor, activation);
      going.push(activation);
    }
    for (const name of [...this.failed, ...this.lostAppends.keys()]) {
      if (!lost.has(shardOf(name))) continue;
      this.failed.delete(name);
      this.lostAppends.delete(name);
    }
    await Promise.all(going.map((activation) => this.release(activation)));
  }

  /** Makes durable and saves what still may be, then drops the activation. */
  private async release(activation: Activation): Promise<void> {
    const { shard, epoch } = activation;
    try {
      if (this.parts.placement.drainEpochOf(shard) > 0) await activation.drain();
    } finally {
      const since = activation.uncoveredSince();
      if (since !== null) this.keepUnsavable(shard, epoch, since);
      activation.drop();
      this.leaving.delete(activation.actor);
    }
  }

  private keepUnsavable(shard: number, epoch: number, since: number): void {
    const before = this.unsavable.get(shard);
    if (before !== undefined && before.epoch > epoch) return;
    const oldest = before?.epoch === epoch ? Math.min(since, before.since) : since;
    this.unsavable.set(shard, { epoch, since: oldest });
  }

  // ---- figures

  size(): number {
    return this.activations.size + this.leaving.size;
  }

  /** Returns the number of waiting commands of the actor that has most of them. */
  mailboxMost(): number {
    return this.all().reduce((most, actor) => Math.max(most, actor.mailboxSize()), 0);
  }
}
