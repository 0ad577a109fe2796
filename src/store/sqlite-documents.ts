// Snapshots and materialised documents: what the ledger amounts to, so that nobody has to replay it from its start.
// An older or equal seq never overwrites, however late it comes.

import { fieldsOf, indexedValues, type Value } from "./fields.ts";
import type { Connection } from "./sqlite-connection.ts";
import { countQuery, findQuery } from "./sqlite-find.ts";
import { type Snapshot, type Store, type StoredDocument, TABLES, type Table } from "./store.ts";

type Documents = Pick<Store, "load" | "save" | "find" | "count">;

type SnapshotRow = Omit<Snapshot, "state" | "done" | "pending"> & {
  readonly state: string;
  readonly done: string;
  readonly pending: number;
};

export function sqliteDocuments(connection: Connection): Documents {
  const load = connection.prepare<SnapshotRow, [string]>("SELECT * FROM snapshots WHERE actor = ?");
  const upsertSnapshot = connection.prepare(
    `INSERT INTO snapshots (actor, shard, seq, at, epoch, linesTo, v, pending, state, done)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (actor) DO UPDATE SET shard = excluded.shard, seq = excluded.seq, at = excluded.at,
       epoch = excluded.epoch, linesTo = excluded.linesTo, v = excluded.v, pending = excluded.pending,
       state = excluded.state, done = excluded.done
     WHERE excluded.seq > snapshots.seq`,
  );
  const tables = Object.keys(TABLES) as Table[];
  const upserts = new Map(tables.map((table) => [table, connection.prepare(upsertSql(table))]));

  function store({ table, columns }: Row): void {
    (table ? upserts.get(table)! : upsertSnapshot).run(...columns);
  }

  return {
    async load(actor) {
      const row = load.get(actor);
      if (!row) return null;
      return { ...row, state: JSON.parse(row.state), done: JSON.parse(row.done), pending: row.pending === 1 };
    },
    async save(saves) {
      // Text first, transaction second: a body that is not plain data throws before anything is stored.
      const rows = saves.flatMap(({ documents, snapshot }) => [
        ...documents.map(documentRow),
        snapshotRow(snapshot),
      ]);
      if (rows.length > 0) connection.transaction(() => rows.forEach(store));
    },
    async find(find) {
      const { sql, params } = findQuery(find);
      return connection
        .recent<{ body: string }>(sql)
        .all(...params)
        .map(({ body }) => JSON.parse(body));
    },
    async count(table, where) {
      const { sql, params } = countQuery(table, where);
      return connection.recent<{ count: number }>(sql).get(...params)?.count ?? 0;
    },
  };
}

/** `table` absent: a snapshot. */
interface Row {
  readonly table?: Table;
  readonly columns: readonly Value[];
}

const snapshotRow = (s: Snapshot): Row => ({
  columns: [
    ...[s.actor, s.shard, s.seq, s.at, s.epoch, s.linesTo, s.v, Number(s.pending)],
    ...[JSON.stringify(s.state ?? null), JSON.stringify(s.done)],
  ],
});

const documentRow = ({ table, id, seq, body }: StoredDocument): Row => ({
  table,
  columns: [id, seq, JSON.stringify(body), ...indexedValues(table, body)],
});

function upsertSql(table: Table): string {
  const names = ["seq", "body", ...fieldsOf(table).map(([field]) => field)].map((name) => `"${name}"`);
  return `INSERT INTO ${table} (key, ${names.join(", ")}) VALUES (?, ${names.map(() => "?").join(", ")})
    ON CONFLICT (key) DO UPDATE SET ${names.map((name) => `${name} = excluded.${name}`).join(", ")}
    WHERE excluded.seq > ${table}.seq`;
}
