// A store of version 2 has neither sums of credit nor the newer fields of accounts: a node makes them in the background, and
// until then sums are refused.

import { afterAll, expect, test } from "bun:test";
import { MongoClient } from "mongodb";
import { realClock } from "../../../src/base/clock.ts";
import { openStore } from "../../../src/store/open.ts";
import { StoreBusyError } from "../../../src/store/store-errors.ts";
import { commit, document, save } from "../../suites/store-samples.ts";
import { dropDatabase, mongoServer, newDatabase } from "../mongo-server.ts";

const clock = realClock();
const server = await mongoServer("the backfill of sums of credit on MongoDB");

if (server !== null) {
  const urls: string[] = [];
  afterAll(() => Promise.all(urls.map(dropDatabase)));

  const LINES = 450;
  const charge = (seq: number) =>
    commit("account/2", seq, {
      events: [
        {
          at: seq,
          line: true,
          e: { type: "charge", id: `c${seq}`, amount: -2, balanceAfter: -2 * (seq - 1) },
        },
      ],
    });
  const birth = commit("account/2", 1, {
    events: [{ at: 1, line: false, e: { type: "created", profile: { id: 2, dna: ".1." } } }],
    ...{ lines: 0, linesTo: 0 },
  });
  const older = { id: 2, parent: 1, dna: ".1.", closed: 0, status: true, suspended: true, balance: -900 };

  test("sums and fields of accounts are made once, then they are there for every node", async () => {
    const url = newDatabase(server!);
    urls.push(url);
    const first = await openStore(url, { clock });
    await first.append([birth, ...Array.from({ length: LINES }, (_, i) => charge(i + 2))]);
    const usage = { account: 2, dna: ".1.", day: "2026-02-03", models: {} };
    const documents = [
      document("usage", "2/2026-02-03", LINES + 1, usage),
      document("accounts", "2", LINES + 1, { ...older, createdAt: 0 }),
    ];
    await first.save([save("account/2", LINES + 1, documents)]);
    await first.close();
    await using client = new MongoClient(url);
    const db = client.db();
    await db.collection("money").drop();
    const fields = { status: 1, suspended: 1, balance: 1 };
    await db.collection("accounts").updateMany({}, { $unset: fields });
    await db.collection<{ _id: string }>("meta").updateOne({ _id: "schema" }, { $set: { version: 2 } });

    const store = await openStore(url, { clock });
    const sums = () =>
      store.moneyTotals(0).catch((error) => {
        if (error instanceof StoreBusyError) return null;
        throw error;
      });
    let found = await sums();
    for (let looks = 0; found === null && looks < 500; looks++) {
      await Bun.sleep(20);
      found = await sums();
    }
    expect(found?.trees.get(2)).toMatchObject({ charges: 2n * BigInt(LINES), balances: -2n * BigInt(LINES) });
    expect(await db.collection<{ _id: string }>("money").findOne({ _id: "account/2" })).not.toBeNull();

    const where = [
      { field: "suspended", is: "=", value: 1 },
      { field: "activeDay", is: "<=", value: "2026-02-03" },
      { field: "balance", is: "<=", value: -900 },
    ] as const;
    const listed = () => store.find({ table: "accounts", where, order: "activeDay" });
    for (let looks = 0; (await listed()).length === 0 && looks < 500; looks++) await Bun.sleep(20);
    expect(await listed()).toEqual([
      { ...older, createdAt: 0, activeDay: "2026-02-03", creditExpiresAt: null },
    ]);
    await store.close();
  });

  test("a store of version 3 gets the next expiry of credit, also where another backfill of accounts is half done", async () => {
    const url = newDatabase(server!);
    urls.push(url);
    const first = await openStore(url, { clock });
    const accounts = Array.from({ length: 250 }, (_, i) => {
      const id = i + 2;
      const entries = i % 2 === 0 ? [{ amount: 5, expiresAt: 10_000 - i }] : [];
      const body = { ...older, id, dueAt: 7, activeDay: "2026-02-03", month: "", entries };
      return document("accounts", String(id), 1, body);
    });
    await first.save([save("account/2", 1, accounts)]);
    await first.close();
    await using client = new MongoClient(url);
    const meta = client.db().collection<{ _id: string }>("meta");
    await meta.insertOne({ _id: "accounts", ...{ after: "50", at: 0 } });
    await meta.updateOne({ _id: "schema" }, { $set: { version: 3 } });

    const store = await openStore(url, { clock });
    const where = [{ field: "creditExpiresAt", is: "<=", value: 10_000 }] as const;
    const count = () => store.count({ table: "accounts", where });
    for (let looks = 0; (await count()) < 125 && looks < 1_000; looks++) await Bun.sleep(20);
    expect(await count()).toBe(125);
    const soonest = await store.find({ table: "accounts", where, order: "creditExpiresAt", limit: 2 });
    expect(soonest.map(({ id, creditExpiresAt }) => [id, creditExpiresAt])).toEqual([
      [250, 9_752],
      [248, 9_754],
    ]);
    for (let looks = 0; (await meta.countDocuments()) > 1 && looks < 1_000; looks++) await Bun.sleep(20);
    expect((await meta.find().toArray()).map((one) => ({ ...one }))).toEqual([
      { _id: "schema", version: 4 },
    ] as object[] as never);
    await store.close();
  });
}
