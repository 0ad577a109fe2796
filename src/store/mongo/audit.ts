// The audit view of a MongoDB database: the ledger as of a consistent cut (consistent-cut.ts), and what was
// derived from it as it is now, each with its seq. It creates and writes nothing, and goes on when another
// server becomes primary.
//
// Nodes write commits first, then documents, then their snapshot. The audit reads in the opposite order:
// everything that a snapshot covers is found, and a document for which no commit is found was never
// committed.

import type { Collection, Document } from "mongodb";
import type {
  AuditedDocument,
  AuditedParts,
  AuditView,
  Counts,
  Derivation,
  DocumentKey,
  LevelEventDocument,
  Mark,
  Met,
} from "../audit.ts";
import { compareText } from "../indexed-fields.ts";
import type { ActorKeyCost, KeyCost } from "../key-costs.ts";
import type { LineRow } from "../line-rows.ts";
import type { Claim, Commit, LineAnchor, Snapshot } from "../store.ts";
import {
  type MarkedPlace,
  parseBody,
  parseClaim,
  parseCommit,
  parseMarkedPlace,
  parseMoneyRow,
  StoredRow,
} from "../stored-rows.ts";
import type { Period } from "../usage/charge-rows.ts";
import { type CommitDocument, commitKey, MARKED_PLACE } from "./append.ts";
import { type ClaimDocument, mongoRows } from "./claims.ts";
import { connectMongo, type MongoConnection, type MongoOptions } from "./connection.ts";
import { type ConsistentCut, takeConsistentCut } from "./consistent-cut.ts";
import { mongoDocuments, parseFigures, parseUsageDocument } from "./documents.ts";
import { buildDuplicateFilter, type DuplicateFilter } from "./duplicate-filter.ts";
import { mongoJournal } from "./journal.ts";
import { actorKeyCosts } from "./key-costs.ts";
import { type BackfillDocument, findBackfill } from "./line-backfill.ts";
import { actorsOfLines, countLines, linesAfter } from "./lines.ts";
import { startsWith } from "./query-builder.ts";
import { checkSchema } from "./schema.ts";
import { findParts, parsePartsKey, partsKey, storedHours } from "./usage-parts.ts";

/** Dedup ids or names per query. */
const ASKED_MAX = 1_000;

/** Opens the view. Throws when there is no database, or when it has another version. */
export async function openMongoAudit(url: string, options: MongoOptions): Promise<AuditView> {
  const connection = await connectMongo(url, { ...options, readOnly: true });
  try {
    await checkSchema(connection, true);
    // It reads for minutes, so it waits out errors that pass.
    const patient = { ...connection, read: connection.patiently };
    const backfill = await findBackfill(patient);
    const hasMoney = (await findBackfill(patient, "money")) === null;
    return new MongoAuditView(patient, await takeConsistentCut(patient), backfill, hasMoney);
  } catch (error) {
    await connection.close();
    throw error;
  }
}

class MongoAuditView implements AuditView {
  readonly #connection: MongoConnection;
  readonly #cut: ConsistentCut;
  /** How far the backfill of ledger lines was when the view was opened; null when it had ended. */
  readonly #backfill: BackfillDocument | null;
  readonly #journal: ReturnType<typeof mongoJournal>;
  readonly #commits: Collection<CommitDocument>;
  readonly #claims: Collection<ClaimDocument>;
  /**
   * Built when it is first needed. Nearly every dedup id occurs once, and the filter says so without a query.
   */
  #duplicates: Promise<DuplicateFilter> | null = null;

  constructor(
    connection: MongoConnection,
    cut: ConsistentCut,
    backfill: BackfillDocument | null,
    /** Whether all accounts had their rows of sums of credit when the view was opened. */
    private readonly hasMoney: boolean,
  ) {
    this.#connection = connection;
    this.#cut = cut;
    this.#backfill = backfill;
    this.#journal = mongoJournal(connection);
    this.#commits = connection.collection("commits");
    this.#claims = connection.collection("claims");
  }

  close(): Promise<void> {
    return this.#connection.close();
  }

  async readCommits(actor: string, after: number, limit: number): Promise<readonly Commit[]> {
    return (await this.#journal.readCommits(actor, after, limit)).filter(this.#cut.includes);
  }

  async loadSnapshot(actor: string): Promise<Snapshot | null> {
    return (await this.derivedOf(actor, null)).snapshot;
  }

  findClaim(key: string): Promise<Claim | null> {
    return mongoRows(this.#connection).findClaim(key);
  }

  async listActors(prefix: string, after: string, limit: number): Promise<readonly string[]> {
    const found: string[] = [];
    for (let behind = after; found.length < limit; ) {
      const firsts = await this.#connection.read(() =>
        this.#commits
          .find({ $and: [{ seq: 1 }, startsWith("actor", prefix), { actor: { $gt: behind } }] })
          .sort({ actor: 1 })
          .limit(limit)
          .project({ actor: 1, seq: 1, at: 1 })
          .map(parseMarkedPlace)
          .toArray(),
      );
      found.push(...firsts.filter(this.#cut.includes).map(({ actor }) => actor));
      if (firsts.length < limit) break;
      behind = firsts.at(-1)!.actor;
    }
    return found.slice(0, limit);
  }

  async counts(): Promise<Counts> {
    const { read } = this.#connection;
    const [all, unconfirmed] = await Promise.all([
      read(() => this.#claims.countDocuments({})),
      read(() => this.#claims.countDocuments({ confirmed: false })),
    ]);
    return { commits: this.#cut.commits, claims: all, unconfirmed };
  }

  async keyCosts(): Promise<readonly KeyCost[]> {
    return [];
  }

  keyCostsOf(actor: string): Promise<readonly ActorKeyCost[]> {
    return actorKeyCosts(this.#connection, actor);
  }

  levelEvents(level: string): Promise<readonly LevelEventDocument[]> {
    const { collection, read } = this.#connection;
    return read(() =>
      collection("levelEvents")
        .find(startsWith("_id", `${level}/`))
        .map((stored) => {
          const row = new StoredRow("levelEvents", stored);
          return { id: row.key(), seq: row.integer("seq"), body: parseBody("levelEvents", stored) };
        })
        .toArray(),
    );
  }

  async derivedOf(actor: string, account: number | null): Promise<Derivation> {
    const snapshot = await mongoDocuments(this.#connection).loadSnapshot(actor);
    const documents = account === null ? [] : await this.#documentsOf(account);
    const money = await this.#moneyOf(actor);
    const { end, now } = await this.#lastSeqs(actor);
    const isNewer = ({ seq }: { readonly seq: number }) => seq > end && seq <= now;
    return {
      snapshot: snapshot === null || isNewer(snapshot) ? null : snapshot,
      documents: documents.filter((key) => !isNewer(key)),
      newer: documents.filter(isNewer),
      projectedLines: this.#isBackfilled(actor) ? (snapshot?.linesTo ?? 0) : 0,
      money: money === null || isNewer(money) ? null : money,
      // The row is stored before the snapshot, which may be newer than this ledger, as the row then is.
      moneyTo:
        account === null || !this.hasMoney || (money !== null && isNewer(money)) ? 0 : (snapshot?.seq ?? 0),
    };
  }

  async #moneyOf(actor: string): Promise<{ readonly seq: number; readonly sums: string } | null> {
    const { collection, read } = this.#connection;
    const found = await read(() => collection("money").findOne({ _id: actor }));
    return found === null ? null : parseMoneyRow(found);
  }

  async lines(actor: string, after: LineAnchor | null, limit: number): Promise<readonly LineRow[]> {
    const rows = await linesAfter(this.#connection, actor, after, limit);
    if (rows.length === 0) return rows;
    // The lines that are newer than the ledger that was read are the last ones.
    const { end, now } = await this.#lastSeqs(actor);
    return rows.filter(({ seq }) => seq <= end || seq > now);
  }

  hours(): Promise<readonly Period[]> {
    return storedHours(this.#connection);
  }

  async partsOf(actor: string, periods: readonly Period[]): Promise<ReadonlyMap<Period, AuditedParts>> {
    const found = new Map<Period, AuditedParts>();
    if (periods.length === 0) return found;
    const keys = periods.map((period) => partsKey(period, actor));
    for (const { period, parts, number } of await findParts(this.#connection, { _id: { $in: keys } })) {
      found.set(period, { parts, upTo: number });
    }
    return found;
  }

  /** Whether the lines that earlier snapshots of this actor cover are projected. */
  #isBackfilled(actor: string): boolean {
    const backfill = this.#backfill;
    return backfill === null || commitKey(actor, Number.MAX_SAFE_INTEGER) <= backfill.after;
  }

  /** How many lines are projected for actors that have no commit. */
  async #strayLines(): Promise<number> {
    const names = await Array.fromAsync(actorsOfLines(this.#connection));
    let strays = 0;
    for (let i = 0; i < names.length; i += ASKED_MAX) {
      for (const actor of await this.#unknownActors(names.slice(i, i + ASKED_MAX))) {
        strays += await countLines(this.#connection, actor);
      }
    }
    return strays;
  }

  async document({ table, id, seq }: DocumentKey): Promise<AuditedDocument | null> {
    const { collection, read } = this.#connection;
    const found = await read(() => collection(table).findOne({ _id: id, seq }));
    if (found === null) return null;
    return {
      body: parseBody(table, found),
      sums: table === "usage" ? parseUsageDocument(found) : [],
      figures: table === "accounts" ? parseFigures(found) : null,
    };
  }

  async moved(actor: string): Promise<boolean> {
    const { end, now } = await this.#lastSeqs(actor);
    return now > end;
  }

  async strays(met: Met, actorOf: (account: number) => string): Promise<Met> {
    const [lineRows, usageParts, moneyRows, snapshots, accounts, usage] = await Promise.all([
      this.#strayLines(),
      this.#straysIn("usageParts", "_id", (row) => parsePartsKey(row.key()).actor),
      this.#straysIn("money", "_id", (row) => row.key()),
      this.#straysIn("snapshots", "_id", (row) => row.key()),
      this.#straysIn("accounts", "id", (row) => actorOf(row.integer("id"))),
      this.#straysIn("usage", "account", (row) => actorOf(row.integer("account"))),
    ]);
    // Dedup ids are stored within their commits, and sums within their documents.
    const commits = this.#cut.commits - met.commits;
    const derived = { snapshots, accounts, usage, usageSums: 0, lineRows, usageParts, moneyRows };
    return { commits, marks: 0, ...derived };
  }

  /** Dedup ids are stored within the commits that were just read, so none can be missing. */
  async missing(): Promise<string[]> {
    return [];
  }

  async repeated(marks: readonly string[]): Promise<string[]> {
    if (marks.length === 0) return [];
    this.#duplicates ??= buildDuplicateFilter(this.#connection);
    const candidates = marks.filter(await this.#duplicates);
    const times = new Map(candidates.map((mark) => [mark, 0]));
    for await (const place of this.#placesOf(candidates)) {
      for (const mark of new Set(place.marks)) if (times.has(mark)) times.set(mark, times.get(mark)! + 1);
    }
    return [...times].flatMap(([mark, count]) => (count > 1 ? [mark] : [])).sort();
  }

  async holders(mark: string, limit: number): Promise<readonly Mark[]> {
    const places: Mark[] = [];
    for await (const { actor, seq } of this.#placesOf([mark])) places.push({ mark, actor, seq });
    return places.sort(byPlace).slice(0, limit);
  }

  async marked(mark: string, limit: number): Promise<readonly Commit[]> {
    const found = await this.#connection.read(() =>
      this.#commits.find({ marks: mark }).map(parseCommit).toArray(),
    );
    return found.filter(this.#cut.includes).sort(byPlace).slice(0, limit);
  }

  claims(after: string, limit: number): Promise<readonly Claim[]> {
    return this.#connection.read(() =>
      this.#claims
        .find({ _id: { $gt: after } })
        .sort({ _id: 1 })
        .limit(limit)
        .map(parseClaim)
        .toArray(),
    );
  }

  /** The last seq of an actor within the cut, and the last seq that it has by now. */
  async #lastSeqs(actor: string): Promise<{ readonly end: number; readonly now: number }> {
    let [now, before] = [0, Number.MAX_SAFE_INTEGER];
    // In most cases the newest commit is within the cut.
    for (let limit = 1; ; limit = ASKED_MAX) {
      const range = { _id: { $gt: commitKey(actor, 0), $lte: commitKey(actor, before) }, actor };
      const newest = await this.#connection.read(() =>
        this.#commits
          .find(range)
          .sort({ _id: -1 })
          .limit(limit)
          .project({ actor: 1, seq: 1, at: 1 })
          .map(parseMarkedPlace)
          .toArray(),
      );
      now = Math.max(now, newest[0]?.seq ?? 0);
      const found = newest.find(this.#cut.includes);
      if (found !== undefined || newest.length < limit) return { end: found?.seq ?? 0, now };
      before = newest.at(-1)!.seq - 1;
    }
  }

  async #documentsOf(account: number): Promise<readonly DocumentKey[]> {
    const { collection, read } = this.#connection;
    const keysIn = (table: "accounts" | "usage", filter: Document) =>
      read(() =>
        collection(table)
          .find(filter)
          .project({ seq: 1 })
          .map((one) => {
            const row = new StoredRow(table, one);
            return { table, id: row.key(), seq: row.integer("seq") };
          })
          .toArray(),
      );
    const [accounts, usage] = await Promise.all([
      keysIn("accounts", { id: account }),
      keysIn("usage", { account }),
    ]);
    return [...accounts, ...usage].sort((a, b) => a.seq - b.seq || (a.id < b.id ? -1 : 1));
  }

  /**
   * Yields the commits within the cut that carry these dedup ids, at most a few thousand in memory at once.
   */
  async *#placesOf(marks: readonly string[]): AsyncGenerator<MarkedPlace> {
    for (let i = 0; i < marks.length; i += ASKED_MAX) {
      const filter = { marks: { $in: marks.slice(i, i + ASKED_MAX) } };
      const places = await this.#connection.read(() =>
        this.#commits.find(filter).project(MARKED_PLACE).map(parseMarkedPlace).toArray(),
      );
      yield* places.filter(this.#cut.includes);
    }
  }

  /** Returns those of these actors that have no commit. */
  async #unknownActors(actors: readonly string[]): Promise<readonly string[]> {
    const firsts = actors.map((actor) => commitKey(actor, 1));
    const found = await this.#connection.read(() =>
      this.#commits
        .find({ _id: { $in: firsts } })
        .project({ _id: 1 })
        .map((one) => new StoredRow("commits", one).key())
        .toArray(),
    );
    const known = new Set(found);
    const others = actors.filter((_, i) => !known.has(firsts[i]!));
    const lasts = await Promise.all(others.map(this.#journal.lastCommit));
    return others.filter((_, i) => lasts[i] === null);
  }

  /** How many documents of a collection belong to an actor that has no commit. */
  async #straysIn(table: string, field: string, actorOf: (row: StoredRow) => string): Promise<number> {
    const { collection, read } = this.#connection;
    let strays = 0;
    for (let after = ""; ; ) {
      const page = await read(() =>
        collection(table)
          .find({ _id: { $gt: after } })
          .sort({ _id: 1 })
          .limit(ASKED_MAX)
          .project({ [field]: 1 })
          .map((one) => new StoredRow(table, one))
          .toArray(),
      );
      const actors = page.map(actorOf);
      const unknown = new Set(await this.#unknownActors([...new Set(actors)]));
      strays += actors.filter((actor) => unknown.has(actor)).length;
      if (page.length < ASKED_MAX) return strays;
      after = page.at(-1)!.key();
    }
  }
}

const byPlace = (a: Pick<Mark, "actor" | "seq">, b: Pick<Mark, "actor" | "seq">): number =>
  a.actor === b.actor ? a.seq - b.seq : compareText(a.actor, b.actor);
