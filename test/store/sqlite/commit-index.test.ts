// Commits are found from the moment at which they are stored, whether the index that is written behind them has them, has
// some of them, or none: by seq, by dedup id and by actor, on the connection that writes and on others. And a second commit
// of a seq is refused in each of these states, though no key of a table refuses it.

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { appending } from "../../../src/store/sqlite/append.ts";
import { CommitIndex } from "../../../src/store/sqlite/commit-index.ts";
import { connectSqlite, type SqliteConnection } from "../../../src/store/sqlite/connection.ts";
import { IndexProjection } from "../../../src/store/sqlite/index-projection.ts";
import { sqliteJournal } from "../../../src/store/sqlite/journal.ts";
import { commitCells, LedgerRow } from "../../../src/store/sqlite/ledger-rows.ts";
import { sqliteProjections } from "../../../src/store/sqlite/projections.ts";
import { migrate } from "../../../src/store/sqlite/schema.ts";
import type { Commit } from "../../../src/store/store.ts";
import { manualClock } from "../../runtime/manual-clock.ts";
import { commit } from "../../suites/store-samples.ts";

let home = "";
let connection: SqliteConnection;
let reader: SqliteConnection;
let append: (given: readonly Commit[]) => string;

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "arborgate-index-"));
  const path = join(home, "a.db");
  connection = connectSqlite(path, { busyMs: 0 });
  migrate(connection);
  reader = connectSqlite(path, { readOnly: true });
  append = appended(connection);
});

afterEach(() => {
  reader.close();
  connection.close();
  rmSync(home, { recursive: true });
});

const appended = (to: SqliteConnection) => {
  const store = appending(to);
  return (given: readonly Commit[]) => store(commitCells(given));
};

const ACTORS = ["account/1", "account/10", "account/2", "owner/2"];
/** Commits of several actors in turn, each with a dedup id of its own and one that it shares with its neighbours. */
const some = (count: number): readonly Commit[] =>
  Array.from({ length: count }, (_, i) => {
    const [actor, seq] = [ACTORS[i % ACTORS.length]!, Math.floor(i / ACTORS.length) + 1];
    return commit(actor, seq, { marks: [`m${i}`, `shared${seq % 3}`], at: 1_000 + i });
  });

/** Takes steps of the index that is written behind, until nothing waits or this many commits are indexed. */
function index(commits = Number.POSITIVE_INFINITY): void {
  const projection = new IndexProjection(connection);
  while (Number(indexed()) < commits) if (projection.step() === null) return;
}

const indexed = (): unknown => connection.db.query("SELECT count(*) FROM commitIndex").values()[0]![0];
const place = (): unknown =>
  connection.db.query("SELECT value FROM meta WHERE key = 'commitIndex'").values()[0]![0];

describe.each([
  ["nothing is indexed", 0],
  ["a batch was cut off by a crash", 512],
  ["everything is indexed", 1_200],
])("while %s", (_, entries) => {
  const all = some(1_200);

  beforeEach(() => {
    for (let i = 0; i < all.length; i += 100) append(all.slice(i, i + 100));
    index(entries);
    expect(indexed()).toBe(entries);
  });

  test.each([
    ["the writer", () => connection],
    ["a reader", () => reader],
  ])("%s finds every commit", async (_who, on) => {
    const journal = sqliteJournal(on());
    for (const actor of ACTORS) {
      const own = all.filter((one) => one.actor === actor);
      expect(await journal.readCommits(actor, 0, 10_000)).toEqual(own);
      expect(await journal.readCommits(actor, 17, 5)).toEqual(own.slice(17, 22));
      expect(await journal.readLines(actor, 100, 103)).toEqual(own.slice(99, 103));
      expect(await journal.lastCommit(actor)).toEqual({ seq: 300, linesTo: 300 });
    }
    expect(await journal.lastCommit("account/3")).toBeNull();
    for (const nth of [0, 511, 512, 1_199]) {
      const { actor } = all[nth]!;
      expect(await journal.hasDedupId(actor, `m${nth}`)).toBe(true);
      expect(await journal.hasDedupId(ACTORS.find((one) => one !== actor)!, `m${nth}`)).toBe(false);
      expect(await journal.commitsByDedupId(`m${nth}`, 9)).toEqual([all[nth]!]);
    }
    const shared = all.filter(({ marks }) => marks[1] === "shared1").toReversed();
    expect(await journal.commitsByDedupId("shared1", 6)).toEqual(shared.slice(0, 6));
    expect(await journal.listActors("", "", 9)).toEqual(ACTORS);
    expect(await journal.listActors("account/", "account/1", 9)).toEqual(["account/10", "account/2"]);
    expect(await journal.listActors("account/", "", 2)).toEqual(["account/1", "account/10"]);
    expect(await journal.listActors("owner/", "account/5", 9)).toEqual(["owner/2"]);
  });

  test("a seq is taken once, also by a writer that was started anew", () => {
    const [first, , , , fifth] = all;
    const others = [first!, fifth!].map((one) => ({ ...one, by: "somebody else" }));
    for (const write of [append, appended(connection)]) {
      expect(write([first!, ...others, commit("account/1", 301), fifth!])).toBe("cllcc");
      expect(write([commit("account/1", 301, { by: "somebody else" })])).toBe("l");
    }
    const seqs = new CommitIndex(reader).after("account/1", 0, 10_000).map(({ seq }) => seq);
    expect(seqs).toEqual(Array.from({ length: 301 }, (_, i) => i + 1));
  });
});

test("a second writer, which the lock of the database would keep away, takes no seq twice", () => {
  const other = connectSqlite(join(home, "a.db"), { busyMs: 0 });
  const appendThere = appended(other);
  const theirs = (seq: number) => commit("account/1", seq, { by: "somebody else" });
  expect(append([commit("account/1", 1), commit("account/1", 2)])).toBe("cc");
  expect(appendThere([theirs(2), theirs(3)])).toBe("lc");
  expect(append([commit("account/1", 3), commit("account/1", 4)])).toBe("lc");
  index();
  expect(appendThere([theirs(4), theirs(5)])).toBe("lc");
  expect(append([commit("account/1", 5)])).toBe("l");
  expect(new CommitIndex(reader).after("account/1", 0, 9).map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5]);
  other.close();
});

test("two commits of a seq in one transaction: the first is stored, its twin is its own, another is lost", () => {
  const [own, other] = [commit("account/1", 1), commit("account/1", 1, { by: "somebody else" })];
  expect(append([own, other, own, commit("account/1", 2)])).toBe("clcc");
  expect(new CommitIndex(reader).after("account/1", 0, 9).map(({ seq }) => seq)).toEqual([1, 2]);
});

test("a commit that is sent again is its own also where its stored body is damaged", () => {
  append([commit("account/1", 1), commit("account/1", 2)]);
  connection.db.run("UPDATE ledger SET bodies = replace(bodies, '[[', '[{')");
  expect(append([commit("account/1", 1), commit("account/1", 2, { by: "somebody else" })])).toBe("cl");
});

test("of a dedup id that many commits carry, the newest are found by their own times", async () => {
  const times = (i: number) => 1_000 + ((i * 7_919) % 3_000);
  const all = Array.from({ length: 3_000 }, (_, i) =>
    commit(`account/${i}`, 1, { marks: ["often"], at: times(i) }),
  );
  for (let i = 0; i < all.length; i += 50) append(all.slice(i, i + 50));
  index();
  const newest = all.toSorted((a, b) => b.at - a.at);
  const { commitsByDedupId } = sqliteJournal(reader);
  for (const limit of [1, 10, 200, 5_000]) {
    expect(await commitsByDedupId("often", limit)).toEqual(newest.slice(0, limit));
  }
});

test("a transaction that fails is undone, and what it had is not taken for stored", async () => {
  append([commit("account/1", 1)]);
  connection.db.run(
    "CREATE TRIGGER broken BEFORE INSERT ON ledger WHEN instr(NEW.heads, 'account/9') > 0 BEGIN SELECT RAISE(ABORT, 'broken'); END",
  );
  // The look-up of a seq that is taken reads what the same transaction has stored so far.
  const failing = [commit("account/1", 2), commit("account/1", 1), commit("account/9", 1)];
  expect(() => append(failing)).toThrow("broken");
  connection.db.run("DROP TRIGGER broken");
  expect(append([commit("account/2", 1), commit("account/1", 2, { by: "somebody else" })])).toBe("cc");
  expect(append([commit("account/1", 2)])).toBe("l");
  const commits = await sqliteJournal(connection).readCommits("account/1", 0, 9);
  expect(commits.map(({ seq, by }) => [seq, by])).toEqual([
    [1, commit("account/1", 1).by],
    [2, "somebody else"],
  ]);
});

test("the index goes on where a crash cut it off, and has every commit and dedup id once", () => {
  const all = some(6_000);
  for (let i = 0; i < all.length; i += 250) append(all.slice(i, i + 250));
  index(1);
  expect([Number(indexed()) > 0, place()]).toEqual([true, 0]);
  index();
  const last = connection.db.query("SELECT max(row) FROM ledger").values()[0]![0];
  expect([indexed(), place()]).toEqual([6_000, last]);
  expect(connection.db.query("SELECT count(*) FROM marks").values()).toEqual([[12_000]]);
  const entries = connection.db.query("SELECT actor, seq, row, nth, linesTo FROM commitIndex").values();
  for (const [actor, seq, row, nth, linesTo] of entries) {
    const stored = connection.db
      .query("SELECT row, v, heads, bodies FROM ledger WHERE row = ?")
      .get(row as number);
    expect(new LedgerRow(stored).head(nth as number)).toMatchObject({ actor, seq, linesTo });
  }
});

test.each([
  [8, 4_000, 0],
  [256, 200, 0],
  [8, 1_000, 40],
])(
  "the index keeps up with appends of %p commits, also when no time passes: %p with %p dedup ids",
  (size, appends, ids) => {
    const errors: unknown[] = [];
    const onError = (error: unknown) => errors.push(error);
    const projections = sqliteProjections({ connection, clock: manualClock(), onError });
    let [seq, most] = [0, 0];
    const appendNext = () => {
      const marks = () => Array.from({ length: ids }, (_, i) => `m${seq}/${i}`);
      append(Array.from({ length: size }, () => commit("account/1", ++seq, { marks: marks() })));
      projections.committed(size, size * ids);
    };
    for (let i = 0; i < appends; i++) {
      appendNext();
      if (i % 8 === 0) most = Math.max(most, (seq - Number(indexed())) * Math.max(1, ids));
    }
    expect(most).toBeGreaterThan(8_000);
    expect(most).toBeLessThan(25_000);
    expect(errors).toEqual([]);
    // A step that fails is tried again later, and no append fails with it.
    connection.db.run(
      "CREATE TRIGGER broken BEFORE INSERT ON commitIndex BEGIN SELECT RAISE(ABORT, 'broken'); END",
    );
    for (let i = 0; i < 25_000 / size / Math.max(1, ids); i++) appendNext();
    projections.stop();
    expect(errors.map(String)).toEqual([expect.stringContaining("broken")]);
  },
);

test("a reader that has not looked for long catches up in steps, of which other work takes turns", async () => {
  const all = some(30_000);
  for (let i = 0; i < all.length; i += 100) append(all.slice(i, i + 100));
  const journal = sqliteJournal(reader);
  let turns = 0;
  let isOver = false;
  const count = () => {
    turns++;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  expect(await journal.lastCommit("account/1")).toEqual({ seq: 7_500, linesTo: 7_500 });
  isOver = true;
  expect(turns).toBeGreaterThan(10);
  const before = turns;
  expect(await journal.lastCommit("account/2")).toEqual({ seq: 7_500, linesTo: 7_500 });
  expect(turns).toBe(before);
  // What is indexed meanwhile is found once, and is not kept.
  index();
  expect(await journal.readCommits("account/1", 7_497, 9)).toEqual(
    all.filter(({ actor }) => actor === "account/1").slice(7_497),
  );
});

test("an index that names another commit is an error, and no commit of somebody else", async () => {
  append([commit("account/1", 1), commit("account/2", 1)]);
  index();
  connection.db.run("UPDATE commitIndex SET nth = 1 WHERE actor = 'account/1'");
  const { readCommits } = sqliteJournal(reader);
  await expect(readCommits("account/1", 0, 9)).rejects.toThrow(
    "the row account/1/1 of commitIndex cannot be read",
  );
  expect(await readCommits("account/2", 0, 9)).toEqual([commit("account/2", 1)]);
});

test("a row has some 16 KB at most, and a longer commit is in a row of its own", () => {
  const long = (seq: number, length: number) =>
    commit("account/1", seq, { events: [{ at: 1, line: true, e: "x".repeat(length) }] });
  append([long(1, 9_000), long(2, 9_000), long(3, 5_000), long(4, 40_000), long(5, 1)]);
  const sizes = connection.db.query("SELECT json_array_length(heads) FROM ledger ORDER BY row").values();
  expect(sizes.flat()).toEqual([1, 2, 1, 1]);
});
