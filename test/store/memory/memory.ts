// The store in memory, for tests and simulations: the plainest reading of the contract, and durable nowhere.
// Copies everything that it takes and gives, so that a caller can change neither what is stored nor another's copy.

import assert from "node:assert/strict";
import type { Clock } from "../../../src/base/clock.ts";
import { compareText } from "../../../src/store/indexed-fields.ts";
import { dayOfTime, keyCostOf } from "../../../src/store/key-costs.ts";
import { checkLineQuery, checkLineWalk } from "../../../src/store/line-filter.ts";
import { pageOfWalk, passingLines } from "../../../src/store/line-rows.ts";
import { hasMoney, MoneyFold, MoneySums, moneyChanges } from "../../../src/store/money-fold.ts";
import type { Appended, Claim, Commit, Snapshot, Store } from "../../../src/store/store.ts";
import { memoryAnswers } from "./memory-answers.ts";
import { copy, type MemoryDocuments, memoryDocuments } from "./memory-documents.ts";

/** An empty store; `now` answers the clock's wall time. */
export function memoryStore({ clock }: { readonly clock: Clock }): Store {
  const commits = new Map<string, Commit[]>();
  const documents = memoryDocuments((actor) => commits.get(actor) ?? []);
  return {
    ...memoryLedger(documents, commits),
    ...documents.store,
    ...memoryRows(),
    ...memoryAnswers(),
    now: async () => clock.wall(),
    close: async () => {},
  };
}

type Ledger = Pick<
  Store,
  | "append"
  | "appendsAtOnce"
  | "appendDelayMs"
  | "appendsOutliveSender"
  | "followsSnapshots"
  | "readCommits"
  | "loadSnapshot"
  | "save"
  | "actorsToRecover"
  | "hasDedupId"
  | "commitsByDedupId"
  | "readLines"
  | "lines"
  | "walkLines"
  | "lineTotals"
  | "keyCosts"
  | "lastCommit"
  | "listActors"
  | "moneyTotals"
>;

/** Commits and snapshots, which bring their documents along. */
/** The commits of an actor ascend by seq. */
function memoryLedger(documents: MemoryDocuments, commits: Map<string, Commit[]>): Ledger {
  const marks = new Map<string, Commit[]>();
  const snapshots = new Map<string, Snapshot>();

  const of = (actor: string): readonly Commit[] => commits.get(actor) ?? [];

  function store(commit: Commit): Appended {
    const own = listIn(commits, commit.actor);
    const place = firstAfter(own, commit.seq - 1);
    const stored = own[place];
    if (stored?.seq === commit.seq) return stored.by === commit.by ? "committed" : "lost";
    own.splice(place, 0, commit);
    for (const mark of new Set(commit.marks)) listIn(marks, mark).push(commit);
    return "committed";
  }

  return {
    append: async (given) => copy(given).map(store),
    appendsAtOnce: 4,
    appendDelayMs: 0,
    appendsOutliveSender: true,
    followsSnapshots: false,
    async readCommits(actor, after, limit) {
      const own = of(actor);
      const start = firstAfter(own, after);
      return copy(own.slice(start, start + limit));
    },
    loadSnapshot: async (actor) => copy(snapshots.get(actor) ?? null),
    async save(given) {
      const saves = copy(given);
      documents.save(saves.flatMap((save) => save.documents));
      for (const { snapshot } of saves) {
        if (snapshot === null) continue;
        const stored = snapshots.get(snapshot.actor);
        if (snapshot.seq > (stored?.seq ?? 0)) snapshots.set(snapshot.actor, snapshot);
      }
    },
    async actorsToRecover(shards, since) {
      const asked = new Set(shards);
      const found = new Set<string>();
      for (const { actor, shard, pending } of snapshots.values()) {
        if (pending && asked.has(shard)) found.add(actor);
      }
      for (const [actor, own] of commits) {
        const uncovered = own.slice(firstAfter(own, snapshots.get(actor)?.seq ?? 0));
        if (uncovered.some(({ shard, at }) => asked.has(shard) && at >= since)) found.add(actor);
      }
      return [...found].sort(compareText);
    },
    hasDedupId: async (actor, mark) => (marks.get(mark) ?? []).some((commit) => commit.actor === actor),
    async commitsByDedupId(mark, limit) {
      const newest = [...(marks.get(mark) ?? [])].sort(
        (a, b) => b.at - a.at || compareText(a.actor, b.actor) || b.seq - a.seq,
      );
      return copy(newest.slice(0, limit));
    },
    readLines: async (actor, from, to) =>
      copy(of(actor).filter(({ lines, linesTo }) => lines > 0 && linesTo >= from && linesTo - lines < to)),
    async lines(filter, after, limit) {
      checkLineQuery(filter, after, limit);
      const found = passingLines(filter, after, of(filter.actor).toReversed());
      const lines = copy(found.slice(0, limit));
      const last = lines.at(-1);
      const next = found.length > limit && last !== undefined ? { at: last.at, number: last.number } : null;
      return { lines, next };
    },
    async walkLines(filter, walk, signal) {
      checkLineWalk(filter, walk);
      signal?.throwIfAborted();
      const { after, skip, limit } = walk;
      const found = passingLines(filter, after, of(filter.actor).toReversed());
      return pageOfWalk(copy(found.slice(skip, skip + limit)), walk);
    },
    async lineTotals(filter, signal) {
      checkLineQuery(filter, null, 1);
      signal?.throwIfAborted();
      const found = passingLines(filter, null, of(filter.actor).toReversed());
      const amount = found.reduce((sum, { e }) => sum + BigInt((e as { amount: number }).amount), 0n);
      return { count: found.length, amount };
    },
    async keyCosts(day, keys) {
      const sums = new Map<number, bigint>();
      for (const { at, line, e } of [...commits.values()].flat().flatMap(({ events }) => events)) {
        const found = line && dayOfTime(at) === day ? keyCostOf(e) : null;
        if (found === null || !keys.includes(found.key)) continue;
        sums.set(found.key, (sums.get(found.key) ?? 0n) + BigInt(found.cost));
      }
      return sums;
    },
    async lastCommit(actor) {
      const newest = of(actor).at(-1);
      return newest === undefined ? null : { seq: newest.seq, linesTo: newest.linesTo };
    },
    async moneyTotals() {
      const sums = new MoneySums();
      for (const [actor, own] of commits) {
        if (!hasMoney(actor)) continue;
        const fold = new MoneyFold(actor);
        for (const commit of own) fold.add(moneyChanges(commit));
        fold.addTo(sums);
      }
      return sums.totals(({ id, to }) =>
        (marks.get(id) ?? []).some(({ actor }) => actor === `account/${to}`),
      );
    },
    async listActors(prefix, after, limit) {
      const named = [...commits.keys()].filter((name) => name.startsWith(prefix));
      return named
        .filter((name) => compareText(name, after) > 0)
        .sort(compareText)
        .slice(0, limit);
    },
  };
}

type SmallRows = Pick<
  Store,
  "claim" | "findClaim" | "confirm" | "release" | "unconfirmed" | "reserveIds" | "read" | "cas"
>;

/** Claims, counters and compare-and-set rows. */
function memoryRows(): SmallRows {
  const claims = new Map<string, Claim>();
  const counters = new Map<string, number>();
  const registry = new Map<string, { readonly value: string; readonly rev: number }>();

  return {
    async claim(key, account, by, at) {
      if (!claims.has(key)) claims.set(key, { key, account, by, at, confirmed: false });
      return claims.get(key)?.by === by;
    },
    findClaim: async (key) => copy(claims.get(key) ?? null),
    async confirm(key, by) {
      const claim = claims.get(key);
      if (claim?.by === by) claims.set(key, { ...claim, confirmed: true });
    },
    async release(key, by) {
      if (claims.get(key)?.by === by) claims.delete(key);
    },
    async unconfirmed(before, limit) {
      const stale = [...claims.values()].filter(({ confirmed, at }) => !confirmed && at < before);
      return copy(stale.sort((a, b) => a.at - b.at || compareText(a.key, b.key)).slice(0, limit));
    },
    async reserveIds(counter, size) {
      assert(Number.isSafeInteger(size) && size > 0, `a block of ${size} numbers`);
      const first = counters.get(counter) ?? 1;
      counters.set(counter, first + size);
      return first;
    },
    read: async (key) => copy(registry.get(key) ?? null),
    async cas(key, rev, value) {
      if ((registry.get(key)?.rev ?? 0) !== rev) return null;
      registry.set(key, { value, rev: rev + 1 });
      return rev + 1;
    },
  };
}

function listIn<K, V>(lists: Map<K, V[]>, key: K): V[] {
  const list = lists.get(key) ?? [];
  lists.set(key, list);
  return list;
}

/** Index of the first commit with a seq above `seq`, by bisection: ledgers grow long and are read at their end. */
function firstAfter(commits: readonly Commit[], seq: number): number {
  let low = 0;
  let high = commits.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (commits[middle]!.seq > seq) high = middle;
    else low = middle + 1;
  }
  return low;
}
