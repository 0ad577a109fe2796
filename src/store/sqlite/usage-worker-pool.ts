// Sums of usage, long lists of accounts and walks over ledger lines on threads of their own, so that the server's event
// loop goes on while SQLite reads a year of a large tree. Two run at once, of them one walk, some wait, and the rest is
// refused. It decides nothing about what is read: see usage-totals.ts, account-ranks.ts and line-walk.ts.
//
//   query -> waits for one of two threads -> summed there -> received part by part; the event loop turns
//   between two parts
//
//   situation               what happens
//   aborted while waiting   the query leaves the queue
//   aborted while running   the query rejects at once; its thread is free when SQLite has finished, or after
//                           the next step of a walk
//   its thread fails        the query rejects; the next one starts a new thread

import { Semaphore } from "../../base/semaphore.ts";
import { type AccountRank, checkRanks, type RankQuery } from "../account-ranks.ts";
import { checkLineQuery, checkLineWalk, type FoundLine, NO_LINES } from "../line-filter.ts";
import { pageOfWalk } from "../line-rows.ts";
import type { MoneyTotals } from "../money-fold.ts";
import type { LineFilter, LineWalk, Store, TotalsQuery, TotalsRow, UsageReportQuery } from "../store.ts";
import { StoreBusyError } from "../store-errors.ts";
import { runQuery } from "../usage/run-query.ts";
import { checkReport, UsageReportBuilder, type UsageReportPart } from "../usage/usage-report.ts";
import { checkTotals, totalsRow } from "../usage/usage-rows.ts";
import { parseRank } from "./account-ranks.ts";
import { amountOf, type LineWalkStep } from "./line-walk.ts";
import type { Query } from "./query-builder.ts";

/**
 * A message to a thread: a query, a request for the next part of its rows, or a request to close the database
 * and drop all rows.
 */
export type UsageWorkerRequest =
  | { readonly path: string; readonly query: TotalsQuery }
  | { readonly path: string; readonly report: UsageReportQuery }
  | { readonly path: string; readonly lines: LineFilter; readonly walk: LineWalk }
  | { readonly path: string; readonly linesToCount: LineFilter }
  | { readonly path: string; readonly money: true }
  | { readonly path: string; readonly ranks: RankQuery }
  | { readonly path: string; readonly read: Query }
  | { readonly next: true }
  | { readonly close: true };

/** A reply of a thread. */
export type UsageWorkerReply =
  /** `part` is null when there are no more rows. */
  | { readonly part: RowsPart | null }
  /** `busy`: a later try may succeed. */
  | { readonly failed: string; readonly busy?: boolean };

/** Some of the rows of a totals query, of a list of accounts or of a usage report, a step of a walk, or the sums of credit. */
export type RowsPart =
  | UsageReportPart
  | { readonly of: "lines"; readonly step: LineWalkStep }
  | { readonly of: "money"; readonly totals: MoneyTotals }
  | { readonly of: "rows"; readonly rows: readonly unknown[] }
  | { readonly of: "totals"; readonly rows: readonly (readonly unknown[])[] }
  | { readonly of: "ranks"; readonly rows: readonly (readonly unknown[])[] };

const QUERIES_MAX = 2;
/** Walks are asked for by every account at any time: they leave the other thread to sums. */
const WALKS_MAX = 1;
const QUEUE_MAX = 64;

/** Reads the rows of a query on another thread, or on this one where no other can see the database. */
export type ReadApart = (query: Query) => Promise<readonly unknown[]>;

/** Runs sums of usage and credit, lists of accounts and walks over lines on worker threads. */
export interface UsageWorkerPool
  extends Pick<
    Store,
    "usageTotals" | "usageReport" | "rankAccounts" | "walkLines" | "lineTotals" | "moneyTotals"
  > {
  /** The rows of a read that walks a long index. */
  readonly readRows: ReadApart;
  /** Rejects waiting and later queries, waits for the running ones, and closes the database. */
  stop(): Promise<void>;
}

/** The threads of a pool: those without a query wait for the next one. */
class QueryThreads {
  private readonly idle: Worker[] = [];

  /** Sends a request to a thread and receives its answer part by part; the event loop turns after each. */
  async receive(
    request: UsageWorkerRequest,
    onPart: (part: RowsPart) => void,
    signal?: AbortSignal,
  ): Promise<void> {
    const worker = this.idle.pop() ?? startWorker();
    let reply = await ask(worker, request);
    while ("part" in reply && reply.part !== null) {
      // The thread prepares the next part while this one is processed.
      const next = ask(worker, signal?.aborted ? { close: true } : { next: true });
      onPart(reply.part);
      [reply] = await Promise.all([next, new Promise(setImmediate)]);
    }
    this.idle.push(worker);
    if (!("failed" in reply)) return;
    throw reply.busy ? new StoreBusyError(reply.failed) : new Error(reply.failed);
  }

  /** Ends the threads. None may be running. */
  async end(): Promise<void> {
    for (const worker of this.idle.splice(0)) {
      await ask(worker, { close: true });
      worker.terminate();
    }
  }
}

/** Creates a pool over the database at `path`. No thread is started before the first query. */
export function createUsageWorkerPool(path: string): UsageWorkerPool {
  const queries = new Semaphore(QUERIES_MAX, QUEUE_MAX);
  const walks = new Semaphore(WALKS_MAX, QUEUE_MAX);
  const threads = new QueryThreads();

  async function sum(query: TotalsQuery, signal?: AbortSignal): Promise<readonly TotalsRow[]> {
    const rows: TotalsRow[] = [];
    const onPart = (part: RowsPart) => {
      if (part.of === "totals") for (const values of part.rows) rows.push(totalsRow(query.by, values));
    };
    await threads.receive({ path, query }, onPart, signal);
    return rows;
  }

  /** Runs a walk and receives its steps. */
  function steps(
    request: UsageWorkerRequest,
    onStep: (step: LineWalkStep) => void,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const onPart = (part: RowsPart) => void (part.of === "lines" && onStep(part.step));
    const query = () => runQuery(queries, () => threads.receive(request, onPart, signal), signal);
    return runQuery(walks, query, signal);
  }

  async function rowsOf(query: Query): Promise<readonly unknown[]> {
    const rows: unknown[] = [];
    await threads.receive({ path, read: query }, (part) => {
      if (part.of === "rows") rows.push(...part.rows);
    });
    return rows;
  }

  async function money(): Promise<MoneyTotals> {
    let totals: MoneyTotals | null = null;
    await threads.receive({ path, money: true }, (part) => {
      if (part.of === "money") totals = part.totals;
    });
    if (totals === null) throw new Error("sums of credit failed: their thread sent none");
    return totals;
  }

  async function rank(query: RankQuery): Promise<readonly AccountRank[]> {
    const ranks: AccountRank[] = [];
    const onPart = (part: RowsPart) => {
      if (part.of === "ranks") for (const values of part.rows) ranks.push(parseRank(values));
    };
    await threads.receive({ path, ranks: query }, onPart);
    return ranks;
  }

  return {
    async rankAccounts(query) {
      checkRanks(query);
      return runQuery(queries, () => rank(query));
    },
    async usageTotals(query, signal) {
      checkTotals(query);
      return runQuery(queries, () => sum(query, signal), signal);
    },
    async usageReport(query, signal) {
      checkReport(query);
      const builder = new UsageReportBuilder();
      const onPart = (part: RowsPart) => {
        if (part.of === "groups" || part.of === "days" || part.of === "accounts") builder.add(part);
      };
      const read = () => threads.receive({ path, report: query }, onPart, signal);
      // The thread is free as soon as it has sent its last part, however slowly the report is read.
      void runQuery(queries, read, signal).then(
        () => builder.end(),
        (error: unknown) => builder.fail(error),
      );
      return builder.report;
    },
    async walkLines(filter, walk, signal) {
      checkLineWalk(filter, walk);
      const lines: FoundLine[] = [];
      const onStep = (step: LineWalkStep) => void lines.push(...step.lines);
      await steps({ path, lines: filter, walk }, onStep, signal);
      return pageOfWalk(lines, walk);
    },
    async lineTotals(filter, signal) {
      checkLineQuery(filter, null, 1);
      let { count, amount } = NO_LINES;
      const onStep = (step: LineWalkStep) => {
        count += step.count;
        amount += amountOf(step);
      };
      await steps({ path, linesToCount: filter }, onStep, signal);
      return { count, amount };
    },
    moneyTotals: () => runQuery(queries, money),
    readRows: (query) => runQuery(queries, () => rowsOf(query)),
    async stop() {
      await Promise.all([walks.close(), queries.close()]);
      await threads.end();
    },
  };
}

function startWorker(): Worker {
  // A running sum must not keep a finished process alive.
  return new Worker(new URL("./usage-worker.ts", import.meta.url).href, { ref: false } as WorkerOptions);
}

/** Sends one message and returns its reply. Rejects when the thread fails, which is then used no more. */
function ask(worker: Worker, request: UsageWorkerRequest): Promise<UsageWorkerReply> {
  return new Promise((resolve, reject) => {
    const ended = () => reject(new Error("a query failed: its thread ended"));
    worker.addEventListener("close", ended);
    worker.onerror = (event) => reject(new Error(`a query failed: ${event.message}`));
    worker.onmessage = ({ data }: MessageEvent<unknown>) => {
      worker.removeEventListener("close", ended);
      if (isReply(data)) resolve(data);
      else reject(new Error("a query failed: its thread sent an unknown message"));
    };
    worker.postMessage(request);
  });
}

/** Whether a thread's message is a reply. The rows of a part are parsed where they are used. */
function isReply(data: unknown): data is UsageWorkerReply {
  if (typeof data !== "object" || data === null) return false;
  if ("failed" in data) return typeof data.failed === "string";
  if (!("part" in data)) return false;
  const { part } = data;
  if (part === null) return true;
  if (typeof part !== "object" || !("of" in part)) return false;
  if ("step" in part) return typeof part.step === "object" && part.step !== null;
  if ("totals" in part) return typeof part.totals === "object" && part.totals !== null;
  return "text" in part ? typeof part.text === "string" : "rows" in part && Array.isArray(part.rows);
}
