// The stored form of the ledger. The commits of a transaction are in one row of the table `ledger`, or in several of some 16 KB,
// since a row and an entry in an index for each commit would dirty a page of their own:
//
//   at      the newest time of its commits
//   v       the version of their format
//   heads   a JSON array that has an array for each commit: what finds and orders it, see `headOf`
//   bodies  a line of JSON for each commit, `[done, events]`, so that one is read without parsing the others
//
// Everything here is pure. Which row has a commit is the matter of commit-index.ts.

import assert from "node:assert/strict";
import type { LinesOfCommit } from "../line-rows.ts";
import type { Commit } from "../store.ts";
import { parseCommit, parseLinesOfCommit, StoredRow } from "../stored-rows.ts";
import type { Cells } from "./write-messages.ts";

/** Commits whose texts are longer together are stored in several rows, so that reading one of them stays cheap. */
const ROW_CHARS = 16_384;

/** A commit without its replies and events. */
export type CommitHead = Omit<Commit, "v" | "done" | "events">;

/** The only format that this version writes and reads. */
const FORMAT = 1;

/** The cells of a commit on its way to the writer. */
export const COMMIT_CELLS = 6;
const [ACTOR, SEQ, AT, MARKS, HEAD, BODY] = [0, 1, 2, 3, 4, 5];

/** Returns commits as cells. Throws when one is not plain data, or has a number that no head takes. */
export function commitCells(commits: readonly Commit[]): Cells {
  const cells: (string | number)[] = [];
  for (const commit of commits) addCells(cells, commit);
  return cells;
}

function addCells(cells: (string | number)[], c: Commit): void {
  const { actor, seq, shard, epoch, by, at, linesTo, lines, marks } = c;
  // Refused here, the error concerns this caller only; found by the writer, it would undo the other commits too.
  const hasNumbers = [seq, shard, epoch, at, linesTo, lines].every(Number.isSafeInteger) && c.v === FORMAT;
  const hasTexts = typeof actor === "string" && typeof by === "string" && isTexts(marks);
  const hasLists = Array.isArray(c.done) && Array.isArray(c.events);
  assert(hasNumbers && hasTexts && hasLists, `commit ${actor}/${seq} holds what the ledger does not take`);
  const head = JSON.stringify([actor, seq, shard, epoch, by, at, linesTo, lines, marks]);
  cells.push(actor, seq, at, marks.length, head, JSON.stringify([c.done, c.events]));
}

/** The columns of a row, in the order of the table without its key. */
export type LedgerColumns = [at: number, v: number, heads: string, bodies: string];

/** Gathers commits to the rows of a transaction. */
export class LedgerRows {
  /** The rows that are complete. */
  readonly complete: LedgerColumns[] = [];
  #at = 0;
  #chars = 0;
  #heads: string[] = [];
  #bodies: string[] = [];

  /** Adds the commit whose cells begin at an index. */
  add(cells: Cells, from: number): void {
    const [head, body] = [cells[from + HEAD] as string, cells[from + BODY] as string];
    const chars = head.length + body.length;
    if (this.#chars + chars > ROW_CHARS) this.end();
    this.#at = Math.max(this.#at, cells[from + AT] as number);
    this.#chars += chars;
    this.#heads.push(head);
    this.#bodies.push(body);
  }

  /** Completes the row of the commits that were added last. */
  end(): void {
    if (this.#heads.length === 0) return;
    this.complete.push([this.#at, FORMAT, `[${this.#heads.join(",")}]`, this.#bodies.join("\n")]);
    [this.#at, this.#chars, this.#heads, this.#bodies] = [0, 0, [], []];
  }
}

/** The actor of the commit whose cells begin at an index. */
export const actorOfCells = (cells: Cells, from: number): string => cells[from + ACTOR] as string;

/** The seq of the commit whose cells begin at an index. */
export const seqOfCells = (cells: Cells, from: number): number => cells[from + SEQ] as number;

/** The number of dedup ids of the commits in cells. */
export function dedupIdsIn(cells: Cells): number {
  let ids = 0;
  for (let at = MARKS; at < cells.length; at += COMMIT_CELLS) ids += cells[at] as number;
  return ids;
}

/** The head of the commit whose cells begin at an index. */
export const headOfCells = (cells: Cells, from: number): CommitHead =>
  headOf(new StoredRow("ledger", {}), JSON.parse(cells[from + HEAD] as string));

/** The heads of a row of the ledger that was read with `row` and `heads`. */
export function parseHeads(stored: unknown): { readonly row: number; readonly heads: readonly CommitHead[] } {
  const row = new StoredRow("ledger", stored);
  return {
    row: row.integer("row"),
    heads: row.list("heads", Array.isArray).map((head) => headOf(row, head)),
  };
}

function headOf(row: StoredRow, head: readonly unknown[]): CommitHead {
  const [actor, seq, shard, epoch, by, at, linesTo, lines, marks] = head;
  if (typeof actor !== "string" || typeof by !== "string" || !isTexts(marks)) return row.fail("heads", HEADS);
  if (!isWhole(seq) || !isWhole(shard) || !isWhole(epoch) || !isWhole(at)) return row.fail("heads", HEADS);
  if (!isWhole(linesTo) || !isWhole(lines)) return row.fail("heads", HEADS);
  return { actor, seq, shard, epoch, by, at, linesTo, lines, marks };
}

const HEADS = "a list of the heads of commits";

const isWhole = (value: unknown): value is number => Number.isSafeInteger(value);

const isTexts = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((one) => typeof one === "string");

/** A row of the ledger with its commits, of which only those that are asked for are parsed. */
export class LedgerRow {
  readonly row: number;
  readonly #stored: StoredRow;
  readonly #heads: readonly (readonly unknown[])[];
  readonly #bodies: readonly string[];

  /** Throws `StoredRowError` for a row that is not as this program writes them. */
  constructor(stored: unknown) {
    const row = new StoredRow("ledger", stored);
    if (row.integer("v") !== FORMAT) row.fail("v", `${FORMAT}, the only format that is read`);
    this.row = row.integer("row");
    this.#stored = row;
    this.#heads = row.list("heads", Array.isArray);
    this.#bodies = row.text("bodies").split("\n");
    if (this.#bodies.length !== this.#heads.length) row.fail("bodies", "as long as its heads");
  }

  /** The number of its commits. */
  get size(): number {
    return this.#heads.length;
  }

  head(nth: number): CommitHead {
    return headOf(this.#stored, this.#heads[nth] ?? this.#stored.fail("heads", `longer than ${nth}`));
  }

  /** The text of a commit's replies and events. */
  bodyText(nth: number): string {
    return this.#bodies[nth] ?? this.#stored.fail("bodies", `longer than ${nth}`);
  }

  commit(nth: number): Commit {
    return parseCommit(this.#columns(nth));
  }

  linesOfCommit(nth: number): LinesOfCommit {
    return parseLinesOfCommit(this.#columns(nth));
  }

  #columns(nth: number) {
    const [done, events] = bodyOf(this.bodyText(nth)) ?? [];
    const head = this.head(nth);
    // Callers share nothing, so the list is not that of the row.
    return { ...head, marks: [...head.marks], v: FORMAT, done, events };
  }
}

/** Null for a text that is no body; what it lacks is found where the commit is parsed. */
function bodyOf(text: string): readonly unknown[] | null {
  try {
    const body: unknown = JSON.parse(text);
    return Array.isArray(body) ? body : null;
  } catch {
    return null;
  }
}
