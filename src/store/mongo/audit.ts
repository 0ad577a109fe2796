// The audit view of a MongoDB database: the ledger as of a consistent cut (consistent-cut.ts), and what was
// derived from it as it is now, each with its seq. It creates and writes nothing, and goes on when another
// server becomes primary.
//
// Nodes write commits first, then documents, then their snapshot. The audit reads in the opposite order:
// everything that a snapshot covers is found, and a document for which no commit is found was never
// committed.

import type { AuditedDocument, AuditView, Derivation, DocumentKey, Mark } from "../audit.ts";
import { compareText } from "../indexed-fields.ts";
import type { Claim } from "../store.ts";
import { SUMS, type UsageRow } from "../usage/usage-rows.ts";
import { type CommitDocument, commitKey, commitOf } from "./append.ts";
import { mongoRows } from "./claims.ts";
import { connectMongo, type Keyed, type MongoConnection, type MongoOptions } from "./connection.ts";
import { type ConsistentCut, takeConsistentCut } from "./consistent-cut.ts";
import { type FoundDocument, type ModelSums, mongoDocuments, type UsageDocument } from "./documents.ts";
import { buildDuplicateFilter, type DuplicateFilter } from "./duplicate-filter.ts";
import { mongoJournal } from "./journal.ts";
import { startsWith } from "./query-builder.ts";
import { checkSchema } from "./schema.ts";

interface Dated extends Keyed {
  readonly seq: number;
}

interface ClaimDocument extends Keyed, Omit<Claim, "key"> {}

type Place = Pick<CommitDocument, "actor" | "seq" | "at" | "marks">;

/** Dedup ids or names per query. */
const ASKED_MAX = 1_000;

/** Opens the view. Throws when there is no database, or when it has another version. */
export async function openMongoAudit(url: string, options: MongoOptions): Promise<AuditView> {
  const connection = await connectMongo(url, { ...options, readOnly: true });
  try {
    await checkSchema(connection, true);
    // It reads for minutes, so it waits out errors that pass.
    const patient = { ...connection, read: connection.patiently };
    return auditOf(patient, await takeConsistentCut(patient));
  } catch (error) {
    await connection.close();
    throw error;
  }
}

function auditOf(connection: MongoConnection, picture: ConsistentCut): AuditView {
  const { collection, read, close } = connection;
  const { readCommits, lastCommit } = mongoJournal(connection);
  const { loadSnapshot } = mongoDocuments(connection);
  const commits = collection<CommitDocument>("commits");
  const claims = collection<ClaimDocument>("claims");
  /**
   * Built when it is first needed. Nearly every dedup id occurs once, and the filter says so without a query.
   */
  let sieve: Promise<DuplicateFilter> | null = null;

  /** The last seq of an actor within the cut, and the last seq that it has by now. */
  async function ends(actor: string): Promise<{ readonly end: number; readonly now: number }> {
    const fields = { actor: 1, seq: 1, at: 1, _id: 0 } as const;
    let [now, before] = [0, Number.MAX_SAFE_INTEGER];
    // In most cases the newest commit is within the cut.
    for (let limit = 1; ; limit = ASKED_MAX) {
      const place = { _id: { $gt: commitKey(actor, 0), $lte: commitKey(actor, before) }, actor };
      const newest = await read(() =>
        commits.find(place).sort({ _id: -1 }).limit(limit).project<Place>(fields).toArray(),
      );
      now = Math.max(now, newest[0]?.seq ?? 0);
      const found = newest.find(picture.holds);
      if (found !== undefined || newest.length < limit) return { end: found?.seq ?? 0, now };
      before = newest.at(-1)!.seq - 1;
    }
  }

  async function documentsOf(account: number): Promise<readonly DocumentKey[]> {
    const fields = { seq: 1 } as const;
    const [accounts, usage] = await Promise.all([
      read(() => collection<Dated>("accounts").find({ id: account }).project<Dated>(fields).toArray()),
      read(() => collection<Dated>("usage").find({ account }).project<Dated>(fields).toArray()),
    ]);
    const keys: DocumentKey[] = [
      ...accounts.map(({ _id, seq }) => ({ table: "accounts" as const, id: _id, seq })),
      ...usage.map(({ _id, seq }) => ({ table: "usage" as const, id: _id, seq })),
    ];
    return keys.sort((a, b) => a.seq - b.seq || (a.id < b.id ? -1 : 1));
  }

  async function derivedOf(actor: string, account: number | null): Promise<Derivation> {
    const snapshot = await loadSnapshot(actor);
    const documents = account === null ? [] : await documentsOf(account);
    const { end, now } = await ends(actor);
    const isNewer = ({ seq }: { readonly seq: number }) => seq > end && seq <= now;
    return {
      snapshot: snapshot === null || isNewer(snapshot) ? null : snapshot,
      documents: documents.filter((key) => !isNewer(key)),
      newer: documents.filter(isNewer),
    };
  }

  /**
   * Yields the commits within the cut that carry these dedup ids, at most a few thousand in memory at once.
   */
  async function* standing(marks: readonly string[]): AsyncGenerator<Place> {
    for (let i = 0; i < marks.length; i += ASKED_MAX) {
      const filter = { marks: { $in: marks.slice(i, i + ASKED_MAX) } };
      const fields = { actor: 1, seq: 1, at: 1, marks: 1, _id: 0 } as const;
      const places = await read(() => commits.find(filter).project<Place>(fields).toArray());
      yield* places.filter(picture.holds);
    }
  }

  /** Returns those of these actors that have no commit. */
  async function unknown(actors: readonly string[]): Promise<readonly string[]> {
    const firsts = actors.map((actor) => commitKey(actor, 1));
    const found = await read(() =>
      commits
        .find({ _id: { $in: firsts } })
        .project<Keyed>({ _id: 1 })
        .toArray(),
    );
    const known = new Set(found.map(({ _id }) => _id));
    const others = actors.filter((_, i) => !known.has(firsts[i]!));
    const lasts = await Promise.all(others.map(lastCommit));
    return others.filter((_, i) => lasts[i] === null);
  }

  /** How many documents of a collection belong to an actor that has no commit. */
  async function straysIn<T extends Keyed>(
    name: string,
    field: string,
    actorOf: (one: T) => string,
  ): Promise<number> {
    let strays = 0;
    for (let after = ""; ; ) {
      const page = await read(() =>
        collection<Keyed>(name)
          .find({ _id: { $gt: after } })
          .sort({ _id: 1 })
          .limit(ASKED_MAX)
          .project<T>({ [field]: 1 })
          .toArray(),
      );
      const actors = page.map(actorOf);
      const lost = new Set(await unknown([...new Set(actors)]));
      strays += actors.filter((actor) => lost.has(actor)).length;
      if (page.length < ASKED_MAX) return strays;
      after = page.at(-1)!._id;
    }
  }

  return {
    findClaim: mongoRows(connection).findClaim,
    close,
    derivedOf,
    readCommits: async (actor, after, limit) =>
      (await readCommits(actor, after, limit)).filter(picture.holds),
    async loadSnapshot(actor) {
      return (await derivedOf(actor, null)).snapshot;
    },
    async listActors(prefix, after, limit) {
      const found: string[] = [];
      for (let behind = after; found.length < limit; ) {
        const firsts = await read(() =>
          commits
            .find({ $and: [{ seq: 1 }, startsWith("actor", prefix), { actor: { $gt: behind } }] })
            .sort({ actor: 1 })
            .limit(limit)
            .project<Place>({ actor: 1, seq: 1, at: 1, _id: 0 })
            .toArray(),
        );
        found.push(...firsts.filter(picture.holds).map(({ actor }) => actor));
        if (firsts.length < limit) break;
        behind = firsts.at(-1)!.actor;
      }
      return found.slice(0, limit);
    },
    async counts() {
      const [all, unconfirmed] = await Promise.all([
        read(() => claims.countDocuments({})),
        read(() => claims.countDocuments({ confirmed: false })),
      ]);
      return { commits: picture.commits, claims: all, unconfirmed };
    },
    async document({ table, id, seq }) {
      const found = await read(() =>
        collection<FoundDocument & Partial<UsageDocument>>(table).findOne({ _id: id, seq }),
      );
      if (found === null) return null;
      const body: AuditedDocument["body"] = JSON.parse(found.body);
      return { body, sums: (found.models ?? []).map((sums) => usageRow(found, sums)) };
    },
    async moved(actor) {
      const { end, now } = await ends(actor);
      return now > end;
    },
    async strays(met, actorOf) {
      const [snapshots, accounts, usage] = await Promise.all([
        straysIn<Keyed>("snapshots", "_id", ({ _id }) => _id),
        straysIn<Keyed & { id: number }>("accounts", "id", ({ id }) => actorOf(id)),
        straysIn<Keyed & { account: number }>("usage", "account", ({ account }) => actorOf(account)),
      ]);
      // Dedup ids are stored within their commits, and sums within their documents.
      return { commits: picture.commits - met.commits, marks: 0, snapshots, accounts, usage, usageSums: 0 };
    },
    // Dedup ids are stored within the commits that were just read, so none can be missing.
    missing: async () => [],
    async repeated(marks) {
      if (marks.length === 0) return [];
      sieve ??= buildDuplicateFilter(connection);
      const open = marks.filter(await sieve);
      const times = new Map(open.map((mark) => [mark, 0]));
      for await (const { marks: held = [] } of standing(open)) {
        for (const mark of new Set(held)) if (times.has(mark)) times.set(mark, times.get(mark)! + 1);
      }
      return [...times].flatMap(([mark, count]) => (count > 1 ? [mark] : [])).sort();
    },
    async holders(mark, limit) {
      const places: Mark[] = [];
      for await (const { actor, seq } of standing([mark])) places.push({ mark, actor, seq });
      return places.sort(byPlace).slice(0, limit);
    },
    async marked(mark, limit) {
      const found = (await read(() => commits.find({ marks: mark }).toArray())).filter(picture.holds);
      return found.sort(byPlace).slice(0, limit).map(commitOf);
    },
    async claims(after, limit) {
      const found = await read(() =>
        claims
          .find({ _id: { $gt: after } })
          .sort({ _id: 1 })
          .limit(limit)
          .toArray(),
      );
      return found.map(({ _id, account, by, at, confirmed }) => ({ key: _id, account, by, at, confirmed }));
    },
  };
}

const byPlace = (a: Pick<Mark, "actor" | "seq">, b: Pick<Mark, "actor" | "seq">): number =>
  a.actor === b.actor ? a.seq - b.seq : compareText(a.actor, b.actor);

const usageRow = (
  { day = "", dna = "", account = 0 }: Partial<UsageDocument> & { readonly dna?: string },
  sums: ModelSums,
): UsageRow => ({ day, dna, account, model: sums.model, sums: SUMS.map((name) => Number(sums[name])) });
