// Writes the sums of credit of each account (money-fold.ts) with its saves, before its snapshot: the commits
// that the snapshot covers and the stored row does not are added to the row. A row never replaces a newer one,
// so any node may write it, and again after a crash.
//
//   commits stored -> row up to the new snapshot stored -> snapshot stored
//
// crash                       state found                              recovery
// before a row is stored      the old row, commits that no snapshot    the actor is recovered and saved again
//                             covers
//
// A store of an older version has accounts without a row. A save leaves those that have many commits to the
// backfill below, which one node does in the background.

import type { Collection } from "mongodb";
import { hasMoney, MoneyFold, moneyChanges } from "../money-fold.ts";
import type { Snapshot } from "../store.ts";
import { parseMoneyFold, StoredRow } from "../stored-rows.ts";
import type { MongoConnection } from "./connection.ts";
import { findBackfill } from "./line-backfill.ts";
import { commitsOfRanges, type RecentCommits } from "./recent-commits.ts";
import { replaceOlder, type Versioned } from "./replace-older.ts";

/** The sums of an account up to a seq; its key is the actor. */
export interface MoneyDocument extends Versioned {
  readonly sums: string;
}

/** Commits that one query reads. */
const COMMITS_MAX = 200;
/** Commits that a save adds to an account without a row while the backfill is due. */
const NEW_COMMITS_MAX = 10_000;

/** The rows of a database, as far as this node writes them. */
export class MongoMoneyProjection {
  readonly #connection: MongoConnection;
  readonly #recent: RecentCommits;
  readonly #money: Collection<MoneyDocument>;
  /** Whether the backfill was due when it was last looked at; it never becomes due again. */
  #isDue = true;

  constructor(connection: MongoConnection, recent: RecentCommits) {
    this.#connection = connection;
    this.#recent = recent;
    this.#money = connection.collection("money");
  }

  /** Brings the rows of these snapshots' accounts up to them; an account has one. Call it before they are stored. */
  async project(snapshots: readonly Snapshot[]): Promise<void> {
    const ofAccounts = snapshots.filter(({ actor }) => hasMoney(actor));
    const seqs = new Map(ofAccounts.map(({ actor, seq }) => [actor, seq]));
    if (seqs.size === 0) return;
    const stored = await this.folds([...seqs.keys()]);
    const isDue = await this.isDue();
    const changed: MoneyFold[] = [];
    for (const [actor, seq] of seqs) {
      const fold = stored.get(actor) ?? new MoneyFold(actor);
      if (fold.seq >= seq || (isDue && fold.seq === 0 && seq > NEW_COMMITS_MAX)) continue;
      changed.push(fold);
    }
    await this.addTo(changed, seqs);
    await this.#put(changed);
  }

  /** Adds the commits of these accounts up to their seqs, which must be stored. */
  async addTo(folds: readonly MoneyFold[], seqs: ReadonlyMap<string, number>): Promise<void> {
    let some: MoneyFold[] = [];
    let room = COMMITS_MAX;
    for (const fold of folds) {
      const length = seqs.get(fold.actor)! - fold.seq;
      if (length > room) {
        await this.#read(some, seqs);
        [some, room] = [[], COMMITS_MAX];
      }
      some.push(fold);
      room -= length;
    }
    await this.#read(some, seqs);
  }

  /** Reads accounts whose commits together are one query, or the long ledger of one account in several. */
  async #read(folds: readonly MoneyFold[], seqs: ReadonlyMap<string, number>): Promise<void> {
    const byActor = new Map(folds.map((fold) => [fold.actor, fold]));
    for (;;) {
      const ranges = folds.flatMap(({ actor, seq }) => {
        const last = Math.min(seqs.get(actor)!, seq + COMMITS_MAX);
        return seq < last ? [{ actor, after: seq, to: last }] : [];
      });
      if (ranges.length === 0) return;
      const found = await commitsOfRanges(this.#connection, this.#recent, ranges);
      for (const commit of found) byActor.get(commit.actor)?.add(moneyChanges(commit));
      if (found.length === 0) return;
    }
  }

  /** The stored rows of these accounts. */
  async folds(actors: readonly string[]): Promise<Map<string, MoneyFold>> {
    const found = await this.#connection.read(() =>
      this.#money.find({ _id: { $in: [...actors] } }).toArray(),
    );
    return new Map(found.map(parseMoneyFold).map((fold) => [fold.actor, fold]));
  }

  #put(folds: readonly MoneyFold[]): Promise<void> {
    const documents = folds.map((fold) => ({ _id: fold.actor, seq: fold.seq, sums: fold.toText() }));
    return replaceOlder(this.#connection, "money", documents);
  }

  /** Whether accounts of an older version may still lack their rows. */
  async isDue(): Promise<boolean> {
    if (!this.#isDue) return false;
    this.#isDue = (await findBackfill(this.#connection, "money")) !== null;
    return this.#isDue;
  }

  /**
   * Makes the rows of the next accounts of an older store, up to their snapshots. Returns the name of the last one; null
   * when there are no more.
   */
  async backfillNext(after: string): Promise<string | null> {
    const limit = 20;
    const found = await this.#connection.read(() =>
      this.#connection
        .collection("snapshots")
        .find({ _id: { $gt: after > "account/" ? after : "account/", $lt: "account0" } })
        .sort({ _id: 1 })
        .limit(limit)
        .project({ seq: 1 })
        .toArray(),
    );
    const rows = found.map((one) => new StoredRow("snapshots", one));
    const seqs = new Map(rows.map((row) => [row.key(), row.integer("seq")]));
    const stored = await this.folds([...seqs.keys()]);
    const folds = [...seqs].flatMap(([actor, seq]) => {
      const fold = stored.get(actor) ?? new MoneyFold(actor);
      return fold.seq < seq ? [fold] : [];
    });
    await this.addTo(folds, seqs);
    await this.#put(folds);
    return rows.length < limit ? null : rows.at(-1)!.key();
  }
}
