// The forms of a bill: both structures, shares, money beyond what a number holds exactly, and the table of a download.

import { describe, expect, test } from "bun:test";
import { toNano, ZERO } from "../../../actors/money.ts";
import { type AccountRow, csvByAccount, csvOf } from "../../../src/http/bills/bill-csv.ts";
import { BILL_SHAPES, type BillAnswer, billText } from "../../../src/http/bills/bill-formats.ts";
import { type AccountBill, type Bill, sumOf, type UsageFigures } from "../../../src/report/usage-bill.ts";
import { exactUsd } from "../../../src/report/verify/conservation.ts";

const figures = (
  requests: number,
  cost: number | bigint,
  more: Partial<UsageFigures> = {},
): UsageFigures => ({
  ...{ requests, prompt: 0, completion: 0, cached: 0, cacheWrite: 0, reasoning: 0 },
  cost: BigInt(cost),
  ...more,
});

const MINI = figures(3, 1_500, { prompt: 70, completion: 30, cached: 20, cacheWrite: 5, reasoning: 10 });
const BIG = figures(1, 2_000_000_000, { prompt: 5, completion: 6 });

const NOBODY = { name: "", alias: "", email: "" };
const TEAM = { name: "team", alias: "The Team", email: "t@b.example" };

const account = (id: number, total: UsageFigures, who = NOBODY): AccountBill => ({
  id,
  who,
  total,
  topCost: "big",
  topRequest: "mini",
});

function billed(days: Readonly<Record<string, Readonly<Record<string, UsageFigures>>>>): Bill {
  const byDay = new Map(Object.entries(days).map(([day, models]) => [day, new Map(Object.entries(models))]));
  const models = new Map<string, UsageFigures>();
  for (const used of byDay.values()) {
    for (const [model, one] of used) models.set(model, sumOf([one, models.get(model) ?? figures(0, 0)]));
  }
  return { days: byDay, models, total: sumOf(models.values()) };
}

const BILL = billed({ "2026-01-14": { mini: MINI }, "2026-01-15": { big: BIG, mini: MINI } });
const asked = (bill: Bill, more: Partial<BillAnswer> = {}): BillAnswer => ({ bill, fee: ZERO, ...more });

/** As it is sent: with the accounts. */
const sent = async (object: keyof typeof BILL_SHAPES, bill: Bill, accounts: readonly AccountBill[] = []) => {
  async function* inParts() {
    for (let from = 0; from < accounts.length; from += 100) yield accounts.slice(from, from + 100);
    yield [];
  }
  return JSON.parse((await Array.fromAsync(billText(object, asked(bill), inParts()))).join(""));
};

const USAGE = {
  ...{ requests: 3, prompt: 70, completion: 30, cached: 20, cache_write: 5, reasoning: 10 },
  ...{ cost: 0.0000015 },
};
const BIG_USAGE = { requests: 1, prompt: 5, completion: 6, cached: 0, cache_write: 0, reasoning: 0, cost: 2 };

describe("structure B", () => {
  test("has every field of the specification, and no other", () => {
    expect(BILL_SHAPES.bill_info(asked(BILL, { fee: toNano(10_000_000) }))).toEqual({
      object: "bill_info",
      daily_costs: [
        {
          date: "2026-01-14",
          total_requests: 3,
          total_prompt: 70,
          total_completion: 30,
          total_credit_used: 0.0000015,
          line_items: [{ name: "mini", cost: 0.0000015, usage: USAGE }],
        },
        {
          date: "2026-01-15",
          total_requests: 4,
          total_prompt: 75,
          total_completion: 36,
          total_credit_used: 2.0000015,
          line_items: [
            { name: "big", cost: 2, usage: BIG_USAGE },
            { name: "mini", cost: 0.0000015, usage: USAGE },
          ],
        },
      ],
      usage_summary: {
        big: BIG_USAGE,
        mini: {
          ...{ requests: 6, prompt: 140, completion: 60, cached: 40, cache_write: 10, reasoning: 20 },
          cost: 0.000003,
        },
      },
      total_requests: 7,
      total_prompt: 145,
      total_completion: 66,
      total_reasoning: 20,
      total_credit_used: 2.000003,
      token_summary: {
        ...{ input_total: 145, input_cached_total: 40, input_non_cached_total: 105, output_total: 66 },
        ...{ processed_total: 211 },
      },
      query_fee: 0.01,
    });
  });

  test("names the accounts, deleted ones as they were", async () => {
    const accounts = [account(7, sumOf([MINI, BIG]), TEAM), account(8, MINI)];
    const { usage_users } = await sent("bill_info", BILL, accounts);
    expect(usage_users).toEqual([
      {
        ...{ id: 7, name: "team", alias: "The Team", email: "t@b.example" },
        ...{ top_cost_model: "big", top_request_model: "mini" },
        ...{ total_requests: 4, total_prompt: 75, total_completion: 36, total_reasoning: 10 },
        total_credit_used: 2.0000015,
        usage_analysis: { request_percentage: 57.14, cost_percentage: 100 },
      },
      expect.objectContaining({ id: 8, name: "" }),
    ]);
  });

  test("of many accounts has each of them once, in their order", async () => {
    const ids = Array.from({ length: 1_001 }, (_, i) => 5_000 - i);
    const accounts = ids.map((id) => account(id, MINI));
    const { usage_users, ...rest } = await sent("bill_info", BILL, accounts);
    expect(usage_users.map(({ id }: { id: number }) => id)).toEqual(ids);
    expect(rest).toEqual(JSON.parse(JSON.stringify(BILL_SHAPES.bill_info(asked(BILL)))));
  });

  test("of nothing", async () => {
    expect(await sent("bill_info", billed({}))).toMatchObject({
      ...{ daily_costs: [], usage_summary: {}, usage_users: [], total_requests: 0, total_credit_used: 0 },
      token_summary: { input_total: 0, processed_total: 0 },
      query_fee: 0,
    });
  });

  test("a model may have any name", () => {
    const text = JSON.stringify(BILL_SHAPES.bill_info(asked(billed({ "2026-01-14": JSON.parse("{}") }))));
    expect(text).toContain('"usage_summary":{}');
    const models = new Map([["__proto__", MINI]]);
    const bill: Bill = { days: new Map([["2026-01-14", models]]), models, total: MINI };
    expect(JSON.stringify(BILL_SHAPES.bill_info(asked(bill)))).toContain('"usage_summary":{"__proto__":{');
    expect(JSON.stringify(BILL_SHAPES.list(asked(bill)))).toContain('"usage_details":{"__proto__":{');
  });
});

describe("structure A", () => {
  test("has every field of the specification, and no other", async () => {
    const short = { requests: 3, prompt: 70, completion: 30, cost: 0.0000015 };
    expect(await sent("list", BILL, [account(7, BILL.total, TEAM)])).toEqual({
      object: "list",
      data: [
        {
          aggregation_timestamp: 1_768_348_800,
          n_requests: 3,
          n_context_tokens_total: 70,
          n_generated_tokens_total: 30,
          n_cached_tokens_total: 20,
          usage_details: { mini: short },
        },
        {
          aggregation_timestamp: 1_768_435_200,
          n_requests: 4,
          n_context_tokens_total: 75,
          n_generated_tokens_total: 36,
          n_cached_tokens_total: 20,
          usage_details: { big: { requests: 1, prompt: 5, completion: 6, cost: 2 }, mini: short },
        },
      ],
      total_usage: {
        ...{ requests: 7, prompt_tokens: 145, completion_tokens: 66, cached_tokens: 40 },
        cost: 2.000003,
      },
      usage_users: [
        {
          ...{ id: 7, name: "team", email: "t@b.example", total_requests: 7, total_cost: 2.000003 },
          usage_analysis: { request_percentage: 100, cost_percentage: 100 },
        },
      ],
      query_fee: 0,
    });
  });
});

describe("shares", () => {
  test.each<[part: number | bigint, all: number | bigint, percent: number]>([
    [0, 0, 0],
    [0, 7, 0],
    [7, 7, 100],
    [1, 3, 33.33],
    [2, 3, 66.67],
    [1, 8, 12.5],
    [1, 20_000, 0.01],
    [1, 20_001, 0],
    [1_999, 20_000, 10],
    [2 ** 38 - 1, 2 ** 38 - 1, 100],
    [2 ** 38, 2 ** 39 + 1, 50],
    [10n ** 20n + 1n, 3n * 10n ** 20n, 33.33],
  ])("%d of %d is %d percent", async (part, all, percent) => {
    const bill = { ...billed({}), total: figures(0, all) };
    const { usage_users } = await sent("list", bill, [account(7, figures(0, part))]);
    expect(usage_users[0].usage_analysis).toEqual({ request_percentage: 0, cost_percentage: percent });
  });
});

describe("money", () => {
  test.each([
    ...[1n, 25n, 2_000_000_001n, 123_456_789_012_345n, BigInt(Number.MAX_SAFE_INTEGER)],
    ...[BigInt(Number.MAX_SAFE_INTEGER) + 2n, 10n ** 25n + 1n],
  ])("%d nano-dollars are the dollars that their decimal text says", async (cost) => {
    const { total_credit_used } = await sent("bill_info", { ...billed({}), total: figures(0, cost) });
    expect(total_credit_used).toBe(Number(exactUsd(cost)));
  });
});

const HEAD =
  "requests,prompt_tokens,cached_tokens,cache_write_tokens,completion_tokens,reasoning_tokens,cost";

const table = async (days: { date: string; rows: AccountRow[] }[]): Promise<string> => {
  async function* given() {
    yield* days;
  }
  return (await Array.fromAsync(csvByAccount(given()))).join("");
};

describe("as a table", () => {
  test("a row per day and model, and the totals", () => {
    expect(csvOf(BILL)).toBe(
      [
        `date,model,${HEAD}`,
        "2026-01-14,mini,3,70,20,5,30,10,0.0000015",
        "2026-01-15,big,1,5,0,0,6,0,2",
        "2026-01-15,mini,3,70,20,5,30,10,0.0000015",
        "total,,7,145,40,10,66,20,2.000003\n",
      ].join("\n"),
    );
  });

  test("over accounts: a row per day, account and model, and the totals", async () => {
    const rows = [
      { ...BIG, id: 7, name: "team", model: "big" },
      { ...MINI, id: 8, name: "crew", model: "mini" },
    ];
    const days = [
      { date: "2026-01-14", rows },
      { date: "2026-01-15", rows: rows.slice(1) },
    ];
    expect(await table(days)).toBe(
      [
        `date,id,name,model,${HEAD}`,
        "2026-01-14,7,team,big,1,5,0,0,6,0,2",
        "2026-01-14,8,crew,mini,3,70,20,5,30,10,0.0000015",
        "2026-01-15,8,crew,mini,3,70,20,5,30,10,0.0000015",
        "total,,,,7,145,40,10,66,20,2.000003\n",
      ].join("\n"),
    );
  });

  test("of nothing: the head and a total of nothing", async () => {
    expect(csvOf(billed({}))).toBe(`date,model,${HEAD}\ntotal,,0,0,0,0,0,0,0\n`);
    expect(await table([])).toBe(`date,id,name,model,${HEAD}\ntotal,,,,0,0,0,0,0,0,0\n`);
  });

  test.each([
    ["a,b", '"a,b"'],
    ['say "x"', '"say ""x"""'],
    ["=1+1", "'=1+1"],
    ["@SUM(A1)", "'@SUM(A1)"],
    ["-2", "'-2"],
    ["+2,5", `"'+2,5"`],
    ["héllo 👋", "héllo 👋"],
  ])("the name %j is written as %s", async (name, cell) => {
    const csv = await table([{ date: "2026-01-14", rows: [{ ...MINI, id: 7, name, model: "m" }] }]);
    expect(csv.split("\n")[1]).toBe(`2026-01-14,7,${cell},m,3,70,20,5,30,10,0.0000015`);
  });

  test("money is exact where a number could not hold it", () => {
    const models = { m: figures(1, 123_456_789_012_345_678_901n) };
    expect(csvOf(billed({ "2026-01-14": models })).split("\n")[1]).toEndWith(",123456789012.345678901");
  });
});
