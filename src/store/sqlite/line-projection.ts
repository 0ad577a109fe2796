// Writes the projection of ledger lines behind the commits: reads the rows of the ledger after the last
// one that was projected, in the order in which they were stored, a batch at a time. It runs on the writer's
// thread between its messages and is not synced: the sync of a later commit covers it. A commit never waits
// for its lines, only, now and then, for a step of a batch (two milliseconds).
//
//   commits read and parsed, in steps -> their lines sorted by actor -> stored with the parts of usage that
//   their charges are of, and the sums of provider keys, in steps; the last step also stores the place of the
//   batch's last row
//
// The sums of credit per account (money-fold.ts) are made of the same commits, and stored with the same batch.
//
// crash                              state found                       recovery
// before a batch is stored           the place before it, and perhaps  it is made again from that place; a line
//                                    some of its lines                 that is there stays
// of the machine, before its sync    the same                          the same
// a step that fails                  the same                          tried again later, and reported

import { KeyCostSums, keyCostOf } from "../key-costs.ts";
import { type LineRow, type LinesOfCommit, lineRows } from "../line-rows.ts";
import { hasMoney } from "../money-fold.ts";
import { type ChargeRow, chargeOf, hourPeriod, type Period } from "../usage/charge-rows.ts";
import type { Cell } from "../usage/usage-rows.ts";
import type { SqliteConnection } from "./connection.ts";
import { keyCostWriter } from "./key-costs.ts";
import type { LedgerRow } from "./ledger-rows.ts";
import { ledgerRowsAfter, projectedRow } from "./ledger-walk.ts";
import { MoneyBatch } from "./money-projection.ts";
import { BATCH_MS, BEHIND_MS, type Projection } from "./projection-schedule.ts";
import { partsWeight, type UsagePartsWriter, usagePartsWriter } from "./usage-parts-writer.ts";

/**
 * Lines of a batch, about. The lines of an actor are stored side by side: the more of them there are in a
 * batch, the fewer pages are written per line.
 */
const BATCH_LINES = 8_192;
/** Lines of one step, which the commits behind it wait for. The row of the ledger that exceeds it is read all the same. */
const STEP_MAX = 512;
/** What the lines of one step weigh with the parts of their charges, see `partsWeight`. */
const WEIGHT_MAX = 768;
/** How long rows of hours are kept: bills by hours go back 48 hours. */
const HOURS_KEPT_MS = 50 * 3_600_000;

/** The batches of a database, step by step. */
export class LineProjection implements Projection {
  readonly #connection: SqliteConnection;
  readonly #statements: ReturnType<typeof projectionStatements>;
  readonly #parts: UsagePartsWriter;
  /** The lines of the current batch that are not stored yet. */
  #lines: BatchLine[] = [];
  /** The time of the newest charge, which decides which hours are kept; wall-clock milliseconds. */
  #newest = 0;
  /** The rows of hours before this one are removed. */
  #removed: Period = "";
  readonly #addKeyCosts: ReturnType<typeof keyCostWriter>;
  /** The last row of the current batch; null when it has none yet. */
  #last: number | null = null;
  #isRead = false;
  /** Whether the current batch has all rows that were stored when it was read. */
  #isEnd = false;
  /** The changes of credit in the current batch that are not stored yet. */
  readonly #money: MoneyBatch;

  constructor(connection: SqliteConnection) {
    this.#connection = connection;
    this.#statements = projectionStatements(connection);
    this.#parts = usagePartsWriter(connection);
    this.#addKeyCosts = keyCostWriter(connection);
    this.#money = new MoneyBatch(connection);
  }

  /**
   * Does the next step. Returns the milliseconds until the step after it: a few within a batch and to the next one of many,
   * BATCH_MS to one of what came meanwhile, so that it does not become smaller under load; null when no commit waits.
   */
  step(): number | null {
    if (!this.#isRead) {
      this.#read();
      if (!this.#isRead || stepLines(this.#lines) < this.#lines.length) return BEHIND_MS;
    }
    if (this.#last !== null) this.#store(this.#last);
    else this.#isRead = false;
    if (this.#isRead || !this.#isEnd || this.#removeHours()) return BEHIND_MS;
    return this.#statements.rowsAfter(this.#statements.place()).next().done ? null : BATCH_MS;
  }

  /** Removes some of the rows of hours that are too old. Returns false when there are no more. */
  #removeHours(): boolean {
    const before = hourPeriod(this.#newest - HOURS_KEPT_MS);
    if (before <= this.#removed) return false;
    if (this.#parts.removeHours(before)) return true;
    this.#removed = before;
    return false;
  }

  /** Reads the next rows of the ledger. The batch is complete when there are no more, or enough. */
  #read(): void {
    this.#isEnd = true;
    let size = 0;
    for (const ledgerRow of this.#statements.rowsAfter(this.#last ?? this.#statements.place())) {
      size += this.#add(ledgerRow);
      this.#isEnd = size < STEP_MAX;
      if (!this.#isEnd) break;
    }
    if (!this.#isEnd && this.#lines.length < BATCH_LINES) return;
    // The order within an actor stays. To sort the lines themselves would take several milliseconds.
    const ofActors = Map.groupBy(this.#lines, ({ row }) => row.actor);
    this.#lines = [...ofActors.keys()].sort().flatMap((actor) => ofActors.get(actor)!);
    this.#isRead = true;
  }

  /** Adds the commits of a row. Returns the number of its lines, of which a commit without any counts as one. */
  #add(ledgerRow: LedgerRow): number {
    let size = 0;
    const commits: LinesOfCommit[] = [];
    for (let nth = 0; nth < ledgerRow.size; nth++) {
      const { actor, lines } = ledgerRow.head(nth);
      size += Math.max(1, lines);
      if (lines === 0 && !hasMoney(actor)) continue;
      commits.push(ledgerRow.linesOfCommit(nth));
    }
    // All of them could be read, so a step that is repeated adds none twice.
    for (const commit of commits) {
      const rows = lineRows(commit);
      let line = 0;
      for (const event of commit.events) {
        if (!event.line) continue;
        const row = rows[line++]!;
        this.#lines.push({ row, charge: chargeOf(row, event.e), cost: keyCostOf(event.e) });
      }
      this.#money.add(commit);
    }
    this.#last = ledgerRow.row;
    return size;
  }

  /** Stores the next lines and sums of the batch, and with the last of them the place of its last row. */
  #store(last: number): void {
    const { insert, move } = this.#statements;
    const some = this.#lines.slice(0, stepLines(this.#lines));
    const isLastOfLines = some.length === this.#lines.length;
    const accounts = isLastOfLines ? this.#money.next() : [];
    const isLast = isLastOfLines && accounts.length === this.#money.size;
    this.#connection.unsynced(() => {
      const charges: ChargeRow[] = [];
      const costs = new KeyCostSums();
      for (const { row, charge, cost } of some) {
        // A line that is there was stored by an earlier attempt at this batch, together with the sums that it is part of.
        if (insert.run(...lineCells(row)).changes === 0) continue;
        if (charge !== null) charges.push(charge);
        if (cost !== null) costs.addCost(row.at, cost);
      }
      this.#parts.add(charges);
      this.#addKeyCosts(costs.sums());
      this.#money.store(accounts);
      if (isLast) move.run(last);
    });
    for (const { row } of some) this.#newest = Math.max(this.#newest, row.at);
    this.#lines = this.#lines.slice(some.length);
    this.#money.remove(accounts);
    if (!isLast) return;
    this.#last = null;
    this.#isRead = false;
  }
}

/** A line of a batch, and the charge that it is. */
interface BatchLine {
  readonly row: LineRow;
  readonly charge: ChargeRow | null;
  readonly cost: ReturnType<typeof keyCostOf>;
}

function projectionStatements(connection: SqliteConnection) {
  const { prepare } = connection;
  return {
    place: projectedRow(connection, "lines"),
    rowsAfter: ledgerRowsAfter(connection),
    insert: prepare(
      `INSERT OR IGNORE INTO lines (actor, at, number, seq, type, model, apiKey, tags, amount)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ),
    move: prepare<[number]>("UPDATE meta SET value = ? WHERE key = 'lines'"),
  };
}

/**
 * How many of the next lines one step stores: STEP_MAX, and fewer where their charges have many parts. A charge of a
 * further account has parts of its own, and the first lines of a step are always stored.
 */
function stepLines(lines: readonly BatchLine[]): number {
  let weight = 0;
  for (let i = 0; i < lines.length; i++) {
    const { row, charge } = lines[i]!;
    if (i >= STEP_MAX || weight >= WEIGHT_MAX) return i;
    weight += charge === null ? 1 : partsWeight(charge, i > 0 && lines[i - 1]!.row.actor === row.actor);
  }
  return lines.length;
}

/** The columns of a row, in the order of the table. */
function lineCells({ actor, at, number, seq, type, model, apiKey, tags, amount }: LineRow): (Cell | null)[] {
  const delimited = tags.length === 0 ? null : delimitedTags(tags);
  return [actor, at, number, seq, type, model, apiKey, delimited, amount];
}

/** Tags as one text that has each of them between two commas, which no tag contains. */
const delimitedTags = (tags: readonly string[]): string => `,${tags.join(",")},`;
