// PRICING of PUT /x-config: which fields each group has, what is refused and how the message says where, and what a price does to
// the cost of the next request.

import { describe, expect, test } from "bun:test";
import { type Answer, type Json, MODEL } from "../../e2e/harness.ts";
import { prepared, useBench } from "../../e2e/use-bench.ts";
import { userBody } from "../bodies.ts";
import { properError } from "../proper.ts";

const bench = useBench();
const owner = prepared(() => bench.owner());
const user = prepared(() => bench.subaccount(owner));

const put = (body: object) => bench.call(owner.key, "PUT", "/x-config", body);
const configs = async (): Promise<Json> => (await bench.call(owner.key, "GET", "/x-config")).body.configs;
const cost = async (said: string, model = MODEL): Promise<string | null> =>
  (await bench.chat(user.key, said, { model })).headers.get("x-arbor-cost");

describe("Pricing override structure", () => {
  const prices = (...fields: string[]) => Object.fromEntries(fields.map((field, i) => [field, i / 8]));

  test.each<[string, string[]]>([
    [
      "ChatPricing",
      [
        ...["InputText", "OutputText", "CachedText", "CacheWrite", "ReasonText"],
        ...["InputAudio", "OutputAudio", "InputImage", "OutputImage", "Rates"],
      ],
    ],
    ["ImgPricing", ["Call", "Rates", "Sizes"]],
    ["AudioPricing", ["Input", "Output", "Call", "Rates"]],
    ["RerankPricing", ["Input", "Call", "Rates"]],
    ["CallPricing", ["Call", "Rates"]],
    ["FineTuningPricing", ["InputText", "OutputText", "Rates"]],
  ])("%s: all of its fields and no other", async (group, fields) => {
    const price = {
      ...prices(...fields),
      ...(fields.includes("Sizes") ? { Sizes: { "1024x1024": 0.04, "hd/512x512": 0 } } : {}),
    };
    const PRICING = { [group]: { "a-model": price } };
    expect((await put({ PRICING })).body.configs).toEqual({ PRICING: JSON.stringify(PRICING) });
    for (const other of ["InputText", "Input", "Call", "Sizes", "Price", "rates"].filter(
      (one) => !fields.includes(one),
    )) {
      const answer = await put({ PRICING: { [group]: { "a-model": { [other]: 1 } } } });
      properError(answer, 400, "invalid_pricing");
      expect(answer.body.error.message).toContain(`${group}["a-model"].${other}`);
    }
  });

  test("the result is combined with the account's Rates and Factor", async () => {
    await put({ PRICING: { ChatPricing: { [MODEL]: { InputText: 3, OutputText: 7, Rates: 2 } } } });
    const rated = await bench.subaccount(owner);
    await bench.call(owner.key, "PUT", `/x-users/${rated.id}`, { Rates: 3, Factor: 0.5 });
    const { headers } = await bench.chat(rated.key, "[[prompt=1000 output=100]]");
    expect(headers.get("x-arbor-cost")).toBe("0.0111");
  });
});

describe("PRICING validation", () => {
  const refused = async (PRICING: unknown): Promise<Answer> => {
    const before = await configs();
    const answer = await put({ MODEL_MAPPER: "a=b", PRICING });
    properError(answer, 400, "invalid_pricing");
    expect(await configs()).toEqual(before);
    return answer;
  };

  test("JSON size at most 128 KB", async () => {
    const sized = (bytes: number) => {
      const empty = JSON.stringify({ ImgPricing: { m: { Sizes: { "": 1 } } } }).length;
      return { ImgPricing: { m: { Sizes: { ["x".repeat(bytes - empty)]: 1 } } } };
    };
    expect((await put({ PRICING: sized(131_072) })).status).toBe(200);
    expect((await put({ PRICING: JSON.stringify(sized(131_072)) })).status).toBe(200);
    for (const PRICING of [sized(131_073), JSON.stringify(sized(131_073))]) {
      expect((await refused(PRICING)).body.error.message).toContain("128 KB");
    }
  });

  test("at most 1024 entries in total", async () => {
    const many = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, i) => [`m${i}`, { Call: 1 }]));
    expect((await put({ PRICING: { CallPricing: many(512), ImgPricing: many(512) } })).status).toBe(200);
    const answer = await refused({ CallPricing: many(512), ImgPricing: many(513) });
    expect(answer.body.error.message).toContain("1024");
  });

  test("every number finite and non-negative", async () => {
    for (const bad of ["-1", "-0.000001", "1e999", "-1e999", '"1"', "null", "true", "[]", "{}"]) {
      const chat = await refused(`{"ChatPricing":{"m":{"InputText":${bad}}}}`);
      expect(chat.body.error.message).toContain('ChatPricing["m"].InputText');
      const size = await refused(`{"ImgPricing":{"m":{"Sizes":{"1x1":${bad}}}}}`);
      expect(size.body.error.message).toContain('ImgPricing["m"].Sizes["1x1"]');
    }
    expect((await put({ PRICING: '{"ChatPricing":{"m":{"InputText":0}}}' })).status).toBe(200);
  });
});

describe("PRICING", () => {
  test.each<[string, unknown, string]>([
    ["an unknown group", { Chat: {} }, "Chat"],
    ["an unknown field", { ChatPricing: { m: { Input: 1 } } }, 'ChatPricing["m"].Input'],
    ["a field of another group", { RerankPricing: { m: { Sizes: {} } } }, 'RerankPricing["m"].Sizes'],
    ["a group that is a list", { ChatPricing: [] }, "ChatPricing"],
    ["a model that is a number", { ChatPricing: { m: 1 } }, 'ChatPricing["m"]'],
    ["text that is no JSON", "{", "PRICING"],
    ["a list", "[]", "PRICING"],
    ["the name of a property of objects", { constructor: {} }, "constructor"],
    ["a prototype", '{"__proto__":{}}', "__proto__"],
  ])("%s is 400 invalid_pricing, and the message names the path", async (_, PRICING, path) => {
    const answer = await put({ PRICING });
    properError(answer, 400, "invalid_pricing");
    expect(answer.body.error.message).toContain(path);
  });

  test("an empty text goes back to the defaults", async () => {
    expect((await put({ PRICING: "" })).body.configs).toEqual({ PRICING: "" });
    expect((await bench.chat(user.key, "hi")).body.error.code).toBe("model_not_priced");
    expect(await cost("[[prompt=1000 output=0]]", "gpt-4o-mini")).toBe("0.00015");
  });

  test("an override of one field keeps the others of the default", async () => {
    await put({ PRICING: { ChatPricing: { "gpt-4o-mini": { OutputText: 1_000 } } } });
    expect(await cost("[[prompt=1000 output=10]]", "gpt-4o-mini")).toBe("0.01015");
  });

  test('"*" prices every other model, and Rates multiplies', async () => {
    await put({ PRICING: { ChatPricing: { "*": { InputText: 1, OutputText: 1, Rates: 3 } } } });
    expect(await cost("[[prompt=10 output=10]]", "never-heard-of")).toBe("0.00006");
  });

  test("a lone Rates prices nothing: the model stays unpriced", async () => {
    await put({ PRICING: { ChatPricing: { "never-heard-of": { Rates: 2 } } } });
    const answer = await bench.chat(user.key, "hi", { model: "never-heard-of" });
    expect(answer.body.error.code).toBe("model_not_priced");
  });

  test.each([
    "plain",
    'with "quotes" and \\',
    "llama3:8b",
    "org/model-v1.5",
    "\u00fcml\u00e4ut \u{1f680}",
    "constructor",
  ])("an unpriced model (%s) is refused with the line that prices it: pasted, it works", async (model) => {
    await put({ PRICING: "" });
    const refused = await bench.chat(user.key, "hi", { model });
    properError(refused, 404, "model_not_priced");
    const pasted = /\{"PRICING":.*\}\}\}\}/.exec(refused.body.error.message)![0];
    expect((await bench.call(owner.key, "PUT", "/x-config", pasted)).status).toBe(200);
    expect(await cost("[[prompt=1000 output=1000]]", model)).toBe("0.002");
  });
});

test("a model on this machine, without any price, works in five steps", async () => {
  // 1. an Owner  2. its key, on loopback  3. the model's Level and price  4. an account  5. the call
  const Name = "Local Models";
  const made = await bench.call(bench.rootKey, "POST", "/x-users", userBody({ Name }));
  const key: string = made.body.User.SecretKey;
  await bench.call(key, "POST", "/x-keys", {
    Level: 1,
    Provider: `${bench.provider.url}/v1`,
    SecretKey: "no-secret-needed-locally",
  });
  await bench.call(key, "PUT", "/x-config", {
    LEVEL_MAPPER: "llama3*=1",
    PRICING: { ChatPricing: { "llama3:8b": { InputText: 0, OutputText: 0 } } },
  });
  const child = await bench.call(key, "POST", "/x-users", userBody({ Name: "Local User" }));
  const answer = await bench.chat(child.body.User.SecretKey, "hello [[output=4]]", { model: "llama3:8b" });
  expect([answer.status, answer.headers.get("x-arbor-cost")]).toEqual([200, "0"]);
  expect(bench.provider.calls().at(-1)!.path).toBe("/v1/chat/completions");
});
