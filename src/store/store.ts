// The contract of a store: the journal of commits, snapshots, materialized documents, claims, counters, kept
// answers and the registry. The implementations are the folders beside this file; test/suites/store.suite.ts
// is the contract as code and runs against each of them.
// A store decides nothing about accounts: it keeps what it is given and refuses a second writer of a seq.

import type { AccountRank, RankQuery } from "./account-ranks.ts";
import type { FoundLines, LineAnchor, LineFilter, LineTotals, LineWalk } from "./line-filter.ts";
import type { MoneyTotals } from "./money-fold.ts";
import type {
  Conditions,
  DocumentBody,
  DocumentTable,
  Find,
  RecordTable,
  ScanQuery,
  Table,
} from "./tables.ts";

export { type AccountRank, RANK_ORDERS, type RankOrder, type RankQuery } from "./account-ranks.ts";
export type {
  FoundLine,
  FoundLines,
  LineAnchor,
  LineFilter,
  LineTotals,
  LineWalk,
} from "./line-filter.ts";
export type { Conditions, DocumentBody, Find, ScanQuery, Table, Where } from "./tables.ts";

/**
 * What one commit batch of one actor stores, atomically. `(actor, seq)` is unique, so a second writer loses.
 * `by` is the writer's nonce: a writer that sends the same commit twice recognizes the stored one as its own.
 */
export interface Commit {
  readonly actor: string;
  /** Starts at 1 and has no gaps. */
  readonly seq: number;
  readonly shard: number;
  readonly epoch: number;
  readonly by: string;
  /** Business time of the commit, wall-clock milliseconds. It never decreases for one actor. */
  readonly at: number;
  /** Version of the stored format. */
  readonly v: 1;
  /** Ids of the commands that this commit answers, with the replies that a retry gets. */
  readonly done: readonly { readonly id: string; readonly reply: unknown }[];
  /** Dedup ids, which can be looked up permanently: of charges, transfers and requests. */
  readonly marks: readonly string[];
  /**
   * `linesTo` is the number of ledger lines of this actor up to and including this commit; `lines` is how
   * many of them are in it.
   */
  readonly linesTo: number;
  readonly lines: number;
  /**
   * The events in order. `at` is the business time of the turn that produced the event, wall-clock
   * milliseconds.
   */
  readonly events: readonly { readonly at: number; readonly line: boolean; readonly e: unknown }[];
}

/**
 * The outcome of an append. `committed`: it is durable. `lost`: another writer has this seq, so the actor
 * must be reloaded. `unknown`: it may be stored or not, so the activation must fail.
 */
export type Appended = "committed" | "lost" | "unknown";

/** The state of one actor at one seq. `at` is wall-clock milliseconds. */
export interface Snapshot {
  readonly actor: string;
  readonly shard: number;
  readonly seq: number;
  readonly at: number;
  readonly epoch: number;
  readonly linesTo: number;
  /** The version of `state`, which its behavior defines. */
  readonly v: number;
  readonly state: unknown;
  /** Recent command ids and their replies, so that a retry is recognized after the actor has moved. */
  readonly done: readonly { readonly id: string; readonly at: number; readonly reply: unknown }[];
  /** Whether the actor has pending effects, so that it must be activated when a node gains its shard. */
  readonly pending: boolean;
}

/**
 * The materialized documents of one actor at one seq, and at some saves its snapshot. They are stored in order, the snapshot
 * last, each only if it is newer than the stored one. A crash of the machine may undo the newest saves of an embedded store, but
 * none before a durable write.
 */
export interface Save {
  readonly documents: readonly StoredDocument[];
  readonly snapshot: Snapshot | null;
}

/** A materialized document. `seq` is the seq of the actor that it was computed at. */
export interface StoredDocument {
  readonly table: DocumentTable;
  readonly id: string;
  readonly seq: number;
  readonly body: DocumentBody;
}

/** A record as `putRecords` stores it; it replaces the record with the same id. */
export interface StoredRecord {
  readonly table: RecordTable;
  readonly id: string;
  readonly body: DocumentBody;
}

/** A field by which usage is grouped. */
export type TotalsField = "day" | "model" | "account";

/**
 * Selects the usage that is summed. `dna` is a prefix of the position that an account had at the time of its
 * charges: a day counts at the position of the account when the day's document was last written. For an
 * account that was moved, earlier days stay at its old position; the day of the move and later days count at
 * the new one. No day counts twice.
 */
export interface TotalsQuery {
  readonly accounts: { readonly dna: string } | { readonly ids: readonly number[] };
  /** Both are `YYYY-MM-DD` in UTC and included. */
  readonly from: string;
  readonly to: string;
  /**
   * The fields to group by, each at most once. An empty list gives one row, or no row when there is no usage.
   */
  readonly by: readonly TotalsField[];
}

/** Sums of one group. `day`, `model` and `account` are present when the query groups by them. */
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
  /** Nano-dollars. It is a bigint, because a sum over several accounts may exceed the safe integers. */
  readonly cost: bigint;
}

/**
 * How usage is grouped; `name` is that of a tag, and `all` is one group. What is kept apart of keys and tags is the
 * matter of usage/usage-parts.ts.
 */
export type UsageGrouping =
  | { readonly by: "all" | "model" | "account" | "api_key" }
  | { readonly by: "tag"; readonly name: string };

/**
 * Selects the usage of accounts over a range of days. `accountFields` names text fields of the account
 * documents that are returned with it.
 */
export interface UsageReportQuery extends Pick<TotalsQuery, "accounts" | "from" | "to"> {
  readonly accountFields: readonly string[];
  /** Adds the groups of the same usage. */
  readonly grouping?: UsageGrouping;
  /**
   * Only the usage of these hours of the days, as text that `hourPeriod` makes, both included; it needs a grouping.
   * Hours are kept for two days.
   */
  readonly hours?: { readonly from: string; readonly to: string };
}

/** Sums without what they are grouped by. */
export type UsageSums = Omit<TotalsRow, TotalsField>;

/**
 * The sums of one account, and its models with the highest cost and with the most requests; of equal models,
 * the first by name.
 */
export interface AccountUsage {
  readonly account: number;
  readonly total: UsageSums;
  readonly topCost: string;
  readonly topRequest: string;
  /** The values of `accountFields`, in their order; "" for a field that the document does not have. */
  readonly fieldValues: readonly string[];
}

/** The usage of one group. */
export interface UsageGroup {
  /** A model, the value of a tag, or the number of an account or API key; `(other)`, `(none)` and `(all)` stand for several. */
  readonly id: string | number;
  /** The newest known name of an API key; an account has "". */
  readonly name: string;
  /** The account of an API key. */
  readonly account?: number;
  readonly sums: UsageSums;
}

/** The same usage in several groupings, all as of one moment. */
export interface UsageReport {
  /** Ordered by day, then model. */
  readonly days: readonly TotalsRow[];
  /** By cost, the highest first, then `(none)` and `(other)`; empty when the query has no grouping. They add up to the days. */
  readonly groups: readonly UsageGroup[];
  /** The groups of each hour of the query, in the order of time; empty when it is not by hours. */
  readonly hourly: readonly { readonly hour: string; readonly groups: readonly UsageGroup[] }[];
  /**
   * All accounts, some at a time, ordered by cost, highest first, then by id. They can be read once, at any
   * pace. Reading rejects when the store cannot read the rest, or when the signal is aborted.
   */
  readonly accounts: AsyncIterable<readonly AccountUsage[]>;
}

/**
 * Reserves a name or an API key across all actors. The first insert wins. The actor's own state is the truth.
 */
export interface Claim {
  readonly key: string;
  readonly account: number;
  /** Id of the command that claims it. */
  readonly by: string;
  readonly at: number;
  readonly confirmed: boolean;
}

/** The answer of a request, kept for retries of it. Its owner encrypts `body`. */
export interface KeptAnswer {
  /** The format is `<account>:<kind>:<key>`. */
  readonly id: string;
  readonly account: number;
  readonly kind: "gateway" | "admin";
  /** `at` is when it was kept, `until` when it expires; both are wall-clock milliseconds. */
  readonly at: number;
  readonly until: number;
  readonly body: string;
}

/** Compare-and-set rows, which hold node leases and the shard table. */
export interface Registry {
  read(key: string): Promise<{ readonly value: string; readonly rev: number } | null>;
  /**
   * Stores a value if the row still has this `rev`; 0 creates the row. Returns the new rev, or null when
   * another writer was faster. Throws when the outcome is unknown.
   */
  cas(key: string, rev: number, value: string): Promise<number | null>;
}

/**
 * The durable data of the service. See `StoreTimeoutError`, `StoreBusyError` and `StoreLostError` for its
 * failures.
 */
export interface Store extends Registry {
  /**
   * Stores each commit independently of the others, and returns their outcomes in the same order. A networked
   * store sends the same commits again until its own deadline. Rejects only what is not plain data; every
   * other failure is an outcome. Nobody may change the events of a commit that was given, since a store may keep them.
   */
  append(commits: readonly Commit[]): Promise<readonly Appended[]>;
  /** Whether an append may be stored after the process that sent it has ended, so that the next owner has to look again. */
  readonly appendsOutliveSender: boolean;
  /** How many appends it carries out at the same time. A further one would only wait inside the store. */
  readonly appendsAtOnce: number;
  /**
   * How long (ms) an append waits for further commits while many come close together, because one large append costs less than
   * several small ones; 0 for a store where it does not.
   */
  readonly appendDelayMs: number;
  /** The commits of one actor with seq > `after`, ascending. */
  readCommits(actor: string, after: number, limit: number): Promise<readonly Commit[]>;
  loadSnapshot(actor: string): Promise<Snapshot | null>;
  save(saves: readonly Save[]): Promise<void>;
  /** Whether what the store derives from the ledger follows the snapshots, so that each save has to have one. */
  readonly followsSnapshots: boolean;
  /**
   * The actors of these shards that have pending effects, or that have a commit at or after `since`
   * (wall-clock milliseconds) which no snapshot covers.
   */
  actorsToRecover(shards: readonly number[], since: number): Promise<readonly string[]>;
  /** Whether a commit of this actor carries this dedup id. */
  hasDedupId(actor: string, mark: string): Promise<boolean>;
  /** The commits of all actors that carry this dedup id: newest first, then by actor. */
  commitsByDedupId(mark: string, limit: number): Promise<readonly Commit[]>;

  /**
   * The commits of one actor that hold its ledger lines `from` to `to` (numbered from 1, both included),
   * ascending.
   */
  readLines(actor: string, from: number, to: number): Promise<readonly Commit[]>;
  /**
   * The lines of one actor that pass a filter, newest first: those behind `after`, or the newest for null.
   * Filters read a projection of the ledger, which is written behind the commits and trails them by two
   * seconds once a snapshot covers them. Throws when no store may run such a query.
   */
  lines(filter: LineFilter, after: LineAnchor | null, limit: number): Promise<FoundLines>;
  /**
   * The lines that a walk finds, newest first: as many as it asks for, or all that are left, however many lines
   * have to be examined. `next` is null when there are fewer. It never blocks the event loop for long, and
   * rejects as `usageTotals` does.
   */
  walkLines(filter: LineFilter, walk: LineWalk, signal?: AbortSignal): Promise<FoundLines>;
  /** Counts the lines that pass and adds up their amounts, under the same rules as `walkLines`. */
  lineTotals(filter: LineFilter, signal?: AbortSignal): Promise<LineTotals>;
  /**
   * What requests of a day (`YYYY-MM-DD`, UTC) cost by the provider key that answered them: nano-dollars by key, for
   * those of these keys that have any. The newest day of the ledger and the one before are kept; the sums trail the
   * commits as the projection of `lines` does.
   */
  keyCosts(day: string, keys: readonly number[]): Promise<ReadonlyMap<number, bigint>>;
  /** The seq and the number of ledger lines of the actor's newest commit; null when it has no commit. */
  lastCommit(actor: string): Promise<{ readonly seq: number; readonly linesTo: number } | null>;
  /**
   * The actors that have a commit and whose names start with the prefix, in the order of their names, after
   * the given name.
   */
  listActors(prefix: string, after: string, limit: number): Promise<readonly string[]>;

  find<T extends Table>(find: Find<T>): Promise<readonly DocumentBody[]>;
  count<T extends Table>(conditions: Conditions<T>): Promise<number>;
  /**
   * Iterates over all bodies that meet the conditions, reading a few at a time. Each read continues after the
   * last row that was returned, so rows that appear or disappear meanwhile do not shift the others. Documents
   * without a value in `order` are left out.
   */
  scan<T extends Table>(walk: ScanQuery<T>): AsyncIterable<DocumentBody>;
  /**
   * The accounts that meet the conditions, in the order of a name or a figure, as of one moment on an embedded store. It never
   * blocks the event loop for long. Rejects with `StoreBusyError` when too many queries wait already.
   */
  rankAccounts(query: RankQuery): Promise<readonly AccountRank[]>;

  /**
   * Stores all of the records or none; each replaces the record with its id. They are durable when it
   * resolves. A networked store may show some of them before the others. When it rejects because no answer
   * came, all of the records may still be stored within a minute.
   */
  putRecords(records: readonly StoredRecord[]): Promise<void>;
  /**
   * Removes all of the records or none, under the same rules as `putRecords`; unknown ids are ignored.
   * Durable when it resolves.
   */
  removeRecords(table: RecordTable, ids: readonly string[]): Promise<void>;

  /**
   * Sums usage documents, ordered by the fields of `by` in their given order. It never blocks the event loop
   * for long. Rejects with `StoreBusyError` when too many queries wait already, and with the signal's reason
   * when it is aborted.
   */
  usageTotals(query: TotalsQuery, signal?: AbortSignal): Promise<readonly TotalsRow[]>;
  /**
   * The usage of the query's accounts, by day and model and by account. It resolves when the days are known,
   * rejects as `usageTotals` does, and never blocks the event loop for long.
   */
  usageReport(query: UsageReportQuery, signal?: AbortSignal): Promise<UsageReport>;

  /**
   * The sums of credit of all trees, as of one consistent cut of the ledger that trails it by at most two seconds.
   * `since` (wall-clock milliseconds) is a time before which the commits of all accounts are covered by snapshots; a
   * networked store looks for later ones. It never blocks the event loop for long. Rejects with `StoreBusyError` while a
   * store that an older version wrote is being prepared.
   */
  moneyTotals(since: number): Promise<MoneyTotals>;

  /**
   * Returns true when the key is claimed now, or was claimed before by the same `by`. `at` is wall-clock
   * milliseconds.
   */
  claim(key: string, account: number, by: string, at: number): Promise<boolean>;
  findClaim(key: string): Promise<Claim | null>;
  confirm(key: string, by: string): Promise<void>;
  release(key: string, by: string): Promise<void>;
  /** Claims that were never confirmed and are older than `before` (wall-clock milliseconds). */
  unconfirmed(before: number, limit: number): Promise<readonly Claim[]>;

  /**
   * Keeps an answer; it replaces the one with the same id. Of each account and kind at most `most` answers
   * are kept; the oldest are removed. It is not durable when it resolves: a crash of the machine may lose it.
   */
  keepAnswer(answer: KeptAnswer, most: number): Promise<void>;
  /** Returns null when no answer with this id is stored, or when it has expired at `now` (wall-clock ms). */
  answer(id: string, now: number): Promise<KeptAnswer | null>;
  /**
   * Removes up to `limit` answers that expire at or before `until` (wall-clock milliseconds), the earliest
   * first. Returns how many.
   */
  dropAnswers(until: number, limit: number): Promise<number>;

  /** Reserves `size` numbers of a counter and returns the first of them. A counter starts at 1. */
  reserveIds(counter: string, size: number): Promise<number>;
  /** The store's own clock, wall-clock milliseconds. */
  now(): Promise<number>;
  close(): Promise<void>;
}
