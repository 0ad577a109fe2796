// The small rows beside the ledger: claims of names and keys, counters, compare-and-set rows. Each call is
// one atomic statement; none of them is on the path of a request.

import type { Claim, Store } from "../store.ts";
import type { SqliteConnection } from "./connection.ts";
import type { Writes } from "./write-messages.ts";

type ClaimRow = Omit<Claim, "confirmed"> & { readonly confirmed: number };

/** Reads of claims and of the registry. */
export function sqliteRows({ prepare }: SqliteConnection): Pick<Store, "findClaim" | "unconfirmed" | "read"> {
  const claimed = prepare<ClaimRow, [string]>("SELECT * FROM claims WHERE key = ?");
  const unconfirmed = prepare<ClaimRow, [number, number]>(
    "SELECT * FROM claims WHERE confirmed = 0 AND at < ? ORDER BY at, key LIMIT ?",
  );
  const read = prepare<{ value: string; rev: number }, [string]>(
    "SELECT value, rev FROM registry WHERE key = ?",
  );
  return {
    async findClaim(key) {
      const row = claimed.get(key);
      return row && claimOf(row);
    },
    unconfirmed: async (before, limit) => unconfirmed.all(before, limit).map(claimOf),
    read: async (key) => read.get(key),
  };
}

/** Writes of claims, counters and the registry. */
export function rowWrites({
  prepare,
}: SqliteConnection): Pick<Writes, "claim" | "confirm" | "release" | "reserveIds" | "cas"> {
  const claim = prepare(
    `INSERT INTO claims (key, account, "by", at, confirmed) VALUES (?, ?, ?, ?, 0) ON CONFLICT (key) DO NOTHING`,
  );
  const claimant = prepare<{ by: string }, [string]>(`SELECT "by" FROM claims WHERE key = ?`);
  const confirm = prepare(`UPDATE claims SET confirmed = 1 WHERE key = ? AND "by" = ?`);
  const release = prepare(`DELETE FROM claims WHERE key = ? AND "by" = ?`);
  const block = prepare<{ first: number }, [string, number]>(
    `INSERT INTO counters (name, next) VALUES (?1, 1 + ?2)
     ON CONFLICT (name) DO UPDATE SET next = next + ?2 RETURNING next - ?2 AS first`,
  );
  const create = prepare(
    "INSERT INTO registry (key, rev, value) VALUES (?, 1, ?) ON CONFLICT (key) DO NOTHING",
  );
  const update = prepare("UPDATE registry SET value = ?, rev = rev + 1 WHERE key = ? AND rev = ?");

  return {
    claim: (key, account, by, at) =>
      claim.run(key, account, by, at).changes > 0 || claimant.get(key)?.by === by,
    confirm: (key, by) => void confirm.run(key, by),
    release: (key, by) => void release.run(key, by),
    reserveIds: (counter, size) => block.get(counter, size)!.first,
    cas(key, rev, value) {
      const { changes } = rev === 0 ? create.run(key, value) : update.run(value, key, rev);
      return changes > 0 ? rev + 1 : null;
    },
  };
}

const claimOf = (row: ClaimRow): Claim => ({ ...row, confirmed: row.confirmed === 1 });
