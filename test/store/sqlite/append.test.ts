// Group commit: what one turn of the event loop hands over shares a transaction, and a long queue lets the loop turn.

import { afterEach, beforeEach, expect, test } from "bun:test";
import { connectSqlite, type SqliteConnection } from "../../../src/store/sqlite/connection.ts";
import { migrate } from "../../../src/store/sqlite/schema.ts";
import { COMMITS_MAX, type WriteQueue } from "../../../src/store/sqlite/write-queue.ts";
import { commit, commits } from "../../suites/store-samples.ts";
import { queueOn } from "../writing-here.ts";

let connection: SqliteConnection;
let queue: WriteQueue;
let transactions = 0;

beforeEach(() => {
  connection = connectSqlite(":memory:");
  migrate(connection);
  transactions = 0;
  const transaction: SqliteConnection["transaction"] = (work) => {
    transactions++;
    return connection.transaction(work);
  };
  queue = queueOn({ ...connection, transaction }, (error) => {
    throw error;
  });
});

afterEach(() => connection.close());

test("calls of one turn share one transaction, also from microtasks of that turn", async () => {
  const calls = Array.from({ length: 20 }, async (_, i) => {
    for (let hop = 0; hop < i; hop++) await null;
    return queue.append([commit(`account/${i}`, 1)]);
  });
  expect(await Promise.all(calls)).toEqual(Array(20).fill(["committed"]));
  expect(transactions).toBe(1);
});

test("no call, no transaction", async () => {
  await queue.append([]);
  await new Promise(setImmediate);
  expect(transactions).toBe(0);
});

test("a long queue is cut into transactions, and the loop turns between them", async () => {
  const seen: number[] = [];
  const watch = () => {
    seen.push(transactions);
    if (transactions < 4) setImmediate(watch);
  };
  const answer = queue.append(commits("account/1", 3 * COMMITS_MAX + 1));
  setImmediate(watch);
  expect(await answer).toEqual(Array(3 * COMMITS_MAX + 1).fill("committed"));
  expect(transactions).toBe(4);
  expect(seen.slice(0, 3)).toEqual([1, 2, 3]);
});

test("an append that would make a transaction too large waits for the next, and one that is too large is divided", async () => {
  const sizes = [COMMITS_MAX - 1, 2, COMMITS_MAX + 1, 1];
  const appends = sizes.map((size, i) => queue.append(commits(`account/${i}`, size)));
  expect((await Promise.all(appends)).map((answers) => answers.length)).toEqual(sizes);
  expect(transactions).toBe(4);
});

test("finishing stores what waits, and refuses what comes", async () => {
  const answer = queue.append(commits("account/1", COMMITS_MAX + 1));
  await queue.finish();
  expect(transactions).toBe(2);
  expect(await answer).toHaveLength(COMMITS_MAX + 1);
  await expect(queue.append([commit("account/1", 1)])).rejects.toThrow("closed");
});

test("a commit that no column takes is its caller's error and harms no neighbour", async () => {
  const odd = [
    { linesTo: Number.NaN },
    { seq: 1.5 },
    { by: undefined },
    { actor: 7 },
    { marks: [1] },
    { events: undefined },
    { done: {} },
  ] as readonly object[];
  const answers = await Promise.allSettled([
    ...odd.map((fields) => queue.append([commit("account/1", 1, fields)])),
    queue.append([commit("account/2", 1)]),
  ]);
  expect(answers.slice(0, -1).map(({ status }) => status)).toEqual(odd.map(() => "rejected"));
  expect(answers.at(-1)).toEqual({ status: "fulfilled", value: ["committed"] });
});
