// How lines are projected behind the commits on SQLite: when, how many at once, and what follows a failure, a lock, a
// crash, and an opening of a store that has lines without a projection.

import { Database } from "bun:sqlite";
import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { realClock } from "../../../src/base/clock.ts";
import { openStore } from "../../../src/store/open.ts";
import { appending } from "../../../src/store/sqlite/append.ts";
import { connectSqlite, type SqliteConnection } from "../../../src/store/sqlite/connection.ts";
import { commitCells } from "../../../src/store/sqlite/ledger-rows.ts";
import { LineProjection } from "../../../src/store/sqlite/line-projection.ts";
import { ProjectionSchedule } from "../../../src/store/sqlite/projection-schedule.ts";
import { migrate } from "../../../src/store/sqlite/schema.ts";
import type { Commit } from "../../../src/store/store.ts";
import { type ManualClock, manualClock } from "../../runtime/manual-clock.ts";
import { commit, commits } from "../../suites/store-samples.ts";

const home = mkdtempSync(join(tmpdir(), "arborgate-lines-"));
afterAll(() => rmSync(home, { recursive: true }));

describe("a projection", () => {
  let path = "";
  let opened = 0;
  let connection: SqliteConnection;
  let clock: ManualClock;
  let projection: ProjectionSchedule;
  let errors: unknown[];

  beforeEach(() => {
    path = join(home, `${++opened}.db`);
    connection = connectSqlite(path, { busyMs: 0 });
    migrate(connection);
    clock = manualClock();
    errors = [];
    projection = scheduled();
  });

  const scheduled = () =>
    new ProjectionSchedule({
      projection: new LineProjection(connection),
      clock,
      onError: (error) => errors.push(error),
    });
  const append = (given: readonly Commit[]) => appending(connection)(commitCells(given));
  const count = (): unknown => connection.db.query("SELECT count(*) FROM lines").values()[0]![0];

  test("does nothing until it is woken, and nothing again once it has projected what there is", async () => {
    append(commits("account/1", 3));
    await clock.advance(60_000);
    expect(count()).toBe(0);
    projection.wake();
    projection.wake();
    expect(clock.waiting).toBe(1);
    await clock.advance(1_020);
    expect([count(), clock.waiting, errors]).toEqual([3, 0, []]);
  });

  test("gathers a second of commits for each batch also while commits keep coming", async () => {
    const counts = new Set<unknown>();
    for (let i = 1; i <= 300; i++) {
      append([commit("account/1", i)]);
      projection.wake();
      await clock.advance(10);
      counts.add(count());
    }
    // Three seconds of commits, 10 ms apart: nothing, and then a batch each second.
    expect(counts.size).toBeLessThanOrEqual(4);
    await clock.advance(60_000);
    expect([count(), clock.waiting, errors]).toEqual([300, 0, []]);
  });

  /** Lets steps run, and answers how many lines are stored after each. */
  async function steps(times: number): Promise<unknown[]> {
    const counts: unknown[] = [];
    await clock.advance(980);
    for (let i = 0; i < times; i++) {
      await clock.advance(20);
      counts.push(count());
    }
    return counts;
  }

  const place = (): unknown =>
    connection.db.query("SELECT value FROM meta WHERE key = 'lines'").values()[0]![0];

  const lastRow = (): unknown => connection.db.query("SELECT max(row) FROM ledger").values()[0]![0];

  test("reads some 512 commits at a time, also those without lines, and stores 512 lines at a time", async () => {
    append(commits("account/2", 500));
    append(
      Array.from({ length: 100 }, (_, i) => commit("level/1", i + 1, { linesTo: 0, lines: 0, events: [] })),
    );
    append(commits("account/1", 500));
    projection.wake();
    expect(await steps(5)).toEqual([0, 0, 512, 1_000, 1_000]);
    expect([place(), clock.waiting]).toEqual([lastRow(), 0]);
  });

  test("reads rows until they have 512 lines", async () => {
    const sizes = [200, 300, 100, 600, 1];
    let linesTo = 0;
    sizes.forEach((lines, i) => {
      linesTo += lines;
      const events = Array.from({ length: lines }, () => ({
        at: 1_000 + i,
        line: true,
        e: { type: "charge" },
      }));
      append([commit("account/1", i + 1, { linesTo, lines, events })]);
    });
    projection.wake();
    expect(await steps(7)).toEqual([0, 0, 0, 512, 1_024, 1_201, 1_201]);
    expect([place(), clock.waiting]).toEqual([5, 0]);
  });

  test("stores the lines of a batch by actor, and makes a batch again that a crash cut off", async () => {
    const seqs = Array.from({ length: 300 }, (_, i) => i + 1);
    append(seqs.flatMap((seq) => [1, 2, 3].map((id) => commit(`account/${id}`, seq))));
    projection.wake();
    expect(await steps(3)).toEqual([0, 0, 512]);
    const actors = connection.db.query("SELECT actor, count(*) FROM lines GROUP BY actor").values();
    expect([actors, place()]).toEqual([
      [
        ["account/1", 300],
        ["account/2", 212],
      ],
      0,
    ]);
    projection.stop();
    const next = scheduled();
    next.wake();
    expect(await steps(5)).toEqual([512, 512, 512, 900, 900]);
    expect([place(), clock.waiting, errors]).toEqual([lastRow(), 0, []]);
  });

  test("goes on where the last batch ended, whichever process wrote it", async () => {
    append(commits("account/1", 2));
    projection.wake();
    await clock.advance(1_000);
    append([commit("account/1", 3)]);
    connection.db.run("DELETE FROM lines");
    const next = scheduled();
    next.wake();
    await clock.advance(1_000);
    expect(connection.db.query("SELECT number FROM lines").values()).toEqual([[3]]);
  });

  test("stores a step whole or not at all, reports a failure, and tries again less and less often", async () => {
    append(commits("account/1", 3));
    connection.db.run(
      "CREATE TRIGGER broken BEFORE INSERT ON lines WHEN NEW.number = 3 BEGIN SELECT RAISE(ABORT, 'broken'); END",
    );
    projection.wake();
    await clock.advance(1_000);
    expect([count(), errors.length]).toEqual([0, 1]);
    expect(String(errors[0])).toContain("broken");
    await clock.advance(1_000);
    await clock.advance(1_000);
    expect(errors).toHaveLength(2);
    connection.db.run("DROP TRIGGER broken");
    await clock.advance(1_020);
    expect([count(), clock.waiting]).toEqual([3, 0]);
  });

  test("a commit that cannot be read is tried again, and those before it in its row are added once", async () => {
    append(charged(5, 1, 1));
    const [bodies] = connection.db.query("SELECT bodies FROM ledger").values()[0]!;
    connection.db.run('UPDATE ledger SET bodies = replace(bodies, \'"id":"4"\', \'"id":4,,\')');
    projection.wake();
    await clock.advance(1_000);
    for (let i = 0; i < 5; i++) await clock.advance(1_000);
    expect([count(), place()]).toEqual([0, 0]);
    expect(String(errors[0])).toContain("commits cannot be read");
    connection.db.run("UPDATE ledger SET bodies = ?", [bodies as string]);
    await clock.advance(60_000);
    expect([count(), place()]).toEqual([5, lastRow()]);
    expect(sumOf("kind = 0")).toEqual([5, 25]);
  });

  /** Commits of one charge each, by accounts in turn, with as many tags. */
  const charged = (count: number, accounts: number, tags: number, at = 1_000): readonly Commit[] =>
    Array.from({ length: count }, (_, i) => {
      const [actor, seq] = [`account/${i % accounts}`, Math.floor(i / accounts) + 1];
      const named = Array.from({ length: tags }, (_, n) => [`n${n}`, `v${i % 7}`]);
      const e = { type: "charge", id: `${i}`, model: "m", cost: 5, tags: Object.fromEntries(named) };
      return commit(actor, seq, { at: at + i, linesTo: seq, events: [{ at: at + i, line: true, e }] });
    });
  const sumOf = (where: string): unknown =>
    connection.db.query(`SELECT sum(requests), sum(cost) FROM usageParts WHERE ${where}`).values()[0];

  test("adds a charge to its parts once, with its line, also in a batch that is made again", async () => {
    append(charged(900, 3, 2));
    projection.wake();
    const before = await steps(4);
    expect(before.at(-1)).toBeGreaterThan(0);
    expect(before.at(-1)).toBeLessThan(900);
    expect(sumOf("kind = 0")).toEqual([before.at(-1), 5 * Number(before.at(-1))]);
    projection.stop();
    const next = scheduled();
    next.wake();
    await clock.advance(60_000);
    expect([count(), place(), clock.waiting, errors]).toEqual([900, lastRow(), 0, []]);
    expect(sumOf("kind = 0")).toEqual([900, 4_500]);
    for (const where of ["name = 'n0' AND period LIKE 'D%'", "name = 'n1' AND period LIKE 'H%'"]) {
      expect(sumOf(where)).toEqual([900, 4_500]);
    }
    expect(sumOf("value = 'v3' AND name = 'n0' AND period LIKE 'D%'")).toEqual([129, 645]);
  });

  test("stores fewer lines at a time where their charges have many parts", async () => {
    append(charged(500, 500, 8));
    projection.wake();
    const counts = (await steps(12)).map(Number);
    const stored = counts.map((one, i) => one - (counts[i - 1] ?? 0)).filter((one) => one > 0);
    expect(Math.max(...stored)).toBeLessThan(50);
  });

  test("removes the hours of 50 hours ago, a few rows at a time", async () => {
    append(charged(600, 600, 1));
    projection.wake();
    await clock.advance(60_000);
    const hours = () =>
      connection.db.query("SELECT count(*) FROM usageParts WHERE period >= 'H'").values()[0]![0];
    expect(hours()).toBe(1_200);
    append([
      commit("account/0", 2, {
        at: 200_000_000,
        events: [{ at: 200_000_000, line: true, e: { type: "charge", model: "m" } }],
      }),
    ]);
    projection.wake();
    await clock.advance(60_000);
    expect([hours(), clock.waiting, errors]).toEqual([1, 0, []]);
    expect(sumOf("period LIKE 'D%'")).toEqual([600, 3_000]);
  });

  test("waits while another program holds the lock, which is no failure", async () => {
    append(commits("account/1", 1));
    const other = new Database(path);
    other.run("BEGIN IMMEDIATE");
    projection.wake();
    await clock.advance(1_000);
    expect([count(), errors]).toEqual([0, []]);
    other.run("ROLLBACK");
    other.close();
    await clock.advance(5);
    expect(count()).toBe(1);
  });

  test("ends when it is stopped", async () => {
    append(commits("account/1", 1));
    projection.wake();
    projection.stop();
    expect(clock.waiting).toBe(0);
  });
});

describe("a store", () => {
  const filled = async (lines: number): Promise<string> => {
    const path = join(home, `store-${lines}.db`);
    const connection = connectSqlite(path);
    migrate(connection);
    const append = appending(connection);
    const model = (seq: number) => (seq === 3 ? "rare" : "m");
    const charges = Array.from({ length: lines }, (_, i) =>
      commit("account/1", i + 1, {
        events: [{ at: 1_001 + i, line: true, e: { type: "charge", model: model(i + 1) } }],
      }),
    );
    append(commitCells(charges));
    connection.close();
    return `sqlite:${path}`;
  };

  test("projects what an earlier process left, and examines a bounded number of lines for a page", async () => {
    const store = await openStore(await filled(10_500), { clock: realClock() });
    const rare = { actor: "account/1", model: "rare" };
    // The oldest line is projected first, so everything is there once the newest is.
    const newest = async () => (await store.lines({ actor: "account/1" }, null, 1)).lines[0]?.number;
    for (let looks = 0; (await newest()) !== 10_500 && looks < 1_000; looks++) await Bun.sleep(20);
    const first = await store.lines(rare, null, 10);
    expect(first).toEqual({ lines: [], next: { at: 1_501, number: 501 } });
    expect(await store.lines(rare, first.next, 10)).toMatchObject({ lines: [{ number: 3 }], next: null });
    const walk = { after: null, skip: 0, limit: 10 };
    expect(await store.walkLines(rare, walk)).toMatchObject({ lines: [{ number: 3 }], next: null });
    const abort = new AbortController();
    const aborted = store.walkLines({ actor: "account/1" }, { ...walk, skip: 10_000 }, abort.signal);
    await new Promise(setImmediate);
    abort.abort(new Error("gone"));
    await expect(aborted).rejects.toThrow("gone");
    const [far, totals] = await Promise.all([
      store.walkLines({ actor: "account/1" }, { after: null, skip: 10_000, limit: 250 }),
      store.lineTotals({ actor: "account/1" }),
    ]);
    expect(far.lines.map(({ number }) => number)).toEqual(Array.from({ length: 250 }, (_, i) => 500 - i));
    expect([far.next?.number, totals.count]).toEqual([251, 10_500]);
    await store.close();
  });
});
