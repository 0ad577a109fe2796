// The contract of placement: which node owns which shard, in which epoch. It only reduces conflicts; the
// ledger decides them.

import type { DeadNodes } from "./dead-nodes.ts";

/** A shard with a new owner, or with the same owner in a new epoch. */
export interface ShardMove {
  readonly shard: number;
  readonly epoch: number;
  readonly owner: string;
}

/** A node of the shard table. A restarted node is another incarnation. */
export interface NodeState {
  readonly name: string;
  readonly incarnation: string;
  readonly state: "up" | "leaving" | "dead";
}

/** Which node owns a shard, in which epoch. */
export interface Placement {
  /** Joins the cluster. Resolves when every shard has an owner, which may be another node. */
  join(): Promise<void>;
  /**
   * Returns this node's name; "" before it joined. The name changes when the node was declared dead and
   * joined again.
   */
  node(): string;
  /**
   * Returns the shard's epoch while this node owns and serves it, else 0. It is checked at every turn and
   * before every append.
   */
  epochOf(shard: number): number;
  /**
   * Returns the shard's epoch while decisions in it may still be appended, else 0: as `epochOf`, and while
   * the shard is drained for its next owner.
   */
  drainEpochOf(shard: number): number;
  ownerOf(shard: number): { readonly node: string; readonly epoch: number } | null;
  /**
   * Reads the table again, because a reply showed that the local copy is old. Concurrent calls share a read.
   */
  refresh(): Promise<void>;
  /** Called when an append or a load showed a higher epoch: this node must relinquish the shard at once. */
  fenced(shard: number, epoch: number): void;
  /**
   * Relinquishes a shard where the ledger refuses this node's appends for an unknown reason. Another node may
   * try, or this one in a new epoch.
   */
  relinquish(shard: number): void;
  /** Returns the other nodes that are up or leaving, by the newest local table. */
  others(): readonly string[];
  /** Returns the nodes of the table, this one included. */
  members(): readonly NodeState[];
  /**
   * Returns whether, as far as known here, every shard has an owner that may serve it and this node may serve
   * its own.
   */
  placed(): boolean;
  readonly deadNodes: DeadNodes;
  /**
   * Registers a handler that is called before other nodes can know this incarnation. Its promise resolves
   * when requests to this node are received.
   */
  onJoin(handle: (node: string) => Promise<void>): void;
  /**
   * Registers a handler that is called with gained shards, which need a recovery scan from `since`
   * (wall-clock ms). Its promise resolves when the scan has ended.
   */
  onGain(handle: (shards: readonly number[], since: number) => Promise<void>): void;
  /**
   * Registers a handler that is called with shards that are lost, or soon will be: take no turns, make
   * decisions durable, drop the actors. Its promise resolves when they are drained.
   */
  onLose(handle: (shards: readonly number[]) => Promise<void>): void;
  /**
   * Registers a handler that is called with shards that have another owner or epoch than this node last knew,
   * on any node, before gains and losses of the same table. The first table that a node sees moves nothing.
   * When a node joins again after it was declared dead, all shards count as moved.
   */
  onMoved(handle: (moved: readonly ShardMove[]) => void): void;
  /**
   * Gives all shards to other nodes while this one keeps serving, for at most `ms` milliseconds. Returns
   * false when some are left or no node takes them. A single process returns true at once.
   */
  handOff(ms: number): Promise<boolean>;
  leave(): Promise<void>;
}
