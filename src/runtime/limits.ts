// Every bound of the runtime, in one place. What happens at each is said beside it.

export interface RuntimeLimits {
  /** Turns waiting on one actor (loading or unflushed). Over: `overloaded`, not executed. */
  readonly mailbox: number;
  /** The same over all actors of this node. */
  readonly nodeTurns: number;
  /** A try at another node takes at most so long; the next one may go elsewhere. As many as `nodeTurns` are under way at once. */
  readonly tryMs: number;
  /** The new owner of a shard waits so long, at most, for what the other nodes hold of its actors. */
  readonly arrivalMs: number;
  /** Loads from the store at once; further ones wait. */
  readonly loads: number;
  /** Events in one commit; more go into the next one. */
  readonly commitEvents: number;
  /** Commits in one append of a lane; the rest waits for the next. */
  readonly laneCommits: number;
  /** Actors in memory; over it the longest idle ones are unloaded. */
  readonly actors: number;
  /** An actor whose appends are lost so often in a row is given up, with its shard. */
  readonly lostInRow: number;
  /** An actor without traffic for so long is unloaded. */
  readonly idleMs: number;
  /** A node is behind while a commit waits for longer than this. */
  readonly behindMs: number;
  /** Documents and snapshots trail the ledger by at most this, or by `saveCommits`. */
  readonly saveMs: number;
  readonly saveCommits: number;
  /** A command id without a mark is remembered so long; an older one is `too_old`. */
  readonly dedupMs: number;
  /** A marked command is remembered in memory so long, and looked up in the ledger when older than `lookupMs`. */
  readonly recentMs: number;
  readonly lookupMs: number;
  /** Commits read at once on replay. */
  readonly replayPage: number;
  /** Effects under way at once; further ones wait. */
  readonly effects: number;
  /** Longest pause between two tries of an effect. */
  readonly effectBackoffMs: number;
}

export const LIMITS: RuntimeLimits = {
  mailbox: 4096,
  nodeTurns: 65_536,
  tryMs: 2_000,
  arrivalMs: 1_000,
  loads: 64,
  commitEvents: 512,
  laneCommits: 256,
  actors: 50_000,
  lostInRow: 10,
  idleMs: 300_000,
  behindMs: 1_000,
  saveMs: 2_000,
  saveCommits: 256,
  dedupMs: 900_000,
  recentMs: 10_000,
  lookupMs: 5_000,
  replayPage: 1_000,
  effects: 256,
  effectBackoffMs: 60_000,
};
