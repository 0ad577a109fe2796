// The audit view of a SQLite database: one read transaction on a connection of its own. The server goes on
// writing; only its write-ahead log cannot be folded back into the file until the view is closed. It never
// writes.

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import type { AuditedDocument, AuditView, Counts, DocumentKey, Mark, Met } from "../audit.ts";
import type { Claim } from "../store.ts";
import { SUMS, type UsageRow } from "../usage/usage-rows.ts";
import { sqliteRows } from "./claims.ts";
import { connectSqlite } from "./connection.ts";
import { sqliteDocuments } from "./documents.ts";
import { sqliteJournal } from "./journal.ts";
import { assertColumns, assertCurrent } from "./schema.ts";
import { databasePath, MEMORY } from "./sqlite-store.ts";

const TABLES_COUNTED = ["commits", "marks", "snapshots", "accounts", "usage", "usageSums", "claims"] as const;

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
  const { prepare } = connection;
  const counts = prepare<Counts & Met>(
    `SELECT ${TABLES_COUNTED.map((table) => `(SELECT count(*) FROM ${table}) AS ${table}`).join(", ")},
       (SELECT count(*) FROM claims WHERE confirmed = 0) AS unconfirmed`,
  );
  const documentsOf = prepare<DocumentKey, [number]>(
    `SELECT 'accounts' AS "table", key AS id, seq FROM accounts WHERE id = ?1
     UNION ALL SELECT 'usage', key, seq FROM usage WHERE account = ?1 ORDER BY seq, id`,
  );
  const bodies = {
    accounts: prepare<{ body: string }, [string]>("SELECT body FROM accounts WHERE key = ?"),
    usage: prepare<{ body: string }, [string]>("SELECT body FROM usage WHERE key = ?"),
    outbox: prepare<{ body: string }, [string]>("SELECT body FROM outbox WHERE key = ?"),
    configs: prepare<{ body: string }, [string]>("SELECT body FROM configs WHERE key = ?"),
  };
  const sumsOf = prepare(
    `SELECT day, dna, account, model, ${SUMS.join(", ")} FROM usageSums INDEXED BY usageSums_account_day
     WHERE account = ? AND day = ? ORDER BY model, dna`,
  );
  const missing = prepare<{ mark: string }, [string, string]>(
    `SELECT value->>0 AS mark FROM json_each(?2) WHERE NOT EXISTS
       (SELECT 1 FROM marks WHERE mark = value->>0 AND actor = ?1 AND seq = value->>1)`,
  );
  const repeated = prepare<{ mark: string }, [string]>(
    `SELECT mark FROM marks WHERE mark IN (SELECT value FROM json_each(?))
     GROUP BY mark HAVING count(*) > 1 ORDER BY mark`,
  );
  const holders = prepare<Mark, [string, number]>(
    "SELECT mark, actor, seq FROM marks WHERE mark = ? ORDER BY actor, seq LIMIT ?",
  );
  const claims = prepare<Omit<Claim, "confirmed"> & { confirmed: number }, [string, number]>(
    "SELECT * FROM claims WHERE key > ? ORDER BY key LIMIT ?",
  );
  const { readCommits, listActors } = sqliteJournal(connection);
  const { loadSnapshot } = sqliteDocuments(connection);

  function rowsOf({ account, day }: AuditedDocument["body"]): UsageRow[] {
    const rows = sumsOf.values(Number(account), String(day)) as [
      string,
      string,
      number,
      string,
      ...number[],
    ][];
    return rows.map(([day, dna, account, model, ...sums]) => ({ day, dna, account, model, sums }));
  }

  return {
    readCommits,
    listActors,
    loadSnapshot,
    findClaim: sqliteRows(connection).findClaim,
    counts: async () => counts.get()!,
    async derivedOf(actor, account) {
      const documents = account === null ? [] : documentsOf.all(account);
      return { snapshot: await loadSnapshot(actor), documents, newer: [] };
    },
    async document({ table, id }) {
      const row = bodies[table].get(id);
      if (row === null) return null;
      const body: AuditedDocument["body"] = JSON.parse(row.body);
      return { body, sums: table === "usage" ? rowsOf(body) : [] };
    },
    moved: async () => false,
    async strays(met) {
      const stored = counts.get()!;
      const kinds = ["commits", "marks", "snapshots", "accounts", "usage", "usageSums"] as const;
      return Object.fromEntries(kinds.map((kind) => [kind, stored[kind] - met[kind]])) as unknown as Met;
    },
    missing: async (actor, marks) =>
      missing
        .all(actor, JSON.stringify(marks.map(({ mark, seq }) => [mark, seq])))
        .map(({ mark }) => String(mark)),
    repeated: async (marks) => repeated.all(JSON.stringify(marks)).map(({ mark }) => mark),
    holders: async (mark, limit) => holders.all(mark, limit),
    async marked(mark, limit) {
      const places = holders.all(mark, limit);
      const found = await Promise.all(places.map(({ actor, seq }) => readCommits(actor, seq - 1, 1)));
      // The `marks` table may name a commit that is missing.
      return found.flatMap((commits, i) => commits.filter(({ seq }) => seq === places[i]!.seq));
    },
    claims: async (after, limit) =>
      claims.all(after, limit).map((row) => ({ ...row, confirmed: row.confirmed === 1 })),
    close: async () => connection.close(),
  };
}
