// The thread that adds up usage, orders lists of accounts and walks over lines for usage-worker-pool.ts, on a read-only
// connection of its own. It runs one
// query at a time and sends its rows one part per request, so that receiving them never blocks the server's
// event loop for long.

import { StoreBusyError } from "../store-errors.ts";
import { sqliteRanks } from "./account-ranks.ts";
import { connectSqlite, type SqliteConnection } from "./connection.ts";
import { type LineWalkStep, type LineWalks, sqliteLineWalks } from "./line-walk.ts";
import { sqliteMoney } from "./money-totals.ts";
import type { Query } from "./query-builder.ts";
import { sqliteUsageReport } from "./usage-report.ts";
import { sqliteTotals } from "./usage-totals.ts";
import type { RowsPart, UsageWorkerReply, UsageWorkerRequest } from "./usage-worker-pool.ts";

declare const self: Worker;

/** After so many parts, what a query kept is worth a collection: an idle thread would hold it until the next one. */
const LARGE_PARTS = 40;
/** Rows per part, which the receiver processes in a millisecond or two. */
const PART_ROWS = 1_000;

interface Reader {
  readonly connection: SqliteConnection;
  readonly totals: ReturnType<typeof sqliteTotals>;
  readonly ranks: ReturnType<typeof sqliteRanks>;
  readonly report: ReturnType<typeof sqliteUsageReport>;
  readonly walks: LineWalks;
  readonly money: ReturnType<typeof sqliteMoney>;
}

let reader: Reader | null = null;
/** The parts that were not sent yet. Nothing is kept between queries, or of a query that was aborted. */
let parts: Iterator<RowsPart> | null = null;
/** How many parts of the query were sent. */
let sent = 0;

/** Sums read rows in the order of an index, once: a larger cache would only be memory. */
const CACHE_KB = 4_000;

function readerAt(path: string): Reader {
  const connection = connectSqlite(path, { readOnly: true, cacheKb: CACHE_KB });
  return {
    connection,
    totals: sqliteTotals(connection),
    ranks: sqliteRanks(connection),
    report: sqliteUsageReport(connection),
    walks: sqliteLineWalks(connection),
    money: sqliteMoney(connection),
  };
}

function* rowParts(of: "totals" | "ranks", rows: readonly (readonly unknown[])[]): Generator<RowsPart> {
  for (let from = 0; from < rows.length; from += PART_ROWS) {
    yield { of, rows: rows.slice(from, from + PART_ROWS) };
  }
}

function* lineParts(steps: Iterable<LineWalkStep>): Generator<RowsPart> {
  for (const step of steps) yield { of: "lines", step };
}

/** The parts of what a request asks for. */
function partsOf(reader: Reader, request: Exclude<UsageWorkerRequest, { next: true } | { close: true }>) {
  if ("query" in request) return rowParts("totals", reader.totals(request.query));
  if ("ranks" in request) return rowParts("ranks", reader.ranks(request.ranks));
  if ("report" in request) return reader.report(request.report)[Symbol.iterator]();
  if ("walk" in request) return lineParts(reader.walks.walk(request.lines, request.walk));
  if ("read" in request) return storedParts(reader, request.read);
  if ("money" in request) return moneyParts(reader);
  return lineParts(reader.walks.totals(request.linesToCount));
}

function* storedParts({ connection }: Reader, { sql, params }: Query): Generator<RowsPart> {
  yield { of: "rows", rows: connection.recent(sql).all(...params) };
}

function* moneyParts({ money }: Reader): Generator<RowsPart> {
  yield { of: "money", totals: money() };
}

function answer(request: UsageWorkerRequest): UsageWorkerReply {
  if ("close" in request) {
    reader?.connection.close();
    reader = null;
    parts = null;
    return { part: null };
  }
  if (!("next" in request)) {
    reader ??= readerAt(request.path);
    sent = 0;
    parts = partsOf(reader, request);
  }
  const { value } = parts?.next() ?? { value: undefined };
  sent++;
  if (value !== undefined) return { part: value };
  parts = null;
  if (sent > LARGE_PARTS) setImmediate(() => Bun.gc(true));
  return { part: null };
}

self.onmessage = ({ data }: MessageEvent<UsageWorkerRequest>) => {
  try {
    self.postMessage(answer(data));
  } catch (error) {
    self.postMessage({
      failed: error instanceof Error ? error.message : String(error),
      busy: error instanceof StoreBusyError,
    } satisfies UsageWorkerReply);
  }
};
