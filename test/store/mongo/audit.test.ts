// The audit of a database on MongoDB, and the cut that it takes beside running nodes.

import { afterAll, describe, expect, test } from "bun:test";
import { MongoClient } from "mongodb";
import { realClock } from "../../../src/base/clock.ts";
import { includeCauses } from "../../../src/store/mongo/consistent-cut.ts";
import { openMongo } from "../../../src/store/mongo/mongo-store.ts";
import { mongoFacts } from "../../../src/store/mongo/schema.ts";
import { openAudit, openStore } from "../../../src/store/open.ts";
import type { MarkedPlace } from "../../../src/store/stored-rows.ts";
import { testAudit } from "../../suites/audit.suite.ts";
import { commit } from "../../suites/store-samples.ts";
import { dropDatabase, mongoServer, newDatabase } from "../mongo-server.ts";

const clock = realClock();
const server = await mongoServer("the audit of a store on MongoDB");

const place = (actor: string, seq: number, ...marks: string[]): MarkedPlace => ({ actor, seq, marks });
const cutOf = (until: Record<string, number>, recent: readonly MarkedPlace[]) => {
  const raised = new Map(Object.entries(until));
  const had = includeCauses(raised, recent);
  return [had, Object.fromEntries(raised)];
};

describe("a cut includes the causes of what it holds", () => {
  const given = [place("giver", 5, "x"), place("receiver", 3, "x")];

  test("what was got is not there without what was given", () => {
    expect(cutOf({ giver: 4, receiver: 3 }, given)).toEqual([true, { giver: 5, receiver: 3 }]);
  });

  test("and what that was caused by, in turn", () => {
    const before = [place("root", 9, "y"), place("giver", 4, "y"), ...given];
    expect(cutOf({ root: 8, giver: 3, receiver: 3 }, before)).toEqual([
      true,
      { root: 9, giver: 5, receiver: 3 },
    ]);
  });

  test("an actor of which nothing recent was seen yet is taken in", () => {
    expect(cutOf({ receiver: 3 }, given)).toEqual([true, { giver: 5, receiver: 3 }]);
  });

  test("what has nothing to do with it stays beyond", () => {
    const other = [place("giver", 5, "z"), place("giver", 6), place("receiver", 3, "x")];
    expect(cutOf({ giver: 4, receiver: 3 }, other)).toEqual([false, { giver: 4, receiver: 3 }]);
  });

  test("an actor's own marks are no cause", () => {
    const own = [place("giver", 4, "x"), place("giver", 5, "x")];
    expect(cutOf({ giver: 4 }, own)).toEqual([false, { giver: 4 }]);
  });
});

if (server !== null) {
  const urls: string[] = [];
  afterAll(() => Promise.all(urls.map(dropDatabase)));
  const fresh = () => {
    const url = newDatabase(server);
    urls.push(url);
    return url;
  };

  testAudit("mongodb", async () => {
    const url = fresh();
    return { url, store: await openMongo(url, { clock }) };
  });

  test("commits of long ago and of just now are in one picture", async () => {
    const url = fresh();
    const store = await openMongo(url, { clock });
    const now = await store.now();
    await store.append(
      [1, 2, 3, 4].map((seq) => commit("account/1", seq, { at: seq < 3 ? seq : now + seq })),
    );
    const audit = await openAudit(url);
    await store.append([commit("account/1", 5, { at: now + 5 })]);
    expect((await audit.readCommits("account/1", 0, 9)).map(({ seq }) => seq)).toEqual([1, 2, 3, 4]);
    expect((await audit.counts()).commits).toBe(4);
    expect([await audit.moved("account/1"), await audit.moved("account/2")]).toEqual([true, false]);
    await audit.close();
    await store.close();
  });

  test("credit that moves while pictures are taken is in each of them on one side or under way", async () => {
    const url = fresh();
    const store = await openMongo(url, { clock });
    const at = await store.now();
    let running = true;
    const moving = async (giver: string, receiver: string) => {
      for (let seq = 1; running; seq++) {
        const marks = [`${giver} ${seq}`];
        await store.append([commit(giver, seq, { at, marks })]);
        await store.append([commit(receiver, seq, { at, marks })]);
      }
    };
    const all = Promise.all(Array.from({ length: 6 }, (_, i) => moving(`giver/${i}`, `receiver/${i}`)));
    for (let round = 0; round < 8; round++) {
      const audit = await openAudit(url);
      for (let i = 0; i < 6; i++) {
        const [given, got] = await Promise.all(
          [`giver/${i}`, `receiver/${i}`].map(
            async (actor) => (await audit.readCommits(actor, 0, 10_000)).length,
          ),
        );
        expect(got).toBeLessThanOrEqual(given!);
      }
      await audit.close();
    }
    running = false;
    await all;
    await store.close();
  }, 60_000);

  describe("looking makes nothing", () => {
    const collections = async (url: string) => {
      await using client = new MongoClient(url);
      return await client.db().listCollections().toArray();
    };

    test("an audit of a database that has nothing of ours is refused", async () => {
      const url = fresh();
      await expect(openAudit(url)).rejects.toThrow("nothing of arborgate");
      expect(await collections(url)).toEqual([]);
    });

    test("neither an audit nor a reader makes indexes", async () => {
      const url = fresh();
      const { known } = await mongoFacts(url, { clock });
      await using client = new MongoClient(url);
      await client
        .db()
        .collection<{ _id: string; version: number }>("meta")
        .insertOne({ _id: "schema", version: known });
      await (await openAudit(url)).close();
      await (await openStore(url, { clock, readOnly: true })).close();
      expect((await collections(url)).map(({ name }) => name)).toEqual(["meta"]);
    });

    test("facts of a database, before its first start and after", async () => {
      const url = fresh();
      const before = await mongoFacts(url, { clock });
      expect(before).toMatchObject({ schema: 0, known: 4, commits: 0, sharded: false });
      expect(before.missingIndexes).toContain("accounts: parent, id, _id");
      expect(await collections(url)).toEqual([]);
      const store = await openMongo(url, { clock });
      await store.append([commit("account/1", 1)]);
      await store.close();
      const after = await mongoFacts(url, { clock });
      expect(after).toMatchObject({ schema: 4, commits: 1, missingIndexes: [] });
      expect(after.version).toMatch(/^\d+\.\d+/);
    });
  });
}
