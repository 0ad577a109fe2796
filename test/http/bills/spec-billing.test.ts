// The specification's table of usage and billing: one test for each row, through HTTP. Both structures at length are in
// bill-shapes.test.ts, whom `user` means in bill.test.ts.

import { beforeAll, describe, expect, test } from "bun:test";
import { charged, type Json, MODEL, nano, until } from "../../e2e/harness.ts";
import { prepared, useBench } from "../../e2e/use-bench.ts";

const DAY_MS = 86_400_000;

/** The day of the first requests, and today, three days later. */
let before: string;
let today: string;

const get = (path: string, key = owner.key) => bench.call(key, "GET", path);
const dayOf = (at: number) => new Date(at).toISOString().slice(0, 10);
const ago = (days: number) => dayOf(bench.now() - days * DAY_MS);
const code = ({ status, body }: { readonly status: number; readonly body: Json }) => [
  status,
  body.error?.code,
];

const bench = useBench();
const owner = prepared(() => bench.owner());
const user = prepared(() => bench.subaccount(owner, { CreditGranted: 100 }));
const child = prepared(() => bench.subaccount(user, { CreditGranted: 10 }));
beforeAll(async () => {
  await bench.subaccount(owner);
  const ask = (key: string, output: number) =>
    bench.chat(key, `hi [[output=${output}]]`, { max_tokens: output });
  before = dayOf(bench.now());
  await ask(user.key, 30);
  bench.moveClock(3 * DAY_MS);
  today = dayOf(bench.now());
  await ask(user.key, 10);
  await ask(child.key, 10);
  await ask(child.key, 10);
  await ask(owner.key, 10);
  await until("the bills have it", async () => (await get("/dashboard/bill")).body.total_requests === 1);
});

const days = async (query: string, key = user.key): Promise<string[]> =>
  (await get(`/dashboard/bill${query}`, key)).body.daily_costs.map(({ date }: Json) => date);

describe("GET /dashboard/bill dates", () => {
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
    expect(await days(query())).toEqual(expected());
  });

  test.each([
    ["a date that is none", () => "date=2026-02-30"],
    ["a date with a time", () => "date=2026-01-01T00:00"],
    ["end before start", () => `start=${today}&end=${before}`],
    ["date and a range", () => `date=${today}&start=${before}`],
    ["date and days", () => `d=${today}&days=2`],
    ["a range and days", () => `s=${before}&days=2`],
    ["date and d", () => `date=${today}&d=${today}`],
    ["start and s", () => `start=${today}&s=${today}`],
    ["end alone", () => `end=${today}`],
    ["e alone", () => `e=${today}`],
    ["start in the future", () => `start=${ago(-1)}`],
    ["days=0", () => "days=0"],
    ["days=-1", () => "days=-1"],
    ["days=1.5", () => "days=1.5"],
  ])("%s: 400, on both", async (_, query) => {
    expect((await get(`/dashboard/bill?${query()}`)).status).toBe(400);
    expect((await get(`/x-bill?${query()}`)).status).toBe(400);
  });
});

describe("GET /dashboard/bill fee", () => {
  test.each([
    ["30 days: none", () => "days=30", 0],
    ["over 30 days: 0.01", () => "days=31", 0.01],
    ["a range of 30 days, both ends counted: none", () => `start=${ago(29)}`, 0],
    ["a range of 31 days: 0.01", () => `start=${ago(30)}&end=${today}`, 0.01],
    ["365 days: 0.01", () => "days=365", 0.01],
    ["over 365 days: 0.05", () => "days=366", 0.05],
    ["as structure A", () => "days=31&object=list", 0.01],
  ])("%s", async (_, query, fee) => {
    const paid = async () =>
      (await bench.ledger(user.key)).filter(({ type }) => type === "query_fee").map(({ amount }) => -amount);
    const [balance, earlier] = [nano(await bench.balance(user.key)), await paid()];
    expect((await get(`/dashboard/bill?${query()}`, user.key)).body.query_fee).toBe(fee);
    expect(nano(await bench.balance(user.key))).toBe(balance - nano(fee));
    expect((await paid()).slice(earlier.length)).toEqual(fee === 0 ? [] : [fee]);
  });

  test("over 365 days: the last 365 days of the range", async () => {
    const end = dayOf(bench.now() + 362 * DAY_MS);
    const longer = dayOf(bench.now() + 361 * DAY_MS);
    const start = ago(500);
    expect(await days(`?start=${start}&end=${end}`)).toEqual([today]);
    expect(await days(`?start=${start}&end=${longer}`)).toEqual([before, today]);
  });

  test("who cannot pay: 429 insufficient_balance and no line; an error is free; Root pays none", async () => {
    const poor = await bench.subaccount(owner, { CreditGranted: 2 });
    await bench.call(owner.key, "PUT", `/x-users/${poor.id}`, { CreditGranted: -1.991 });
    expect(code(await get("/dashboard/bill?days=31", poor.key))).toEqual([429, "insufficient_balance"]);
    expect((await get("/dashboard/bill?days=31&format=xml", poor.key)).status).toBe(400);
    expect(await bench.balance(poor.key)).toBe(0.009);
    expect((await get("/dashboard/bill?days=366", bench.rootKey)).body.query_fee).toBe(0);
  });

  test("/x-bill is free", async () => {
    const balance = await bench.balance(owner.key);
    expect((await get("/x-bill?days=366")).body.query_fee).toBe(0);
    expect(await bench.balance(owner.key)).toBe(balance);
  });
});

test("structure B (bill_info) is the default; its totals are the ledger's, to the nano", async () => {
  const { body } = await get("/dashboard/bill?days=4", user.key);
  expect(Object.keys(body).sort()).toEqual([
    ...["daily_costs", "object", "query_fee", "token_summary", "total_completion", "total_credit_used"],
    ...["total_prompt", "total_reasoning", "total_requests", "usage_summary"],
  ]);
  expect([body.object, body.total_requests, body.total_completion]).toEqual(["bill_info", 2, 40]);
  expect(nano(body.total_credit_used)).toBe(charged(await bench.ledger(user.key)));
  expect(Object.keys(body.daily_costs[0]).sort()).toEqual([
    ...["date", "line_items", "total_completion", "total_credit_used", "total_prompt", "total_requests"],
  ]);
  const { cost, name, usage } = body.daily_costs[0].line_items[0];
  expect([name, usage.cost]).toEqual([MODEL, cost]);
  expect(Object.keys(body.usage_summary[MODEL])).toEqual([
    ...["requests", "prompt", "completion", "cached", "cache_write", "reasoning", "cost"],
  ]);
  const { input_total, output_total } = body.token_summary;
  expect(body.token_summary).toEqual({
    ...{ input_total, output_total, processed_total: input_total + output_total },
    ...{ input_cached_total: 0, input_non_cached_total: input_total },
  });
});

test("structure A (object=list): the same figures", async () => {
  const { body: b } = await get("/dashboard/bill?days=4", user.key);
  const { body: a } = await get("/dashboard/bill?days=4&object=list", user.key);
  expect(a).toEqual({
    object: "list",
    data: b.daily_costs.map((day: Json) => ({
      aggregation_timestamp: Date.parse(`${day.date}T00:00:00Z`) / 1_000,
      n_requests: day.total_requests,
      n_context_tokens_total: day.total_prompt,
      n_generated_tokens_total: day.total_completion,
      n_cached_tokens_total: 0,
      usage_details: Object.fromEntries(
        day.line_items.map(({ name, usage: { requests, prompt, completion, cost } }: Json) => [
          name,
          { requests, prompt, completion, cost },
        ]),
      ),
    })),
    total_usage: {
      ...{ requests: 2, prompt_tokens: b.total_prompt, completion_tokens: 40, cached_tokens: 0 },
      cost: b.total_credit_used,
    },
    query_fee: 0,
  });
});

describe("GET /x-bill", () => {
  test("covers descendants, never the caller; usage_users by credit used, without idle accounts", async () => {
    const { body } = await get("/x-bill?days=4");
    expect(body.usage_users.map(({ id }: Json) => id)).toEqual([user.id, child.id]);
    expect(body.total_requests).toBe(4);
    const [first, second] = body.usage_users;
    expect(Object.keys(first).sort()).toEqual([
      ...["alias", "email", "id", "name", "top_cost_model", "top_request_model", "total_completion"],
      ...["total_credit_used", "total_prompt", "total_reasoning", "total_requests", "usage_analysis"],
    ]);
    const share = (nano(second.total_credit_used) / nano(body.total_credit_used)) * 100;
    expect(second.usage_analysis).toEqual({
      request_percentage: 50,
      cost_percentage: Math.round(share * 100) / 100,
    });
    expect((await get("/x-bill", child.key)).body.usage_users).toEqual([]);
  });

  test("without dates: the current day", async () => {
    expect((await get("/x-bill")).body.daily_costs.map(({ date }: Json) => date)).toEqual([today]);
  });

  test("object=list: usage_users {id, name, email, total_requests, total_cost, usage_analysis}", async () => {
    const [first] = (await get("/x-bill?days=4&object=list")).body.usage_users;
    expect(Object.keys(first)).toEqual([
      ...["id", "name", "email", "total_requests", "total_cost", "usage_analysis"],
    ]);
  });

  test.each([
    ["id", () => child.id],
    ["name", () => child.name],
    ["e-mail", () => `${child.name}@bench.example`],
    ["a DNA", () => `.1.${owner.id}.${user.id}.`],
  ])("user=%s, alias u", async (_, whom) => {
    for (const name of ["user", "u"]) {
      const { body } = await get(`/x-bill?${name}=${encodeURIComponent(whom())}`);
      expect(body.usage_users.map(({ id }: Json) => id)).toEqual([child.id]);
    }
  });

  test("user=L0, a filter", async () => {
    expect((await get("/x-bill?days=4&user=L0")).body.usage_users).toHaveLength(2);
    expect((await get("/x-bill?days=4&user=L7")).body.usage_users).toEqual([]);
  });

  test("user=oneself or a stranger: 404 user_not_found", async () => {
    for (const id of [owner.id, 1, 99_999]) {
      expect(code(await get(`/x-bill?user=${id}`))).toEqual([404, "user_not_found"]);
    }
  });

  test("UserLimit 0: 403 not_manager", async () => {
    await bench.call(owner.key, "PUT", `/x-users/${child.id}`, { UserLimit: 0 });
    expect(code(await get("/x-bill", child.key))).toEqual([403, "not_manager"]);
  });
});

describe("format=csv", () => {
  test("/dashboard/bill: a row per day and model, and a row of totals; the same figures", async () => {
    const { text, headers } = await get("/dashboard/bill?days=4&format=csv", user.key);
    const { body } = await get("/dashboard/bill?days=4", user.key);
    expect(headers.get("content-type")).toStartWith("text/csv");
    const rows = text.trim().split("\n");
    expect(rows[0]).toBe(
      "date,model,requests,prompt_tokens,cached_tokens,cache_write_tokens,completion_tokens,reasoning_tokens,cost",
    );
    expect(rows.slice(1, -1).map((row) => row.split(",").slice(0, 3))).toEqual([
      [before, MODEL, "1"],
      [today, MODEL, "1"],
    ]);
    const [, , requests, prompt, , , completion, , cost] = rows.at(-1)!.split(",");
    expect([requests, prompt, completion].map(Number)).toEqual([2, body.total_prompt, 40]);
    expect(nano(cost!)).toBe(nano(body.total_credit_used));
  });

  test("/x-bill: per day, account and model", async () => {
    const rows = (await get("/x-bill?days=4&format=csv")).text.trim().split("\n");
    expect(rows[0]).toStartWith("date,id,name,model,requests,");
    expect(rows.slice(1, -1).map((row) => row.split(",").slice(0, 3).join())).toEqual([
      `${before},${user.id},${user.name}`,
      `${today},${user.id},${user.name}`,
      `${today},${child.id},${child.name}`,
    ]);
  });
});

test("GET /x-ledger: an ancestor's view of the same lines", async () => {
  const own = (await get("/dashboard/ledger", child.key)).body;
  expect((await get(`/x-ledger?user=${child.id}`)).body).toEqual(own);
  expect(code(await get("/x-ledger"))).toEqual([400, "missing_parameter"]);
  expect(code(await get(`/x-ledger?user=${owner.id}`))).toEqual([404, "user_not_found"]);
});
