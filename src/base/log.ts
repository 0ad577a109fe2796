// What the runtime tells: one structured line per lifecycle edge, and counters. It never logs a command's body.

export type LogLevel = "debug" | "info" | "warn" | "error";

/** `event` is a stable word such as `activation_broken`; fields are plain and free of secrets. */
export type Log = (level: LogLevel, event: string, fields?: Readonly<Record<string, unknown>>) => void;

export const silent: Log = () => {};

/** Counters that must be zero in health are marked; the others only grow. */
export interface Counters {
  turns: number;
  commits: number;
  events: number;
  activated: number;
  passivated: number;
  /** Zero in health. */
  appendLost: number;
  appendUnknown: number;
  fenced: number;
  broken: number;
  holdsExpired: number;
  shed: number;
  /** Asks that found the actor's shard elsewhere, by its owner's word or this node's own. */
  notOwner: number;
  /** Asks sent to other nodes. */
  remoteAsks: number;
}

/** How a node is: its counters, and gauges of this moment. */
export interface SystemStats {
  readonly counters: Counters;
  readonly actors: number;
  readonly turnsWaiting: number;
  readonly lagMs: number;
  readonly effects: number;
  /** Turns that wait on the actor with the longest mailbox. */
  readonly mailboxMost: number;
  /** This incarnation. */
  readonly node: string;
  readonly version: string;
  /** Shards served by this node. */
  readonly shards: number;
  /** What else there is to tell of this node: see `SystemParts.figures`. */
  readonly figures: Readonly<Record<string, number>>;
}

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
