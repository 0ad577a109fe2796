// Snapshots and materialized documents: the state that the ledger amounts to, so that it need not be replayed
// from its start. A document with an older or equal seq never overwrites, however late it arrives.

import { accountFigures } from "../account-ranks.ts";
import { indexedFieldsOf, indexedValues, type Value } from "../indexed-fields.ts";
import type { Save, Snapshot, Store, StoredDocument } from "../store.ts";
import { parseSnapshot } from "../stored-rows.ts";
import { CHANGING_FIELDS, type DocumentTable } from "../tables.ts";
import type { SqliteConnection } from "./connection.ts";
import { listValues } from "./counted-lists.ts";
import { usageDayCells, usageSums } from "./usage-writer.ts";
import type { SavedRow, Writes } from "./write-messages.ts";

/** Reads of snapshots. */
export function sqliteDocuments(connection: SqliteConnection): Pick<Store, "loadSnapshot"> {
  const load = connection.prepare<[string]>("SELECT * FROM snapshots WHERE actor = ?");
  return {
    async loadSnapshot(actor) {
      const row = load.get(actor);
      return row === null ? null : parseSnapshot(row);
    },
  };
}

/** Writes of snapshots and documents, one transaction per call, which is not synced. */
export function documentWrites(connection: SqliteConnection): Pick<Writes, "save"> {
  const upsertSnapshot = connection.prepare(
    `INSERT INTO snapshots (actor, shard, seq, at, epoch, linesTo, v, pending, state, done)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (actor) DO UPDATE SET shard = excluded.shard, seq = excluded.seq, at = excluded.at,
       epoch = excluded.epoch, linesTo = excluded.linesTo, v = excluded.v, pending = excluded.pending,
       state = excluded.state, done = excluded.done
     WHERE excluded.seq > snapshots.seq`,
  );
  let changed: Value[] = [];
  const idOf = connection.prepare<[Value]>("SELECT id AS value FROM accounts WHERE key = ?");
  const onIndexed = (table: DocumentTable, [key, , , id]: readonly Value[]): void => {
    if (table === "accounts") changed.push(...listValues(table, [idOf.get(key!)]), id!);
  };
  const upserts = new Map(DOCUMENT_TABLES.map((table) => [table, upsert(connection, table, onIndexed)]));
  const replaceSums = usageSums(connection);
  const replaceFigures = connection.prepare(
    `INSERT INTO accountFigures (account, balance, month, monthCost) VALUES (?, ?, ?, ?)
     ON CONFLICT (account) DO UPDATE SET balance = excluded.balance, month = excluded.month, monthCost = excluded.monthCost`,
  );

  /** Whether the document that was stored last was newer than the stored one. */
  let isNewer = false;

  function store(row: SavedRow): void {
    if (row[0] === "usageSums") {
      const [, ...usage] = row;
      if (isNewer) replaceSums(usage);
      return;
    }
    const [table, ...columns] = row;
    if (table === "snapshots") upsertSnapshot.run(...columns);
    else if (table !== "accountFigures") isNewer = upserts.get(table)!(columns);
    else if (isNewer) replaceFigures.run(...columns);
  }

  return {
    save(rows) {
      changed = [];
      // Not synced: what a crash of the machine takes away is in the ledger, and whatever is synced later covers it.
      connection.unsynced(() => rows.forEach(store));
      return { table: "accounts", values: changed };
    },
  };
}

/**
 * The rows of documents and snapshots in the order in which they are stored. Throws for a body that is not
 * plain data.
 */
export function savedRows(saves: readonly Save[]): readonly SavedRow[] {
  const rows: SavedRow[] = [];
  for (const { documents, snapshot } of saves) {
    for (const document of documents) addDocument(rows, document);
    if (snapshot !== null) rows.push(snapshotRow(snapshot));
  }
  return rows;
}

const DOCUMENT_TABLES: readonly DocumentTable[] = ["accounts", "usage", "outbox", "configs", "levelEvents"];

const snapshotRow = (s: Snapshot): SavedRow => [
  ...(["snapshots", s.actor, s.shard, s.seq, s.at, s.epoch, s.linesTo, s.v, Number(s.pending)] as const),
  ...[JSON.stringify(s.state ?? null), JSON.stringify(s.done)],
];

function addDocument(rows: SavedRow[], document: StoredDocument): void {
  const { table, id, seq, body } = document;
  rows.push([table, id, seq, JSON.stringify(body), ...indexedValues(table, body)]);
  if (table === "usage") rows.push(["usageSums", ...usageDayCells(document)]);
  const figures = table === "accounts" ? accountFigures(body) : null;
  if (figures === null) return;
  const { account, balance, month, monthCost } = figures;
  rows.push(["accountFigures", account, balance, month, monthCost]);
}

/**
 * Returns a function that stores a document if it is newer than the stored one, and returns whether it was.
 * `onIndexed` is called first when an indexed field may change.
 */
function upsert(
  { prepare }: SqliteConnection,
  table: DocumentTable,
  onIndexed: (table: DocumentTable, columns: readonly Value[]) => void,
): (columns: readonly Value[]) => boolean {
  const names = indexedFieldsOf(table).map(([field]) => field);
  const fields = names.map((field) => `"${field}"`);
  const places = names.map((field, i) => ({ name: `"${field}"`, at: `?${i + 4}`, field }));
  const changing = places.filter(({ field }) => CHANGING_FIELDS.has(field));
  const lasting = places.filter(({ field }) => !CHANGING_FIELDS.has(field));
  // SQLite rewrites every index whose columns are named in SET, changed or not. Most saves change no indexed
  // field but those that always change, so this statement rewrites the row and their indexes only.
  const update = prepare(
    `UPDATE ${table} SET seq = ?2, body = ?3 ${changing.map(({ name, at }) => `, ${name} = ${at}`).join("")}
     WHERE key = ?1 AND seq < ?2 ${lasting.map(({ name, at }) => `AND ${name} IS ${at}`).join(" ")}`,
  );
  const columns = ["seq", "body", ...fields];
  const insert = prepare(
    `INSERT INTO ${table} (key, ${columns.join(", ")}) VALUES (?, ${columns.map(() => "?").join(", ")})
     ON CONFLICT (key) DO UPDATE SET ${columns.map((name) => `${name} = excluded.${name}`).join(", ")}
     WHERE excluded.seq > ${table}.seq`,
  );
  return (values) => {
    if (update.run(...values).changes > 0) return true;
    onIndexed(table, values);
    return insert.run(...values).changes > 0;
  };
}
