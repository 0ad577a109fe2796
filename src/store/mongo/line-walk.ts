// Walks over the ledger lines of one actor as far as it takes, and counts what passes: on connections of their own, two
// at once, so that a long one delays neither charges nor lists. It reads only.

import { Semaphore } from "../../base/semaphore.ts";
import {
  checkLineQuery,
  checkLineWalk,
  type FoundLine,
  type LineAnchor,
  type LineFilter,
  type LineTotals,
  type LineWalk,
  NO_LINES,
} from "../line-filter.ts";
import { pageOfWalk } from "../line-rows.ts";
import type { Store } from "../store.ts";
import { StoredRow } from "../stored-rows.ts";
import { runQuery } from "../usage/run-query.ts";
import type { MongoConnection } from "./connection.ts";
import type { LineDocument } from "./line-projection.ts";
import { lineConditions, mongoLineReader } from "./lines.ts";

const QUERIES_MAX = 2;
const QUEUE_MAX = 64;
/** Lines that are read with their events at once, which takes a few milliseconds. */
const PART_LINES = 100;
/** No ledger has so many lines, and servers take no larger number. */
const SKIP_MAX = 2 ** 31 - 1;
/** Milliseconds that a walk may take on a server: longer than anybody waits for it. Then its signal ends it. */
const WALK_MS = 6_000;

/** The lines of the store's contract. */
export interface MongoLines extends Pick<Store, "lines" | "walkLines" | "lineTotals"> {
  /** Rejects waiting and later walks, and waits for the running ones. */
  stop(): Promise<void>;
}

/** Creates the lines of the store's contract on a connection. */
export function mongoLines(connection: MongoConnection): MongoLines {
  const { patient, patiently } = connection;
  const walks = new Semaphore(QUERIES_MAX, QUEUE_MAX);
  const walked = patient<LineDocument>("lines");
  const { page, linesOf } = mongoLineReader(connection);

  async function walkRows(filter: LineFilter, walk: LineWalk, signal?: AbortSignal): Promise<FoundLine[]> {
    const { after, skip, limit } = walk;
    const rows = await patiently(() => {
      signal?.throwIfAborted();
      return walked
        .find(lineConditions(filter, after), { maxTimeMS: WALK_MS })
        .sort({ _id: -1 })
        .skip(Math.min(skip, SKIP_MAX))
        .limit(limit)
        .project({ seq: 1 })
        .toArray();
    });
    const lines: FoundLine[] = [];
    for (let i = 0; i < rows.length; i += PART_LINES) {
      signal?.throwIfAborted();
      lines.push(...(await linesOf(filter.actor, rows.slice(i, i + PART_LINES))));
    }
    return lines;
  }

  /** Yields the lines of a request that pass, some at a time. They are found in commits, not by a walk. */
  async function* ofRequest(filter: LineFilter, from: LineAnchor | null, signal?: AbortSignal) {
    for (let after = from; ; ) {
      signal?.throwIfAborted();
      const { lines, next } = await page(filter, after, PART_LINES);
      yield lines;
      if (next === null) return;
      after = next;
    }
  }

  async function walkRequest(filter: LineFilter, walk: LineWalk, signal?: AbortSignal): Promise<FoundLine[]> {
    const { after, skip, limit } = walk;
    const found: FoundLine[] = [];
    let left = skip;
    for await (const lines of ofRequest(filter, after, signal)) {
      found.push(...lines.slice(left, left + limit - found.length));
      left = Math.max(0, left - lines.length);
      if (found.length === limit) break;
    }
    return found;
  }

  async function totalOfRequest(filter: LineFilter, signal?: AbortSignal): Promise<LineTotals> {
    let { count, amount } = NO_LINES;
    for await (const lines of ofRequest(filter, null, signal)) {
      count += lines.length;
      for (const { e } of lines) amount += BigInt((e as { readonly amount?: number }).amount ?? 0);
    }
    return { count, amount };
  }

  async function totalOfRows(filter: LineFilter, signal?: AbortSignal): Promise<LineTotals> {
    const stages = [{ $match: lineConditions(filter, null) }, { $group: { _id: null, ...ADDED } }];
    const [sums] = await patiently(() => {
      signal?.throwIfAborted();
      return walked.aggregate(stages, { maxTimeMS: WALK_MS }).toArray();
    });
    if (sums === undefined) return NO_LINES;
    const row = new StoredRow("lines", sums);
    return {
      count: row.integer("count"),
      amount: BigInt(row.integer("high")) * BigInt(PART) + BigInt(row.integer("low")),
    };
  }

  return {
    lines: page,
    async walkLines(filter, walk, signal) {
      checkLineWalk(filter, walk);
      const find = filter.request === undefined ? walkRows : walkRequest;
      return pageOfWalk(await runQuery(walks, () => find(filter, walk, signal), signal), walk);
    },
    async lineTotals(filter, signal) {
      checkLineQuery(filter, null, 1);
      const total = filter.request === undefined ? totalOfRows : totalOfRequest;
      return runQuery(walks, () => total(filter, signal), signal);
    },
    stop: () => walks.close(),
  };
}

/** Amounts are added up in two parts, because they are doubles: both sums are exact over sixty million lines. */
const PART = 2 ** 26;

const HIGH_PART = { $floor: { $divide: ["$amount", PART] } };

const ADDED = {
  count: { $sum: 1 },
  high: { $sum: HIGH_PART },
  low: { $sum: { $subtract: ["$amount", { $multiply: [HIGH_PART, PART] }] } },
};
