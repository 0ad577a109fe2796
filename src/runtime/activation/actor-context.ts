// What the parts of one activation share: the actor's identity, its loaded state, and the node that it runs
// on. It decides nothing. One `ActivationHost` exists per node, one `ActorContext` per activation.

import type { Clock, Random } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import type { Semaphore } from "../../base/semaphore.ts";
import type { Commit, Save, Store } from "../../store/store.ts";
import type { ActorRef, AnyBehavior, Effect, Publication } from "../actor.ts";
import type { RuntimeLimits } from "../limits.ts";
import type { DeadNodes } from "../placement/dead-nodes.ts";
import type { Counters } from "../stats.ts";
import type { Committer } from "./committer.ts";
import type { LoadedState } from "./replay.ts";

/** The node, as its activations use it. */
export interface ActivationHost {
  readonly store: Store;
  /** Bounds how many actors load at once. */
  readonly loads: Semaphore;
  readonly clock: Clock;
  readonly random: Random;
  readonly committer: Committer;
  readonly limits: RuntimeLimits;
  readonly counters: Counters;
  readonly log: Log;
  readonly deadNodes: DeadNodes;
  /** As `Placement.epochOf`. */
  epochOf(shard: number): number;
  /** As `Placement.drainEpochOf`. */
  drainEpochOf(shard: number): number;
  /** Called when the ledger has a commit of a higher epoch: this node no longer owns the shard. */
  fenced(shard: number, epoch: number): void;
  /** Called when an actor was loaded; see `ActorObserver`. */
  loaded(ref: ActorRef, state: unknown): void;
  /** Called when a commit of the actor is durable, before its replies are released. */
  committed(actor: ActorContext, commit: Commit): void;
  /** Called after a commit, and after loading, with the effects that the state owes. */
  enqueue(actor: ActorContext, effects: readonly Effect[]): void;
  publish(publications: readonly Publication[]): void;
  /** Stores documents of one seq, and its snapshot or none, all of it durable in the ledger. */
  save(save: Save): Promise<void>;
  /** Resolves when all nodes have re-asserted their holds on the actor, or their time is up. */
  resyncHolds(ref: ActorRef): Promise<void>;
  /** Called once, when the activation has failed or was dropped. */
  ended(actor: ActorContext, why: string): void;
}

/** The actor of one activation. */
export class ActorContext {
  /** Null while the activation loads. */
  loaded: LoadedState | null = null;
  /** The activation failed or was dropped: it takes no turns and writes nothing more. */
  hasEnded = false;
  /** Business time of the last turn or commit; it never decreases. */
  lastAt = 0;

  constructor(
    readonly host: ActivationHost,
    readonly behavior: AnyBehavior,
    readonly ref: ActorRef,
    readonly name: string,
    readonly shard: number,
    /** The shard's epoch when this activation was created. */
    readonly epoch: number,
  ) {}

  /** Returns the loaded actor while it may take turns, else null. */
  current(): LoadedState | null {
    return this.hasEnded ? null : this.loaded;
  }

  /**
   * Returns this activation's epoch while the node serves the shard in it, else 0. If the node regains the
   * shard in a later epoch, that epoch belongs to the next activation.
   */
  servingEpoch(): number {
    return this.host.epochOf(this.shard) === this.epoch ? this.epoch : 0;
  }

  /** Returns this activation's epoch while its decisions may still be appended, else 0. */
  appendEpoch(): number {
    return this.host.drainEpochOf(this.shard) === this.epoch ? this.epoch : 0;
  }

  /** Advances business time to the wall clock and returns it. It never decreases. */
  tick(): number {
    this.lastAt = Math.max(this.host.clock.wall(), this.lastAt);
    return this.lastAt;
  }
}
