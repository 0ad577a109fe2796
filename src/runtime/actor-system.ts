// The interface of the actor system of one node, and what it is built from. Types only.

import type { Clock, Random } from "../base/clock.ts";
import type { Histogram } from "../base/histogram.ts";
import type { Log } from "../base/log.ts";
import type { Bus } from "../bus/bus.ts";
import type { Store } from "../store/store.ts";
import type { ActorProtocol, ActorRef, AnyBehavior, Kind } from "./actor.ts";
import type { ActorObserver } from "./actor-observer.ts";
import type { AnswerQuery, NodeAnswer, NodeQuery } from "./cluster/node-queries.ts";
import type { AskOptions } from "./cluster/retry-client.ts";
import type { RuntimeLimits } from "./limits.ts";
import type { Placement } from "./placement/placement.ts";
import type { SystemStats } from "./stats.ts";

/** Sends commands to actors and reports what happens to their shards. */
export interface ActorSystem<P extends ActorProtocol<P>> {
  /**
   * Sends a command to an actor and repeats it with the same id until it is answered or the budget ends.
   * Throws RefusedError, or UnavailableError when the outcome is unknown.
   */
  ask<K extends Kind & keyof P, N extends keyof P[K] & string>(
    to: { readonly kind: K; readonly id: string },
    type: N,
    input: P[K][N]["input"],
    options?: AskOptions,
  ): Promise<P[K][N]["output"]>;
  /**
   * Runs the command's turn on the caller's stack where that is possible; otherwise it is `ask` with the same
   * id (see cluster/ask-now.ts). Returns the reply itself when it does not wait for a commit, else a promise
   * of it. Throws RefusedError when the refusal is decided at once; otherwise the promise rejects as that of
   * `ask` does. A caller that awaits the result inside `try` handles both alike.
   */
  askNow<K extends Kind & keyof P, N extends keyof P[K] & string>(
    to: { readonly kind: K; readonly id: string },
    type: N,
    input: P[K][N]["input"],
    options?: AskOptions,
  ): P[K][N]["output"] | Promise<P[K][N]["output"]>;
  /**
   * Subscribes to publications. `changed` is called in place of `handle` when the body was too large to
   * publish; the subscriber can ask the actor. Returns a function that unsubscribes.
   */
  subscribe(
    topic: string,
    handle: (topic: string, body: unknown) => void,
    changed?: (topic: string) => void,
  ): () => void;
  /**
   * Returns whether this node serves the actor now. Work that must happen once in a cluster is done where
   * this is true.
   */
  owns(actor: ActorRef): boolean;
  /**
   * Reports actors of which local copies may be stale, because their shard moved or publications may have
   * been missed. It is called after the fact, synchronously. Returns a function that unsubscribes.
   */
  onStale(handle: (concerns: (actor: ActorRef) => boolean) => void): () => void;
  /**
   * Reports actors that have a new owner, so that this node re-asserts its holds to it. The new owner waits
   * for the promise of every live node (at most `handoffMs`) before it runs commands that rely on holds.
   */
  onMoved(handle: (concerns: (actor: ActorRef) => boolean) => Promise<void>): void;
  /**
   * Reports an actor that was reloaded after its activation failed. It works as `onMoved`, for this actor
   * alone.
   */
  onResync(handle: (actor: ActorRef) => Promise<void>): void;
  /**
   * Returns the stats of every node of the cluster. `stats` is null for a node that does not answer within
   * `ms`.
   */
  overview(ms: number): Promise<readonly { readonly node: string; readonly stats: SystemStats | null }[]>;
  /** Calls `save` on every node. Returns false when a node was too slow or did not answer. */
  saveEverywhere(ms: number): Promise<boolean>;
  /** Registers what answers the queries of a name on this node; it replaces an earlier one. */
  serveQuery(name: string, answer: AnswerQuery): void;
  /**
   * Sends a query to one node and returns the answer. Rejects as the bus does; `ms` is the timeout. What other nodes
   * answer is as they sent it, and has to be parsed.
   */
  queryNode(node: string, query: NodeQuery, ms: number): Promise<unknown>;
  /** Sends a query to all nodes, this one included; an answer is null where a node failed or took longer than `ms`. */
  queryNodes(query: NodeQuery, ms: number): Promise<readonly NodeAnswer[]>;
  /**
   * Sends a query to the node that owns an actor, so that a task of the cluster has one place. Rejects with
   * `UnavailableError` when that node does not answer within `ms`.
   */
  queryOwner(actor: ActorRef, query: NodeQuery, ms: number): Promise<unknown>;
  /** Returns the other node that owns an actor; null when this node does, or when none is known to. */
  otherOwnerOf(actor: ActorRef): string | null;
  /** Returns the name of the node that owns an actor, without its incarnation; null when none is known to. */
  ownerNameOf(actor: ActorRef): string | null;
  /**
   * Gives all shards to other nodes while this one keeps serving (SIGTERM). Returns false when some are left
   * after `ms`. A single process returns true at once.
   */
  handOff(ms: number): Promise<boolean>;
  /** Returns the age (ms) of the oldest append in flight. Above 1 s the edge refuses new work. */
  lagMs(): number;
  /** Seconds that commits of this node waited for the store. */
  readonly commitSeconds: Histogram;
  stats(): SystemStats;
  /**
   * Stores the documents of all that this node has committed by now. Returns false when `ms` was too short for
   * some.
   */
  save(ms: number): Promise<boolean>;
  /**
   * Drops an actor from its owner's memory, so that the next command reads it from the store. A busy actor
   * stays.
   */
  reload<K extends Kind & keyof P>(actor: { readonly kind: K; readonly id: string }): Promise<void>;
  start(): Promise<void>;
  /**
   * Stops taking turns once everything decided is durable and saved, then leaves the cluster. Stops waiting
   * after `ms`.
   */
  drain(ms: number): Promise<void>;
}

export interface SystemParts {
  readonly store: Store;
  readonly bus: Bus;
  readonly clock: Clock;
  readonly random: Random;
  readonly placement: Placement;
  readonly behaviors: readonly AnyBehavior[];
  readonly log: Log;
  /** Version of the package, which `stats` reports. */
  readonly version?: string;
  readonly limits?: Partial<RuntimeLimits>;
  /** Gauges of parts outside the runtime, which `stats` reports to other nodes too. */
  readonly figures?: () => Readonly<Record<string, number>>;
  /** Called regularly: commits older than this wall-clock ms are all covered by snapshots. */
  readonly saved?: (watermark: number) => void;
  /** What is kept beside the actors of this node; it learns of their commits and shards. */
  readonly observer?: ActorObserver;
}
