// POST /x-config/preview: the figures of the tree's own bill, recomputed; nothing changes, and nobody is held up by it.

import { beforeAll, expect, test } from "bun:test";
import { charged, MODEL, nano, PRICING, until } from "../../e2e/harness.ts";
import { prepared, useBench } from "../../e2e/use-bench.ts";
import { properError } from "../proper.ts";

const bench = useBench();
const owner = prepared(() => bench.owner());
const user = prepared(() => bench.subaccount(owner));
beforeAll(async () => {
  for (const { key } of [user, user, owner]) await bench.chat(key, "[[prompt=1000 output=100]]");
  // Sums of usage trail the ledger by a moment.
  await until("the usage is saved", async () => (await preview({ PRICING })).body.models[0]?.requests === 3);
});

const preview = (body: object | string, key = owner.key) =>
  bench.call(key, "POST", "/x-config/preview", body);
const priced = (InputText: number, OutputText = 0) => ({
  ChatPricing: { [MODEL]: { InputText, OutputText } },
});

test("answers 30 days by model, and their totals, as the ledger has them", async () => {
  const spent = charged(await bench.ledger(user.key)) + charged(await bench.ledger(owner.key));
  const { status, body } = await preview({ PRICING: priced(2, 4) });
  expect(status).toBe(200);
  expect(nano(body.total.cost_now)).toBe(spent);
  expect(body).toEqual({
    success: true,
    days: 30,
    models: [{ model: MODEL, requests: 3, cost_now: spent / 1e9, cost_preview: (spent * 2) / 1e9 }],
    total: { cost_now: spent / 1e9, cost_preview: (spent * 2) / 1e9 },
  });
});

test("takes PRICING as text too; an empty one is the default prices, under which the model has none", async () => {
  const { body } = await preview({ PRICING: JSON.stringify(PRICING) });
  expect(body.total.cost_preview).toBe(body.total.cost_now);
  const none = (await preview({ PRICING: "" })).body;
  expect(none.models).toEqual([{ ...body.models[0], cost_preview: null }]);
  expect(none.total).toEqual({ cost_now: body.total.cost_now, cost_preview: 0 });
});

test("an Owner sees its own tree; Root's prices serve Root alone, who has called nothing", async () => {
  expect((await preview({ PRICING }, (await bench.owner()).key)).body.models).toEqual([]);
  expect((await preview({ PRICING }, bench.rootKey)).body.models).toEqual([]);
});

test("changes nothing and is no line of the operation log", async () => {
  const cost = async () =>
    (await bench.chat(user.key, "[[prompt=1000 output=1]]")).headers.get("x-arbor-cost");
  const logged = async () => (await bench.call(owner.key, "GET", "/dashboard/logs")).body;
  const before = [await cost(), await logged()];
  await preview({ PRICING: priced(900) });
  await preview({ PRICING: "{" });
  expect([await cost(), await logged()]).toEqual(before);
});

test("PRICING is checked as by PUT /x-config, in the same words", async () => {
  const wrong = [{ Nothing: {} }, priced(-1), "[]", "{", `{"ChatPricing":{"m":{"InputText":1e999}}}`];
  for (const PRICING of wrong) {
    const answer = await preview({ PRICING });
    properError(answer, 400, "invalid_pricing");
    const put = await bench.call(owner.key, "PUT", "/x-config", { PRICING });
    expect(answer.body).toEqual(put.body);
  }
});

test.each([
  ["missing_parameter", {}],
  ["unknown_field", { PRICING: "", LEVEL_MAPPER: "" }],
  ["invalid_parameter", { PRICING: 1 }],
])("refuses %s", async (code, body) => {
  properError(await preview(body), 400, code);
});

test("is an Owner's: 403 not_owner", async () => {
  expect((await preview({ PRICING }, user.key)).body.error.code).toBe("not_owner");
});

test("one at a time for an Owner: the others are refused with a time to come again, and then it works", async () => {
  const answers = await Promise.all(Array.from({ length: 12 }, () => preview({ PRICING })));
  const refused = answers.filter(({ status }) => status !== 200);
  expect(refused.length).toBeGreaterThan(0);
  expect(refused.length).toBeLessThan(12);
  for (const answer of refused) {
    expect(answer.status).toBe(503);
    expect(answer.body.error.code).toBe("service_unavailable");
    expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
  }
  expect((await preview({ PRICING })).status).toBe(200);
});

test("two at a time on a node, and one that was refused took no place", async () => {
  const owners = [owner, ...(await Promise.all(Array.from({ length: 7 }, () => bench.owner())))];
  const statuses = await Promise.all(owners.map(async ({ key }) => (await preview({ PRICING }, key)).status));
  expect(statuses.filter((status) => status === 503).length).toBeGreaterThan(0);
  expect(statuses.filter((status) => status === 200).length).toBeGreaterThanOrEqual(2);
  for (const { key } of owners) expect((await preview({ PRICING }, key)).status).toBe(200);
});

test("who goes away frees the place", async () => {
  for (let i = 0; i < 5; i++) {
    const gone = new AbortController();
    const asked = bench
      .call(owner.key, "POST", "/x-config/preview", { PRICING }, { signal: gone.signal })
      .catch(() => null);
    setTimeout(() => gone.abort(), 1);
    await asked;
  }
  await until("the place is free", async () => (await preview({ PRICING })).status === 200);
});
