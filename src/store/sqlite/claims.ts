// The small rows beside the ledger: claims of names and keys, counters, compare-and-set rows. Each call is
// one atomic statement; none of them is on the path of a request.

import type { Clock } from "../../base/clock.ts";
import type { Store } from "../store.ts";
import { parseClaim, parseRegistryRow, StoredRow } from "../stored-rows.ts";
import { connectSqlite, type SqliteConnection } from "./connection.ts";
import { untilFree } from "./lock-retry.ts";
import type { Writes } from "./write-messages.ts";

/** Reads of claims and of the registry. */
export function sqliteRows({ prepare }: SqliteConnection): Pick<Store, "findClaim" | "unconfirmed" | "read"> {
  const claimed = prepare<[string]>("SELECT * FROM claims WHERE key = ?");
  const unconfirmed = prepare<[number, number]>(
    "SELECT * FROM claims WHERE confirmed = 0 AND at < ? ORDER BY at, key LIMIT ?",
  );
  const read = prepare<[string]>("SELECT key, value, rev FROM registry WHERE key = ?");
  return {
    async findClaim(key) {
      const row = claimed.get(key);
      return row === null ? null : parseClaim(row);
    },
    unconfirmed: async (before, limit) => unconfirmed.all(before, limit).map(parseClaim),
    async read(key) {
      const row = read.get(key);
      return row === null ? null : parseRegistryRow(row);
    },
  };
}

/** Milliseconds for which the write of a row waits for the server's transactions. */
const WRITE_MS = 10_000;

/** Sets one row of the registry of a database on a connection of its own, in one transaction. */
export async function putSqliteRegistryRow(
  path: string,
  key: string,
  value: string,
  clock: Clock,
): Promise<void> {
  const connection = await untilFree(clock, WRITE_MS, () =>
    connectSqlite(path, { busyMs: 0, existing: true }),
  );
  try {
    const put = connection.prepare(
      `INSERT INTO registry (key, rev, value) VALUES (?1, 1, ?2)
       ON CONFLICT (key) DO UPDATE SET rev = rev + 1, value = ?2`,
    );
    await untilFree(clock, WRITE_MS, () => connection.transaction(() => put.run(key, value)));
  } finally {
    connection.close();
  }
}

/** Writes of claims, counters and the registry. */
export function rowWrites({
  prepare,
}: SqliteConnection): Pick<Writes, "claim" | "confirm" | "release" | "reserveIds" | "cas"> {
  const claim = prepare(
    `INSERT INTO claims (key, account, "by", at, confirmed) VALUES (?, ?, ?, ?, 0) ON CONFLICT (key) DO NOTHING`,
  );
  const claimant = prepare<[string]>(`SELECT key, "by" FROM claims WHERE key = ?`);
  const confirm = prepare(`UPDATE claims SET confirmed = 1 WHERE key = ? AND "by" = ?`);
  const release = prepare(`DELETE FROM claims WHERE key = ? AND "by" = ?`);
  const block = prepare<[string, number]>(
    `INSERT INTO counters (name, next) VALUES (?1, 1 + ?2)
     ON CONFLICT (name) DO UPDATE SET next = next + ?2 RETURNING name, next - ?2 AS first`,
  );
  const create = prepare(
    "INSERT INTO registry (key, rev, value) VALUES (?, 1, ?) ON CONFLICT (key) DO NOTHING",
  );
  const update = prepare("UPDATE registry SET value = ?, rev = rev + 1 WHERE key = ? AND rev = ?");

  const claimantOf = (key: string): string => new StoredRow("claims", claimant.get(key)).text("by");

  return {
    claim: (key, account, by, at) => claim.run(key, account, by, at).changes > 0 || claimantOf(key) === by,
    confirm: (key, by) => void confirm.run(key, by),
    release: (key, by) => void release.run(key, by),
    reserveIds: (counter, size) => new StoredRow("counters", block.get(counter, size)).integer("first"),
    cas(key, rev, value) {
      const { changes } = rev === 0 ? create.run(key, value) : update.run(value, key, rev);
      return changes > 0 ? rev + 1 : null;
    },
  };
}
