// Writes the projection of ledger lines behind the commits: reads the rows of `commits` after the last one
// that was projected, in the order in which they were stored, a batch at a time. It runs on the writer's
// thread between its messages and is not synced: the sync of a later commit covers it. A commit never waits
// for its lines, only, now and then, for a batch of others' (a few milliseconds).
//
// crash                              state found                       recovery
// before a batch is stored           lines up to the row in `meta`     the next batch begins after that row
// of the machine, before its sync    the same; a batch and its row are one transaction
// a batch that fails                 the same                          tried again later, and reported

import type { Clock } from "../../base/clock.ts";
import { type LineRow, lineRows } from "../line-rows.ts";
import { parseLinesOfCommit, StoredRow } from "../stored-rows.ts";
import type { Cell } from "../usage/usage-rows.ts";
import { isBusy, type SqliteConnection } from "./connection.ts";

/**
 * Commits, and lines, per batch. Fewer would write more pages per line, more would hold up the commits behind
 * them. A commit with more lines is a batch of its own.
 */
const BATCH_MAX = 512;
/** Milliseconds between a commit and its batch: what comes meanwhile shares the pages that it writes. */
const BATCH_MS = 1_000;
/** Milliseconds between two batches while more commits wait, which leave most of the thread to them. */
const BEHIND_MS = 20;
/** Milliseconds after a batch that met another program's lock, and after one that failed; that one doubles. */
const [LOCK_MS, FAILED_MS, FAILED_MS_MAX] = [5, 1_000, 60_000];

/** Keeps the projection of a database up to date. Without commits it does nothing. */
export class LineProjection {
  readonly #clock: Pick<Clock, "after">;
  readonly #onError: (error: unknown) => void;
  readonly #projectBatch: () => boolean;
  #failedMs = FAILED_MS;
  /** Cancels the next batch; null when none is due. */
  #cancel: (() => void) | null = null;

  constructor(parts: {
    readonly connection: SqliteConnection;
    readonly clock: Pick<Clock, "after">;
    /** Called with the reason when a batch fails. */
    readonly onError: (error: unknown) => void;
  }) {
    this.#clock = parts.clock;
    this.#onError = parts.onError;
    this.#projectBatch = projecting(parts.connection);
  }

  /** Projects what is stored now within BATCH_MS. */
  wake(): void {
    if (this.#cancel === null) this.#schedule(BATCH_MS);
  }

  stop(): void {
    this.#cancel?.();
    this.#cancel = null;
  }

  #schedule(ms: number): void {
    this.#cancel = this.#clock.after(ms, () => this.#run());
  }

  #run(): void {
    this.#cancel = null;
    try {
      if (this.#projectBatch()) this.#schedule(BEHIND_MS);
      this.#failedMs = FAILED_MS;
    } catch (error) {
      this.#schedule(isBusy(error) ? LOCK_MS : this.#failed(error));
    }
  }

  /** Reports a failure. Returns the milliseconds until the batch is tried again. */
  #failed(error: unknown): number {
    const ms = this.#failedMs;
    this.#failedMs = Math.min(2 * ms, FAILED_MS_MAX);
    this.#onError(error);
    return ms;
  }
}

/**
 * Returns a function that projects one batch and returns whether more commits wait. It throws when the batch
 * fails; then nothing of it is stored.
 */
function projecting({ prepare, unsynced }: SqliteConnection): () => boolean {
  const place = prepare("SELECT value FROM meta WHERE key = 'lines'");
  const next = prepare<[number, number]>("SELECT row, lines FROM commits WHERE row > ? ORDER BY row LIMIT ?");
  const lined = prepare<[number, number]>(
    `SELECT actor, seq, linesTo, lines, events FROM commits WHERE row > ? AND row <= ? AND lines > 0
     ORDER BY row`,
  );
  const insert = prepare(
    `INSERT OR REPLACE INTO lines (actor, at, number, seq, type, model, apiKey, tags, amount)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const move = prepare<[number]>("UPDATE meta SET value = ? WHERE key = 'lines'");

  function project(after: number, last: number): void {
    for (const commit of lined.all(after, last)) {
      for (const line of lineRows(parseLinesOfCommit(commit))) insert.run(...lineCells(line));
    }
    move.run(last);
  }

  return () => {
    const after = new StoredRow("meta", place.get()).integer("value");
    const waiting = next.all(after, BATCH_MAX).map((row) => new StoredRow("commits", row));
    const size = batchSize(waiting.map((row) => row.integer("lines")));
    const last = waiting[size - 1]?.integer("row");
    if (last !== undefined) unsynced(() => project(after, last));
    return size < waiting.length || waiting.length === BATCH_MAX;
  };
}

/** How many of the next commits, which have so many lines each, are one batch. */
function batchSize(lines: readonly number[]): number {
  let [size, total] = [0, 0];
  for (const count of lines) {
    total += count;
    if (size > 0 && total > BATCH_MAX) break;
    size++;
  }
  return size;
}

/** The columns of a row, in the order of the table. */
function lineCells({ actor, at, number, seq, type, model, apiKey, tags, amount }: LineRow): (Cell | null)[] {
  const delimited = tags.length === 0 ? null : delimitedTags(tags);
  return [actor, at, number, seq, type, model, apiKey, delimited, amount];
}

/** Tags as one text that has each of them between two commas, which no tag contains. */
const delimitedTags = (tags: readonly string[]): string => `,${tags.join(",")},`;
