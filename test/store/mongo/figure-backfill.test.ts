// Accounts that a store of version 2 has get the figures by which lists are ordered in the migration; what is saved later has them.

import { afterAll, expect, test } from "bun:test";
import { type Db, MongoClient } from "mongodb";
import { realClock } from "../../../src/base/clock.ts";
import { openStore } from "../../../src/store/open.ts";
import { document, save } from "../../suites/store-samples.ts";
import { dropDatabase, mongoServer, newDatabase } from "../mongo-server.ts";

const clock = realClock();
const server = await mongoServer("the figures of accounts on MongoDB");

if (server !== null) {
  const urls: string[] = [];
  afterAll(() => Promise.all(urls.map(dropDatabase)));

  const raw = async <T>(url: string, work: (db: Db) => Promise<T>): Promise<T> => {
    await using client = new MongoClient(url);
    return await work(client.db());
  };
  const today = new Date().toISOString().slice(0, 10);
  const month = today.slice(0, 7);

  const usage = (account: number, day: string, cost: number) =>
    document("usage", `${account}/${day}`, 1, {
      account,
      dna: ".1.",
      day,
      models: { m: { requests: 1, cost } },
    });

  test("a reader refuses version 2; a node adds the figures of all accounts", async () => {
    const url = newDatabase(server!);
    urls.push(url);
    const first = await openStore(url, { clock });
    const accounts = Array.from({ length: 1_200 }, (_, i) =>
      document("accounts", String(i + 2), 1, { id: i + 2, parent: 1, balance: 5_000 - i }),
    );
    await first.save([
      save("account/2", 1, [
        ...accounts,
        ...[usage(2, today, 40), usage(3, "2020-01-31", 900), usage(1_200, today, 7)],
      ]),
    ]);
    await first.close();
    await raw(url, async (db) => {
      await db.collection("accounts").updateMany({}, { $unset: { balance: 1, month: 1, monthCost: 1 } });
      await db.collection<{ _id: string }>("meta").updateOne({ _id: "schema" }, { $set: { version: 2 } });
    });

    await expect(openStore(url, { clock, readOnly: true })).rejects.toThrow("start a node once");
    const store = await openStore(url, { clock });
    const ranked = (by: "balance" | "month_cost", limit: number) =>
      store.rankAccounts({ table: "accounts", where: [], by, month, descending: true, limit });
    expect((await ranked("balance", 3)).map(({ id }) => id)).toEqual([2, 3, 4]);
    expect(await ranked("month_cost", 3)).toEqual([
      { id: 2, monthCost: 40 },
      { id: 1_200, monthCost: 7 },
      { id: 1_201, monthCost: 0 },
    ]);
    const body = { id: 3, parent: 1, balance: 9_000, month, monthCost: 41 };
    await store.save([save("account/3", 2, [document("accounts", "3", 2, body)])]);
    expect(await ranked("month_cost", 1)).toEqual([{ id: 3, monthCost: 41 }]);
    await store.close();
    const left = await raw(url, (db) =>
      db.collection("accounts").countDocuments({ balance: { $exists: false } }),
    );
    expect(left).toBe(0);
  });
}
