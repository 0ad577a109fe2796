// Every way in which the stand-in reports usage: what is charged and on which basis, and that a streamed answer costs what
// the same whole answer costs.

import { describe, expect, test } from "bun:test";
import { charges, type Json, MODEL, nano } from "./harness.ts";
import { streamChat } from "./streaming.ts";
import { prepared, useBench } from "./use-bench.ts";

const PRICE = { InputText: 1, OutputText: 2, CachedText: 0.5, CacheWrite: 4, ReasonText: 8, InputAudio: 16 };

const bench = useBench();
const user = prepared(async () =>
  bench.subaccount(await bench.owner({ pricing: { ChatPricing: { [MODEL]: PRICE } } })),
);

const lastCharge = async (): Promise<Json> => charges(await bench.ledger(user.key)).at(-1);

/** prompt 100 of which 40 cached, 10 written, 5 audio; completion 30 of which 12 reasoning. */
const PARTS = "prompt=100 cached=40 cache_write=10 audio_in=5 output=30 reasoning=12";
const EXACT = 45 * 1_000 + 40 * 500 + 10 * 4_000 + 5 * 16_000 + 18 * 2_000 + 12 * 8_000;

/** Form of usage, script, basis, tokens and nano-dollars: whole and streamed alike. */
const FORMS: [
  usage: string,
  script: string,
  basis: string,
  prompt: number,
  completion: number,
  cost: number,
][] = [
  ["asked", PARTS, "provider", 100, 30, EXACT],
  ["always", PARTS, "provider", 100, 30, EXACT],
  ["last_chunk", PARTS, "provider", 100, 30, EXACT],
  ["cumulative", PARTS, "provider", 100, 30, EXACT],
  // Details that are null hide the parts: everything is text.
  ["null_details", PARTS, "provider", 100, 30, 100 * 1_000 + 30 * 2_000],
  ["deepseek", "prompt=100 cached=40 output=30", "provider", 100, 30, 60_000 + 20_000 + 60_000],
  // Only the cached tokens are reported separately.
  ["moonshot", "prompt=100 cached=40 output=30", "provider", 100, 30, 60_000 + 20_000 + 60_000],
  ["beside", "prompt=100 output=30 reasoning=12", "provider", 100, 30, 100_000 + 36_000 + 96_000],
];

test.each(FORMS)(
  "usage=%s (%s) is charged on the basis %s",
  async (usage, script, basis, prompt, completion, cost) => {
    const said = `count [[usage=${usage} ${script}]]`;
    const figures = { basis, prompt_tokens: prompt, completion_tokens: completion, amount: -cost / 1e9 };
    const whole = await bench.chat(user.key, said);
    expect(await lastCharge()).toMatchObject({ ...figures, stream: false });
    expect(nano(whole.headers.get("x-arbor-cost")!)).toBe(cost);
    const stream = await streamChat(bench, user.key, said);
    expect(await lastCharge()).toMatchObject({ ...figures, stream: true });
    expect(nano(stream.cost!)).toBe(cost);
    expect(stream.usage).toBeUndefined();
  },
);

describe("usage that is missing or makes no sense is counted and marked estimate, never a silent 0", () => {
  // "a b c d" is four tokens; the stand-in's words are one token each.
  test.each(["none", "zero", "garbage"])("usage=%s", async (usage) => {
    const said = `one two three four [[usage=${usage} output=20]]`;
    const whole = await bench.chat(user.key, said);
    expect(whole.status).toBe(200);
    const line = await lastCharge();
    expect(line.basis).toBe("estimate");
    expect(line.completion_tokens).toBe(20);
    expect(line.prompt_tokens).toBeWithin(4, 40);
    expect(line.amount).toBe(Number(`-${whole.headers.get("x-arbor-cost")}`));
    const stream = await streamChat(bench, user.key, said);
    expect(await lastCharge()).toMatchObject({
      basis: "estimate",
      stream: true,
      prompt_tokens: line.prompt_tokens,
      completion_tokens: 20,
      amount: line.amount,
    });
    expect(stream.cost).toBe(whole.headers.get("x-arbor-cost"));
  });

  test("images of the prompt are in it, by the sum of their hold", async () => {
    const image = { type: "image_url", image_url: { url: "data:image/png;base64,iVBORw0KGgo=" } };
    const text = { type: "text", text: "what is it [[usage=none output=4]]" };
    const messages = [{ role: "user", content: [text, image, image] }];
    await bench.chat(user.key, "", { messages });
    const line = await lastCharge();
    expect(line).toMatchObject({ basis: "estimate", completion_tokens: 4 });
    expect(line.prompt_tokens).toBeWithin(3_202, 3_240);
    await streamChat(bench, user.key, "", { messages });
    expect(await lastCharge()).toMatchObject({ stream: true, amount: line.amount });
  });

  test("reasoning, tool calls and several choices are counted too", async () => {
    const tools = [{ type: "function", function: { name: "look", parameters: { type: "object" } } }];
    for (const [script, more] of [
      ["output=20 reasoning=8 think", {}],
      ["tool=2", { tools }],
      ["output=7", { n: 3 }],
    ] as const) {
      const said = `one two three [[usage=none ${script}]]`;
      await bench.chat(user.key, said, more);
      const whole = await lastCharge();
      expect(whole.basis).toBe("estimate");
      expect(whole.completion_tokens).toBeGreaterThanOrEqual(8);
      await streamChat(bench, user.key, said, more);
      expect(await lastCharge()).toMatchObject({
        amount: whole.amount,
        completion_tokens: whole.completion_tokens,
      });
    }
  });
});

describe("a streamed answer costs what the same whole answer costs", () => {
  test.each([
    ["plain", "output=40", {}],
    ["nothing at all", "output=0", {}],
    ["cut short by max_tokens", "output=40", { max_tokens: 7 }],
    ["four choices", "output=9", { n: 4 }],
    ["wide characters", "output=30 utf8", {}],
    ["reasoning shown", "output=30 reasoning=12 think", {}],
    ["tools in fragments", "tool=3", { tools: [{ type: "function", function: { name: "a" } }] }],
    ["written in small pieces", "output=6 fault=split bytes=40", {}],
    ["written inside characters", "output=6 fault=split_utf8", {}],
    ["written in lumps", "output=30 fault=join", {}],
    ["comments before it", "output=5 fault=comments", {}],
    ["filter results around it", "output=5 fault=azure", {}],
    ["an event without delta", "output=9 fault=no_delta", {}],
    ["lines that end in CR LF", "output=9 fault=crlf", {}],
    ["no [DONE]", "output=9 fault=no_done", {}],
    ["another service tier", "output=9 tier=priority", {}],
  ])("%s", async (_, script, more) => {
    const said = `the same words [[${script}]]`;
    const whole = await bench.chat(user.key, said, more);
    const line = await lastCharge();
    const stream = await streamChat(bench, user.key, said, {
      ...more,
      stream_options: { include_usage: true },
    });
    const { prompt_tokens, completion_tokens, amount, basis } = line;
    expect(basis).toBe("provider");
    expect(await lastCharge()).toMatchObject({ prompt_tokens, completion_tokens, amount, basis });
    expect(stream.done).toBe(true);
    expect(stream.cost).toBe(whole.headers.get("x-arbor-cost"));
    expect(stream.usage).toMatchObject({ prompt_tokens, completion_tokens });
    expect(stream.usage.total_tokens).toBe(whole.body.usage.total_tokens);
  });
});

test("an answer that a provider ended normally is charged by its usage even when it is empty", async () => {
  const stream = await streamChat(bench, user.key, "[[prompt=50 output=0]]");
  expect(stream).toMatchObject({ done: true, said: "", cost: "0.00005" });
  expect(await lastCharge()).toMatchObject({ basis: "provider", completion_tokens: 0, amount: -0.00005 });
});

test("usage on chunks with choices is taken out for a client that did not ask, and stays for one that did", async () => {
  const said = "[[usage=cumulative output=4]]";
  expect((await streamChat(bench, user.key, said)).text).not.toContain('"usage":{');
  const asked = await streamChat(bench, user.key, said, { stream_options: { include_usage: true } });
  expect(asked.usage).toMatchObject({ completion_tokens: 4 });
});

test("rates, factor and price are multiplied exactly: a third of a nano-dollar is rounded once, half up", async () => {
  const owner = await bench.owner({
    pricing: { ChatPricing: { [MODEL]: { InputText: 0.0005, OutputText: 0 } } },
  });
  const child = await bench.subaccount(owner, { Rates: 1.5 });
  // 1 token: 0.5 nano x 1.5 = 0.75; 3 tokens: 2.25; 2 tokens: 1.5.
  for (const [prompt, cost] of [
    [1, "0.000000001"],
    [3, "0.000000002"],
    [2, "0.000000002"],
  ] as const) {
    const { headers } = await bench.chat(child.key, `[[prompt=${prompt} output=1]]`);
    expect(headers.get("x-arbor-cost")).toBe(cost);
  }
});
