// What only the store on MongoDB promises: how it opens, that many nodes share it, and that what BSON would bend comes
// back straight.

import { afterAll, afterEach, beforeEach, describe, expect, test } from "bun:test";
import { MongoClient } from "mongodb";
import { realClock } from "../../../src/base/clock.ts";
import { openStore } from "../../../src/store/open.ts";
import type { Store } from "../../../src/store/store.ts";
import { commit, commits, document, ODD_TEXTS, record, save } from "../../suites/store-samples.ts";
import { dropDatabase, mongoServer, newDatabase } from "../mongo-server.ts";

const clock = realClock();
const server = await mongoServer("openings of a store on MongoDB");

if (server !== null) {
  const urls: string[] = [];
  let url: string;
  /** Two nodes of a cluster. */
  let one: Store;
  let other: Store;

  beforeEach(async () => {
    url = newDatabase(server);
    urls.push(url);
    [one, other] = await Promise.all([openStore(url, { clock }), openStore(url, { clock })]);
  });
  afterEach(async () => {
    await Promise.all([one.close(), other.close()]);
  });
  afterAll(() => Promise.all(urls.map(dropDatabase)));

  const raw = async <T>(work: (db: ReturnType<MongoClient["db"]>) => Promise<T>): Promise<T> => {
    await using client = new MongoClient(url);
    return await work(client.db());
  };

  describe("an opening", () => {
    test("makes the indexes that lists and bills walk", async () => {
      const keys = await raw(async (db) => (await db.collection("accounts").indexes()).map(({ key }) => key));
      expect(keys).toContainEqual({ parent: 1, id: 1, _id: 1 });
      expect(keys).toContainEqual({ dna: 1, _id: 1 });
    });

    test("refuses a database of another version", async () => {
      await raw((db) =>
        db.collection<{ _id: string }>("meta").updateOne({ _id: "schema" }, { $set: { version: 99 } }),
      );
      await expect(openStore(url, { clock })).rejects.toThrow("version 99");
    });

    test("for reading changes nothing, and every write is refused", async () => {
      await one.append([commit("account/1", 1)]);
      const reader = await openStore(url, { clock, readOnly: true });
      expect(await reader.readCommits("account/1", 0, 10)).toHaveLength(1);
      const writes = [
        () => reader.append([commit("account/1", 2)]),
        () => reader.save([save("account/1", 1)]),
        () => reader.putRecords([record("logs", { id: 1 })]),
        () => reader.removeRecords("logs", ["1"]),
        () => reader.claim("name:ada", 1, "me", 5),
        () => reader.reserveIds("accounts", 1),
        () => reader.cas("table", 0, "a"),
      ];
      for (const write of writes) await expect(write()).rejects.toThrow("for reading");
      await reader.close();
    });

    test("for reading refuses a database that has nothing of ours, and leaves it empty", async () => {
      const empty = newDatabase(server);
      urls.push(empty);
      await expect(openStore(empty, { clock, readOnly: true })).rejects.toThrow("nothing of arborgate");
      await using client = new MongoClient(empty);
      expect(await client.db().listCollections().toArray()).toEqual([]);
    });
  });

  test("what takes several steps is done to its end when the store is closed meanwhile", async () => {
    const node = await openStore(url, { clock });
    const put = node.putRecords([
      record("logs", { id: 1 }),
      record("logs", { id: 2 }),
      record("news", { id: 3 }),
    ]);
    const saved = node.save([save("account/1", 1, [document("accounts", "1", 1, { id: 1 })])]);
    await node.close();
    await Promise.all([put, saved]);
    expect(await one.count({ table: "news", where: [] })).toBe(1);
    expect((await one.loadSnapshot("account/1"))?.seq).toBe(1);
    await expect(node.putRecords([record("logs", { id: 4 })])).rejects.toThrow("closed");
  });

  describe("two nodes", () => {
    test("that write one place of the ledger at the same time: one stands, and both know which", async () => {
      for (let seq = 1; seq <= 20; seq++) {
        const answers = await Promise.all(
          [one, other].map((store, i) => store.append([commit("account/1", seq, { by: `node ${i}` })])),
        );
        expect(answers.flat().toSorted()).toEqual(["committed", "lost"]);
        const [standing] = await one.readCommits("account/1", seq - 1, 1);
        expect(standing?.by).toBe(`node ${answers.findIndex(([answer]) => answer === "committed")}`);
      }
    });

    test("that save one new document at the same time: the newest stands", async () => {
      for (let id = 1; id <= 10; id++) {
        const seqs = [3, 1, 4, 2, 5];
        const saves = seqs.map((seq, i) =>
          (i % 2 === 0 ? one : other).save([
            save(`account/${id}`, seq, [document("accounts", `${id}`, seq, { id, level: seq })]),
          ]),
        );
        await Promise.all(saves);
        expect((await one.loadSnapshot(`account/${id}`))?.seq).toBe(5);
        const where = [{ field: "id", is: "=", value: id }] as const;
        expect(await one.find({ table: "accounts", where, order: "id" })).toEqual([{ id, level: 5 }]);
      }
    });

    test("never get the same numbers", async () => {
      const firsts = await Promise.all(
        Array.from({ length: 40 }, (_, i) => [one, other][i % 2]!.reserveIds("n", 3)),
      );
      expect(firsts.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 40 }, (_, i) => 1 + 3 * i));
    });

    test("of which one wins a compare-and-set: the other sees its value at once", async () => {
      const revs = await Promise.all([one.cas("table", 0, "one"), other.cas("table", 0, "other")]);
      expect(revs.toSorted()).toEqual([1, null]);
      expect(await other.read("table")).toEqual(await one.read("table"));
    });
  });

  describe("what BSON would bend", () => {
    test("numbers of every size are numbers again, and whole", async () => {
      const whole = [0, -1, 2 ** 31 - 1, 2 ** 31, -(2 ** 31) - 1, 2 ** 53 - 1];
      for (const [i, at] of whole.entries()) {
        const given = commit(`account/${i}`, 1, { at, events: [{ at, line: true, e: { at } }] });
        await one.append([given]);
        expect(await one.readCommits(`account/${i}`, 0, 1)).toEqual([given]);
        await one.save([save(`account/${i}`, 1, [], { at, linesTo: at })]);
        expect(await one.loadSnapshot(`account/${i}`)).toMatchObject({ at, linesTo: at });
      }
      expect(await one.reserveIds("many", 2 ** 40)).toBe(1);
      expect(await one.reserveIds("many", 2 ** 40)).toBe(2 ** 40 + 1);
    });

    test("names with dots and dollars, and names that mean something elsewhere, survive in bodies", async () => {
      const odd = { "a.b": 1, $set: { $where: "1" }, "": 0, _id: 5, __proto: null, "0": [{ "x.y": null }] };
      const given = commit("account/1", 1, {
        done: [{ id: "$", reply: odd }],
        events: [{ at: 1, line: true, e: odd }],
      });
      await one.append([given]);
      expect(await one.readCommits("account/1", 0, 1)).toEqual([given]);
      await one.save([save("account/1", 1, [document("accounts", "1", 1, { id: 1, odd })], { state: odd })]);
      expect((await one.loadSnapshot("account/1"))?.state).toEqual(odd);
      const [found] = await one.find({ table: "accounts", where: [], order: "id" });
      expect(found).toEqual({ id: 1, odd });
    });

    test("what is undefined is not there, as on disk", async () => {
      const e = { kept: 1, gone: undefined };
      await one.append([commit("account/1", 1, { events: [{ at: 1, line: true, e }] })]);
      const [read] = await one.readCommits("account/1", 0, 1);
      expect(Object.keys(read?.events[0]?.e as object)).toEqual(["kept"]);
      await one.putRecords([record("logs", { id: 1, at: undefined, note: undefined })]);
      expect(await one.find({ table: "logs", where: [], order: "id" })).toEqual([{ id: 1 }]);
    });

    test("text that looks like an operator is text, in every condition", async () => {
      await one.putRecords(ODD_TEXTS.map((action, id) => record("logs", { id, action: `$${action}` })));
      for (const [id, text] of ODD_TEXTS.entries()) {
        const where = [{ field: "action", is: "=", value: `$${text}` }] as const;
        expect(await one.find({ table: "logs", where, order: "id" })).toEqual([{ id, action: `$${text}` }]);
      }
    });
  });

  test("more commits than one message takes: each is answered for itself", async () => {
    const taken = new Set([1, 1_500, 2_100]);
    await one.append([...taken].map((seq) => commit("account/1", seq, { by: "faster" })));
    const answers = await other.append(commits("account/1", 2_100));
    expect(answers.flatMap((answer, i) => (answer === "lost" ? [i + 1] : []))).toEqual([...taken]);
    expect(answers.filter((answer) => answer === "committed")).toHaveLength(2_097);
  });

  test("lines are found in a long ledger by few looks, wherever they lie", async () => {
    await one.append(commits("account/1", 3_000));
    for (const line of [1, 2, 31, 32, 33, 1_024, 2_999, 3_000]) {
      expect((await one.readLines("account/1", line, line)).map(({ seq }) => seq)).toEqual([line]);
    }
    expect(await one.readLines("account/1", 3_001, 3_002)).toEqual([]);
  });
}
