// What is written to SQLite, as plain data that can be handed to a thread, and what comes back from there. The queue
// (write-queue.ts) hands it over, the writer (writer.ts) does it, in a thread (writer-worker.ts) or in this one.

import type { Value } from "../indexed-fields.ts";
import type { KeptAnswer } from "../store.ts";
import type { DocumentTable, RecordTable } from "../tables.ts";
import type { UsageDay } from "./usage-writer.ts";

/** A document, or a snapshot, which has no `table`. */
export interface SavedRow {
  readonly table?: DocumentTable;
  readonly columns: readonly Value[];
  /** What a usage document says. */
  readonly usage?: UsageDay;
}

export type RecordRow = readonly [table: RecordTable, columns: readonly Value[]];

/** Every write beside the ledger. Each is one transaction, whole or not at all. */
export interface Writes {
  /** Answers whether it may have changed which accounts a condition is met by: see find.ts. */
  save(rows: readonly SavedRow[]): boolean;
  putRecords(rows: readonly RecordRow[]): void;
  removeRecords(table: RecordTable, ids: readonly string[]): void;
  claim(key: string, account: number, by: string, at: number): boolean;
  confirm(key: string, by: string): void;
  release(key: string, by: string): void;
  reserveIds(counter: string, size: number): number;
  cas(key: string, rev: number, value: string): number | null;
  keepAnswer(answer: KeptAnswer, most: number): void;
  dropAnswers(until: number, limit: number): number;
}

export type Op = keyof Writes;

/** A write: its name and what it is given. */
export type Write = { readonly [O in Op]: readonly [O, ...Parameters<Writes[O]>] }[Op];

/** Rows of `commits` one behind the other: a flat list of texts and numbers is what costs least to hand over. */
export type Cells = readonly (string | number)[];

/** Whose order is kept and of which one message is under way at a time. */
export type Lane = "commits" | "writes";

export type WriterRequest =
  /** One transaction. */
  | Cells
  | { readonly writes: readonly Write[] }
  /** Nobody waits for what this lane has under way: it is dropped, if it was not begun for want of the lock. */
  | { readonly abandon: Lane }
  | { readonly close: true };

export interface WriteFailure {
  readonly failed: string;
  readonly code?: string;
}

export type Result = { readonly ok: unknown } | WriteFailure;

export type WriterReply =
  /** A letter for each commit, in their order: see OUTCOMES. */
  | { readonly commits: string | WriteFailure }
  | { readonly writes: readonly Result[] }
  | { readonly closed: true };

/** Which outcome a letter stands for. */
export const OUTCOMES = { c: "committed", l: "lost" } as const;

export type CommitOutcome = keyof typeof OUTCOMES;

/** What carries out the writes: takes one message after another and tells of each. */
export interface SqliteWriter {
  post(asked: WriterRequest): void;
}

export function failureOf(error: unknown): WriteFailure {
  if (!(error instanceof Error)) return { failed: String(error) };
  const code = "code" in error && typeof error.code === "string" ? { code: error.code } : {};
  return { failed: error.message, ...code };
}

/** The failure as an error again, for whoever asked. */
export const writeError = ({ failed, code }: WriteFailure): Error =>
  Object.assign(new Error(failed), code === undefined ? {} : { code });
