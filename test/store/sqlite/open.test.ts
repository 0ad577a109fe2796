// Opening: which store a STORE_URL names, one server a database, readers beside it, and versions of the schema.

import { Database } from "bun:sqlite";
import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { realClock } from "../../../src/base/clock.ts";
import { openStore } from "../../../src/store/open.ts";
import { connectSqlite } from "../../../src/store/sqlite/connection.ts";
import { lockDatabase, StoreLockedError } from "../../../src/store/sqlite/lock.ts";
import { MIGRATIONS } from "../../../src/store/sqlite/migrations.ts";
import { migrate, schemaVersion } from "../../../src/store/sqlite/schema.ts";
import { commit, commits, document, record, save } from "../../suites/store-samples.ts";
import { insertCommit } from "../ledger-by-hand.ts";

const clock = realClock();
const home = mkdtempSync(join(tmpdir(), "arborgate-open-"));
afterAll(() => rmSync(home, { recursive: true }));

let path = "";
let url = "";
let opened = 0;
beforeEach(() => {
  path = join(home, `${++opened}`, "store.db");
  url = `sqlite:${path}`;
});

const tables = (db: Database) =>
  db
    .query<{ name: string }, []>("SELECT name FROM sqlite_master WHERE type = 'table'")
    .all()
    .map(({ name }) => name);

test("a reader's counts follow what the server beside it writes", async () => {
  const server = await openStore(url, { clock });
  const reader = await openStore(url, { clock, readOnly: true });
  const seen: number[] = [];
  for (let id = 1; id <= 3; id++) {
    await server.save([save(`account/${id}`, 1, [document("accounts", `${id}`, 1, { id, closed: 0 })])]);
    seen.push(await reader.count({ table: "accounts", where: [] }));
  }
  expect(seen).toEqual([1, 2, 3]);
  await reader.close();
  await server.close();
});

describe("STORE_URL", () => {
  test("sqlite:PATH makes the file and its directories, for its user alone", async () => {
    await (await openStore(url, { clock })).close();
    expect(existsSync(path)).toBe(true);
    expect(statSync(join(path, "..")).mode & 0o777).toBe(0o700);
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  test("closing twice harms nothing", async () => {
    const store = await openStore(url, { clock });
    await store.close();
    await store.close();
    await expect(store.append([commit("account/1", 1)])).rejects.toThrow("closed");
  });

  test("closing leaves no log behind", async () => {
    const store = await openStore(url, { clock });
    await store.append([commit("account/1", 1)]);
    await store.find({ table: "accounts", where: [], order: "id" });
    await store.close();
    expect(existsSync(`${path}-wal`)).toBe(false);
  });

  test("sqlite::memory: is a store of its own each time", async () => {
    const [a, b] = [
      await openStore("sqlite::memory:", { clock }),
      await openStore("sqlite::memory:", { clock }),
    ];
    await a.append([commit("account/1", 1)]);
    expect(await b.readCommits("account/1", 0, 1)).toEqual([]);
    await a.close();
    await b.close();
  });

  const REFUSED = [
    ["postgres://user:secret@host/db", "must begin with"],
    ["data/store.db", "must begin with"],
    ["sqlite:", "needs the path"],
    ["", "must begin with"],
  ] as const;

  test.each(REFUSED)("%p is refused, and its password not shown", async (refused, message) => {
    const error = await openStore(refused, { clock }).catch((reason: Error) => reason);
    expect(error).toBeInstanceOf(Error);
    expect(String(error)).toContain(message);
    expect(String(error)).not.toContain("secret");
  });
});

describe("one server a database", () => {
  test("a second one is refused at once, and admitted after the first has closed", async () => {
    const first = await openStore(url, { clock });
    await expect(openStore(url, { clock })).rejects.toThrow(StoreLockedError);
    expect(() => lockDatabase(path)).toThrow(`${path}.lock`);
    await first.close();
    await (await openStore(url, { clock })).close();
  });

  test("another way to the same file is the same database", async () => {
    const first = await openStore(url, { clock });
    symlinkSync(path, join(home, "link.db"));
    await expect(openStore(`sqlite:${join(home, "link.db")}`, { clock })).rejects.toThrow(StoreLockedError);
    await first.close();
  });

  test("a database that cannot be opened keeps no lock", async () => {
    const held = lockDatabase(path);
    new Database(path).run("CREATE TABLE something (else_ TEXT)");
    held.release();
    await expect(openStore(url, { clock })).rejects.toThrow("something else");
    lockDatabase(path).release();
  });
});

describe("a reader", () => {
  test("reads beside a running server what is committed, and can write nothing", async () => {
    const server = await openStore(url, { clock });
    const reader = await openStore(url, { clock, readOnly: true });
    await server.append(commits("account/1", 3));
    expect(await reader.readCommits("account/1", 0, 10)).toEqual(commits("account/1", 3));
    await expect(reader.append([commit("account/1", 4)])).rejects.toThrow("reading");
    await expect(reader.save([save("account/1", 1)])).rejects.toThrow();
    await expect(reader.claim("name:ada", 1, "me", 1)).rejects.toThrow();
    await expect(reader.reserveIds("accounts", 1)).rejects.toThrow();
    await expect(reader.dropAnswers(1, 1)).rejects.toThrow();
    await expect(reader.putRecords([record("logs", { id: 1 })])).rejects.toThrow();
    await expect(reader.removeRecords("logs", ["1"])).rejects.toThrow();
    await expect(reader.cas("table", 0, "x")).rejects.toThrow();
    await reader.close();
    await server.close();
  });

  test("needs no running server, and makes no database", async () => {
    await expect(openStore(url, { clock, readOnly: true })).rejects.toThrow("no database");
    expect(existsSync(path)).toBe(false);
    await (await openStore(url, { clock })).close();
    const reader = await openStore(url, { clock, readOnly: true });
    expect(await reader.listActors("", "", 10)).toEqual([]);
    await reader.close();
  });
});

describe("the schema's version", () => {
  const rewrite = async (version: number) => {
    await (await openStore(url, { clock })).close();
    const db = new Database(path);
    db.run("UPDATE meta SET value = ? WHERE key = 'schema'", [version]);
    db.close();
  };

  test("a store of a newer program is refused, by writers and by readers", async () => {
    await rewrite(99);
    await expect(openStore(url, { clock })).rejects.toThrow("use the newer program");
    await expect(openStore(url, { clock, readOnly: true })).rejects.toThrow("use the newer program");
  });

  test("a reader does not migrate an older store", async () => {
    await rewrite(0);
    await expect(openStore(url, { clock, readOnly: true })).rejects.toThrow("start the server once");
  });

  test("migrations run in order, once each, and only those that are missing", () => {
    const connection = connectSqlite(":memory:");
    const first = ["CREATE TABLE steps (name TEXT)", "INSERT INTO steps VALUES ('first')"];
    migrate(connection, [first]);
    const more = [first, ["INSERT INTO steps VALUES ('second')"], ["INSERT INTO steps VALUES ('third')"]];
    migrate(connection, more);
    migrate(connection, more);
    expect(connection.db.query("SELECT name FROM steps").values()).toEqual([
      ["first"],
      ["second"],
      ["third"],
    ]);
    expect(schemaVersion(connection.db)).toBe(3);
    expect(() => migrate(connection, [first])).toThrow("use the newer program");
  });

  test("a store of the first version becomes a current one with all that was in it", async () => {
    mkdirSync(join(path, ".."), { recursive: true });
    const old = connectSqlite(path);
    migrate(old, MIGRATIONS.slice(0, 1));
    expect(tables(old.db)).not.toContain("answers");
    insertCommit(old.db, commit("account/1", 1));
    old.close();
    await expect(openStore(url, { clock, readOnly: true })).rejects.toThrow("start the server once");
    const store = await openStore(url, { clock });
    expect(await store.readCommits("account/1", 0, 10)).toEqual([commit("account/1", 1)]);
    expect(await store.answer("1:gateway:a", 0)).toBeNull();
    await store.close();
    const current = connectSqlite(path, { readOnly: true });
    expect(schemaVersion(current.db)).toBe(MIGRATIONS.length);
    current.close();
  });

  test("a store of the sixth version has the sums of provider keys for two days, each line once", async () => {
    mkdirSync(join(path, ".."), { recursive: true });
    const old = connectSqlite(path);
    migrate(old, MIGRATIONS.slice(0, 6));
    const NOON = Date.UTC(2026, 2, 14, 12);
    const DAY_MS = 86_400_000;
    const charge = (seq: number, at: number, key: number | null, type = "charge") => {
      const attempts = key === null ? [] : [{ key: 999 }, { key }];
      const e = { type, amount: -(10 ** seq), attempts };
      const events = [{ at, line: true, e }];
      insertCommit(old.db, commit("account/1", seq, { at, linesTo: seq, lines: 1, events }));
    };
    charge(1, NOON - 2 * DAY_MS, 7);
    charge(2, NOON - DAY_MS, 7);
    charge(3, NOON, 7, "late_charge");
    charge(4, NOON, 8);
    charge(5, NOON, null);
    old.db.run("UPDATE meta SET value = (SELECT max(row) FROM commits) WHERE key = 'lines'");
    // It is not projected yet.
    charge(6, NOON, 8);
    old.close();
    const store = await openStore(url, { clock });
    const sums = async (day: string) => Object.fromEntries(await store.keyCosts(day, [7, 8, 999]));
    for (
      let looks = 0;
      (await store.lines({ actor: "account/1" }, null, 9)).lines.length < 1 && looks < 500;
      looks++
    ) {
      await Bun.sleep(20);
    }
    expect([await sums("2026-03-12"), await sums("2026-03-13"), await sums("2026-03-14")]).toEqual([
      {},
      { 7: 100n },
      { 7: 1_000n, 8: 1_010_000n },
    ]);
    await store.close();
    // Projected again, lines that are there count no second time.
    const again = connectSqlite(path);
    again.db.run("UPDATE meta SET value = 0 WHERE key = 'lines'");
    again.close();
    const reopened = await openStore(url, { clock });
    await reopened.append([commit("account/2", 1)]);
    const place = new Database(path, { readonly: true });
    const isBehind = place.query(
      "SELECT 1 FROM meta WHERE key = 'lines' AND value < (SELECT max(row) FROM ledger)",
    );
    for (let looks = 0; isBehind.get() !== null && looks < 500; looks++) await Bun.sleep(20);
    place.close();
    expect(Object.fromEntries(await reopened.keyCosts("2026-03-14", [7, 8]))).toEqual({
      7: 1_000n,
      8: 1_010_000n,
    });
    await reopened.close();
  });

  test("a store of the second version keeps its accounts and sums the usage that it has", async () => {
    mkdirSync(join(path, ".."), { recursive: true });
    const old = connectSqlite(path);
    migrate(old, MIGRATIONS.slice(0, 2));
    const models = {
      "gpt-4o": {
        requests: 2,
        prompt: 30,
        completion: 7,
        cached: 4,
        cacheWrite: 3,
        reasoning: 1,
        cost: 9_007_199_254_740_991,
      },
      'a "quoted" model': {
        requests: 1,
        prompt: 5,
        completion: 5,
        cached: 0,
        cacheWrite: 0,
        reasoning: 0,
        cost: 10,
      },
    };
    const usage = { account: 7, dna: ".1.2.", day: "2026-01-31", models };
    const put =
      "INSERT INTO usage (key, seq, account, dna, day, body) VALUES (?, 4, 7, '.1.2.', '2026-01-31', ?)";
    old.db.run(put, ["7/2026-01-31", JSON.stringify(usage)]);
    old.db.run("INSERT INTO accounts (key, seq, id, body) VALUES ('7', 4, 7, ?)", [
      JSON.stringify({ id: 7 }),
    ]);
    old.close();
    const store = await openStore(url, { clock });
    // What later versions find accounts by is added to it.
    const found = { id: 7, activeDay: "2026-01-31", creditExpiresAt: null };
    expect(await store.find({ table: "accounts", where: [], order: "id" })).toEqual([found]);
    const query = { accounts: { dna: ".1." }, from: "2026-01-31", to: "2026-01-31", by: ["model"] } as const;
    expect(await store.usageTotals(query)).toEqual([
      { model: 'a "quoted" model', ...models['a "quoted" model'], cost: 10n },
      { model: "gpt-4o", ...models["gpt-4o"], cost: 9_007_199_254_740_991n },
    ]);
    await store.close();
  });

  test("a store of an earlier version orders its accounts by what they have and what their last month has cost", async () => {
    mkdirSync(join(path, ".."), { recursive: true });
    const old = connectSqlite(path);
    migrate(old, MIGRATIONS.slice(0, 6));
    const sums = "INSERT INTO usageSums VALUES (?, '.1.', ?, ?, 1, 1, 1, 0, 0, 0, ?)";
    for (const row of [
      ...[
        ["2026-01-31", 2, "a", 900],
        ["2026-02-01", 2, "a", 3],
        ["2026-02-02", 2, "a", 4],
      ],
      ...[
        ["2026-02-02", 2, "b", 5],
        ["2025-12-31", 3, "a", 70],
      ],
    ]) {
      old.db.run(sums, row as [string, number, string, number]);
    }
    for (const [id, balance] of [
      [2, 50],
      [3, -7],
      [4, 60],
    ] as const) {
      const body = JSON.stringify({ id, balance });
      old.db.run("INSERT INTO accounts (key, seq, id, body) VALUES (?, 4, ?, ?)", [String(id), id, body]);
    }
    old.close();
    const store = await openStore(url, { clock });
    const ranked = (by: "balance" | "month_cost", month: string) =>
      store.rankAccounts({ table: "accounts", where: [], by, month });
    expect((await ranked("balance", "2026-02")).map(({ id }) => id)).toEqual([3, 2, 4]);
    expect(await ranked("month_cost", "2026-02")).toEqual([
      { id: 3, monthCost: 0 },
      { id: 4, monthCost: 0 },
      { id: 2, monthCost: 12 },
    ]);
    expect((await ranked("month_cost", "2025-12")).at(-1)).toEqual({ id: 3, monthCost: 70 });
    await store.close();
  });

  test("a store of an earlier version finds accounts by their next expiry of credit, not by the end of a secret", async () => {
    mkdirSync(join(path, ".."), { recursive: true });
    const old = connectSqlite(path);
    migrate(old, MIGRATIONS.slice(0, 12));
    const entriesOf = new Map([
      [2, [{ amount: 1, expiresAt: 700 }]],
      [3, [700, 400].map((expiresAt) => ({ amount: 2, expiresAt })).toReversed()],
      [4, []],
    ]);
    for (const [id, entries] of entriesOf) {
      const put = "INSERT INTO accounts (key, seq, id, dueAt, body) VALUES (?, 4, ?, 100, ?)";
      old.db.run(put, [String(id), id, JSON.stringify({ id, dueAt: 100, entries })]);
    }
    old.close();
    const store = await openStore(url, { clock });
    const where = [{ field: "creditExpiresAt", is: ">=", value: 1 }] as const;
    const found = await store.find({ table: "accounts", where, order: "creditExpiresAt" });
    expect(found.map(({ id, creditExpiresAt }) => [id, creditExpiresAt])).toEqual([
      [3, 400],
      [2, 700],
    ]);
    const due = [{ field: "dueAt", is: "<=", value: 100 }] as const;
    const swept = await store.find({ table: "accounts", where: due, order: "dueAt" });
    expect(swept.map(({ id, dueAt, creditExpiresAt }) => [id, dueAt, creditExpiresAt])).toEqual([
      [2, 100, 700],
      [3, 100, 400],
      [4, 100, null],
    ]);
    await store.close();
  });

  test("a migration that fails leaves the version before it", () => {
    const connection = connectSqlite(":memory:");
    const broken = ["CREATE TABLE half (name TEXT)", "no SQL at all"];
    expect(() => migrate(connection, [...MIGRATIONS, broken])).toThrow();
    expect(schemaVersion(connection.db)).toBe(MIGRATIONS.length);
    expect(tables(connection.db)).not.toContain("half");
  });

  test("a field without a column is named at once", async () => {
    await (await openStore(url, { clock })).close();
    const db = new Database(path);
    db.run("ALTER TABLE accounts RENAME COLUMN gear TO gearbox");
    db.close();
    await expect(openStore(url, { clock })).rejects.toThrow("accounts lacks the column gear");
  });
});
