// Parses what a database returns, SQL rows and documents alike, into the values of the store's contract. One
// parser per shape; every store reads through these. An error names the table and the key of a row and never
// its contents, which may be secret. Nothing here reads or writes a database.

import type { CursorRow } from "./keyset-cursor.ts";
import type { LineRow, LinesOfCommit } from "./line-rows.ts";
import { MoneyFold } from "./money-fold.ts";
import type { Claim, Commit, KeptAnswer, Snapshot } from "./store.ts";
import type { DocumentBody } from "./tables.ts";

/** Thrown for a row that is not as this program, or an earlier version of it, writes rows. */
export class StoredRowError extends Error {
  override readonly name = "StoredRowError";
}

/** The columns that name a row, in the order in which they are looked for. */
const KEY_COLUMNS = ["_id", "key", "id", "name"] as const;

type Columns = Readonly<Record<string, unknown>>;

const isRecord = (value: unknown): value is Columns =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** One row: reads its columns by name and type. Each method throws `StoredRowError` for another type. */
export class StoredRow {
  readonly #table: string;
  readonly #columns: Columns;

  constructor(table: string, row: unknown) {
    this.#table = table;
    if (!isRecord(row)) throw new StoredRowError(`a row of ${table} cannot be read: it is not a row`);
    this.#columns = row;
  }

  /** The key of the row: its `_id`, `key`, `id` or `name`, whichever it has. */
  key(): string {
    const column = KEY_COLUMNS.find((name) => this.#columns[name] !== undefined) ?? "key";
    return this.text(column);
  }

  text(column: string): string {
    const value = this.#columns[column];
    return typeof value === "string" ? value : this.fail(column, "a text");
  }

  number(column: string): number {
    const value = this.#columns[column];
    return typeof value === "number" && Number.isFinite(value) ? value : this.fail(column, "a number");
  }

  integer(column: string): number {
    const value = this.#columns[column];
    return Number.isSafeInteger(value) ? (value as number) : this.fail(column, "an integer");
  }

  /** A text or a number. */
  cell(column: string): string | number {
    const value = this.#columns[column];
    return typeof value === "string" ? value : this.number(column);
  }

  textOrNull(column: string): string | null {
    return this.#columns[column] === null ? null : this.text(column);
  }

  integerOrNull(column: string): number | null {
    return this.#columns[column] === null ? null : this.integer(column);
  }

  /** A sum as a number: a number, a bigint, or decimal digits. */
  sum(column: string): number {
    const value = this.#columns[column];
    return typeof value === "number" ? value : Number(this.exactSum(column));
  }

  /** The same sum without a loss, also beyond the safe integers. */
  exactSum(column: string): bigint {
    const value = this.#columns[column];
    if (typeof value === "bigint") return value;
    if (Number.isSafeInteger(value)) return BigInt(value as number);
    return typeof value === "string" && /^-?\d+$/.test(value) ? BigInt(value) : this.fail(column, "a sum");
  }

  /** A flag: 0 or 1 in SQL, a boolean in a document. */
  flag(column: string): boolean {
    const value = this.#columns[column];
    if (value === true || value === 1) return true;
    return value === false || value === 0 ? false : this.fail(column, "a flag");
  }

  /** The value of a text that is JSON. */
  json(column: string): unknown {
    const text = this.text(column);
    try {
      return JSON.parse(text);
    } catch {
      return this.fail(column, "JSON");
    }
  }

  /** A list of which every element passes `isElement`: an array, or a text that is one in JSON. */
  list<T>(column: string, isElement: (element: unknown) => element is T): readonly T[] {
    const value = typeof this.#columns[column] === "string" ? this.json(column) : this.#columns[column];
    return Array.isArray(value) && value.every(isElement) ? value : this.fail(column, "a list as stored");
  }

  /** An object: fields by name. */
  record(column: string): Columns {
    const value = this.#columns[column];
    return isRecord(value) ? value : this.fail(column, "an object");
  }

  has(column: string): boolean {
    return this.#columns[column] !== undefined;
  }

  /** Throws the error of a column that is not as expected. */
  fail(column: string, expected: string): never {
    const { actor, seq } = this.#columns;
    const known = KEY_COLUMNS.map((name) => this.#columns[name]).find((value) => value !== undefined);
    const key = known ?? (actor === undefined ? (this.#columns.row ?? "unknown") : `${actor}/${seq}`);
    throw new StoredRowError(
      `the row ${String(key)} of ${this.#table} cannot be read: its ${column} is not ${expected}`,
    );
  }
}

const isText = (value: unknown): value is string => typeof value === "string";

const isReply = (value: unknown): value is Commit["done"][number] => isRecord(value) && isText(value.id);

const isDatedReply = (value: unknown): value is Snapshot["done"][number] =>
  isReply(value) && "at" in value && typeof value.at === "number";

const isEvent = (value: unknown): value is Commit["events"][number] =>
  isRecord(value) &&
  typeof value.at === "number" &&
  typeof value.line === "boolean" &&
  "e" in value &&
  (!value.line || hasLineFields(value.e));

/**
 * Whether the fields of a ledger line that may be absent are as they are written: its API key, its tags, and
 * its cost in nano-dollars at the provider. Lines of earlier versions have none of them.
 */
const hasLineFields = (e: unknown): boolean =>
  !isRecord(e) ||
  ((e.apiKey === undefined || (Number.isSafeInteger(e.apiKey) && (e.apiKey as number) >= 0)) &&
    (e.apiKeyName === undefined || isText(e.apiKeyName)) &&
    (e.tags === undefined || (isRecord(e.tags) && Object.values(e.tags).every(isText))) &&
    (e.costIn === undefined || (Number.isSafeInteger(e.costIn) && (e.costIn as number) >= 0)));

/** A commit. Its replies and events are JSON; a commit without dedup ids may lack their column. */
export function parseCommit(stored: unknown): Commit {
  const row = new StoredRow("commits", stored);
  const v = row.integer("v");
  if (v !== 1) return row.fail("v", "1, the only format that this version reads");
  return {
    actor: row.text("actor"),
    seq: row.integer("seq"),
    shard: row.integer("shard"),
    epoch: row.integer("epoch"),
    by: row.text("by"),
    at: row.number("at"),
    v,
    done: row.list("done", isReply),
    marks: row.has("marks") ? row.list("marks", isText) : [],
    linesTo: row.integer("linesTo"),
    lines: row.integer("lines"),
    events: row.list("events", isEvent),
  };
}

/** The part of a commit that its ledger lines are made of. */
export function parseLinesOfCommit(stored: unknown): LinesOfCommit {
  const row = new StoredRow("commits", stored);
  return {
    actor: row.text("actor"),
    seq: row.integer("seq"),
    linesTo: row.integer("linesTo"),
    lines: row.integer("lines"),
    events: row.list("events", isEvent),
  };
}

/** A projected ledger line. Its model and API key are null when it has none; its tags are a list. */
export function parseLineRow(stored: unknown): LineRow {
  const row = new StoredRow("lines", stored);
  return {
    actor: row.text("actor"),
    at: row.integer("at"),
    number: row.integer("number"),
    seq: row.integer("seq"),
    type: row.text("type"),
    model: row.textOrNull("model"),
    apiKey: row.integerOrNull("apiKey"),
    tags: row.list("tags", isText),
    amount: row.integer("amount"),
  };
}

/** The row of an account's sums of credit, as it is stored. */
export function parseMoneyRow(stored: unknown): { readonly seq: number; readonly sums: string } {
  const row = new StoredRow("money", stored);
  return { seq: row.integer("seq"), sums: row.text("sums") };
}

/** The sums of credit of an account, by the key of their row or its `actor`. */
export function parseMoneyFold(stored: unknown): MoneyFold {
  const row = new StoredRow("money", stored);
  const actor = row.has("actor") ? row.text("actor") : row.key();
  const [seq, sums] = [row.integer("seq"), row.text("sums")];
  try {
    return MoneyFold.fromText(actor, seq, sums);
  } catch {
    return row.fail("sums", "sums of credit");
  }
}

/** The place of a commit in the ledger. */
export interface CommitPlace {
  readonly actor: string;
  readonly seq: number;
}

/** The place of a commit and its dedup ids. */
export interface MarkedPlace extends CommitPlace {
  readonly marks: readonly string[];
}

/** A commit without its replies and events. `at` is wall-clock milliseconds. */
export function parseMarkedPlace(stored: unknown): MarkedPlace & { readonly at: number } {
  const row = new StoredRow("commits", stored);
  return {
    actor: row.text("actor"),
    seq: row.integer("seq"),
    at: row.number("at"),
    marks: row.has("marks") ? row.list("marks", isText) : [],
  };
}

/** The seq of a commit, and the number of ledger lines of its actor up to it. */
export function parseLines(stored: unknown): { readonly seq: number; readonly linesTo: number } {
  const row = new StoredRow("commits", stored);
  return { seq: row.integer("seq"), linesTo: row.integer("linesTo") };
}

/** A snapshot. Its actor is the key of its row; its state and replies are JSON. */
export function parseSnapshot(stored: unknown): Snapshot {
  const row = new StoredRow("snapshots", stored);
  return {
    actor: row.has("actor") ? row.text("actor") : row.key(),
    shard: row.integer("shard"),
    seq: row.integer("seq"),
    at: row.number("at"),
    epoch: row.integer("epoch"),
    linesTo: row.integer("linesTo"),
    v: row.integer("v"),
    state: row.json("state"),
    done: row.list("done", isDatedReply),
    pending: row.flag("pending"),
  };
}

/** The body of a document or record of a table. */
export function parseBody(table: string, stored: unknown): DocumentBody {
  const row = new StoredRow(table, stored);
  const body = row.json("body");
  return isRecord(body) ? body : row.fail("body", "an object");
}

/** A row of a scan whose position is its value of `order` and its key. */
export function parseCursorRow(table: string, order: string, stored: unknown): CursorRow {
  const row = new StoredRow(table, stored);
  return { value: row.cell(order), key: row.key(), body: parseBody(table, stored) };
}

/** A claim, by the key of its row. */
export function parseClaim(stored: unknown): Claim {
  const row = new StoredRow("claims", stored);
  return {
    key: row.key(),
    account: row.integer("account"),
    by: row.text("by"),
    at: row.number("at"),
    confirmed: row.flag("confirmed"),
  };
}

/** A kept answer, by the key of its row. */
export function parseKeptAnswer(stored: unknown): KeptAnswer {
  const row = new StoredRow("answers", stored);
  const kind = row.text("kind");
  if (kind !== "gateway" && kind !== "admin") return row.fail("kind", "gateway or admin");
  return {
    id: row.key(),
    account: row.integer("account"),
    kind,
    at: row.number("at"),
    until: row.number("until"),
    body: row.text("body"),
  };
}

/** A row of the registry. */
export function parseRegistryRow(stored: unknown): { readonly value: string; readonly rev: number } {
  const row = new StoredRow("registry", stored);
  return { value: row.text("value"), rev: row.integer("rev") };
}
