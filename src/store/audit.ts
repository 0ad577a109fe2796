// The contract of an audit: what `verify` reads. A view shows the ledger as of one moment, however much is
// written meanwhile, and the snapshots and documents that were derived from it.
// A store that cannot show the derived data as of that moment shows it as it is now, and reports separately
// what is newer than the ledger that was read, so that `verify` does not compare it. In a store at rest
// nothing is newer.
// It answers what `Store` does not: the seq of a document, all claims, all dedup ids.

import type { ActorKeyCost, KeyCost } from "./key-costs.ts";
import type { LineRow } from "./line-rows.ts";
import type { Claim, Commit, LineAnchor, Snapshot, Store } from "./store.ts";
import type { DocumentTable } from "./tables.ts";
import type { Period } from "./usage/charge-rows.ts";
import type { PeriodPart } from "./usage/usage-parts.ts";
import type { UsageRow } from "./usage/usage-rows.ts";

/** A dedup id and the commit that carries it. */
export interface Mark {
  readonly mark: string;
  readonly actor: string;
  readonly seq: number;
}

/** A document of an actor, without its body. `seq` is the commit that it was last written for. */
export interface DocumentKey {
  readonly table: DocumentTable;
  readonly id: string;
  readonly seq: number;
}

/**
 * What the store derived from the ledger of one actor. Nothing in it is older than what its snapshot covers.
 */
export interface Derivation {
  /** It is null when there is no snapshot, or when the snapshot is newer than the ledger that was read. */
  readonly snapshot: Snapshot | null;
  /** The documents of the account, ordered by seq, then by id. */
  readonly documents: readonly DocumentKey[];
  /** The documents that are newer than the ledger that was read. */
  readonly newer: readonly DocumentKey[];
  /** The actor's ledger lines up to this number are projected; later ones may be. */
  readonly projectedLines: number;
  /** The row of the account's sums of credit; null when there is none, or it is newer than the ledger that was read. */
  readonly money: { readonly seq: number; readonly sums: string } | null;
  /** That row goes at least up to this seq. */
  readonly moneyTo: number;
}

/** A stored row of a Level's history. */
export interface LevelEventDocument extends Pick<DocumentKey, "id" | "seq"> {
  readonly body: Readonly<Record<string, unknown>>;
}

/** A document's body, with the sums that bills are made from. */
export interface AuditedDocument {
  readonly body: Readonly<Record<string, unknown>>;
  /** For a usage document, the rows that bills add up for it, one per model; empty for every other table. */
  readonly sums: readonly UsageRow[];
}

/** The parts of usage (usage/usage-parts.ts) of an actor in one period, as they are stored. */
export interface AuditedParts {
  readonly parts: readonly PeriodPart[];
  /** The last ledger line that is in them; null when they are of all lines that are projected. */
  readonly upTo: number | null;
}

/** Numbers of rows in the view. `unconfirmed` counts claims. */
export interface Counts {
  readonly commits: number;
  readonly claims: number;
  readonly unconfirmed: number;
}

/** Numbers of rows that were found by walking the ledger actor by actor. */
export interface Met {
  readonly commits: number;
  readonly marks: number;
  readonly snapshots: number;
  readonly accounts: number;
  readonly usage: number;
  /** Rows that bills add up: one per account, day and model. */
  readonly usageSums: number;
  /** Rows of the projection of ledger lines. */
  readonly lineRows: number;
  /** Parts of usage: rows, or the parts within documents. */
  readonly usageParts: number;
  /** Rows of sums of credit, one per account. */
  readonly moneyRows: number;
}

/**
 * A store as of one moment. All answers are of the same moment. It must be closed, because it keeps that
 * moment readable.
 */
export interface AuditView
  extends Pick<Store, "readCommits" | "loadSnapshot" | "listActors" | "findClaim" | "close"> {
  counts(): Promise<Counts>;
  /**
   * The derived data of an actor. `account` is the account whose documents this actor writes; null means that
   * it writes none.
   */
  derivedOf(actor: string, account: number | null): Promise<Derivation>;
  /** Returns null when the document has become newer since its key was read. */
  document(key: DocumentKey): Promise<AuditedDocument | null>;
  /** The projected lines of an actor after an anchor, in the order of its ledger. */
  lines(actor: string, after: LineAnchor | null, limit: number): Promise<readonly LineRow[]>;
  /** The hours of which any parts of usage are stored, in their order. Of the first one, some may have been removed. */
  hours(): Promise<readonly Period[]>;
  /** The stored parts of an actor in those of these periods that have any. */
  partsOf(actor: string, periods: readonly Period[]): Promise<ReadonlyMap<Period, AuditedParts>>;
  /** The sums by day and provider key over the projected lines of all actors; empty in a store that keeps them apart. */
  keyCosts(): Promise<readonly KeyCost[]>;
  /** The sums of one actor; empty in a store that keeps those over all actors. */
  keyCostsOf(actor: string): Promise<readonly ActorKeyCost[]>;
  /** The stored history of a Level, `<owner>.<level>`, in no order. A row may be newer than the ledger that was read. */
  levelEvents(level: string): Promise<readonly LevelEventDocument[]>;
  /** Whether the actor has commits after the ledger that was read, so that its claims may be newer too. */
  moved(actor: string): Promise<boolean>;
  /**
   * How many rows of each kind the store has beyond those that were met, which means rows that belong to
   * nothing in the ledger. `actorOf` names the actor of an account.
   */
  strays(met: Met, actorOf: (account: number) => string): Promise<Met>;
  /** Returns those of these dedup ids of one actor's commits that a lookup does not find. */
  missing(
    actor: string,
    marks: readonly { readonly mark: string; readonly seq: number }[],
  ): Promise<string[]>;
  /** Returns those of these dedup ids that occur more than once. */
  repeated(marks: readonly string[]): Promise<string[]>;
  /** The commits that carry a dedup id, without their bodies, by actor and seq. */
  holders(mark: string, limit: number): Promise<readonly Mark[]>;
  /** The commits that carry a dedup id, by actor and seq. */
  marked(mark: string, limit: number): Promise<readonly Commit[]>;
  /** Claims in the order of their keys, after the given key. */
  claims(after: string, limit: number): Promise<readonly Claim[]>;
}
