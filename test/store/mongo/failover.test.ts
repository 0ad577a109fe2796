// The store on MongoDB while its primary steps down, writes find no majority, or the server stands still: nothing that was
// acknowledged is lost, nothing is done twice, and it goes on by itself when the server does.

import { afterAll, afterEach, beforeEach, describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { realClock } from "../../../src/base/clock.ts";
import { openMongo } from "../../../src/store/mongo/mongo-store.ts";
import type { Store } from "../../../src/store/store.ts";
import { until } from "../../e2e/harness.ts";
import { commit, commits, document, record, save } from "../../suites/store-samples.ts";
import { dropDatabase, mongoServer, newDatabase, startMongo } from "../mongo-server.ts";
import { type Command, type Treatment, type WireLine, wireLine } from "../mongo-wire.ts";

const clock = realClock();
const server = await mongoServer("a store on MongoDB whose primary steps down");

const DEADLINE_MS = 20_000;
const WRITES: ReadonlySet<string> = new Set(["insert", "update", "delete", "findAndModify"]);
const READS: ReadonlySet<string> = new Set(["find", "aggregate", "count", "getMore"]);

const failure = (code: number, codeName: string) => ({ ok: 0, code, codeName, errmsg: codeName });
const STEPPED_DOWN: Treatment = { answer: failure(10_107, "NotWritablePrimary") };
const withoutMajority = (code: number): Treatment => ({
  change: (answer) => ({ ...answer, writeConcernError: { code, errmsg: "no majority" } }),
});

const isWrite = ({ name }: Command) => WRITES.has(name);
const isRead = ({ name }: Command) => READS.has(name);

/** Stops a process, and waits until every thread of it stands: a busy machine takes its time. */
async function stopped(pid: number): Promise<void> {
  process.kill(pid, "SIGSTOP");
  const stateOf = (thread: string) =>
    readFileSync(`/proc/${pid}/task/${thread}/stat`, "utf8").split(") ").at(-1)![0];
  while (readdirSync(`/proc/${pid}/task`).some((thread) => stateOf(thread) !== "T")) await Bun.sleep(5);
}

/** Treats the first command that is meant so. */
function once(is: (command: Command) => boolean, treatment: Treatment): (command: Command) => Treatment {
  let done = false;
  return (command) => {
    if (done || !is(command)) return "pass";
    done = true;
    return treatment;
  };
}

if (server !== null) {
  const [, host, port] = /^mongodb:\/\/(?:[^@/]*@)?([^:,/]+):(\d+)/.exec(server)!;
  const urls: string[] = [];
  let line: WireLine;
  let direct: Store;
  let store: Store;

  const over = (url: string, options = "") =>
    openMongo(
      `${url.replace(`${host}:${port}`, `127.0.0.1:${line.port}`).replace(/\?.*/, "")}?directConnection=true${options}`,
      { clock, deadlineMs: DEADLINE_MS },
    );

  beforeEach(async () => {
    const url = newDatabase(server);
    urls.push(url);
    line = await wireLine({ host: host!, port: Number(port) });
    direct = await openMongo(url, { clock });
    store = await over(url);
  });
  afterEach(async () => {
    line.treat(() => "pass");
    await Promise.all([direct.close(), store.close()]);
    await line.close();
  });
  afterAll(() => Promise.all(urls.map(dropDatabase)));

  /** A write, and what must then stand; done twice, it would show. */
  const CHANGES: readonly (readonly [
    string,
    (store: Store) => Promise<unknown>,
    unknown,
    (store: Store) => Promise<unknown>,
    unknown,
  ])[] = [
    [
      "append",
      (s) => s.append([commit("account/1", 1)]),
      ["committed"],
      (s) => s.readCommits("account/1", 0, 9),
      [commit("account/1", 1)],
    ],
    [
      "save",
      (s) => s.save([save("account/1", 3, [document("accounts", "1", 3, { id: 1 })])]),
      undefined,
      async (s) => [
        (await s.loadSnapshot("account/1"))?.seq,
        await s.count({ table: "accounts", where: [] }),
      ],
      [3, 1],
    ],
    [
      "lines, with their save",
      (s) => s.save([save("account/2", 2)]),
      undefined,
      async (s) => (await s.lines({ actor: "account/2" }, null, 9)).lines.map(({ number }) => number),
      [2, 1],
    ],
    [
      "put",
      (s) => s.putRecords([record("logs", { id: 1 })]),
      undefined,
      (s) => s.count({ table: "logs", where: [] }),
      1,
    ],
    [
      "put of several",
      (s) => s.putRecords([record("logs", { id: 1 }), record("news", { id: 2 })]),
      undefined,
      async (s) =>
        (await s.count({ table: "logs", where: [] })) + (await s.count({ table: "news", where: [] })),
      2,
    ],
    [
      "remove",
      (s) => s.removeRecords("logs", ["9"]),
      undefined,
      (s) => s.count({ table: "logs", where: [] }),
      1,
    ],
    [
      "claim",
      (s) => s.claim("name:a", 1, "me", 5),
      true,
      async (s) => (await s.findClaim("name:a"))?.by,
      "me",
    ],
    [
      "confirm",
      (s) => s.confirm("name:b", "me"),
      undefined,
      async (s) => (await s.findClaim("name:b"))?.confirmed,
      true,
    ],
    ["release", (s) => s.release("name:b", "me"), undefined, (s) => s.findClaim("name:b"), null],
  ];

  const FAULTS: readonly (readonly [string, Treatment])[] = [
    ["refused by a primary that stepped down", STEPPED_DOWN],
    ["done by a server that is shutting down", withoutMajority(91)],
  ];

  describe.each(FAULTS)("a write that is %s is sent again", (_fault, treatment) => {
    test.each(CHANGES)("%s", async (name, change, answered, look, expected) => {
      await direct.claim("name:b", 1, "me", 5);
      await direct.append(commits("account/2", 2));
      if (name === "remove") await direct.putRecords([record("logs", { id: 8 }), record("logs", { id: 9 })]);
      line.treat(once(isWrite, treatment));
      expect(await change(store)).toEqual(answered as never);
      expect(await look(direct)).toEqual(expected as never);
    });

    test("block: numbers may be left out, and none is given twice", async () => {
      line.treat(once(isWrite, treatment));
      const first = await store.reserveIds("n", 10);
      expect(await direct.reserveIds("n", 10)).toBe(first + 10);
    });

    test("cas: it throws, and the row shows the outcome", async () => {
      await direct.cas("table", 0, "a");
      line.treat(once(isWrite, treatment));
      await expect(store.cas("table", 1, "b")).rejects.toThrow();
      const { rev, value } = (await store.read("table"))!;
      expect(value).toBe(rev === 2 ? "b" : "a");
      expect(await store.cas("table", rev, "c")).toBe(rev + 1);
    });
  });

  test("kept answers are kept again by the next primary", async () => {
    const answer = { id: "1:gateway:a", account: 1, kind: "gateway", at: 5, until: 9, body: "b" } as const;
    line.treat(once(isWrite, STEPPED_DOWN));
    await store.keepAnswer(answer, 5);
    expect(await direct.answer(answer.id, 6)).toEqual(answer);
  });

  const LOOKS: readonly (readonly [string, (store: Store) => Promise<unknown>])[] = [
    ["tail", (s) => s.readCommits("account/1", 0, 9)],
    ["load", (s) => s.loadSnapshot("account/1")],
    ["last", (s) => s.lastCommit("account/1")],
    ["lines", (s) => s.readLines("account/1", 1, 1)],
    ["marked", (s) => s.hasDedupId("account/1", "m")],
    ["byMark", (s) => s.commitsByDedupId("m", 5)],
    ["actors", (s) => s.listActors("", "", 9)],
    ["dirty", (s) => s.actorsToRecover([7], 0)],
    ["find", (s) => s.find({ table: "accounts", where: [], order: "id" })],
    ["count", (s) => s.count({ table: "accounts", where: [] })],
    ["each", (s) => Array.fromAsync(s.scan({ table: "accounts", where: [], order: "id" }))],
    [
      "totals",
      (s) => s.usageTotals({ accounts: { dna: "." }, from: "2026-01-01", to: "2026-01-02", by: ["model"] }),
    ],
    [
      "used",
      (s) =>
        s
          .usageReport({
            accounts: { dna: "." },
            from: "2026-01-01",
            to: "2026-01-02",
            accountFields: ["id"],
          })
          .then(async ({ days, accounts }) => ({ days, accounts: await Array.fromAsync(accounts) })),
    ],
    ["claimed", (s) => s.findClaim("name:a")],
    ["unconfirmed", (s) => s.unconfirmed(9, 9)],
    ["read", (s) => s.read("table")],
  ];

  test.each(LOOKS)("a %s is asked again of the next primary", async (_name, look) => {
    const usage = { account: 1, dna: ".", day: "2026-01-01", models: { m: { requests: 1, cost: 5 } } };
    await direct.append([commit("account/1", 1, { marks: ["m"] })]);
    await direct.save([
      save("account/2", 1, [document("accounts", "1", 1, { id: 1 }), document("usage", "u", 1, usage)]),
    ]);
    await direct.claim("name:a", 1, "me", 5);
    await direct.cas("table", 0, "a");
    const expected = await look(direct);
    let asked = 0;
    line.treat((command) =>
      isRead(command) && asked++ < 2 ? { answer: failure(13_435, "NotPrimaryNoSecondaryOk") } : "pass",
    );
    expect(await look(store)).toEqual(expected as never);
    expect(asked).toBeGreaterThan(2);
  });

  test("three seconds without a primary: what was acknowledged stands once, and appends go on by themselves", async () => {
    const treat = (command: Command): Treatment =>
      isWrite(command) || isRead(command) ? STEPPED_DOWN : "pass";
    const acknowledged: number[] = [];
    for (let seq = 1; seq <= 40; seq++) {
      if (seq === 10) {
        line.treat(treat);
        clock.after(3_000, () => line.treat(() => "pass"));
      }
      const [answer] = await store.append([commit("account/1", seq)]);
      if (answer === "committed") acknowledged.push(seq);
    }
    expect(acknowledged).toHaveLength(40);
    expect((await direct.readCommits("account/1", 0, 99)).map(({ seq }) => seq)).toEqual(acknowledged);
  }, 60_000);

  test("one commit that the server refuses as wrong is unknown, unrepeated, and its neighbours are committed", async () => {
    const wrong = { index: 1, code: 121, errmsg: "Document failed validation" };
    const refuses = once(isWrite, { change: (answer) => ({ ...answer, n: 2, writeErrors: [wrong] }) });
    let writes = 0;
    line.treat((command) => {
      if (isWrite(command)) writes++;
      return refuses(command);
    });
    const given = ["account/1", "account/2", "account/3"].map((actor) => commit(actor, 1));
    expect(await store.append(given)).toEqual(["committed", "unknown", "committed"]);
    expect(writes).toBe(1);
  });

  test("a commit larger than a document may be is unknown, and its neighbours are committed", async () => {
    const e = { text: "x".repeat(16 * 2 ** 20) };
    const large = commit("account/2", 1, { events: [{ at: 1, line: true, e }] });
    expect(await store.append([commit("account/1", 1), large, commit("account/3", 1)])).toEqual([
      "committed",
      "unknown",
      "committed",
    ]);
  });

  describe("what the servers are asked for", () => {
    const WEAK = "&w=1&journal=false&readConcernLevel=local&readPreference=secondary&retryWrites=true";
    const asked: Command[] = [];
    let weak: Store;

    beforeEach(async () => {
      asked.length = 0;
      const me = `127.0.0.1:${line.port}`;
      const member = { setName: "rs", me, hosts: [me], primary: me, secondary: false };
      line.treat((command) => {
        asked.push(command);
        const isHello = ["hello", "ismaster", "isMaster"].includes(command.name);
        return isHello ? { change: (answer) => ({ ...answer, ...member }) } : "pass";
      });
      weak = await over(urls.at(-1)!, WEAK);
    });
    afterEach(() => weak.close());

    const last = (name: string, of: string) => asked.findLast((one) => one.name === name && one.of === of);

    test("a majority's journals, whatever the address says", async () => {
      await weak.append([commit("account/1", 1)]);
      expect(last("insert", "commits")?.writeConcern).toMatchObject({ w: "majority", j: true });
      await weak.cas("table", 0, "a");
      expect(last("insert", "registry")?.writeConcern).toMatchObject({ w: "majority", j: true });
    });

    test("reads of what a majority has", async () => {
      await weak.readCommits("account/1", 0, 1);
      expect(last("find", "commits")?.readConcern).toEqual({ level: "majority" });
    });

    test("rows of leases in one order with their writes, for a bounded time", async () => {
      await weak.read("table");
      expect(last("find", "registry")?.readConcern).toEqual({ level: "linearizable" });
      expect(last("find", "registry")?.maxTimeMS).toBeLessThan(2_000);
    });

    test("sums as of one moment", async () => {
      await weak.usageTotals({ accounts: { dna: "." }, from: "2026-01-01", to: "2026-01-02", by: [] });
      expect(last("aggregate", "usage")?.readConcern).toMatchObject({ level: "snapshot" });
    });

    test("one round trip for any number of commits", async () => {
      asked.length = 0;
      await weak.append(Array.from({ length: 256 }, (_, i) => commit(`account/${i}`, 1)));
      expect(asked.filter((one) => isWrite(one) || isRead(one))).toHaveLength(1);
    });
  });

  const frozen = process.env.MONGODB_TEST_URL ? null : await startMongo();
  test.skipIf(frozen === null)(
    "a server that stands still: calls give up in their time, and go on when it does",
    async () => {
      const url = newDatabase(frozen!.url);
      const still = await openMongo(url, { clock, deadlineMs: 1_500 });
      await still.cas("table", 0, "a");
      try {
        await stopped(frozen!.pid!);
        const given = [
          still.append([commit("account/1", 1)]).then(([answer]) => answer),
          still.readCommits("account/1", 0, 1).catch(() => "rejected"),
          still.read("table").catch(() => "rejected"),
          still.cas("table", 1, "b").catch(() => "rejected"),
        ];
        expect(await Promise.all(given)).toEqual(["unknown", "rejected", "rejected", "rejected"]);
        process.kill(frozen!.pid!, "SIGCONT");
        const isCommitted = async () => (await still.append([commit("account/2", 1)]))[0] === "committed";
        await until("it appends again", isCommitted, 40_000);
        expect(await still.append([commit("account/2", 1)])).toEqual(["committed"]);
        const { rev } = (await still.read("table"))!;
        expect(await still.cas("table", rev, "c")).toBe(rev + 1);
      } finally {
        // Whatever happened: a stopped process ends for nobody.
        process.kill(frozen!.pid!, "SIGCONT");
        await still.close();
        await frozen!.stop();
      }
    },
    90_000,
  );
}
