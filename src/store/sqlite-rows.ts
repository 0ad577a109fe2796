// The small rows beside the ledger: claims of names and keys, counters, compare-and-set rows.
// Each call is one statement, atomic by itself; none of them is on the path of a request.

import assert from "node:assert/strict";
import type { Connection } from "./sqlite-connection.ts";
import type { Claim, Store } from "./store.ts";

type SmallRows = Pick<
  Store,
  "claim" | "claimed" | "confirm" | "release" | "unconfirmed" | "block" | "read" | "cas"
>;

type ClaimRow = Omit<Claim, "confirmed"> & { readonly confirmed: number };

export function sqliteRows({ prepare }: Connection): SmallRows {
  const claim = prepare(
    `INSERT INTO claims (key, account, "by", at, confirmed) VALUES (?, ?, ?, ?, 0) ON CONFLICT (key) DO NOTHING`,
  );
  const claimed = prepare<ClaimRow, [string]>("SELECT * FROM claims WHERE key = ?");
  const confirm = prepare(`UPDATE claims SET confirmed = 1 WHERE key = ? AND "by" = ?`);
  const release = prepare(`DELETE FROM claims WHERE key = ? AND "by" = ?`);
  const unconfirmed = prepare<ClaimRow, [number, number]>(
    "SELECT * FROM claims WHERE confirmed = 0 AND at < ? ORDER BY at, key LIMIT ?",
  );
  const block = prepare<{ first: number }, [string, number]>(
    `INSERT INTO counters (name, next) VALUES (?1, 1 + ?2)
     ON CONFLICT (name) DO UPDATE SET next = next + ?2 RETURNING next - ?2 AS first`,
  );
  const read = prepare<{ value: string; rev: number }, [string]>(
    "SELECT value, rev FROM registry WHERE key = ?",
  );
  const create = prepare(
    "INSERT INTO registry (key, rev, value) VALUES (?, 1, ?) ON CONFLICT (key) DO NOTHING",
  );
  const update = prepare("UPDATE registry SET value = ?, rev = rev + 1 WHERE key = ? AND rev = ?");

  return {
    claim: async (key, account, by, at) =>
      claim.run(key, account, by, at).changes > 0 || claimed.get(key)?.by === by,
    async claimed(key) {
      const row = claimed.get(key);
      return row && claimOf(row);
    },
    async confirm(key, by) {
      confirm.run(key, by);
    },
    async release(key, by) {
      release.run(key, by);
    },
    unconfirmed: async (before, limit) => unconfirmed.all(before, limit).map(claimOf),
    async block(counter, size) {
      assert(Number.isSafeInteger(size) && size > 0, `a block of ${size} numbers`);
      return block.get(counter, size)!.first;
    },
    read: async (key) => read.get(key),
    async cas(key, rev, value) {
      const { changes } = rev === 0 ? create.run(key, value) : update.run(value, key, rev);
      return changes > 0 ? rev + 1 : null;
    },
  };
}

const claimOf = (row: ClaimRow): Claim => ({ ...row, confirmed: row.confirmed === 1 });
