// Pages and counts of long lists: exact at any place and after any write, with work that does not grow with the list.

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openStore } from "../../../src/store/open.ts";
import { connectSqlite, type SqliteConnection } from "../../../src/store/sqlite/connection.ts";
import { CHUNK_ROWS } from "../../../src/store/sqlite/counted-lists.ts";
import { SqliteLists } from "../../../src/store/sqlite/find.ts";
import { migrate } from "../../../src/store/sqlite/schema.ts";
import type { Conditions, Store, StoredDocument, StoredRecord, Where } from "../../../src/store/store.ts";
import type { IndexedField } from "../../../src/store/tables.ts";
import { manualClock } from "../../runtime/manual-clock.ts";
import { type SimRandom, simRandom } from "../../sim/random.ts";
import { document, save } from "../../suites/store-samples.ts";
import { memoryStore } from "../memory/memory.ts";

const clock = manualClock();

/** The same writes in a store on SQLite and in one that walks all of its rows for each answer. */
let stores: readonly [Store, Store];
let seq = 0;

beforeEach(async () => {
  stores = [await openStore("sqlite::memory:", { clock }), memoryStore({ clock })];
  seq = 0;
});
afterEach(() => stores[0].close());

async function keep(documents: readonly StoredDocument[]): Promise<void> {
  for (const store of stores) await store.save([save("account/1", ++seq, [...documents])]);
}

async function put(records: readonly StoredRecord[]): Promise<void> {
  for (const store of stores) await store.putRecords(records);
}

const account = (id: number, { parent = 1 + (id % 2), closed = 0, at = id as number | null } = {}) =>
  document("accounts", `key ${id}`, seq + 1, {
    ...{ id: at, parent, closed, dna: `.1.${parent}.`, nameLower: `name ${id % 7}`, level: id % 3 },
  });

const range = (from: number, length: number) => Array.from({ length }, (_, i) => from + i);

type List = Pick<Conditions<"accounts">, "where" | "anyOf">;
const open: Where<"accounts"> = { field: "closed", is: "=", value: 0 };
const LISTS: readonly (readonly [string, List])[] = [
  ["all", { where: [] }],
  ["children of one", { where: [{ field: "parent", is: "=", value: 1 }, open] }],
  ["a branch", { where: [{ field: "dna", is: "starts", value: ".1." }, open] }],
  ["a part of a name", { where: [{ field: "nameLower", is: "has", value: "3" }, open] }],
  [
    "either of two",
    {
      where: [open],
      anyOf: [
        [{ field: "level", is: "=", value: 1 }],
        [{ field: "dna", is: "starts", value: ".1.2." }],
        [{ field: "parent", is: "=", value: 1 }],
      ],
    },
  ],
  ["a few", { where: [{ field: "parent", is: "=", value: 3 }] }],
];

/** Compares the count and some pages of a list in both stores. */
async function expectSame<T extends "accounts" | "logs">(conditions: Conditions<T>, random: SimRandom) {
  const [sqlite, memory] = stores;
  const total = await memory.count(conditions);
  expect(await sqlite.count(conditions)).toBe(total);
  const order = (conditions.table === "logs" ? "at" : "id") as IndexedField<T>;
  for (const offset of [0, CHUNK_ROWS, total - 1, total, random.below(total + 1), random.below(total + 1)]) {
    const page = { offset: Math.max(0, offset), limit: random.pick([1, 10, 100]) };
    for (const descending of [false, true]) {
      const find = { ...conditions, order, descending, ...page };
      expect(await sqlite.find(find)).toEqual([...(await memory.find(find))]);
    }
  }
  const rest = { ...conditions, order, offset: Math.max(0, total - 5) };
  expect(await sqlite.find(rest)).toEqual([...(await memory.find(rest))]);
}

describe("accounts", () => {
  const ROWS = 5_500;
  /** What happens between two looks. */
  const WRITES: readonly ((random: SimRandom, next: number) => readonly StoredDocument[])[] = [
    (_, next) => range(next, 700).map((id) => account(id)),
    (random) => range(random.below(ROWS), 300).map((id) => account(id, { closed: 2 })),
    (random) => range(random.below(ROWS), 100).map((id) => account(id, { parent: 3 })),
    (random) => [account(random.below(ROWS), { parent: 1 })],
    (random) => [account(random.below(ROWS), { at: null })],
    (random) => [account(random.below(ROWS), { at: random.below(2 * ROWS) })],
    (random) => [account(500_000 + random.below(1_000))],
  ];

  test.each([1, 2])("each page is the same as of a walk, whatever is written (seed %d)", async (seed) => {
    const random = simRandom(seed);
    await keep(range(1, ROWS).map((id) => account(id)));
    let next = ROWS + 1;
    for (const write of [() => [], ...WRITES]) {
      await keep(write(random, next));
      next += 700;
      for (const [, list] of LISTS) await expectSame({ table: "accounts", ...list }, random);
    }
  });

  test("pages one after another have every row once while accounts come and go at other places", async () => {
    await keep(range(1, 9_000).map((id) => account(id, { parent: 1 })));
    const [store] = stores;
    const seen: unknown[] = [];
    const list = { table: "accounts", where: [LISTS[1]![1].where[0]!, open], order: "id" } as const;
    for (let page = 0; page < 80; page++) {
      const rows = await store.find({ ...list, offset: page * 100, limit: 100 });
      seen.push(...rows.map(({ id }) => id));
      // A newcomer at the end, and one that leaves where the reader has not been yet and comes back.
      await keep([account(20_000 + page, { parent: 1 }), account(8_500 + page, { parent: 1, closed: 2 })]);
      await keep([account(8_500 + page, { parent: 1 })]);
    }
    expect(seen).toEqual(range(1, 8_000));
  });

  test("a page is asked for while the list is counted for the first time, and while it changes", async () => {
    await keep(range(1, 9_000).map((id) => account(id, { parent: 1 })));
    const [store] = stores;
    const list = { table: "accounts", where: LISTS[1]![1].where, order: "id", limit: 1 } as const;
    const asked = range(0, 8).map((i) => store.find({ ...list, offset: 1_001 + 1_000 * i }));
    const added = store.save([save("account/1", ++seq, [account(90_000, { parent: 1 })])]);
    const ids = (await Promise.all(asked)).map(([row]) => row!.id);
    expect(ids).toEqual(range(0, 8).map((i) => 1_002 + 1_000 * i));
    await added;
    expect(await store.count(list)).toBe(9_001);
  });
});

describe("the log", () => {
  const line = (id: number, at: number, operator = id % 5): StoredRecord => ({
    table: "logs",
    id: `line ${id}`,
    body: { id, at, operator, target: id % 11, targetType: "user", targetDna: `.1.${id % 3}.`, action: "x" },
  });
  const equal = (field: "operator" | "target", value: number): Where<"logs"> => ({ field, is: "=", value });
  const SCOPES: readonly Conditions<"logs">[] = [
    { table: "logs", where: [] },
    { table: "logs", where: [equal("operator", 2)] },
    {
      table: "logs",
      where: [],
      anyOf: [
        [equal("operator", 1)],
        [equal("target", 4)],
        [{ field: "targetDna", is: "starts", value: ".1.2." }],
      ],
    },
  ];

  test("each page is the same as of a walk: lines come, move and go, many at one moment", async () => {
    const random = simRandom(4);
    await put(range(1, 6_000).map((id) => line(id, Math.floor(id / 3))));
    const writes: readonly (() => Promise<void>)[] = [
      async () => {},
      () => put(range(6_001, 500).map((id) => line(id, 2_500))),
      () => put(range(1_000, 50).map((id) => line(id, 9_999, 7))),
      () => put(range(7_000, 1_500).map((id) => line(id, 10_000 + id))),
      async () => {
        const old = range(1, 1_200).map((id) => `line ${id}`);
        for (const store of stores) await store.removeRecords("logs", old);
      },
    ];
    for (const write of writes) {
      await write();
      for (const scope of SCOPES) await expectSame(scope, random);
    }
  });
});

describe("work", () => {
  /** A connection that counts what it is asked. */
  function counting(): { readonly connection: SqliteConnection; readonly asked: () => number } {
    const connection = connectSqlite(":memory:");
    migrate(connection);
    connection.db.run(
      `INSERT INTO accounts (key, seq, id, parent, dna, closed, body)
       SELECT 'key ' || value, 1, value, 1, '.1.', 0, json_object('id', value) FROM json_each(?)`,
      [JSON.stringify(range(1, 20_000))],
    );
    let asked = 0;
    const recent: SqliteConnection["recent"] = (sql) => {
      asked++;
      return connection.recent(sql);
    };
    return { connection: { ...connection, recent }, asked: () => asked };
  }

  const children = { table: "accounts", where: [{ field: "parent", is: "=", value: 1 }] } as const;
  const page = (offset: number) => ({ ...children, order: "id", offset, limit: 10 }) as const;

  test("counted once, a list of any length takes one query a page, and none a count", async () => {
    const { connection, asked } = counting();
    const lists = new SqliteLists(connection);
    expect(await lists.count(children)).toBe(20_000);
    const first = asked();
    expect(await lists.count(children)).toBe(20_000);
    expect(asked()).toBe(first);
    for (const offset of [2_000, 10_000, 19_990]) await lists.find(page(offset));
    expect(asked()).toBe(first + 3);
    connection.close();
  });

  test("a page begins beside its place: it skips fewer rows than a chunk has", async () => {
    const { connection } = counting();
    const lists = new SqliteLists({ ...connection, recent });
    const skipped: number[] = [];
    function recent(sql: string) {
      const statement = connection.recent(sql);
      if (!sql.includes("OFFSET ?")) return statement;
      const all = (...params: number[]) => {
        skipped.push(params.at(-1)!);
        return statement.all(...params);
      };
      return Object.assign(Object.create(statement), { all }) as typeof statement;
    }
    for (const offset of [1_001, 9_999, 10_000, 15_555, 19_999]) {
      expect(await lists.find({ ...page(offset), limit: 1 })).toHaveLength(1);
    }
    expect(skipped).toHaveLength(5);
    expect(Math.max(...skipped)).toBeLessThanOrEqual(CHUNK_ROWS);
    connection.close();
  });

  test("a page reads no more than the chunks that it spans, in each of its groups", async () => {
    const { connection } = counting();
    const ranges: number[] = [];
    const recent: SqliteConnection["recent"] = (sql) => {
      const statement = connection.recent(sql);
      if (!sql.includes("OFFSET ?")) return statement;
      const all = (...params: number[]) => {
        // The group of the parent, with its first and last id, then the group of the branch with both of its ends.
        const [, from, to] = params.filter((param) => typeof param === "number");
        ranges.push(to! - from!);
        return statement.all(...params);
      };
      return Object.assign(Object.create(statement), { all }) as typeof statement;
    };
    const lists = new SqliteLists({ ...connection, recent });
    const where: readonly Where<"accounts">[] = [];
    const anyOf = [[children.where[0]], [{ field: "dna", is: "starts", value: ".1." } as const]];
    for (const offset of [1_500, 9_950, 15_000]) {
      const find = { table: "accounts", where, anyOf, order: "id", offset, limit: 100 } as const;
      expect(await lists.find(find)).toHaveLength(100);
    }
    expect(ranges).toHaveLength(3);
    for (const range of ranges) {
      expect(range).toBeGreaterThan(0);
      expect(range).toBeLessThanOrEqual(2 * (CHUNK_ROWS + 1));
    }
    connection.close();
  });

  test("a page is whole although rows have gone that are not counted yet", async () => {
    const { connection } = counting();
    const lists = new SqliteLists(connection);
    expect(await lists.count(children)).toBe(20_000);
    connection.db.run("DELETE FROM accounts WHERE id BETWEEN 9000 AND 9900");
    expect(await lists.find(page(9_000))).toHaveLength(10);
    lists.changed({ table: "accounts", values: range(9_000, 901) });
    expect((await lists.find(page(9_000))).map(({ id }) => id)).toEqual(range(9_902, 10));
    expect(await lists.count(children)).toBe(19_099);
    connection.close();
  });

  test("a write makes its own part of the list be counted again, and no other", async () => {
    const { connection, asked } = counting();
    const lists = new SqliteLists(connection);
    await lists.count(children);
    const before = asked();
    connection.db.run("DELETE FROM accounts WHERE id = 7777");
    lists.changed({ table: "accounts", values: [7_777] });
    expect(await lists.count(children)).toBe(19_999);
    expect(asked()).toBe(before + 1);
    connection.close();
  });

  test("only the lists that were asked for last are remembered", async () => {
    const { connection, asked } = counting();
    const lists = new SqliteLists(connection);
    const ofLevel = (level: number) =>
      ({ table: "accounts", where: [{ field: "level", is: "<=", value: level }] }) as const;
    await lists.count(ofLevel(0));
    const known = asked();
    await lists.count(ofLevel(0));
    expect(asked()).toBe(known);
    for (let level = 1; level <= 200; level++) await lists.count(ofLevel(level));
    const forgotten = asked();
    await lists.count(ofLevel(0));
    expect(asked()).toBeGreaterThan(forgotten);
    connection.close();
  });
});

describe("beside a running server", () => {
  test("a reader counts and pages what the server has written since", async () => {
    const home = mkdtempSync(join(tmpdir(), "arborgate-lists-"));
    const path = `sqlite:${join(home, "store.db")}`;
    const server = await openStore(path, { clock });
    const reader = async () => openStore(path, { clock, readOnly: true });
    await server.save([
      save(
        "account/1",
        1,
        range(1, 5_000).map((id) => account(id, { parent: 1 })),
      ),
    ]);
    const beside = await reader();
    const list = { table: "accounts", where: [], order: "id" } as const;
    for (let added = 0; added < 3; added++) {
      for (const store of [server, beside]) {
        expect(await store.count(list)).toBe(5_000 + added);
        const last = await store.find({ ...list, offset: 4_999 + added });
        expect(last.map(({ id }) => id)).toEqual([added === 0 ? 5_000 : 8_000 + added]);
      }
      await server.save([save("account/2", added + 1, [account(8_001 + added)])]);
    }
    await beside.close();
    await server.close();
    rmSync(home, { recursive: true });
  });
});
