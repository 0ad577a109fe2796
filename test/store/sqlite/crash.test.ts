// What the store on SQLite promises when things break: a killed process, a full disk, a database that another holds.

import { Database } from "bun:sqlite";
import { afterAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { realClock } from "../../../src/base/clock.ts";
import { passingLines } from "../../../src/store/line-rows.ts";
import { openStore } from "../../../src/store/open.ts";
import { sqliteAnswers } from "../../../src/store/sqlite/answers.ts";
import { connectSqlite } from "../../../src/store/sqlite/connection.ts";
import { sqliteDocuments } from "../../../src/store/sqlite/documents.ts";
import { SqliteLists } from "../../../src/store/sqlite/find.ts";
import { StoreLockedError } from "../../../src/store/sqlite/lock.ts";
import { migrate } from "../../../src/store/sqlite/schema.ts";
import type { Store } from "../../../src/store/store.ts";
import { commit, document, record, save } from "../../suites/store-samples.ts";
import { writesOn } from "../writing-here.ts";

const clock = realClock();
const home = mkdtempSync(join(tmpdir(), "arborgate-crash-"));
afterAll(() => rmSync(home, { recursive: true }));

describe("kill -9", () => {
  const path = join(home, "killed.db");
  const url = `sqlite:${path}`;
  const KILLS = 3;
  const ACKNOWLEDGED_BEFORE_KILL = 1_000;

  /** Runs a writer, kills it in the middle of its work, and answers the commits that were acknowledged to it. */
  async function acknowledgedUntilKilled(whileAlive: () => Promise<void>): Promise<readonly string[]> {
    const script = join(import.meta.dir, "append-until-killed.ts");
    const writer = Bun.spawn([process.execPath, script, url], { stdout: "pipe", stderr: "inherit" });
    let text = "";
    let lines = 0;
    let killed = false;
    const decoder = new TextDecoder();
    for await (const chunk of writer.stdout) {
      text += decoder.decode(chunk, { stream: true });
      lines = text.split("\n").length - 1;
      if (lines < ACKNOWLEDGED_BEFORE_KILL || killed) continue;
      killed = true;
      await whileAlive();
      writer.kill("SIGKILL");
    }
    await writer.exited;
    expect(writer.signalCode).toBe("SIGKILL");
    return text.split("\n").slice(0, lines);
  }

  /** Waits, some seconds at most, until lines are projected. */
  async function settled(isSettled: () => Promise<boolean>): Promise<void> {
    for (let looks = 0; !(await isSettled()) && looks < 500; looks++) await Bun.sleep(20);
  }

  const linesOf = async (store: Store, actor: string) => (await store.lines({ actor }, null, 100_000)).lines;

  test("every acknowledged commit, its answer, its record and its line is there, nothing is torn, and the lock is free again", async () => {
    for (let kill = 1; kill <= KILLS; kill++) {
      const acknowledged = await acknowledgedUntilKilled(async () => {
        await expect(openStore(url, { clock })).rejects.toThrow(StoreLockedError);
        const reader = await openStore(url, { clock, readOnly: true });
        expect((await reader.readCommits("account/1", 0, 10)).length).toBeGreaterThan(0);
        await reader.close();
      });

      const store = await openStore(url, { clock });
      const stored = new Set<string>();
      for (const actor of await store.listActors("account/", "", 1_000)) {
        const commits = await store.readCommits(actor, 0, 1_000_000);
        commits.forEach(({ seq }, i) => {
          expect(seq, `${actor} is contiguous`).toBe(i + 1);
          stored.add(`${actor} ${seq}`);
        });
        const wanted = passingLines({ actor }, null, commits.toReversed());
        await settled(async () => (await linesOf(store, actor)).length === wanted.length);
        expect(await linesOf(store, actor)).toEqual(wanted);
        const last = commits.at(-1)!;
        expect(await store.hasDedupId(actor, `charge:${actor}/${last.seq}`)).toBe(true);
        expect((await store.loadSnapshot(actor))?.seq ?? 0).toBeLessThanOrEqual(last.seq);
      }
      expect(acknowledged.filter((line) => !stored.has(line))).toEqual([]);
      // Killed is the process, not the machine: an answer that nobody synced is in the system's memory.
      const [actor, seq] = acknowledged.at(-1)!.split(" ");
      expect((await store.answer(`${actor}/${seq}`, 0))?.body).toBe(`answer ${seq}`);
      const logged = new Set(
        (await store.find({ table: "logs", where: [], order: "id" })).map(({ details }) => details),
      );
      expect(acknowledged.filter((line) => line !== "" && !logged.has(line))).toEqual([]);
      await store.close();

      const db = new Database(path, { readonly: true });
      expect(db.query("PRAGMA integrity_check").values()).toEqual([["ok"]]);
      db.close();
    }
  });
});

describe("an error of the disk", () => {
  const open = (name: string) => {
    const errors: unknown[] = [];
    const path = join(home, name);
    const connection = connectSqlite(path, { busyMs: 0 });
    migrate(connection);
    const writes = writesOn(connection, (error) => errors.push(error));
    const { loadSnapshot } = sqliteDocuments(connection);
    const lists = new SqliteLists(connection, () => ({}));
    const counted = lists.count.bind(lists);
    const { answer } = sqliteAnswers(connection);
    const { db, close } = connection;
    return { ...{ db, connection, path, errors, loadSnapshot, counted, answer, close }, ...writes };
  };
  const count = (db: Database) =>
    db.query<{ n: number }, []>("SELECT ifnull(sum(json_array_length(heads)), 0) AS n FROM ledger").get()?.n;

  test("a full disk answers unknown for the whole transaction, stores none of it, and says why", async () => {
    const { db, errors, append, close } = open("full.db");
    await append([commit("account/1", 1)]);
    const pages = db.query<{ page_count: number }, []>("PRAGMA page_count").get()!.page_count;
    db.run(`PRAGMA max_page_count = ${pages}`);
    const large = commit("account/2", 1, { events: [{ at: 1, line: false, e: "x".repeat(100_000) }] });
    const answers = await Promise.all([
      append([commit("account/1", 2)]),
      append([large, commit("account/3", 1)]),
    ]);
    expect(answers).toEqual([["unknown"], ["unknown", "unknown"]]);
    expect(String(errors)).toContain("full");
    expect(count(db)).toBe(1);

    // Space again: the same commits, sent again, are stored.
    db.run("PRAGMA max_page_count = 1000000");
    expect(await append([commit("account/1", 2), large])).toEqual(["committed", "committed"]);
    close();
  });

  test("a full disk refuses saves handed over together as one: none of them is stored", async () => {
    const { db, save: store, loadSnapshot: load, counted, close } = open("full-save.db");
    const pages = db.query<{ page_count: number }, []>("PRAGMA page_count").get()!.page_count;
    db.run(`PRAGMA max_page_count = ${pages}`);
    const small = save("account/1", 1, [document("accounts", "1", 1, { id: 1 })]);
    const large = save("account/2", 1, [], { state: "x".repeat(100_000) });
    await expect(store([small, large])).rejects.toThrow("full");
    expect(await load("account/1")).toBeNull();
    expect(await counted({ table: "accounts", where: [] })).toBe(0);
    close();
  });

  test("a full disk refuses records handed over together as one, and removing needs no room", async () => {
    const { db, putRecords, removeRecords, counted, close } = open("full-records.db");
    await putRecords([record("logs", { id: 1 })]);
    const pages = db.query<{ page_count: number }, []>("PRAGMA page_count").get()!.page_count;
    db.run(`PRAGMA max_page_count = ${pages}`);
    const large = record("news", { id: 3, content: "x".repeat(100_000) });
    await expect(putRecords([record("logs", { id: 2 }), large])).rejects.toThrow("full");
    expect(await counted({ table: "logs", where: [] })).toBe(1);
    expect(await counted({ table: "news", where: [] })).toBe(0);
    await removeRecords("logs", ["1"]);
    expect(await counted({ table: "logs", where: [] })).toBe(0);
    close();
  });

  test("a usage document and its sums are stored together or not at all", async () => {
    const { db, save: store, close } = open("torn-usage.db");
    const models = { m: { requests: 1, cost: 5 } };
    const day = (seq: number, named: object) => {
      const body = { account: 1, dna: ".1.", day: "2026-01-01", models: named };
      return save("account/1", seq, [document("usage", "1/2026-01-01", seq, body)]);
    };
    await store([day(1, models)]);
    db.run("CREATE TRIGGER torn BEFORE INSERT ON usageSums BEGIN SELECT RAISE(ABORT, 'torn'); END");
    await expect(store([day(2, { m: { requests: 2, cost: 9 } })])).rejects.toThrow("torn");
    expect(db.query("SELECT seq FROM usage").values()).toEqual([[1]]);
    expect(db.query("SELECT model, requests, cost FROM usageSums").values()).toEqual([["m", 1, 5]]);
    close();
  });

  test("a full disk keeps no answer, and none of the older ones goes for it", async () => {
    const { db, keepAnswer, answer, close } = open("full-answers.db");
    const kept = { account: 1, kind: "gateway", at: 1, until: 9 } as const;
    await keepAnswer({ ...kept, id: "small", body: "x" }, 1);
    const pages = db.query<{ page_count: number }, []>("PRAGMA page_count").get()!.page_count;
    db.run(`PRAGMA max_page_count = ${pages}`);
    await expect(keepAnswer({ ...kept, id: "large", body: "x".repeat(100_000) }, 1)).rejects.toThrow("full");
    expect(await answer("small", 5)).toMatchObject({ body: "x" });
    expect(await answer("large", 5)).toBeNull();
    close();
  });

  test("after a save, and after an answer, kept or not, commits wait for the disk again", async () => {
    const { db, connection, keepAnswer, save: store, close } = open("synced.db");
    const synchronous = () => db.query("PRAGMA synchronous").values();
    const kept = { id: "a", account: 1, kind: "gateway", at: 1, until: 9, body: "x" } as const;
    expect(synchronous()).toEqual([[2]]);
    expect(connection.unsynced(synchronous)).toEqual([[1]]);
    await keepAnswer(kept, 1);
    expect(synchronous()).toEqual([[2]]);
    await expect(keepAnswer({ ...kept, at: 0.5 }, 1)).rejects.toThrow();
    expect(synchronous()).toEqual([[2]]);
    await store([save("account/1", 1, [document("accounts", "1", 1, { id: 1 })])]);
    expect(synchronous()).toEqual([[2]]);
    close();
  });

  test("a database that another program holds is waited for without holding the loop, in order", async () => {
    const { db, path, errors, append, claim, close } = open("busy.db");
    const other = new Database(path);
    other.run("BEGIN IMMEDIATE");
    const done: string[] = [];
    const writes = [
      append([commit("account/1", 1)]).then((answer) => done.push(`first ${answer}`)),
      claim("name:ada", 1, "me", 1).then((mine) => done.push(`claim ${mine}`)),
      claim("name:ada", 2, "you", 1).then((mine) => done.push(`claim ${mine}`)),
      append([commit("account/1", 2)]).then((answer) => done.push(`second ${answer}`)),
    ];
    for (let turns = 0; turns < 20; turns++) await Bun.sleep(5);
    expect(done).toEqual([]);
    expect(count(db)).toBe(0);
    other.run("ROLLBACK");
    other.close();
    await Promise.all(writes);
    expect(done.filter((one) => /first|second/.test(one))).toEqual(["first committed", "second committed"]);
    expect(done.filter((one) => /claim/.test(one))).toEqual(["claim true", "claim false"]);
    expect(errors).toEqual([]);
    close();
  });
});
