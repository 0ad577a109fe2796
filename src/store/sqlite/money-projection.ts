// Keeps the sums of credit per account in the table `money`, a part of the batches of line-projection.ts: the
// changes of a batch by account, added to the accounts' rows a step at a time. A row says up to which seq it
// goes, so a batch that is made again after a crash adds nothing twice. It never writes outside of a step.

import type { LinesOfCommit } from "../line-rows.ts";
import { hasMoney, type MoneyChanges, MoneyFold, moneyChanges } from "../money-fold.ts";
import { parseMoneyFold } from "../stored-rows.ts";
import type { SqliteConnection } from "./connection.ts";

/** Accounts of one step, which are read, added to and stored in about two milliseconds. */
const ACCOUNTS_MAX = 128;

/** The changes of a batch that are not stored yet. */
export class MoneyBatch {
  readonly #changes = new Map<string, MoneyChanges[]>();
  readonly #statements: ReturnType<typeof moneyStatements>;

  constructor(connection: SqliteConnection) {
    this.#statements = moneyStatements(connection);
  }

  /** The number of accounts with changes. */
  get size(): number {
    return this.#changes.size;
  }

  /** Adds a commit. The commits of an account come in order. */
  add(commit: LinesOfCommit): void {
    if (!hasMoney(commit.actor)) return;
    const changes = moneyChanges(commit);
    const known = this.#changes.get(commit.actor);
    if (known === undefined) this.#changes.set(commit.actor, [changes]);
    else known.push(changes);
  }

  /** The accounts of the next step. */
  next(): readonly string[] {
    return [...this.#changes.keys().take(ACCOUNTS_MAX)];
  }

  /** Stores the rows of these accounts. Call it in a transaction. */
  store(actors: readonly string[]): void {
    const { load, put } = this.#statements;
    for (const actor of actors) {
      const row = load.get(actor);
      const fold = row === null ? new MoneyFold(actor) : parseMoneyFold(row);
      for (const changes of this.#changes.get(actor) ?? []) fold.add(changes);
      put.run(actor, fold.seq, fold.toText());
    }
  }

  /** Forgets the changes of these accounts, which are stored. */
  remove(actors: readonly string[]): void {
    for (const actor of actors) this.#changes.delete(actor);
  }
}

function moneyStatements({ prepare }: SqliteConnection) {
  return {
    load: prepare<[string]>("SELECT actor, seq, sums FROM money WHERE actor = ?"),
    put: prepare("INSERT OR REPLACE INTO money (actor, seq, sums) VALUES (?, ?, ?)"),
  };
}
