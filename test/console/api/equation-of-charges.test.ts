// The equation of every kind of charge that the service makes, from its own explanation: what the page computes is what was
// paid, to the nano-dollar.

import { describe, expect, test } from "bun:test";
import type { Static } from "@sinclair/typebox";
import { type Equation, equationOf } from "../../../console/api/equation.ts";
import { type Exact, readExact } from "../../../console/api/exact-json.ts";
import { decimalText } from "../../../console/api/rational.ts";
import type { ExplainSchema } from "../../../src/http/dashboard/schemas.ts";
import { type Account, asking, charges, fresh, MODEL, nano } from "../../e2e/harness.ts";
import { GOOD, OWN_PRICES } from "../../e2e/surfaces-bodies.ts";
import { prepared, useBench } from "../../e2e/use-bench.ts";

const bench = useBench();
const RATES = { Rates: 1.37 };

/** An account whose Rates and Factor are not 1, below an Owner with these prices. */
const payer = async (style: "chat" | "messages", pricing: object): Promise<Account> => {
  const owner = await bench.owner({ pricing, style });
  const account = await bench.subaccount(owner, { ...RATES, CreditGranted: 90 });
  const changed = await bench.call(bench.rootKey, "PUT", `/x-users/${account.id}`, { Factor: 0.73 });
  if (changed.status !== 200) throw new Error(changed.text);
  return account;
};
const TOOLS = { CallPricing: { ...OWN_PRICES.CallPricing, code_interpreter: { Call: 0.03, Rates: 2 } } };
const OWN = {
  [MODEL]: { InputText: 0.0731, OutputText: 0.29, CachedText: 0.007, ReasonText: 8, Rates: 1.9 },
};
const chatting = prepared(() => payer("chat", { ...TOOLS, ChatPricing: OWN }));
const messaging = prepared(() => payer("messages", { ChatPricing: OWN }));

/** Makes a call, and returns the equation of its newest charge and the amount that the ledger has. */
async function charged(account: Account, path: string, body: object | FormData) {
  const id = `request-${fresh()}`;
  await bench.call(account.key, "POST", path, body, { headers: { "x-request-id": id } });
  const { text } = await bench.call(account.key, "GET", `/dashboard/explain?request=${id}`);
  const { request } = readExact<Static<typeof ExplainSchema>>(text) as Exact<Static<typeof ExplainSchema>>;
  const line = charges(await bench.ledger(account.key)).at(-1);
  const equation = equationOf(request!);
  expect(request!.cost as bigint).toBe(BigInt(nano(-line.amount)));
  if (equation.kind === "none") throw new Error(equation.reason);
  expect([equation.total, equation.matches]).toEqual([request!.cost, true]);
  const { rates, factor } = equation.main.multipliers;
  expect([decimalText(rates), decimalText(factor)]).toEqual(["1.37", "0.73"]);
  return { equation, line, cost: request!.cost };
}

const countsOf = ({ main, parts }: Extract<Equation, { kind: "equation" }>) =>
  [main, ...parts].map(({ rows }) => rows.map(({ count }) => count));

test.each(GOOD.map((row) => [row.path, row.group, row] as const))(
  "a charge of %s by %s",
  async (path, group, { body, script }) => {
    const { equation, cost } = await charged(chatting, path, body(script));
    expect(equation.main.group).toBe(group);
    expect(equation.main.rows.length).toBeGreaterThan(0);
    expect(cost > 0n).toBe(true);
  },
);

describe("a conversation", () => {
  const chat = (script: string, more: object = {}) =>
    charged(chatting, "/v1/chat/completions", { ...asking(`say [[${script}]]`), ...more });
  const message = (script: string, more: object = {}) =>
    charged(messaging, "/v1/messages", { ...asking(`say [[${script}]]`), max_tokens: 4_000, ...more });

  test("with cached tokens and reasoning, at the Rates of its model", async () => {
    const { equation } = await chat("prompt=1007 cached=333 output=207 reasoning=64");
    expect(countsOf(equation)).toEqual([["inText", "inCached", "outText", "outReason"]]);
    expect(decimalText(equation.main.multipliers.model)).toBe("1.9");
    expect(equation.main.tier).toBeNull();
  });

  test("with sound on both sides", async () => {
    const { equation } = await chat("prompt=120 audio_in=100 output=250 audio_out=200", {
      model: "gpt-audio",
    });
    expect(countsOf(equation)).toEqual([["inText", "inAudio", "outText", "outAudio"]]);
  });

  test("with a long context, in a service tier, and both", async () => {
    const model = { model: "gemini-2.5-pro" };
    const long = await chat("prompt=200001 cached=77 output=3", model);
    expect(long.equation.main.tier).toBe("LongContext>200000");
    expect((await chat("prompt=9 output=3 tier=priority", model)).equation.main.tier).toBe("Priority");
    const both = await chat("prompt=200001 cached=77 output=3 reasoning=1 tier=flex", model);
    expect(both.equation.main.tier).toBe("LongContext>200000+Flex");
  });

  test("with writes to caches and searches that its model's own price has", async () => {
    const tools = [{ type: "web_search_20250305", name: "web_search", max_uses: 3 }];
    const { equation } = await message(
      "prompt=1000 cached=100 cache_write=500 cache_write_1h=200 searches=2",
      {
        ...{ model: "claude-sonnet-4-5", tools },
      },
    );
    expect(countsOf(equation)).toEqual([
      ["inText", "inCached", "inCacheWrite", "inCacheWrite1h", "outText", "webSearches"],
    ]);
  });

  test("with tools that are priced apart", async () => {
    const tools = [{ type: "code_interpreter", container: { type: "auto" } }, { type: "web_search" }];
    const body = { model: MODEL, input: "hi [[prompt=100 output=10 executions=3 searches=2]]", tools };
    const { equation } = await charged(chatting, "/v1/responses", body);
    expect(equation.parts.map(({ name, usd }) => [name, decimalText(usd)]).sort()).toEqual([
      ["code_interpreter", "0.180018"],
      ["web_search", "0.020002"],
    ]);
  });

  test("with a compaction beside its turn", async () => {
    const { equation } = await message("prompt=100 output=10 usage=iterations");
    expect(equation.parts.length + equation.main.rows.length).toBeGreaterThan(1);
  });

  test("that broke off, and one whose usage nobody reported", async () => {
    const cut = await chat("output=40 fault=cut after=5", { stream: true });
    expect(cut.line.basis).toBe("partial");
    const counted = await chat("usage=none output=20");
    expect(counted.line.basis).toBe("estimate");
  });

  test("that cost a fraction of a nano-dollar", async () => {
    const { equation } = await chat("prompt=1 output=1");
    expect(decimalText(equation.exact, 20)).not.toBe(decimalText(equation.exact, 9));
  });
});

test("a request that failed has none, and says so", async () => {
  const headers = { "x-request-id": `failed-${fresh()}` };
  const { status } = await bench.chat(chatting.key, "[[fault=500]]", {}, { headers });
  expect(status).toBe(502);
  const path = `/dashboard/explain?request=${headers["x-request-id"]}`;
  const { request } = readExact<Static<typeof ExplainSchema>>(
    (await bench.call(chatting.key, "GET", path)).text,
  ) as Exact<Static<typeof ExplainSchema>>;
  expect(equationOf(request!)).toEqual({ kind: "none", reason: "not_charged" });
});
