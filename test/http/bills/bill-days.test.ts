// Which days a bill over HTTP is about, where requests were made on two of them. Every form of a range, and what is refused, is in
// date-range.test.ts.

import { beforeAll, expect, test } from "bun:test";
import { DAY_MS, dayOf } from "../../../actors/time.ts";
import { type Json, until } from "../../e2e/harness.ts";
import { prepared, useBench } from "../../e2e/use-bench.ts";

/** The day of the first requests, and today, three days later. */
let before: string;
let today: string;

const get = (path: string, key: string) => bench.call(key, "GET", path);
const ago = (days: number) => dayOf(bench.now() - days * DAY_MS);

const bench = useBench();
const owner = prepared(() => bench.owner());
const user = prepared(() => bench.subaccount(owner, { CreditGranted: 100 }));
const child = prepared(() => bench.subaccount(user, { CreditGranted: 10 }));
beforeAll(async () => {
  const ask = (key: string, output: number) =>
    bench.chat(key, `hi [[output=${output}]]`, { max_tokens: output });
  before = dayOf(bench.now());
  await ask(user.key, 30);
  bench.moveClock(3 * DAY_MS);
  today = dayOf(bench.now());
  await ask(user.key, 10);
  await ask(child.key, 10);
  await until("the bills have it", async () => (await get("/x-bill", owner.key)).body.total_requests === 2);
});

const daysOf = async (path: string, key = user.key): Promise<string[]> =>
  (await get(path, key)).body.daily_costs.map(({ date }: Json) => date);

test.each([
  ["none: the current day", () => "", () => [today]],
  ["date", () => `?date=${before}`, () => [before]],
  ["d", () => `?d=${before}`, () => [before]],
  ["start, end: both included", () => `?start=${before}&end=${today}`, () => [before, today]],
  ["s, e", () => `?s=${before}&e=${before}`, () => [before]],
  ["s, end", () => `?s=${before}&end=${before}`, () => [before]],
  ["start alone ends today", () => `?start=${ago(2)}`, () => [today]],
  ["days=1 is today", () => "?days=1", () => [today]],
  ["days=3 does not reach it", () => "?days=3", () => [today]],
  ["days=4 includes today", () => "?days=4", () => [before, today]],
])("%s", async (_, query, expected) => {
  expect(await daysOf(`/dashboard/bill${query()}`)).toEqual(expected());
});

test("a bill over descendants without dates: the current day", async () => {
  expect(await daysOf("/x-bill", owner.key)).toEqual([today]);
});
