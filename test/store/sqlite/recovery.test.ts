// Which actors an owner must load, of more commits than one turn of the event loop looks at: the same ones as a look at all
// of them at once finds, wherever the steps end, and the event loop goes on meanwhile.

import { expect, test } from "bun:test";
import { appending } from "../../../src/store/sqlite/append.ts";
import { connectSqlite } from "../../../src/store/sqlite/connection.ts";
import { sqliteJournal } from "../../../src/store/sqlite/journal.ts";
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

/** Runs work, and counts the turns of the event loop that it leaves to others. */
async function withTurns<T>(work: () => Promise<T>): Promise<{ readonly result: T; readonly turns: number }> {
  let turns = 0;
  const count = () => {
    turns++;
    ticking = setImmediate(count);
  };
  let ticking = setImmediate(count);
  const result = await work();
  clearImmediate(ticking);
  return { result, turns };
}

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

  const { result: found, turns } = await withTurns(() =>
    sqliteRecovery(connection).actorsToRecover([7], SINCE),
  );
  expect(found).toEqual([...new Set(wanted)].sort());
  expect(found.length).toBeGreaterThan(1_000);
  expect(turns).toBeGreaterThanOrEqual(15);
  expect(await sqliteRecovery(connection).actorsToRecover([7], SINCE + 1_000)).toEqual([]);
  connection.close();
});

test("reads an actor's commits over many turns, few of them in one, and no more than it is asked for", async () => {
  const connection = connectSqlite(":memory:", {});
  migrate(connection);
  const commits = Array.from({ length: 1_050 }, (_, i) => commit("account/1", i + 1, { at: i }));
  appending(connection)(commitCells(commits));
  const { readCommits } = sqliteJournal(connection);
  for (const [after, limit, turns] of [
    [0, 1_000, 9],
    [0, 10_000, 10],
    [1_000, 1_000, 0],
    [5, 30, 0],
    [1_050, 1_000, 0],
  ] as const) {
    // What the index lacks is read first, once.
    await readCommits("account/1", 0, 1);
    const read = await withTurns(() => readCommits("account/1", after, limit));
    expect(read.result).toEqual(commits.slice(after, after + limit));
    expect(read.turns).toBeGreaterThanOrEqual(turns);
    expect(read.turns).toBeLessThanOrEqual(turns + 1);
  }
  connection.close();
});
