// Writes to SQLite as plain data that can be sent to a thread, and the replies. The queue (write-queue.ts)
// sends them, the writer (writer.ts) carries them out, on a thread (writer-worker.ts) or on this one.

import type { Value } from "../indexed-fields.ts";
import type { KeptAnswer } from "../store.ts";
import type { DocumentTable, RecordTable } from "../tables.ts";
import type { ListChange } from "./counted-lists.ts";
import type { UsageDayCells } from "./usage-writer.ts";

/**
 * A row of a save: its cells behind the name of its table. `usageSums` and `accountFigures` are those of the document before
 * them, and are stored with it. A list of cells is cheaper to send to a thread than objects are.
 */
export type SavedRow =
  | readonly [table: DocumentTable | "snapshots" | "accountFigures", ...columns: Value[]]
  | readonly [table: "usageSums", ...usage: UsageDayCells];

/** The row of a record. */
export type RecordRow = readonly [table: RecordTable, columns: readonly Value[]];

/** Every write that is not an append. Each is one transaction, stored as a whole or not at all. */
export interface Writes {
  /** These three return which rows of lists they may have changed. */
  save(rows: readonly SavedRow[]): ListChange;
  putRecords(rows: readonly RecordRow[]): ListChange;
  removeRecords(table: RecordTable, ids: readonly string[]): ListChange;
  claim(key: string, account: number, by: string, at: number): boolean;
  confirm(key: string, by: string): void;
  release(key: string, by: string): void;
  reserveIds(counter: string, size: number): number;
  cas(key: string, rev: number, value: string): number | null;
  keepAnswer(answer: KeptAnswer, most: number): void;
  dropAnswers(until: number, limit: number): number;
}

/** The name of a write. */
export type Op = keyof Writes;

/** A write: its name and its arguments. */
export type Write = { readonly [O in Op]: readonly [O, ...Parameters<Writes[O]>] }[Op];

/**
 * Commits (see `commitCells`) in one flat list of texts and numbers, which is the cheapest thing to send to a
 * thread.
 */
export type Cells = readonly (string | number)[];

/** A queue of messages to the writer. Its order is kept, and it has at most one message in flight. */
export type Lane = "commits" | "writes";

/** A message to the writer. */
export type WriterRequest =
  /** Commits to append in one transaction. */
  | Cells
  | { readonly writes: readonly Write[] }
  /**
   * No caller waits for this lane's message any more. The message is dropped if it is still waiting for the
   * database lock.
   */
  | { readonly abandon: Lane }
  | { readonly close: true };

/** An error as plain data; `code` is SQLite's. */
export interface WriteFailure {
  readonly failed: string;
  readonly code?: string;
}

/** What became of one write. */
export type Result = { readonly ok: unknown } | WriteFailure;

/** A reply of the writer. */
export type WriterReply =
  /** One letter per commit, in their order: see `OUTCOMES`. */
  | { readonly commits: string | WriteFailure }
  | { readonly writes: readonly Result[] }
  /** Sent unasked when something could not be projected; it is tried again. */
  | { readonly projection: WriteFailure }
  | { readonly closed: true };

/** The outcome that each letter means. */
export const OUTCOMES = { c: "committed", l: "lost" } as const;

/** A letter of `OUTCOMES`. */
export type CommitOutcome = keyof typeof OUTCOMES;

/** Carries out the writes: takes one message after another and sends a reply for each. */
export interface SqliteWriter {
  post(request: WriterRequest): void;
}

/** An error as plain data. */
export function failureOf(error: unknown): WriteFailure {
  if (!(error instanceof Error)) return { failed: String(error) };
  const code = "code" in error && typeof error.code === "string" ? { code: error.code } : {};
  return { failed: error.message, ...code };
}

/** The failure as an error again. */
export const writeError = ({ failed, code }: WriteFailure): Error =>
  Object.assign(new Error(failed), code === undefined ? {} : { code });
