// The small rows beside the ledger: claims of names and keys, counters, compare-and-set rows. Each call is
// one atomic statement; none of them is on the path of a request.

import type { Store } from "../store.ts";
import { parseClaim, parseRegistryRow, StoredRow } from "../stored-rows.ts";
import type { SqliteConnection } from "./connection.ts";
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
