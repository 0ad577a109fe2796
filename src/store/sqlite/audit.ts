// The audit view of a SQLite database: one read transaction on a connection of its own. The server goes on
// writing; only its write-ahead log cannot be folded back into the file until the view is closed. It never
// writes.

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import type { AccountFigures } from "../account-ranks.ts";
import type { AuditedDocument, AuditedParts, AuditView, DocumentKey } from "../audit.ts";
import { compareText } from "../indexed-fields.ts";
import type { LineRow } from "../line-rows.ts";
import { parseBody, parseClaim, parseLineRow, parseMoneyRow, StoredRow } from "../stored-rows.ts";
import type { DocumentTable } from "../tables.ts";
import type { Period } from "../usage/charge-rows.ts";
import { PART_KINDS, type PartKind, parsePart } from "../usage/usage-parts.ts";
import { SUMS, type UsageRow } from "../usage/usage-rows.ts";
import { sqliteRows } from "./claims.ts";
import { CommitIndex } from "./commit-index.ts";
import { connectSqlite, type SqliteConnection } from "./connection.ts";
import { sqliteDocuments } from "./documents.ts";
import { sqliteJournal } from "./journal.ts";
import { parseKeyCost } from "./key-costs.ts";
import { projectedRow } from "./ledger-walk.ts";
import { assertColumns, assertCurrent } from "./schema.ts";
import { databasePath, MEMORY } from "./sqlite-store.ts";

const TABLES_COUNTED = [
  ...([
    "marks",
    "snapshots",
    "accounts",
    "usage",
    "usageSums",
    "lines",
    "usageParts",
    "money",
    "claims",
  ] as const),
] as const;
const PARTS = Object.values(PART_KINDS);
type Counted = (typeof TABLES_COUNTED)[number];

/** Opens the view. Throws when there is no database, or when its schema has another version. */
export async function openSqliteAudit(url: string): Promise<AuditView> {
  const path = databasePath(url);
  assert(path !== MEMORY && existsSync(path), `there is no database at ${path}`);
  const connection = connectSqlite(path, { readOnly: true });
  try {
    // SQLite fixes the moment of the view at the first read inside the transaction.
    connection.db.run("BEGIN");
    assertCurrent(connection.db);
    assertColumns(connection.db);
  } catch (error) {
    connection.close();
    throw error;
  }
  const statements = auditStatements(connection);
  const { counts, documentsOf, bodies, sumsOf, claims } = statements;
  const index = new CommitIndex(connection);
  const { readCommits, listActors } = sqliteJournal(connection, index);
  const { loadSnapshot } = sqliteDocuments(connection);

  function rowsOf({ account, day }: AuditedDocument["body"]): UsageRow[] {
    return sumsOf.all(Number(account), String(day)).map(parseUsageRow);
  }

  function counted() {
    const row = new StoredRow("the counts", counts.get());
    const count = (name: Counted): number => row.integer(name);
    return { count, commits: row.integer("commits"), unconfirmed: row.integer("unconfirmed") };
  }

  return {
    readCommits,
    listActors,
    loadSnapshot,
    findClaim: sqliteRows(connection).findClaim,
    async counts() {
      const { count, commits, unconfirmed } = counted();
      return { commits, claims: count("claims"), unconfirmed };
    },
    async derivedOf(actor, account) {
      const documents = account === null ? [] : documentsOf.all(account).map(documentKey);
      const { seq, linesTo } = index.newest(actor, statements.projected()) ?? { seq: 0, linesTo: 0 };
      const row = statements.money.get(actor);
      const money = row === null ? null : parseMoneyRow(row);
      const snapshot = await loadSnapshot(actor);
      return {
        snapshot,
        documents,
        newer: [],
        projectedLines: linesTo,
        money,
        moneyTo: account === null ? 0 : seq,
      };
    },
    lines: async (actor, after, limit) =>
      statements.lines.all(actor, after?.at ?? 0, after?.number ?? 0, limit).map(lineRowOf),
    ...partReads(statements),
    keyCosts: async () => statements.keyCosts.all().map(parseKeyCost),
    keyCostsOf: async () => [],
    levelEvents: async (level) =>
      statements.levelEvents.all(`${level}/`, `${level}0`).map((stored) => {
        const row = new StoredRow("levelEvents", stored);
        return { id: row.key(), seq: row.integer("seq"), body: parseBody("levelEvents", stored) };
      }),
    async document({ table, id }) {
      const row = bodies[table].get(id);
      if (row === null) return null;
      const body = parseBody(table, row);
      const figures = table === "accounts" ? statements.figuresOf.get(id) : null;
      const sums = table === "usage" ? rowsOf(body) : [];
      return { body, sums, figures: figures === null ? null : parseFigures(figures) };
    },
    moved: async () => false,
    async strays(met) {
      const { count, commits } = counted();
      return {
        commits: commits - met.commits,
        marks: count("marks") + index.unindexed().marks - met.marks,
        snapshots: count("snapshots") - met.snapshots,
        accounts: count("accounts") - met.accounts,
        usage: count("usage") - met.usage,
        usageSums: count("usageSums") - met.usageSums,
        lineRows: count("lines") - met.lineRows,
        usageParts: count("usageParts") - met.usageParts,
        moneyRows: count("money") - met.moneyRows,
      };
    },
    ...markReads(index),
    claims: async (after, limit) => claims.all(after, limit).map(parseClaim),
    close: async () => connection.close(),
  };
}

/** The reads of dedup ids, and of the commits that carry them. */
function markReads(index: CommitIndex): Pick<AuditView, "missing" | "repeated" | "holders" | "marked"> {
  return {
    missing: async (actor, marks) =>
      marks.filter(({ mark, seq }) => !index.isMarked(mark, actor, seq)).map(({ mark }) => mark),
    repeated: async (marks) => marks.filter((mark) => index.ofMark(mark, 2).length > 1).sort(compareText),
    holders: async (mark, limit) => index.ofMark(mark, limit).map((place) => ({ mark, ...place })),
    async marked(mark, limit) {
      // The `marks` table may name a commit that is missing.
      const entries = index.ofMark(mark, limit).map(({ actor, seq }) => index.find(actor, seq));
      return entries.filter((entry) => entry !== null).map((entry) => index.commit(entry));
    },
  };
}

/** The reads of parts of usage. */
function partReads({
  hours,
  parts,
}: ReturnType<typeof auditStatements>): Pick<AuditView, "hours" | "partsOf"> {
  return {
    hours: async () => hours.all().map((row) => new StoredRow("usageParts", row).text("period")),
    async partsOf(actor, periods) {
      const found = new Map<Period, AuditedParts>();
      for (const period of periods) {
        const own = PARTS.flatMap((kind) => parts.all(period, kind, actor).map(parsePart));
        if (own.length > 0) found.set(period, { parts: own, upTo: null });
      }
      return found;
    },
  };
}

/** The reads that only an audit needs. */
function auditStatements(connection: SqliteConnection) {
  const { prepare } = connection;
  const counts = prepare(
    `SELECT ${TABLES_COUNTED.map((table) => `(SELECT count(*) FROM ${table}) AS ${table}`).join(", ")},
       (SELECT ifnull(sum(iif(json_valid(heads), json_array_length(heads), 1)), 0) FROM ledger) AS commits,
       (SELECT count(*) FROM claims WHERE confirmed = 0) AS unconfirmed`,
  );
  const documentsOf = prepare<[number]>(
    `SELECT 'accounts' AS "table", key AS id, seq FROM accounts WHERE id = ?1
     UNION ALL SELECT 'usage', key, seq FROM usage WHERE account = ?1 ORDER BY seq, id`,
  );
  const bodyOf = (table: DocumentTable) => prepare<[string]>(`SELECT key, body FROM ${table} WHERE key = ?`);
  const bodies = {
    accounts: bodyOf("accounts"),
    usage: bodyOf("usage"),
    outbox: bodyOf("outbox"),
    configs: bodyOf("configs"),
    levelEvents: bodyOf("levelEvents"),
  };
  const figuresOf = prepare<[string]>("SELECT * FROM accountFigures WHERE account = CAST(? AS INTEGER)");
  const sumsOf = prepare(
    `SELECT day, dna, account, model, ${SUMS.join(", ")} FROM usageSums INDEXED BY usageSums_account_day
     WHERE account = ? AND day = ? ORDER BY model, dna`,
  );
  const projected = projectedRow(connection, "lines");
  const lines = prepare<[string, number, number, number]>(
    "SELECT * FROM lines WHERE actor = ? AND (at, number) > (?, ?) ORDER BY at, number LIMIT ?",
  );
  const hours = prepare(
    `WITH RECURSIVE hours (period) AS (
       SELECT min(period) FROM usageParts WHERE period >= 'H'
       UNION ALL SELECT (SELECT min(next.period) FROM usageParts AS next WHERE next.period > hours.period)
         FROM hours WHERE period IS NOT NULL)
     SELECT period FROM hours WHERE period IS NOT NULL`,
  );
  const parts = prepare<[Period, PartKind, string]>(
    `SELECT kind, name, value, label, ${SUMS.join(", ")} FROM usageParts
     WHERE period = ? AND kind = ? AND actor = ?`,
  );
  const keyCosts = prepare("SELECT day, providerKey, CAST(cost AS TEXT) AS cost FROM keyCosts");
  // A zero is the character behind the slash.
  const levelEvents = prepare<[string, string]>(
    "SELECT key, seq, body FROM levelEvents WHERE key >= ? AND key < ?",
  );
  const money = prepare<[string]>("SELECT actor, seq, sums FROM money WHERE actor = ?");
  const claims = prepare<[string, number]>("SELECT * FROM claims WHERE key > ? ORDER BY key LIMIT ?");
  const projection = { projected, lines, hours, parts, keyCosts, levelEvents, money };
  const documents = { documentsOf, bodies, figuresOf, sumsOf };
  return { counts, ...documents, ...projection, claims };
}

function documentKey(stored: unknown): DocumentKey {
  const row = new StoredRow("documents", stored);
  const table = row.text("table");
  if (table !== "accounts" && table !== "usage") return row.fail("table", "accounts or usage");
  return { table, id: row.key(), seq: row.integer("seq") };
}

function parseFigures(stored: unknown): AccountFigures {
  const row = new StoredRow("accountFigures", stored);
  return {
    account: row.integer("account"),
    balance: row.integer("balance"),
    month: row.text("month"),
    monthCost: row.integer("monthCost"),
  };
}

function parseUsageRow(stored: unknown): UsageRow {
  const row = new StoredRow("usageSums", stored);
  return {
    day: row.text("day"),
    dna: row.text("dna"),
    account: row.integer("account"),
    model: row.text("model"),
    sums: SUMS.map((sum) => row.integer(sum)),
  };
}

function lineRowOf(stored: unknown): LineRow {
  const tags = new StoredRow("lines", stored).textOrNull("tags");
  return parseLineRow({ ...(stored as object), tags: tags === null ? [] : tags.slice(1, -1).split(",") });
}
