// Adds up the sums of credit of all accounts beside running nodes, on any server, as of one consistent cut: a
// last commit of each account, which includes the cause of everything that it includes.
//
//   1  all rows of the projection are read, each up to a seq of its own
//   2  a scan of the recent commits extends each account to the last one that it saw
//   3  further scans include what the commits within the cut depend on: those that share a dedup id with a
//      commit beyond it, and the receipt of a transfer that is settled within it; until one includes nothing
//   4  the commits between the rows and the cut are added
//
// The cause of a row's commit was stored before the row was, so the scan after it sees it, unless it is older
// than the scan looks and no snapshot covers it. The caller says since when that is impossible.
// The event loop turns between the batches of a cursor. It reads only.

import type { Document } from "mongodb";
import { MoneyFold, MoneySums, type MoneyTotals, type PendingMoney } from "../money-fold.ts";
import { StoreBusyError } from "../store-errors.ts";
import { type MarkedPlace, parseMarkedPlace, parseMoneyFold } from "../stored-rows.ts";
import { type CommitDocument, MARKED_PLACE } from "./append.ts";
import type { MongoConnection } from "./connection.ts";
import { includeCauses, RECENT_MS } from "./consistent-cut.ts";
import type { MoneyDocument, MongoMoneyProjection } from "./money-projection.ts";

/** Documents per batch of a cursor, which are processed in a few milliseconds. */
const BATCH = 500;
/** Dedup ids per query. */
const ASKED_MAX = 1_000;
/** Scans at most. What is shared with new commits after so many is a client's own id of many requests. */
const SCANS_MAX = 20;
/** Recent commits that a scan holds; more than a cluster stores in the time that it looks back. */
const RECENT_MAX = 2_000_000;
/** Milliseconds by which the clocks of nodes and the order of commits may differ. */
const MARGIN_MS = 10_000;

/** The sums of credit on a connection. Rejects with `StoreBusyError` while rows of an older store are missing. */
export function mongoMoney(
  { patient, patiently, read, collection, now }: MongoConnection,
  projection: MongoMoneyProjection,
): (since: number) => Promise<MoneyTotals> {
  const commits = patient<CommitDocument>("commits");

  async function storedFolds(): Promise<Map<string, MoneyFold>> {
    const folds = new Map<string, MoneyFold>();
    const rows = patient<MoneyDocument>("money").find({}, { batchSize: BATCH });
    for await (const row of rows) {
      const fold = parseMoneyFold(row);
      folds.set(fold.actor, fold);
    }
    return folds;
  }

  async function recentCommits(since: number): Promise<MarkedPlace[]> {
    // The filter names all shards, because the index begins with the shard.
    const filter = { shard: { $gte: 0 }, at: { $gte: since }, actor: { $gt: "account/", $lt: "account0" } };
    const found: MarkedPlace[] = [];
    const cursor = commits.find(filter, { batchSize: BATCH }).project(MARKED_PLACE).limit(RECENT_MAX);
    for await (const one of cursor) found.push(parseMarkedPlace(one));
    if (found.length < RECENT_MAX) return found;
    throw new StoreBusyError("too many commits wait for their snapshots: ask again later");
  }

  /** The last seq of each account within a cut: `until` is raised to it. */
  async function extend(until: Map<string, number>, since: number): Promise<void> {
    let recent = await recentCommits(since);
    for (const { actor, seq } of recent) until.set(actor, Math.max(seq, until.get(actor) ?? 0));
    recent = await recentCommits(since);
    for (let scans = 1; includeCauses(until, recent) && scans < SCANS_MAX; scans++) {
      recent = await recentCommits(since);
    }
  }

  /** The commits of other accounts that carry these dedup ids. */
  async function carrying(ids: readonly string[]): Promise<MarkedPlace[]> {
    const found: MarkedPlace[] = [];
    for (let i = 0; i < ids.length; i += ASKED_MAX) {
      const filter: Document = { marks: { $in: ids.slice(i, i + ASKED_MAX) } };
      const some = await read(() =>
        collection<CommitDocument>("commits")
          .find(filter)
          .project(MARKED_PLACE)
          .map(parseMarkedPlace)
          .toArray(),
      );
      found.push(...some);
    }
    return found;
  }

  async function added(since: number): Promise<MoneyTotals> {
    const folds = await storedFolds();
    const until = new Map([...folds].map(([actor, { seq }]) => [actor, seq]));
    for (let rounds = 1; ; rounds++) {
      await extend(until, since);
      for (const actor of until.keys()) if (!folds.has(actor)) folds.set(actor, new MoneyFold(actor));
      const behind = [...folds.values()].filter(({ actor, seq }) => seq < until.get(actor)!);
      const settled = behind.flatMap((fold) => fold.pending());
      await projection.addTo(behind, until);
      const ended = settled.filter(({ id, from }) => !folds.get(`account/${from}`)!.hasPending(id));
      const beyond = (await carrying(ended.map(({ id }) => id))).filter(
        ({ actor, seq }) => seq > (until.get(actor) ?? 0),
      );
      if (beyond.length === 0 || rounds === SCANS_MAX) break;
      for (const { actor, seq } of beyond) until.set(actor, Math.max(seq, until.get(actor) ?? 0));
    }
    const sums = new MoneySums();
    for (const fold of folds.values()) fold.addTo(sums);
    const received = new Set<string>();
    for (const { actor, seq, marks } of await carrying(sums.pending.map(({ id }) => id))) {
      if (seq > (until.get(actor) ?? 0)) continue;
      for (const mark of marks) received.add(`${actor} ${mark}`);
    }
    return sums.totals(({ id, to }: PendingMoney) => received.has(`account/${to} ${id}`));
  }

  return async (since) => {
    if (await projection.isDue()) {
      throw new StoreBusyError("the sums of an older store are still being prepared: ask again in a minute");
    }
    const from = Math.min(since - MARGIN_MS, (await now()) - RECENT_MS);
    return patiently(() => added(from));
  };
}
