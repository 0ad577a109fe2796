// The contract of a store: the journal of commits, snapshots, materialised documents, claims, counters, kept answers, registry.
// Implementations are siblings; test/suites/store.suite.ts is the contract as code and runs against each of them.
// A store never decides anything about accounts: it keeps what it was given and refuses a second writer of a seq.

import type {
  Conditions,
  DocumentBody,
  DocumentTable,
  Find,
  RecordTable,
  ScanQuery,
  Table,
} from "./tables.ts";

export type { Conditions, Find, ScanQuery, Table, Where } from "./tables.ts";

/**
 * What one flush of one actor stores, atomically: `(actor, seq)` is unique, so a second writer loses.
 * `by` is the writer's nonce: the same commit sent twice is recognised as one's own.
 */
export interface Commit {
  readonly actor: string;
  /** Contiguous from 1. */
  readonly seq: number;
  readonly shard: number;
  readonly epoch: number;
  readonly by: string;
  /** Business time of the commit, wall ms; never falls for one actor. */
  readonly at: number;
  /** Version of the commit's form. */
  readonly v: 1;
  /** Command ids that these events answered, with the reply to repeat. */
  readonly done: readonly { readonly id: string; readonly reply: unknown }[];
  /** Ids found for ever: charges, transfers, requests. */
  readonly marks: readonly string[];
  /** Number of ledger lines of this actor up to and including this commit, and how many of them are in it. */
  readonly linesTo: number;
  readonly lines: number;
  /** In order; each carries the `at` of its turn. */
  readonly events: readonly { readonly at: number; readonly line: boolean; readonly e: unknown }[];
}

/**
 * committed: durable. lost: another writer has this seq; reload. unknown: stored or not; break the activation.
 */
export type Appended = "committed" | "lost" | "unknown";

export interface Snapshot {
  readonly actor: string;
  readonly shard: number;
  readonly seq: number;
  readonly at: number;
  readonly epoch: number;
  readonly linesTo: number;
  /** The behaviour's version of `state`. */
  readonly v: number;
  readonly state: unknown;
  /** Recent command ids and their replies, so that a repeat after a move is recognised. */
  readonly done: readonly { readonly id: string; readonly at: number; readonly reply: unknown }[];
  /** Effects are unfinished: activate this actor when its shard is gained. */
  readonly pending: boolean;
}

/** Materialised documents of one actor at one seq. Stored in order, the snapshot last, each only when newer. */
export interface Save {
  readonly documents: readonly StoredDocument[];
  readonly snapshot: Snapshot;
}

export interface StoredDocument {
  readonly table: DocumentTable;
  readonly id: string;
  readonly seq: number;
  readonly body: DocumentBody;
}

/** What `put` stores, in place of the one with the same id. */
export interface StoredRecord {
  readonly table: RecordTable;
  readonly id: string;
  readonly body: DocumentBody;
}

/** What usage documents are summed by. */
export type TotalsField = "day" | "model" | "account";

/**
 * Which usage is summed. `dna` is a prefix of the position that an account had at the time of its charges: a day counts
 * where the account stood when the day's document was last written. Of an account that was moved, the days before stay
 * where it was, the day of the move and those after it are where it is now; no day counts twice.
 */
export interface TotalsQuery {
  readonly accounts: { readonly dna: string } | { readonly ids: readonly number[] };
  /** `YYYY-MM-DD`, UTC, both included. */
  readonly from: string;
  readonly to: string;
  /** Each named once; none: one row, or none where there is no usage. */
  readonly by: readonly TotalsField[];
}

/** Sums of what a query asks for; of `day`, `model` and `account` it has those that the query names. */
export interface TotalsRow {
  readonly day?: string;
  readonly model?: string;
  readonly account?: number;
  readonly requests: number;
  readonly prompt: number;
  readonly completion: number;
  readonly cached: number;
  readonly cacheWrite: number;
  readonly reasoning: number;
  /** Nano-dollars. A bigint, since a sum across accounts may pass what a number holds exactly. */
  readonly cost: bigint;
}

/** What accounts used over a span of days, and what of their documents is told with it: fields that are texts. */
export interface UsageReportQuery extends Pick<TotalsQuery, "accounts" | "from" | "to"> {
  readonly tell: readonly string[];
}

/** The sums of one account; its models that cost and that were asked most, of equal ones the first by name. */
export interface AccountUsage extends Omit<TotalsRow, TotalsField> {
  readonly account: number;
  readonly topCost: string;
  readonly topRequest: string;
  /** In the order of `tell`; "" for what its document does not say. */
  readonly told: readonly string[];
}

/** The same usage twice, as it was at one moment. */
export interface UsageReport {
  /** By day, then model. */
  readonly days: readonly TotalsRow[];
  /** The dearest first, then by id. */
  readonly accounts: readonly AccountUsage[];
}

/** More is asked for at once than the store will queue: ask again later. */
export class StoreBusyError extends Error {
  override readonly name = "StoreBusy";
}

/** It did not answer in time. What was to be written may be, or may yet be; asked again it is the same. */
export class StoreTimeoutError extends Error {
  override readonly name = "StoreSilent";
}

/** Nothing can be written any more before the process is started anew. Its message is fit to be shown. */
export class StoreLost extends Error {
  override readonly name = "StoreLost";
}

/** Uniqueness across actors: a name, an API key. Insert-only wins; the actor's own state is the truth. */
export interface Claim {
  readonly key: string;
  readonly account: number;
  /** Command id of the claimant. */
  readonly by: string;
  readonly at: number;
  readonly confirmed: boolean;
}

/** The answer of a request, kept for its repeats. `body` is sealed by whoever keeps it. */
export interface KeptAnswer {
  /** `<account>:<kind>:<key>` */
  readonly id: string;
  readonly account: number;
  readonly kind: "gateway" | "admin";
  /** Wall ms, both: kept, and no longer good. */
  readonly at: number;
  readonly until: number;
  readonly body: string;
}

/** Compare-and-set rows: node leases and the table of shards. */
export interface Registry {
  read(key: string): Promise<{ readonly value: string; readonly rev: number } | null>;
  /** `rev` 0 creates. Answers the new rev, or null when another was faster. Throws when the outcome is unknown. */
  cas(key: string, rev: number, value: string): Promise<number | null>;
}

export interface Store extends Registry {
  /**
   * Stores each commit or not, each on its own, and answers in their order. A networked store re-sends the same commits
   * until its own deadline. Rejects only what is not plain data.
   */
  append(commits: readonly Commit[]): Promise<readonly Appended[]>;
  /** Commits of one actor with seq > after, ascending. */
  readCommits(actor: string, after: number, limit: number): Promise<readonly Commit[]>;
  loadSnapshot(actor: string): Promise<Snapshot | null>;
  save(saves: readonly Save[]): Promise<void>;
  /** Actors of these shards with a commit at or after `since` that no snapshot covers, or with pending effects. */
  actorsToRecover(shards: readonly number[], since: number): Promise<readonly string[]>;
  /** Does a commit of this actor carry this mark? */
  hasDedupId(actor: string, mark: string): Promise<boolean>;
  /** Commits that carry this mark, over all actors: newest first, then by actor. */
  commitsByDedupId(mark: string, limit: number): Promise<readonly Commit[]>;

  /** Commits of one actor that hold its ledger lines `from`..`to` (numbered from 1, both included), ascending. */
  readLines(actor: string, from: number, to: number): Promise<readonly Commit[]>;
  /** The newest commit's seq and number of ledger lines; null: nothing was ever stored. */
  lastCommit(actor: string): Promise<{ readonly seq: number; readonly linesTo: number } | null>;
  /** Every actor whose name starts with the prefix and that has a commit, in order of name, after the given one. */
  listActors(prefix: string, after: string, limit: number): Promise<readonly string[]>;

  find<T extends Table>(find: Find<T>): Promise<readonly DocumentBody[]>;
  count<T extends Table>(conditions: Conditions<T>): Promise<number>;
  /**
   * The bodies of a find without pages, a few at a time. Goes on behind the last one given, so what comes or goes
   * meanwhile moves no other; those without a value in `order` are left out.
   */
  scan<T extends Table>(walk: ScanQuery<T>): AsyncIterable<DocumentBody>;

  /**
   * Stores records, all or none, each in place of the one with its id. Durable when it resolves. A networked store may show
   * some of them before the others; where it rejects for want of an answer, all of it may still happen within a minute.
   */
  putRecords(records: readonly StoredRecord[]): Promise<void>;
  /** Removes records, all or none, as `put` stores them; unknown ids harm nothing. Durable when it resolves. */
  removeRecords(table: RecordTable, ids: readonly string[]): Promise<void>;

  /**
   * Sums of usage documents, ordered by the fields of `by` as they are named there. Never holds the event loop for
   * long. Rejects with `StoreBusy` when too many wait already, and with the signal's reason when it is aborted.
   */
  usageTotals(query: TotalsQuery, signal?: AbortSignal): Promise<readonly TotalsRow[]>;
  /** What a query's accounts used, by day and model and by account. Rejects as `totals` does, and never holds the loop. */
  usageReport(query: UsageReportQuery, signal?: AbortSignal): Promise<UsageReport>;

  /** True: claimed now, or before by the same `by`. */
  claim(key: string, account: number, by: string, at: number): Promise<boolean>;
  findClaim(key: string): Promise<Claim | null>;
  confirm(key: string, by: string): Promise<void>;
  release(key: string, by: string): Promise<void>;
  /** Claims never confirmed and older than `before` (wall ms). */
  unconfirmed(before: number, limit: number): Promise<readonly Claim[]>;

  /**
   * Keeps an answer, in place of one with the same id; over `most` of its account and kind, those kept longest ago go.
   * Not durable when it resolves: a crash of the machine may forget it.
   */
  keepAnswer(answer: KeptAnswer, most: number): Promise<void>;
  /** Null: never kept, gone, or no longer good at `now` (wall ms). */
  answer(id: string, now: number): Promise<KeptAnswer | null>;
  /** Drops answers whose `until` is at or before this one, the longest expired first; answers how many. */
  dropAnswers(until: number, limit: number): Promise<number>;

  /** Reserves `size` numbers of a counter and answers the first; the first ever is 1. */
  reserveIds(counter: string, size: number): Promise<number>;
  /** The store's own clock, wall ms. */
  now(): Promise<number>;
  close(): Promise<void>;
}
