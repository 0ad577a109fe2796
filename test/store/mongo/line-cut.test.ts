// The store on MongoDB when the line is cut: before a message arrives, before its answer does, or for good. What it
// answers must be what is stored, and "unknown" only where nobody can know.

import { afterAll, afterEach, beforeEach, describe, expect, test } from "bun:test";
import { MongoClient } from "mongodb";
import { realClock } from "../../../src/base/clock.ts";
import { openMongo } from "../../../src/store/mongo/mongo-store.ts";
import type { Store } from "../../../src/store/store.ts";
import { until } from "../../e2e/harness.ts";
import { commit, document, record, save } from "../../suites/store-samples.ts";
import { dropDatabase, mongoServer, newDatabase } from "../mongo-server.ts";
import { type CutLine, cutLine, type Fate, freePort } from "../tcp.ts";

const clock = realClock();
const server = await mongoServer("lost connections to MongoDB");

/** Long enough for several attempts: the driver waits half a second before it trusts a server again. */
const PATIENT_MS = 20_000;
/** For those who shall not be answered. */
const DEADLINE_MS = 700;

/** A message that changes a collection: what the driver says to keep a connection alive has none in it. */
const about = (command: "insert" | "update" | "delete" | "findAndModify", collection: string) => {
  const sign = `${command}\0`;
  return (message: string) => message.includes(sign) && message.includes(`${collection}\0`);
};

const always =
  (is: (message: string) => boolean, fate: Fate) =>
  (message: string): Fate =>
    is(message) ? fate : "pass";

function once(is: (message: string) => boolean, fate: Fate): (message: string) => Fate {
  let done = false;
  return (message) => {
    if (done || !is(message)) return "pass";
    done = true;
    return fate;
  };
}

if (server !== null) {
  const [, host, port] = /^mongodb:\/\/(?:[^@/]*@)?([^:,/]+):(\d+)/.exec(server)!;

  let line: CutLine;
  /** Speaks to the server directly. */
  let direct: Store;
  /** Speak over the line. */
  let store: Store;
  let hasty: Store;
  const errors: unknown[] = [];
  const urls: string[] = [];

  const over = (url: string, deadlineMs: number) => {
    const cut = url.replace(`${host}:${port}`, `127.0.0.1:${line.port}`).replace(/\?.*/, "");
    const options = { clock, deadlineMs, onError: (error: unknown) => void errors.push(error) };
    return openMongo(`${cut}?directConnection=true`, options);
  };

  beforeEach(async () => {
    errors.length = 0;
    const url = newDatabase(server);
    urls.push(url);
    line = await cutLine({ host: host!, port: Number(port) });
    direct = await openMongo(url, { clock });
    store = await over(url, PATIENT_MS);
    hasty = await over(url, DEADLINE_MS);
  });
  afterEach(async () => {
    line.judge(() => "pass");
    await Promise.all([direct, store, hasty].map((one) => one.close()));
    await line.close();
  });
  afterAll(() => Promise.all(urls.map(dropDatabase)));

  describe("an append", () => {
    const insert = about("insert", "commits");
    const stored = () => direct.readCommits("account/1", 0, 10);

    test("whose answer is lost is sent again, and recognised as one's own", async () => {
      line.judge(once(insert, "cut"));
      expect(await store.append([commit("account/1", 1)])).toEqual(["committed"]);
      expect(await stored()).toEqual([commit("account/1", 1)]);
      expect(errors).toEqual([]);
    });

    test("that is lost on its way is sent again", async () => {
      line.judge(once(insert, "lose"));
      expect(await store.append([commit("account/1", 1)])).toEqual(["committed"]);
      expect(await stored()).toEqual([commit("account/1", 1)]);
    });

    test("that never hears an answer is unknown at the deadline, though it is stored", async () => {
      line.judge(always(insert, "cut"));
      expect(await hasty.append([commit("account/1", 1)])).toEqual(["unknown"]);
      expect(await stored()).toEqual([commit("account/1", 1)]);
      expect(errors).toHaveLength(1);
    });

    test("that never arrives is unknown at the deadline, and not stored", async () => {
      line.judge(always(insert, "lose"));
      expect(await hasty.append([commit("account/1", 1)])).toEqual(["unknown"]);
      expect(await stored()).toEqual([]);
    });

    test("on a line that says nothing at all is unknown at the deadline, and the store lives on", async () => {
      // Nothing but its own deadline ends this wait.
      line.judge(() => "silence");
      expect(await hasty.append([commit("account/1", 1)])).toEqual(["unknown"]);
      line.judge(() => "pass");
      // The connections without an answer are given up one by one.
      let answered = false;
      for (let i = 0; i < 10 && !answered; i++) {
        const [outcome] = await hasty.append([commit("account/2", 1)]);
        answered = outcome === "committed";
      }
      expect(answered).toBe(true);
    });

    test("that the deadline found unknown is committed when the same writer sends it later", async () => {
      line.judge(always(insert, "cut"));
      expect(await hasty.append([commit("account/1", 1)])).toEqual(["unknown"]);
      line.judge(() => "pass");
      expect(await hasty.append([commit("account/1", 1)])).toEqual(["committed"]);
      expect(await hasty.append([commit("account/1", 1, { by: "another" })])).toEqual(["lost"]);
    });

    test("is lost when another's commit stands, however often its own answer was lost", async () => {
      await direct.append([commit("account/1", 1, { by: "faster" })]);
      line.judge(once(insert, "cut"));
      expect(await store.append([commit("account/1", 1)])).toEqual(["lost"]);
      expect(await stored()).toEqual([commit("account/1", 1, { by: "faster" })]);
    });

    test("of several returns each fate, though their common answer was lost", async () => {
      await direct.append([commit("account/2", 1, { by: "faster" })]);
      line.judge(once(insert, "cut"));
      const given = ["account/1", "account/2", "account/3"].map((actor) => commit(actor, 1));
      expect(await store.append(given)).toEqual(["committed", "lost", "committed"]);
      expect(await direct.listActors("", "", 10)).toEqual(["account/1", "account/2", "account/3"]);
    });

    test("whose key is taken is unknown while nobody can say by whom", async () => {
      await direct.append([commit("account/1", 1)]);
      const reading = (message: string) => message.includes("find\0") && message.includes("commits\0");
      line.judge(always(reading, "lose"));
      expect(await hasty.append([commit("account/1", 1), commit("account/2", 1)])).toEqual([
        "unknown",
        "committed",
      ]);
    });
  });

  describe("other writes", () => {
    test("a save whose answer is lost is done once more, to the same end", async () => {
      line.judge(once(about("update", "snapshots"), "cut"));
      const accounts = [document("accounts", "1", 3, { id: 1, dna: "." })];
      await store.save([save("account/1", 3, accounts)]);
      expect((await direct.loadSnapshot("account/1"))?.seq).toBe(3);
      expect(await direct.find({ table: "accounts", where: [], order: "id" })).toEqual([{ id: 1, dna: "." }]);
    });

    test("a snapshot never stands without its documents", async () => {
      line.judge(always(about("update", "accounts"), "lose"));
      const accounts = [document("accounts", "1", 3, { id: 1 })];
      await expect(hasty.save([save("account/1", 3, accounts)])).rejects.toThrow();
      expect(await direct.loadSnapshot("account/1")).toBeNull();
    });

    test("a claim whose answer is lost is one's own, and another's is not", async () => {
      line.judge(once(about("insert", "claims"), "cut"));
      expect(await store.claim("name:ada", 1, "me", 5)).toBe(true);
      line.judge(once(about("insert", "claims"), "cut"));
      expect(await store.claim("name:ada", 2, "another", 5)).toBe(false);
    });

    test("numbers whose answer is lost are left out, and none is given twice", async () => {
      line.judge(once(about("findAndModify", "counters"), "cut"));
      expect(await store.reserveIds("accounts", 20)).toBe(21);
      expect(await direct.reserveIds("accounts", 20)).toBe(41);
    });

    test("a compare-and-set whose answer is lost throws: it is sent once", async () => {
      line.judge(once(about("insert", "registry"), "cut"));
      await expect(store.cas("table", 0, "a")).rejects.toThrow();
      expect(await direct.read("table")).toEqual({ value: "a", rev: 1 });
      line.judge(once(about("update", "registry"), "cut"));
      await expect(store.cas("table", 1, "b")).rejects.toThrow();
      expect(await direct.read("table")).toEqual({ value: "b", rev: 2 });
      expect(await store.cas("table", 1, "c")).toBeNull();
    });

    test("a read whose answer is lost is asked again", async () => {
      await direct.append([commit("account/1", 1)]);
      line.judge(once((message) => message.includes("find\0"), "cut"));
      expect(await store.readCommits("account/1", 0, 10)).toHaveLength(1);
    });
  });

  describe("several records", () => {
    const given = [record("logs", { id: 1 }), record("logs", { id: 2 }), record("news", { id: 3 })];
    const count = async () =>
      (await direct.count({ table: "logs", where: [] })) + (await direct.count({ table: "news", where: [] }));

    /** Looks again until it is so: who is gone is only found out by waiting. */
    async function becomes(expected: number): Promise<void> {
      await until(`there are ${expected}`, async () => (await count()) === expected, 40_000);
    }

    test("are stored, none of them, when their batch never arrives", async () => {
      line.judge(always(about("insert", "batches"), "lose"));
      await expect(hasty.putRecords(given)).rejects.toThrow();
      expect(await count()).toBe(0);
    });

    test("are stored when an answer on the way is lost", async () => {
      line.judge(once(about("insert", "batches"), "cut"));
      await store.putRecords(given);
      expect(await count()).toBe(3);
      line.judge(once(about("delete", "batches"), "cut"));
      await store.putRecords(given);
      expect(await count()).toBe(3);
      // What would stay behind would be done again, over something newer.
      await using client = new MongoClient(urls.at(-1)!);
      expect(await client.db().collection("batches").countDocuments()).toBe(0);
    });

    test("that a writer left behind half done are finished by another", async () => {
      line.judge(always(about("update", "news"), "lose"));
      await expect(hasty.putRecords(given)).rejects.toThrow();
      expect(await count()).toBe(2);
      const other = await openMongo(urls.at(-1)!, { clock, deadlineMs: 200 });
      await becomes(3);
      await other.close();
    }, 120_000);

    test("are removed by another, when their remover left them behind", async () => {
      await direct.putRecords(given);
      line.judge(always(about("delete", "logs"), "lose"));
      await expect(hasty.removeRecords("logs", ["1", "2"])).rejects.toThrow();
      expect(await count()).toBe(3);
      const other = await openMongo(urls.at(-1)!, { clock, deadlineMs: 200 });
      await becomes(1);
      await other.close();
    }, 120_000);
  });

  test("closing while nobody answers ends, and what waited is unknown", async () => {
    line.judge(() => "lose");
    const answer = hasty.append([commit("account/1", 1)]);
    await hasty.close();
    expect(await answer).toEqual(["unknown"]);
    await expect(hasty.readCommits("account/1", 0, 1)).rejects.toThrow("closed");
  });

  const UNREACHABLE: readonly (readonly [string, string, RegExp])[] = [
    [
      "a server that is not there",
      `127.0.0.1:${await freePort()}/arborgate`,
      /MongoDB cannot be reached: .*ECONNREFUSED/,
    ],
    ["a host that is none", "no host/arborgate", /MongoDB cannot be reached: .*no host/],
    ["a port that is none", "127.0.0.1:x/arborgate", /STORE_URL: .*127.0.0.1:x/],
    ["an option that is none", "127.0.0.1/arborgate?s=1", /STORE_URL: option s /],
  ];

  test.each(UNREACHABLE)(
    "%s refuses the opening, and no error names the password",
    async (_title, place, why) => {
      const opening = openMongo(`mongodb://ada:s3cret@${place}`, { clock, deadlineMs: 2_500 });
      const error = await opening.catch((reason: unknown) => reason);
      expect(String(error)).toMatch(why);
      expect(String(error)).not.toContain("s3cret");
    },
  );
}
