// What the runtime counts and reports of a node: its counters, which only grow, and gauges of one moment. Types and the
// initial values only; the parts of the runtime increment their own counters.

/** Counters of a node, which only grow. Those that must be zero in a healthy system say so. */
export interface Counters {
  turns: number;
  commits: number;
  events: number;
  activated: number;
  passivated: number;
  /** Zero in a healthy system. */
  appendLost: number;
  appendUnknown: number;
  fenced: number;
  broken: number;
  holdsExpired: number;
  shed: number;
  /**
   * Attempts that did not find the actor's owner, by the answer of another node or by this node's own table.
   */
  notOwner: number;
  /** Attempts sent to other nodes. */
  remoteAsks: number;
}

/** The state of a node: its counters, and gauges of this moment. */
export interface SystemStats {
  readonly counters: Counters;
  readonly actors: number;
  readonly turnsWaiting: number;
  readonly lagMs: number;
  readonly effects: number;
  /** Waiting turns of the actor with the longest mailbox. */
  readonly mailboxMost: number;
  /** The name of this incarnation. */
  readonly node: string;
  readonly version: string;
  /** Number of shards that this node serves. */
  readonly shards: number;
  /** Gauges of parts outside the runtime; see `SystemParts.figures`. */
  readonly figures: Readonly<Record<string, number>>;
}

/** Returns counters that are all zero. */
export const freshCounters = (): Counters => ({
  turns: 0,
  commits: 0,
  events: 0,
  activated: 0,
  passivated: 0,
  appendLost: 0,
  appendUnknown: 0,
  fenced: 0,
  broken: 0,
  holdsExpired: 0,
  shed: 0,
  notOwner: 0,
  remoteAsks: 0,
});
