// All bounds of the runtime. Each says what happens when it is reached.

export interface RuntimeLimits {
  /**
   * Turns that wait on one actor (it loads, or they are not committed yet). A further command is `overloaded`
   * and not executed.
   */
  readonly mailbox: number;
  /** The same, summed over all actors of this node. */
  readonly nodeTurns: number;
  /**
   * Longest attempt at another node (ms); the next attempt may go to a different one. At most `nodeTurns` are
   * in flight.
   */
  readonly tryMs: number;
  /** Longest time (ms) that a shard's new owner waits for other nodes to re-assert their holds. */
  readonly handoffMs: number;
  /** Actors that load at once; further ones wait. */
  readonly loads: number;
  /** Events in one commit; further ones go into the next. */
  readonly commitEvents: number;
  /** Commits in one append; further ones are in the next one. */
  readonly appendCommits: number;
  /** Actors in memory; above it those unused for longest are unloaded. */
  readonly actors: number;
  /**
   * Actors in memory that never stored anything; above it the one used longest ago is unloaded. Some are asked again and again,
   * and to load one is to look for its commits. None stays where an append may outlive its sender.
   */
  readonly emptyActors: number;
  /** Appends of one actor that are lost in a row before this node relinquishes its shard. */
  readonly lostInRow: number;
  /** An actor without traffic for this long (ms) is unloaded. Accounts remember ended requests for less. */
  readonly idleMs: number;
  /** A node is behind while a commit waits for longer than this (ms). */
  readonly behindMs: number;
  /**
   * Documents trail the ledger by at most this (ms), or by `saveCommits` commits; those that may trail further
   * (`Behavior.mayTrail`) are written with the snapshot.
   */
  readonly saveMs: number;
  readonly saveCommits: number;
  /**
   * A save has a snapshot, which only a replay reads, when the last one is this (ms) or `snapshotCommits` commits old. So an actor
   * that commits seldom has one with each save, and a busy one trails the ledger by one save more than this.
   */
  readonly snapshotMs: number;
  readonly snapshotCommits: number;
  /** The most saves of idle actors in progress at once; further ones wait. */
  readonly saves: number;
  /** How long (ms) a command without a dedup id is remembered; an older one is `too_old`. */
  readonly dedupMs: number;
  /**
   * How long (ms) a command with a dedup id is remembered in memory at least. One older than `lookupMs` is looked up
   * in the ledger.
   */
  readonly recentMs: number;
  readonly lookupMs: number;
  /** Commits per read on replay. */
  readonly replayPage: number;
  /** Attempts to deliver effects that are under way at once; further ones wait. */
  readonly effects: number;
  /** Longest pause (ms) between two attempts of an effect. */
  readonly effectBackoffMs: number;
}

export const LIMITS: RuntimeLimits = {
  mailbox: 4096,
  nodeTurns: 65_536,
  tryMs: 2_000,
  handoffMs: 1_000,
  loads: 64,
  commitEvents: 512,
  appendCommits: 256,
  actors: 50_000,
  emptyActors: 64,
  lostInRow: 10,
  idleMs: 90_000,
  behindMs: 1_000,
  saveMs: 2_000,
  saveCommits: 256,
  snapshotMs: 32_000,
  snapshotCommits: 1_024,
  saves: 256,
  dedupMs: 900_000,
  recentMs: 10_000,
  lookupMs: 5_000,
  replayPage: 1_000,
  effects: 256,
  effectBackoffMs: 60_000,
};
