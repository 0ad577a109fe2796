// What an audit reads: the ledger as it stood at one moment, however much is written meanwhile, and what was derived from
// it. Where a store cannot show both as of that moment, the derived is as it is now: what is newer than the ledger read
// is told apart, so that nobody compares it. Beside a store at rest nothing is newer.
// It answers what the everyday contract (store.ts) does not: which seq a document has, all claims, all marks.

import type { Claim, Commit, Snapshot, Store } from "./store.ts";
import type { DocumentTable } from "./tables.ts";
import type { UsageRow } from "./usage/usage-rows.ts";

export interface Mark {
  readonly mark: string;
  readonly actor: string;
  readonly seq: number;
}

export interface DocumentKey {
  readonly table: DocumentTable;
  readonly id: string;
  readonly seq: number;
}

/** What a ledger amounts to in its store: of one actor, none of it older than what its snapshot covers. */
export interface Derivation {
  /** Null: there is none, or it is newer than the ledger read. */
  readonly snapshot: Snapshot | null;
  /** Of the account, by seq, then by id. */
  readonly documents: readonly DocumentKey[];
  /** Those that are newer than the ledger read. */
  readonly newer: readonly DocumentKey[];
}

export interface AuditedDocument {
  readonly body: Readonly<Record<string, unknown>>;
  /** Of usage: what bills add up for it, by model. */
  readonly sums: readonly UsageRow[];
}

export interface Counts {
  readonly commits: number;
  readonly claims: number;
  readonly unconfirmed: number;
}

/** Rows of each kind that were met on the way through the ledger, actor by actor. */
export interface Met {
  readonly commits: number;
  readonly marks: number;
  readonly snapshots: number;
  readonly accounts: number;
  readonly usage: number;
  /** Rows that bills add up: of an account, a day and a model. */
  readonly usageSums: number;
}

/** A picture of a store. Every answer is of the same moment; it must be closed, for it keeps that moment alive. */
export interface AuditView
  extends Pick<Store, "readCommits" | "loadSnapshot" | "listActors" | "findClaim" | "close"> {
  counts(): Promise<Counts>;
  /** `account`: the one whose documents this actor writes; null: none. */
  derivedOf(actor: string, account: number | null): Promise<Derivation>;
  /** Null: it has become newer since its key was read. */
  document(key: DocumentKey): Promise<AuditedDocument | null>;
  /** Has this actor a ledger beyond the one read, so that its claims may be newer? */
  moved(actor: string): Promise<boolean>;
  /**
   * How many rows there are of each kind beyond those that were met: what belongs to nothing in the ledger.
   * `actorOf` names the actor of an account.
   */
  strays(met: Met, actorOf: (account: number) => string): Promise<Met>;
  /** Of these marks of one actor's commits, those that cannot be found. */
  missing(
    actor: string,
    marks: readonly { readonly mark: string; readonly seq: number }[],
  ): Promise<string[]>;
  /** Of these marks, those that stand more than once. */
  repeated(marks: readonly string[]): Promise<string[]>;
  /** Where a mark stands, by actor and seq. */
  holders(mark: string, limit: number): Promise<readonly Mark[]>;
  /** The commits that carry a mark, by actor and seq. */
  marked(mark: string, limit: number): Promise<readonly Commit[]>;
  /** Claims in order of their key, after the given one. */
  claims(after: string, limit: number): Promise<readonly Claim[]>;
}
