// Carries out writes on a connection, one message after another. The engine never waits for a lock of another
// program: a message that meets one is retried from a timer, and later messages wait in their order.

import type { Clock } from "../../base/clock.ts";
import { answerWrites } from "./answers.ts";
import { appending } from "./append.ts";
import { rowWrites } from "./claims.ts";
import { isBusy, type SqliteConnection } from "./connection.ts";
import { documentWrites } from "./documents.ts";
import { dedupIdsIn } from "./ledger-rows.ts";
import type { Projections } from "./projections.ts";
import { recordWrites } from "./records.ts";
import {
  type Cells,
  failureOf,
  type Lane,
  type Result,
  type SqliteWriter,
  type Write,
  type WriteFailure,
  type WriterReply,
  type WriterRequest,
  type Writes,
} from "./write-messages.ts";

/** Milliseconds between two attempts while another program holds the lock. */
const LOCK_PAUSE_MS = 5;

const LOCKED: WriteFailure = { failed: "database is locked", code: "SQLITE_BUSY" };

type Task = Cells | { readonly writes: readonly Write[] } | { readonly close: true };

const isCells = (task: Task): task is Cells => Array.isArray(task);

/** Creates a writer. It calls `onReply` once per message, with the reply. */
export function sqliteWriter(parts: {
  readonly connection: SqliteConnection;
  readonly clock: Pick<Clock, "after">;
  readonly onReply: (reply: WriterReply) => void;
  /** What is written behind the commits, on the same connection; nothing is when it is absent. */
  readonly projections?: Projections;
}): SqliteWriter {
  const { connection, clock, onReply, projections } = parts;
  const append = appending(connection);
  const writes: Writes = {
    ...documentWrites(connection),
    ...recordWrites(connection),
    ...rowWrites(connection),
    ...answerWrites(connection),
  };
  /** The first task is the one being carried out. */
  const inbox: Task[] = [];
  /** The results of the finished writes of the first task. */
  let results: Result[] = [];
  /** The first task has met a lock, and is carried out by a timer. */
  let isLocked = false;

  /** Throws when the database is locked; then nothing of this write is stored. */
  function write([op, ...args]: Write): Result {
    try {
      return { ok: (writes[op] as (...args: unknown[]) => unknown)(...args) };
    } catch (error) {
      if (isBusy(error)) throw error;
      return failureOf(error);
    }
  }

  /** Throws when the database is locked. */
  function perform(task: Task): WriterReply {
    if ("close" in task) {
      projections?.stop();
      connection.close();
      return { closed: true };
    }
    if (isCells(task)) {
      try {
        return { commits: append(task) };
      } catch (error) {
        if (isBusy(error)) throw error;
        return { commits: failureOf(error) };
      }
    }
    while (results.length < task.writes.length) results.push(write(task.writes[results.length]!));
    const reply = { writes: results };
    results = [];
    return reply;
  }

  function work(): void {
    isLocked = false;
    for (;;) {
      const task = inbox[0];
      if (task === undefined) return;
      let reply: WriterReply;
      try {
        reply = perform(task);
      } catch {
        isLocked = true;
        clock.after(LOCK_PAUSE_MS, work);
        return;
      }
      inbox.shift();
      onReply(reply);
      if (isCells(task) && "commits" in reply && typeof reply.commits === "string")
        projections?.committed(reply.commits.length, dedupIdsIn(task));
    }
  }

  /**
   * Drops the lane's message if the writer waits for the lock. Without such a wait everything has been
   * carried out already.
   */
  function abandon(lane: Lane): void {
    if (!isLocked) return;
    const isOf = (task: Task) => !("close" in task) && "writes" in task === (lane === "writes");
    const at = inbox.findIndex(isOf);
    if (at === -1) return;
    const [task] = inbox.splice(at, 1);
    if (task !== undefined && "writes" in task) {
      const done = at === 0 ? results : [];
      if (at === 0) results = [];
      onReply({ writes: task.writes.map((_, i) => done[i] ?? LOCKED) });
    } else onReply({ commits: LOCKED });
  }

  return {
    post(request: WriterRequest) {
      if ("abandon" in request) return abandon(request.abandon);
      inbox.push(request);
      if (inbox.length === 1 && !isLocked) work();
    },
  };
}
