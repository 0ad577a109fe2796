// The contract of placement: who owns which shard, since which epoch. It only limits disagreement: the ledger decides.

import type { DeadNodes } from "./dead-nodes.ts";

/** A shard that has another owner than before, or the same one in another epoch. */
export interface ShardMove {
  readonly shard: number;
  readonly epoch: number;
  readonly owner: string;
}

/** A node of the table. A restart is another incarnation. */
export interface NodeState {
  readonly name: string;
  readonly incarnation: string;
  readonly state: "up" | "leaving" | "dead";
}

export interface Placement {
  /** Starts owning. Resolves when every shard has an owner, which may be others. */
  join(): Promise<void>;
  /** Who this node is to others; changes when it was declared dead and joined anew. "" before it joined. */
  node(): string;
  /** > 0 only while this node owns the shard now. Asked at every turn and before every append. */
  epochOf(shard: number): number;
  /** > 0 while what was decided in it may still be appended: as `epochOf`, and also while the shard is drained for its next owner. */
  drainEpochOf(shard: number): number;
  ownerOf(shard: number): { readonly node: string; readonly epoch: number } | null;
  /** Reads the table anew: a reply said that ownership is not as it is known here. Many at once are one. */
  refresh(): Promise<void>;
  /** An append or a load showed a higher epoch: give the shard up at once. */
  fenced(shard: number, epoch: number): void;
  /** The ledger refuses what this node appends there, and nobody knows why: another may try, or this one in a new epoch. */
  relinquish(shard: number): void;
  /** Other nodes that are up or on their way out, by the newest table known here. */
  others(): readonly string[];
  /** The nodes of the table, this one included. */
  members(): readonly NodeState[];
  /** Every shard has an owner who may serve it, as far as known here, and this node may serve its own. */
  placed(): boolean;
  readonly deadNodes: DeadNodes;
  /** Called before anybody can know of this incarnation: when it resolves, requests for it are heard. */
  onJoin(handle: (node: string) => Promise<void>): void;
  /** Called with shards newly owned: their unfinished work wants a sweep. Resolves when they are swept. */
  onGain(handle: (shards: readonly number[], since: number) => Promise<void>): void;
  /** Called with shards that are owned no more, or soon: take no turns, make durable what is decided, forget. Resolves when drained. */
  onLose(handle: (shards: readonly number[]) => Promise<void>): void;
  /**
   * Called with shards that have another owner or epoch than this node last knew, wherever they went, before gains and
   * losses of the same table. At the first look at a table: none. Whoever joins anew after it was declared dead: all.
   */
  onMoved(handle: (moved: readonly ShardMove[]) => void): void;
  /** Gives all shards to the others while it serves on; false: some are left, or there is nobody. Alone: true at once. */
  handOver(ms: number): Promise<boolean>;
  leave(): Promise<void>;
}
