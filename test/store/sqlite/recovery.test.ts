// Which actors an owner must load, of more commits than one turn of the event loop looks at: the same ones as a look at all
// of them at once finds, wherever the steps end, and the event loop goes on meanwhile.

import { expect, test } from "bun:test";
import { appending } from "../../../src/store/sqlite/append.ts";
import { connectSqlite } from "../../../src/store/sqlite/connection.ts";
import { commitCells } from "../../../src/store/sqlite/ledger-rows.ts";
import { sqliteRecovery } from "../../../src/store/sqlite/recovery.ts";
import { migrate } from "../../../src/store/sqlite/schema.ts";
import { commit } from "../../suites/store-samples.ts";

const COMMITS = 9_001;
const SINCE = 1_300;
const isOld = (i: number) => i % 7 === 0;
/** Many commits share their time, the newest among them, and times go back and forth. */
const timeOf = (i: number) => (isOld(i) ? SINCE - 1 : SINCE + (i % 5) + Math.floor(i / 3_000) * 2);
/** Each actor has two commits in a row, of which a snapshot of every third actor covers the first. */
const actorOf = (i: number) => `account/${Math.floor(i / 2)}`;

test("finds over many turns what one look at everything finds", async () => {
  const connection = connectSqlite(":memory:", {});
  migrate(connection);
  const commits = Array.from({ length: COMMITS }, (_, i) =>
    commit(actorOf(i), (i % 2) + 1, { at: timeOf(i), shard: i % 4 < 2 ? 7 : 8 }),
  );
  appending(connection)(commitCells(commits));
  const saved = new Map<string, number>();
  for (let i = 0; i < COMMITS; i += 6) saved.set(actorOf(i), i % 4 === 2 ? 2 : 1);
  const snapshot = connection.prepare<[string, number]>(
    `INSERT INTO snapshots (actor, shard, seq, at, epoch, linesTo, v, pending, state, done)
     VALUES (?, 7, ?, 1, 1, 0, 1, 0, '{}', '[]')`,
  );
  for (const [actor, seq] of saved) snapshot.run(actor, seq);
  const wanted = commits
    .filter(({ actor, seq, at, shard }) => shard === 7 && at >= SINCE && seq > (saved.get(actor) ?? 0))
    .map(({ actor }) => actor);

  let turns = 0;
  const count = () => {
    turns++;
    ticking = setImmediate(count);
  };
  let ticking = setImmediate(count);
  const found = await sqliteRecovery(connection).actorsToRecover([7], SINCE);
  clearImmediate(ticking);
  expect(found).toEqual([...new Set(wanted)].sort());
  expect(found.length).toBeGreaterThan(1_000);
  expect(turns).toBeGreaterThanOrEqual(15);
  expect(await sqliteRecovery(connection).actorsToRecover([7], SINCE + 1_000)).toEqual([]);
  connection.close();
});
