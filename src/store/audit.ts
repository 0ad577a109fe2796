// What an audit reads: the whole store as it stood at one moment, however much is written meanwhile.
// It answers what the everyday contract (store.ts) does not: which seq a document has, all claims, all marks.

import type { Claim, Store } from "./store.ts";
import type { DocumentTable } from "./tables.ts";
import type { UsageRow } from "./usage-totals.ts";

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

/** Rows there are of each kind: what no actor of the ledger accounts for shows as a difference. */
export interface Counts {
  readonly commits: number;
  readonly marks: number;
  readonly snapshots: number;
  readonly accounts: number;
  readonly usage: number;
  /** Rows that bills add up: of an account, a day and a model. */
  readonly usageSums: number;
  readonly claims: number;
  readonly unconfirmed: number;
}

/** A picture of a store. Every answer is of the same moment; it must be closed, for it keeps that moment alive. */
export interface Audit extends Pick<Store, "tail" | "load" | "last" | "actors" | "claimed" | "close"> {
  counts(): Promise<Counts>;
  /** The documents of one account, by seq, then by id. */
  documentsOf(account: number): Promise<readonly DocumentKey[]>;
  document(table: DocumentTable, id: string): Promise<Readonly<Record<string, unknown>> | null>;
  /** What bills add up for a day of an account, by model. */
  sumsOf(account: number, day: string): Promise<readonly UsageRow[]>;
  /** Of these marks of one actor's commits, those that cannot be found. */
  missing(
    actor: string,
    marks: readonly { readonly mark: string; readonly seq: number }[],
  ): Promise<string[]>;
  /** Of these marks, those that stand more than once. */
  repeated(marks: readonly string[]): Promise<string[]>;
  /** Where a mark stands, by actor and seq. */
  holders(mark: string, limit: number): Promise<readonly Mark[]>;
  /** Claims in order of their key, after the given one. */
  claims(after: string, limit: number): Promise<readonly Claim[]>;
}
