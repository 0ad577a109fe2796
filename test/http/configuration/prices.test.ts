// GET /x-prices: the list price, the override and what would be charged of every model; what was used without a price of its own
// comes first; pages and the part of a name; and whose prices and usage they are.

import { describe, expect, test } from "bun:test";
import { asking, fresh, type Json, type Owner, until } from "../../e2e/harness.ts";
import { expectError, prepared, useBench } from "../../e2e/use-bench.ts";
import { properError } from "../proper.ts";

const bench = useBench();

const PRICING = {
  ChatPricing: {
    "gpt-4o": { OutputText: 8 },
    "my-model": { InputText: 3, OutputText: 6, Rates: 2 },
    "gpt-4o-mini": { Rates: 1.5 },
    constructor: { InputText: 1, OutputText: 1 },
    "*": { InputText: 100, OutputText: 200 },
  },
  CallPricing: { "my-model": { Call: 0.5 }, "my-tool": { Call: 0.25 } },
};

/** Models that an Owner's tree has asked: "odd-…" is priced by `*`, the dated one by the model that it is of. */
const DATED = "gpt-4o-2026-01-01";
const odd = `odd-${fresh()}`;
const owner = prepared(() => spender());

async function spender(): Promise<Owner> {
  const made = await bench.owner({ config: { PRICING } });
  const child = await bench.subaccount(made, { CreditGranted: 100 });
  const ask = async (key: string, model: string) => {
    const answer = await bench.call(key, "POST", "/v1/chat/completions", {
      ...asking("[[prompt=10 output=1]]"),
      ...{ model, max_tokens: 1 },
    });
    if (answer.status !== 200) throw new Error(answer.text);
  };
  for (const model of [odd, odd, DATED, "my-model", "my-model"]) await ask(child.key, model);
  await ask(made.key, "my-model");
  const used = async () => (await bench.call(made.key, "GET", "/x-bill?days=1")).body.total_requests;
  const own = async () => (await bench.call(made.key, "GET", "/dashboard/bill")).body.total_requests;
  await until("the usage is there", async () => (await used()) === 5 && (await own()) === 1);
  return made;
}

const get = async (query = "", key = owner.key): Promise<Json> => {
  const answer = await bench.call(key, "GET", `/x-prices${query}`);
  if (answer.status !== 200) throw new Error(answer.text);
  return answer.body;
};
const rowsOf = async (model: string, key = owner.key): Promise<Json[]> =>
  (await get(`?size=1000&q=${encodeURIComponent(model)}`, key)).prices.filter(
    (row: Json) => row.model === model,
  );

describe("a model", () => {
  test("with a list price alone", async () => {
    const [row, ...more] = await rowsOf("gpt-4.1-mini");
    expect(row).toEqual({
      ...{ model: "gpt-4.1-mini", group: "ChatPricing", override: null, priced_by: "gpt-4.1-mini" },
      ...{ list: row.list, effective: row.list, requests_30d: 0 },
    });
    expect(row.list.InputText).toBeGreaterThan(0);
    expect(more.map(({ group }) => group)).toEqual(["FineTuningPricing"]);
  });

  test("whose list price is overridden, field by field, or by a factor alone", async () => {
    const [row] = await rowsOf("gpt-4o");
    expect(row.override).toEqual({ OutputText: 8 });
    expect(row.effective).toEqual({ ...row.list, OutputText: 8 });
    expect(row.list.OutputText).not.toBe(8);
    const [factor] = await rowsOf("gpt-4o-mini");
    expect([factor.override, factor.effective]).toEqual([{ Rates: 1.5 }, { ...factor.list, Rates: 1.5 }]);
  });

  test("that the Owner alone prices, in each group; its requests count once", async () => {
    expect(await rowsOf("my-model")).toEqual([
      {
        ...{ model: "my-model", group: "ChatPricing", list: null, priced_by: "my-model", requests_30d: 3 },
        ...{ override: PRICING.ChatPricing["my-model"], effective: PRICING.ChatPricing["my-model"] },
      },
      {
        ...{ model: "my-model", group: "CallPricing", list: null, priced_by: "my-model", requests_30d: 0 },
        ...{ override: { Call: 0.5 }, effective: { Call: 0.5 } },
      },
    ]);
    expect((await rowsOf("constructor"))[0]).toMatchObject({ override: { InputText: 1, OutputText: 1 } });
    expect((await rowsOf("*"))[0]).toMatchObject({
      ...{ group: "ChatPricing", list: null, override: PRICING.ChatPricing["*"], priced_by: "*" },
      effective: PRICING.ChatPricing["*"],
    });
  });

  test("that was used without a price of its own stands first, the most used one before the others", async () => {
    const { prices } = await get("?size=3");
    expect(prices.map(({ model }: Json) => model).slice(0, 2)).toEqual([odd, DATED]);
    expect(prices[0]).toEqual({
      ...{ model: odd, group: "ChatPricing", list: null, override: null, requests_30d: 2 },
      ...{ effective: PRICING.ChatPricing["*"], priced_by: "*" },
    });
    expect(prices[1]).toMatchObject({ override: null, priced_by: "gpt-4o", requests_30d: 1 });
    expect(prices[1].effective).toEqual({ ...prices[1].list, OutputText: 8 });
  });

  test("shows a changed price at once, and none when it is taken away", async () => {
    const change = (pricing: unknown) => bench.call(owner.key, "PUT", "/x-config", { PRICING: pricing });
    expect((await change({ CallPricing: PRICING.CallPricing })).status).toBe(200);
    expect(await rowsOf(odd)).toEqual([
      {
        model: odd,
        group: null,
        list: null,
        override: null,
        effective: null,
        priced_by: null,
        requests_30d: 2,
      },
    ]);
    const [row] = await rowsOf("gpt-4o");
    expect([row.override, row.effective]).toEqual([null, row.list]);
    await change(PRICING);
    expect((await rowsOf(odd))[0].priced_by).toBe("*");
  });
});

describe("the list", () => {
  test("comes by pages: 100 by default, at most 1000, each row once", async () => {
    const first = await get();
    expect([first.prices.length, first.page, first.size, first.has_more]).toEqual([100, 1, 100, true]);
    const whole = (await get("?size=5000")).prices;
    expect(whole).toHaveLength(first.total);
    const pages: Json[] = [];
    for (let page = 1; page <= Math.ceil(first.total / 150); page++) {
      pages.push(...(await get(`?size=150&page=${page}`)).prices);
    }
    expect(pages).toEqual(whole);
    const names = whole.slice(2).map(({ model }: Json) => model);
    expect(names).toEqual([...names].sort());
    const beyond = await get("?page=999999999999999999");
    expect([beyond.prices, beyond.has_more, beyond.total]).toEqual([[], false, first.total]);
  });

  test("is narrowed by a part of the name, without regard to case", async () => {
    const { prices, total } = await get("?q=MY-");
    expect(prices.map(({ model, group }: Json) => `${model} ${group}`)).toEqual([
      ...["my-model ChatPricing", "my-model CallPricing", "my-tool CallPricing"],
    ]);
    expect(total).toBe(3);
    expect((await get("?q=no-such-model")).prices).toEqual([]);
    expect((await get("?q=")).total).toBe((await get()).total);
  });

  test.each(["page=0", "size=0", "page=-1", "size=x", `q=${"x".repeat(300)}`])("?%s: 400", async (query) => {
    properError(await bench.call(owner.key, "GET", `/x-prices?${query}`), 400, "invalid_parameter");
  });

  test("is an Owner's, and knows no other Owner's prices and usage", async () => {
    const user = await bench.subaccount(owner);
    expectError(await bench.call(user.key, "GET", "/x-prices"), 403, "not_owner");
    const other = await bench.owner();
    for (const key of [other.key, bench.rootKey]) {
      expect(await rowsOf("my-model", key)).toEqual([]);
      expect(await rowsOf(odd, key)).toEqual([]);
      expect((await rowsOf("gpt-4o", key))[0].override).toBeNull();
    }
  });
});
