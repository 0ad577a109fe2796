// Sums of usage in their own threads: they see what is committed, hold nobody up, and let go of the database.

import { Database } from "bun:sqlite";
import { afterAll, beforeEach, expect, test } from "bun:test";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { realClock } from "../../../src/base/clock.ts";
import { openStore } from "../../../src/store/open.ts";
import { connectSqlite } from "../../../src/store/sqlite/connection.ts";
import { sqliteTotals } from "../../../src/store/sqlite/usage-totals.ts";
import type { Store, TotalsQuery, UsageReportQuery } from "../../../src/store/store.ts";
import { StoreBusyError } from "../../../src/store/store-errors.ts";
import { document, save } from "../../suites/store-samples.ts";

const clock = realClock();
const home = mkdtempSync(join(tmpdir(), "arborgate-totals-"));
afterAll(() => rmSync(home, { recursive: true }));

let path = "";
let opened = 0;
beforeEach(() => {
  path = join(home, `${++opened}.db`);
});

const MODELS = ["a", "b", "c"];
const DAYS = Array.from({ length: 30 }, (_, i) => `2026-01-${String(i + 1).padStart(2, "0")}`);
const ALL: TotalsQuery = { accounts: { dna: ".1." }, from: DAYS[0]!, to: DAYS.at(-1)!, by: ["account"] };

const usage = (account: number, requests: number) => {
  const body = { account, dna: ".1.2.", day: DAYS[0]!, models: { m: { requests, cost: requests } } };
  return document("usage", `${account}/${DAYS[0]}`, requests, body);
};

/** A report with all of its accounts. */
async function read(store: Store, query: Partial<UsageReportQuery> = {}) {
  const { days, accounts } = await store.usageReport({ ...ALL, accountFields: [], ...query });
  return { days, accounts: (await Array.fromAsync(accounts)).flat() };
}

/** Rows of `accounts` accounts on every day, as their documents would leave them. */
function fill(accounts: number): void {
  const db = new Database(path);
  db.run(
    `INSERT INTO usageSums SELECT day.value, '.1.' || (account.value % 10) || '.', account.value,
       model.value, 1, 2, 3, 4, 5, 6, account.value
     FROM json_each(?1) AS day, json_each(?2) AS account, json_each(?3) AS model`,
    [DAYS, Array.from({ length: accounts }, (_, i) => i + 1), MODELS].map((list) => JSON.stringify(list)),
  );
  db.close();
}

test("what is saved is summed at once", async () => {
  const store = await openStore(`sqlite:${path}`, { clock });
  for (let requests = 1; requests <= 5; requests++) {
    await store.save([save("account/7", requests, [usage(7, requests)])]);
    expect(await store.usageTotals({ ...ALL, by: [] })).toMatchObject([{ requests, cost: BigInt(requests) }]);
  }
  await store.close();
});

test("all ways through the rows give the same sums", async () => {
  await (await openStore(`sqlite:${path}`, { clock })).close();
  fill(600);
  const connection = connectSqlite(path, { readOnly: true });
  const totals = sqliteTotals(connection);
  // All 54,000 rows together are many; those of a branch, and by account, are found otherwise.
  const added = (query: Partial<TotalsQuery>, by: TotalsQuery["by"]) => totals({ ...ALL, ...query, by });
  const whole = added({}, ["day", "model"]);
  expect(whole).toHaveLength(DAYS.length * MODELS.length);
  const sums = new Map<string, number>();
  for (let branch = 0; branch < 10; branch++) {
    for (const [day, model, , , , , , , cost] of added({ accounts: { dna: `.1.${branch}.` } }, [
      "day",
      "model",
    ])) {
      sums.set(`${day} ${model}`, (sums.get(`${day} ${model}`) ?? 0) + Number(cost));
    }
  }
  expect(whole.map(([day, model, , , , , , , cost]) => [`${day} ${model}`, Number(cost)])).toEqual([...sums]);
  const ids = Array.from({ length: 600 }, (_, i) => i + 1);
  expect(added({ accounts: { ids } }, ["model"])).toEqual(added({}, ["model"]));
  expect(added({ accounts: { ids } }, ["account"])).toEqual(added({}, ["account"]));
  connection.close();
});

test("both ways to what accounts used give the same", async () => {
  const store = await openStore(`sqlite:${path}`, { clock });
  fill(600);
  const used = (accounts: TotalsQuery["accounts"]) => read(store, { accounts });
  // 54,000 rows are many; by id, and by branch, they are few.
  const ids = Array.from({ length: 600 }, (_, i) => i + 1);
  const whole = await used({ dna: ".1." });
  expect(whole.days).toHaveLength(DAYS.length * MODELS.length);
  expect(whole.accounts.map(({ account }) => account)).toEqual(ids.toReversed());
  expect(await used({ ids })).toEqual(whole);
  const branches = await Promise.all(Array.from({ length: 10 }, (_, i) => used({ dna: `.1.${i}.` })));
  const accounts = branches.flatMap((branch) => branch.accounts);
  expect(accounts.sort((a, b) => b.account - a.account)).toEqual(whole.accounts);
  await store.close();
});

test("days and accounts are of one moment, whatever is written meanwhile", async () => {
  const store = await openStore(`sqlite:${path}`, { clock });
  for (let requests = 1; requests <= 40; requests++) {
    const asked = read(store);
    await store.save([save("account/7", requests, [usage(7, requests)])]);
    const { days, accounts } = await asked;
    expect(days.map(({ cost }) => cost)).toEqual(accounts.map(({ total }) => total.cost));
  }
  await store.close();
});

test("many rows come in parts, all of them, and the loop turns meanwhile", async () => {
  const store = await openStore(`sqlite:${path}`, { clock });
  fill(4_500);
  let turns = 0;
  const timer = setInterval(() => turns++, 1);
  const rows = await store.usageTotals(ALL);
  clearInterval(timer);
  expect(rows.map(({ account }) => account)).toEqual(Array.from({ length: 4_500 }, (_, i) => i + 1));
  expect(turns).toBeGreaterThan(5);
  await store.close();
});

test("two run, 64 wait, one more is refused; all who waited are answered", async () => {
  const store = await openStore(`sqlite:${path}`, { clock });
  await store.save([save("account/7", 1, [usage(7, 1)])]);
  const answers = Array.from({ length: 66 }, () => store.usageTotals(ALL));
  await expect(store.usageTotals(ALL)).rejects.toThrow(StoreBusyError);
  expect(new Set((await Promise.all(answers)).map((rows) => rows.length))).toEqual(new Set([1]));
  await store.close();
});

test("one walk over lines runs, 64 wait, one more is refused, and sums are served beside them", async () => {
  const store = await openStore(`sqlite:${path}`, { clock });
  await store.save([save("account/7", 1, [usage(7, 1)])]);
  const walks = Array.from({ length: 65 }, () => store.lineTotals({ actor: "account/7" }));
  await expect(store.lineTotals({ actor: "account/7" })).rejects.toThrow(StoreBusyError);
  const walk = { after: null, skip: 0, limit: 1 };
  await expect(store.walkLines({ actor: "account/7" }, walk)).rejects.toThrow(StoreBusyError);
  expect(await store.usageTotals(ALL)).toHaveLength(1);
  expect((await Promise.all(walks)).filter(({ count }) => count === 0)).toHaveLength(65);
  expect(await store.walkLines({ actor: "account/7" }, walk)).toEqual({ lines: [], next: null });
  await store.close();
  await expect(store.lineTotals({ actor: "account/7" })).rejects.toThrow("closed");
});

test("one that is aborted while it runs is answered at once, and the next one is served", async () => {
  const store = await openStore(`sqlite:${path}`, { clock });
  fill(3_000);
  const abort = new AbortController();
  const aborted = store.usageTotals(ALL, abort.signal);
  await new Promise(setImmediate);
  abort.abort(new Error("gone"));
  await expect(aborted).rejects.toThrow("gone");
  const again = await Promise.all([
    store.usageTotals({ ...ALL, by: [] }),
    store.usageTotals({ ...ALL, by: ["model"] }),
  ]);
  expect(again.map((rows) => rows.length)).toEqual([1, 3]);
  await store.close();
});

test("a report that nobody reads holds no thread, and its accounts wait as text", async () => {
  const store = await openStore(`sqlite:${path}`, { clock });
  fill(3_000);
  // Two threads, and more reports than that: each is answered although none is read.
  const reports = await Promise.all(
    Array.from({ length: 6 }, () => store.usageReport({ ...ALL, accountFields: ["name"] })),
  );
  expect(await store.usageTotals({ ...ALL, by: [] })).toHaveLength(1);
  for (const { accounts } of reports) {
    expect((await Array.fromAsync(accounts)).flat()).toHaveLength(3_000);
  }
  await store.close();
});

test("a report that is aborted while it is read rejects, and its thread serves the next one", async () => {
  const store = await openStore(`sqlite:${path}`, { clock });
  fill(3_000);
  const abort = new AbortController();
  const { accounts } = await store.usageReport({ ...ALL, accountFields: [] }, abort.signal);
  abort.abort(new Error("gone"));
  await expect(Array.fromAsync(accounts)).rejects.toThrow("gone");
  expect((await read(store)).accounts).toHaveLength(3_000);
  await store.close();
});

test("an error of the database is returned, and does not harm the next query", async () => {
  const store = await openStore(`sqlite:${path}`, { clock });
  const db = new Database(path);
  db.run("ALTER TABLE usageSums RENAME TO elsewhere");
  await expect(store.usageTotals(ALL)).rejects.toThrow("usageSums");
  db.run("ALTER TABLE elsewhere RENAME TO usageSums");
  db.close();
  await store.save([save("account/7", 1, [usage(7, 1)])]);
  expect(await store.usageTotals(ALL)).toHaveLength(1);
  await store.close();
});

test("closing waits for what runs, refuses what comes, and leaves no log behind", async () => {
  const store = await openStore(`sqlite:${path}`, { clock });
  await store.save([save("account/7", 1, [usage(7, 1)])]);
  const running = store.usageTotals(ALL);
  await store.close();
  expect(await running).toHaveLength(1);
  expect(existsSync(`${path}-wal`)).toBe(false);
  await expect(store.usageTotals(ALL)).rejects.toThrow("closed");
});
