// What a kind of actor is, and what travels to and from one. Types only; actors/ may import nothing else of src/.

import type { Refusal } from "../base/errors.ts";

/** The kinds of actor: an account, an Owner's configuration, an Owner's upstream keys, one Level of one Owner. */
export type Kind = "account" | "owner" | "key-pool" | "level";

export interface ActorRef<K extends Kind = Kind> {
  readonly kind: K;
  readonly id: string;
}

/** The moment of a decision. `now` is business time (wall ms) and never runs backwards for one actor. */
export interface Turn {
  readonly id: string;
  /** The node that asks; "" while it has no name. */
  readonly from: string;
  readonly now: number;
  readonly epoch: number;
  /** The command's mark already stands in the ledger: answer as if done, write nothing. */
  readonly done: boolean;
  /** Commits of this node wait for too long: what only makes more of them is better refused. */
  readonly behind?: true;
}

/**
 * A command to another actor that this actor's state still owes. Sent after the commit, at least once, until `pending`
 * no longer lists it; its outcome comes back as an `effectDone` command.
 */
export interface Effect {
  readonly id: string;
  readonly to: ActorRef;
  readonly command: Command;
  /** Wall ms at which the id was minted: old ids are looked up in the ledger before they run. */
  readonly bornAt: number;
}

/** How an effect ended: the other actor's reply, or its refusal. Part of every behaviour that has effects. */
export interface EffectDone {
  readonly type: "effectDone";
  readonly effect: string;
  readonly refused: Refusal | null;
}

export interface Command {
  readonly type: string;
}

/** A fact for whoever listens (views, invalidations), sent after the commit; may be lost, so it is never the truth. */
export interface Publication {
  readonly topic: string;
  readonly body: unknown;
}

export interface Decision<E> {
  readonly reply?: unknown;
  readonly refused?: Refusal;
  /** None: the command only read. */
  readonly events?: readonly E[];
  readonly publish?: readonly Publication[];
  /** The reply does not wait for the commit. Only for advisory answers: `admit`. */
  readonly ungated?: true;
  /** Reservations that ended in this turn because nobody renewed them: counted, none in health. */
  readonly holdsExpired?: number;
  /** Documents are stored before the reply leaves: administrative changes, so that lists show them at once. */
  readonly save?: true;
}

/** A document to materialise for lists and bills: absolute values, stored only when its seq is newer. */
export interface Document {
  readonly table: "accounts" | "usage" | "outbox" | "configs";
  readonly id: string;
  readonly body: Readonly<Record<string, unknown>>;
}

export interface Holding<S, C extends Command> {
  /** By this command the node that asks (`Turn.from`) holds something, or goes on holding it: it is not taken from one that is over. */
  takes(command: C): boolean;
  /** The command that gives back what nodes hold that are over, as much as goes into one turn; null: they hold nothing. */
  release(state: S, isOver: (node: string) => boolean): C | null;
}

/**
 * A kind of actor. Everything here is pure and synchronous: no await, clock, chance or I/O.
 * `decide` may change only `state.volatile`; `evolve` is the only writer of durable state, live and on replay.
 */
export interface Behavior<S, C extends Command, E> {
  readonly kind: Kind;
  /** Version of the frozen state. A snapshot of another version is ignored and the ledger replayed from genesis. */
  readonly version: number;
  empty(id: string): S;
  decide(state: S, command: C, turn: Turn): Decision<E>;
  evolve(state: S, event: E, at: number): void;
  /** Unfinished work between actors, derived from durable state. Cheap: asked after every commit. */
  pendingEffects(state: S): readonly Effect[];
  /** Takes the documents that changed since the last call; what was kept only for them may be dropped. */
  materialize(state: S): readonly Document[];
  /** Durable state as plain data, and back. */
  freeze(state: S): unknown;
  thaw(id: string, frozen: unknown): S;
  /** Is this event a ledger line? Lines are numbered per actor and carry `balanceAfter`. */
  isLine(event: E): boolean;
  /** Ids under which this event can be found for ever (charges, transfers, the client's request id). */
  dedupIds(event: E): readonly string[];
  /** The mark that this command would write: it is its idempotency key, for ever. Others are remembered 15 minutes. */
  dedupIdOf(command: C): string | undefined;
  /** This command must not run before every surviving node has told again what it holds of an actor that moved or broke (1 s at most). */
  reliesOnHolds(command: C): boolean;
  /** What nodes hold of this kind of actor ends with them; absent: they hold nothing of it. */
  readonly holdOwnership?: Holding<S, C>;
  /** Nothing volatile would be lost by unloading now (no open holds). */
  idle(state: S): boolean;
}

// biome-ignore lint/suspicious/noExplicitAny: the one place where kinds of actor stand side by side in a list
export type AnyBehavior = Behavior<any, any, any>;

/** What is sent to an actor, locally or over the bus. */
export interface Envelope {
  readonly v: 1;
  /** Idempotency key: the same on every retry. */
  readonly id: string;
  readonly bornAt: number;
  readonly to: ActorRef;
  /** The node that asks, as it was called at this try; "" while it has no name. */
  readonly from: string;
  /** The sender's belief of the shard's epoch; 0 = none. */
  readonly epoch: number;
  readonly command: Command;
  /** Wall ms after which nobody waits for the answer any more: load shedding only. */
  readonly expiresAt: number;
  /** Tried before, perhaps: whether it stands in the ledger is not to be told by clocks. */
  readonly again?: true;
  /** Owed by another actor: never too old, since its receiver is idempotent by nature or by its mark. */
  readonly owed?: true;
}

export type Reply =
  /** `ungated`: decided in this epoch, without waiting for a commit. It counts only while nobody owns the actor in a later one. */
  | { readonly ok: true; readonly body: unknown; readonly ungated?: number }
  | { readonly ok: false; readonly code: "refused"; readonly refusal: Refusal }
  | { readonly ok: false; readonly code: "not_owner"; readonly epoch: number }
  /** Not executed. */
  | { readonly ok: false; readonly code: "overloaded"; readonly retryAfterMs: number }
  /** Outcome unknown: repeat with the same id. */
  | { readonly ok: false; readonly code: "unavailable" }
  /** Never to be executed: the id is older than its memory, or the frame is too large. */
  | { readonly ok: false; readonly code: "too_old" | "too_large" };

export const UNAVAILABLE: Reply = { ok: false, code: "unavailable" };

/** Commands of one kind, by name: what goes in and what comes out. */
export type Commands = Record<string, { readonly input: object; readonly output: unknown }>;
export type ActorProtocol = Record<Kind, Commands>;

/** The union of commands of a kind, as `decide` receives them. */
export type CommandOf<T> = {
  [N in keyof T & string]: T[N] extends { input: infer I } ? { readonly type: N } & I : never;
}[keyof T & string];

export const actorName = (ref: ActorRef): string => `${ref.kind}/${ref.id}`;

export function refOf(name: string): ActorRef {
  const slash = name.indexOf("/");
  return { kind: name.slice(0, slash) as Kind, id: name.slice(slash + 1) };
}
