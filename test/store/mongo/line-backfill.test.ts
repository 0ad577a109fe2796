// The lines that a store of version 1 has are projected in the background, once, by whichever node is there; what is saved
// meanwhile is projected with its save.

import { afterAll, expect, test } from "bun:test";
import { type Db, MongoClient } from "mongodb";
import { realClock } from "../../../src/base/clock.ts";
import { openStore } from "../../../src/store/open.ts";
import type { Store } from "../../../src/store/store.ts";
import { commit, commits, save } from "../../suites/store-samples.ts";
import { dropDatabase, mongoServer, newDatabase } from "../mongo-server.ts";

const clock = realClock();
const server = await mongoServer("the backfill of lines on MongoDB");

if (server !== null) {
  const urls: string[] = [];
  afterAll(() => Promise.all(urls.map(dropDatabase)));

  const raw = async <T>(url: string, work: (db: Db) => Promise<T>): Promise<T> => {
    await using client = new MongoClient(url);
    return await work(client.db());
  };

  /** A store as version 1 leaves it: commits and snapshots without projected lines. */
  async function older(): Promise<string> {
    const url = newDatabase(server!);
    urls.push(url);
    const store = await openStore(url, { clock });
    await store.append([...commits("account/1", 700), ...commits("account/2", 3)]);
    await store.save([save("account/1", 700), save("account/2", 2)]);
    await store.close();
    await raw(url, async (db) => {
      await db.collection("lines").drop();
      await db.collection<{ _id: string }>("meta").updateOne({ _id: "schema" }, { $set: { version: 1 } });
    });
    return url;
  }

  const count = async (store: Store, actor: string): Promise<number> =>
    (await store.lines({ actor }, null, 1_000)).lines.length;

  async function settled(store: Store, actor: string, lines: number): Promise<void> {
    for (let looks = 0; (await count(store, actor)) < lines && looks < 500; looks++) await Bun.sleep(20);
  }

  const due = (url: string) =>
    raw(url, (db) =>
      db.collection<{ _id: string; after: string; at: number }>("meta").findOne({ _id: "lines" }),
    );

  test("a reader refuses version 1; a node projects what there is, beside what it saves", async () => {
    const url = await older();
    await expect(openStore(url, { clock, readOnly: true })).rejects.toThrow("start a node once");
    const store = await openStore(url, { clock });
    await store.append([commit("account/1", 701)]);
    await store.save([save("account/1", 701)]);
    await settled(store, "account/1", 701);
    await settled(store, "account/2", 3);
    expect([await count(store, "account/1"), await count(store, "account/2")]).toEqual([701, 3]);
    for (let looks = 0; (await due(url)) !== null && looks < 500; looks++) await Bun.sleep(20);
    expect(await due(url)).toBeNull();
    await store.close();
  });

  test("a node that stops leaves the rest to the next one, which goes on from there", async () => {
    const url = await older();
    await (await openStore(url, { clock })).close();
    const [left, lines] = [await due(url), await raw(url, (db) => db.collection("lines").countDocuments())];
    expect([left?.after, left?.at, lines]).toEqual([expect.stringMatching(/^account\/1\/0*100$/), 0, 100]);
    await raw(url, (db) => db.collection("lines").deleteMany({}));
    const store = await openStore(url, { clock });
    await settled(store, "account/2", 3);
    expect([await count(store, "account/1"), await count(store, "account/2")]).toEqual([600, 3]);
    await store.close();
  });

  test("a new store has none to do", async () => {
    const url = newDatabase(server);
    urls.push(url);
    const store = await openStore(url, { clock });
    expect(await due(url)).toBeNull();
    await store.close();
  });
}
