// The types of actors: behaviors, commands and replies, and the envelope in which a command is sent. It holds
// types and names only; besides base/errors.ts it is all of src/ that actors/ may import.

import type { Refusal } from "../base/errors.ts";

/**
 * The kinds of actor: an account, an Owner's configuration, an Owner's provider keys, one Level of one Owner.
 */
export type Kind = "account" | "owner" | "key-pool" | "level";

/** Kind and id of an actor. */
export interface ActorRef<K extends Kind = Kind> {
  readonly kind: K;
  readonly id: string;
}

/** The context of one decision. `now` is business time (wall-clock ms) and never decreases for one actor. */
export interface Turn {
  readonly id: string;
  /** The node that sent the command; "" when it has no name yet. */
  readonly from: string;
  readonly now: number;
  readonly epoch: number;
  /** The ledger already has the command's dedup id: the behavior replies as if done and writes nothing. */
  readonly done: boolean;
  /** Commits of this node have waited for too long. Commands that only add to them are better refused. */
  readonly behind?: true;
}

/**
 * A command to another actor that this actor's state still owes. It is sent after the commit, at least once,
 * until `pendingEffects` no longer lists it. Its outcome returns as an `effectDone` command.
 */
export interface Effect<K extends Kind = Kind, C extends Command = Command> {
  readonly id: string;
  readonly to: ActorRef<K>;
  readonly command: C;
  /**
   * Wall-clock ms at which the id was created. Old ids are looked up in the ledger before the command runs.
   */
  readonly bornAt: number;
}

/**
 * How an effect ended: `refused` is the other actor's refusal, or null. Every behavior with effects has this
 * command.
 */
export interface EffectDone {
  readonly type: "effectDone";
  readonly effect: string;
  readonly refused: Refusal | null;
}

export interface Command {
  readonly type: string;
}

/**
 * A best-effort message after a commit, for views and invalidations. It may be lost, so correctness must not
 * depend on it.
 */
export interface Publication<T = unknown> {
  readonly topic: string;
  readonly body: T;
}

/** What `decide` returns: events and a reply, or a refusal. */
export interface Decision<E> {
  readonly reply?: unknown;
  readonly refused?: Refusal;
  /** Without events the command only read. */
  readonly events?: readonly E[];
  readonly publish?: readonly Publication[];
  /** The reply does not wait for the commit. This is for advisory replies only: `admit`. */
  readonly ungated?: true;
  /** Number of holds that expired in this turn because they were not renewed; zero in a healthy system. */
  readonly holdsExpired?: number;
  /**
   * Documents are stored before the reply is sent. Administrative changes set it, so that lists show them at
   * once.
   */
  readonly save?: true;
}

/**
 * A document that is materialized for lists and bills. Its values are absolute; it is stored only when its
 * seq is newer.
 */
export interface Document {
  readonly table: "accounts" | "usage" | "outbox" | "configs" | "levelEvents";
  readonly id: string;
  readonly body: Readonly<Record<string, unknown>>;
}

/** How holds on a kind of actor end together with the node that has them. */
export interface HoldOwnership<S, C extends Command> {
  /**
   * Returns whether the command opens or keeps a hold of the sending node (`Turn.from`). It is not accepted
   * from a dead node.
   */
  opensHold(command: C): boolean;
  /**
   * Returns a command that releases holds of dead nodes, as many as fit into one turn. Returns null when they
   * have none.
   */
  release(state: S, isDead: (node: string) => boolean): C | null;
}

/**
 * The state machine of a kind of actor. Everything here is pure and synchronous: no await, clock, randomness
 * or I/O. `decide` may change only `state.volatile`; `evolve` alone writes durable state, live and on replay.
 */
export interface Behavior<S, C extends Command, E, F extends Effect = Effect> {
  readonly kind: Kind;
  /**
   * Version of the frozen state. A snapshot of another version is ignored, and the ledger is replayed from
   * its beginning.
   */
  readonly version: number;
  empty(id: string): S;
  decide(state: S, command: C, turn: Turn): Decision<E>;
  evolve(state: S, event: E, at: number): void;
  /**
   * Returns the effects that durable state still owes. It must be cheap, because it is called after every
   * commit.
   */
  pendingEffects(state: S): readonly F[];
  /** Returns the documents that changed since the last call. What was kept only for them may be dropped. */
  materialize(state: S): readonly Document[];
  /**
   * Returns whether what changed may be materialized with the next snapshot, because readers who need it sooner ask for a save
   * (`ActorSystem.save`). Undefined when all documents of a kind are to be stored soon.
   */
  mayTrail?(state: S): boolean;
  /** Returns durable state as plain data; `thaw` restores it. */
  freeze(state: S): unknown;
  thaw(id: string, frozen: unknown): S;
  /** Returns whether the event is a ledger line. Lines are numbered per actor and carry `balanceAfter`. */
  isLine(event: E): boolean;
  /**
   * Returns the ids under which the event can be found forever (charges, transfers, the client's request id).
   */
  dedupIds(event: E): readonly string[];
  /**
   * Returns the dedup id that the command would write, which is its idempotency key forever. Returns
   * undefined for a command without one; its command id is remembered for 15 minutes.
   */
  dedupIdOf(command: C): string | undefined;
  /**
   * Returns whether the command must wait until every live node has re-asserted its holds on an actor whose
   * shard moved or whose activation failed (1 s at most).
   */
  reliesOnHolds(command: C): boolean;
  /** How holds end with their node; undefined when this kind of actor has no holds. */
  readonly holdOwnership?: HoldOwnership<S, C>;
  /**
   * Drops what the volatile state remembers for too long at `now` (wall-clock ms). It is called now and then
   * for an idle actor, which no command reminds of it; it changes no decision. Undefined when a kind remembers nothing.
   */
  forgetOld?(state: S, now: number): void;
  /** Returns whether unloading now would lose nothing volatile (no open holds). */
  idle(state: S): boolean;
}

/**
 * A behavior of some kind, as the runtime sees it. The compiler compares parameters of methods in both
 * directions, so every behavior is one; the runtime gives each only states, commands and events of its own
 * kind.
 */
export type AnyBehavior<F extends Effect = Effect> = Behavior<unknown, Command, unknown, F>;

/** A command on its way to an actor, locally or over the bus. */
export interface Envelope {
  /** Idempotency key, the same on every retry. */
  readonly id: string;
  readonly bornAt: number;
  readonly to: ActorRef;
  /** The sending node's name at this attempt; "" when it has no name yet. */
  readonly from: string;
  /** The shard's epoch as the sender knows it; 0 means none. */
  readonly epoch: number;
  readonly command: Command;
  /** Wall-clock ms after which the caller no longer waits. It serves load shedding only. */
  readonly expiresAt: number;
  /** An earlier attempt may have run, so the ledger is searched for the dedup id whatever the clocks say. */
  readonly retry?: boolean;
  /**
   * The command runs on its caller's stack, at the first attempt: no copy of it is under way, and one that follows is a
   * `retry`. So its dedup id is not searched for, and its reply is forgotten with the commit.
   */
  readonly hasNoOtherCopy?: boolean;
  /**
   * The command is an effect. It is never too old, because its receiver is idempotent, by nature or by its
   * dedup id.
   */
  readonly effect?: true;
}

/** The result of one attempt at an actor. */
export type Reply =
  /**
   * `ungated` is the epoch in which the reply was decided without waiting for a commit. The reply counts only
   * while the actor has no owner in a later epoch.
   */
  | { readonly ok: true; readonly body: unknown; readonly ungated?: number }
  | { readonly ok: false; readonly code: "refused"; readonly refusal: Refusal }
  | { readonly ok: false; readonly code: "not_owner"; readonly epoch: number }
  /** The command was not executed. */
  | { readonly ok: false; readonly code: "overloaded"; readonly retryAfterMs: number }
  /** The outcome is unknown; repeat the command with the same id. */
  | { readonly ok: false; readonly code: "unavailable" }
  /** A retry cannot help: the id is older than the dedup window, or the command or its reply is too large. */
  | { readonly ok: false; readonly code: "too_old" | "too_large" };

/** The reply of an attempt whose outcome is unknown. */
export const UNAVAILABLE = { ok: false, code: "unavailable" } as const satisfies Reply;

/** The input of a command that needs none: an object without fields. */
export type NoInput = Readonly<Record<string, never>>;

/**
 * The bound of a protocol `P`: by kind of actor its commands by name, with their input and output. It refers
 * to `P` itself, so that a protocol needs no index signature: a name that it does not list does not compile.
 */
export type ActorProtocol<P> = {
  readonly [K in keyof P]: {
    readonly [N in keyof P[K]]: { readonly input: object; readonly output: unknown };
  };
};

/** The union of the commands of a kind, as `decide` receives them. `T` maps their names to their inputs. */
export type CommandOf<T> = {
  [N in keyof T & string]: T[N] extends { readonly input: infer I }
    ? { readonly type: N } & (I extends NoInput ? unknown : I)
    : never;
}[keyof T & string];

/** The union of the effects that actors of a protocol may owe: a command of the kind that `to` names. */
export type EffectOf<P> = {
  [K in keyof P & Kind]: Effect<K, CommandOf<P[K]>>;
}[keyof P & Kind];

/** Returns the name of an actor, `<kind>/<id>`. */
export const actorName = (ref: ActorRef): string => `${ref.kind}/${ref.id}`;

/** Parses a name that `actorName` made. */
export function refOf(name: string): ActorRef {
  const slash = name.indexOf("/");
  return { kind: name.slice(0, slash) as Kind, id: name.slice(slash + 1) };
}
