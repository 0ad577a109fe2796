// What an answer used and costs: the provider's figures where they make sense, else counted; never a silent zero, and
// the same for a whole answer and for its stream.

import { describe, expect, test } from "bun:test";
import { priceTable } from "../../actors/price-table.ts";
import { completionTokens, NO_USAGE, promptTokens } from "../../actors/usage.ts";
import type { Admission } from "../../src/gateway/admission.ts";
import { meter, type Reading } from "../../src/gateway/meter.ts";
import type { TokenCounter } from "../../src/gateway/tokens.ts";

const MODEL = "gpt-4o";
const admission = {
  route: {
    model: MODEL,
    priced: priceTable(null).find(MODEL, ["ChatPricing"])!,
    multipliers: { rates: 2, factor: 1 },
  },
  size: { promptTokens: 5, maxOutput: 500, n: 1, serviceTier: null, never: [] },
} as unknown as Admission;

/** One token a character, so that figures are plain. */
const counter: TokenCounter = {
  count: async (texts) => texts.reduce((sum, text) => sum + text.length, 0),
};

const reading = (over: Partial<Reading>): Reading => ({
  dialect: "chat",
  usage: { prompt_tokens: 40, completion_tokens: 20 },
  serviceTier: null,
  texts: ["hello", "you"],
  complete: true,
  prompt: () => ["a prompt"],
  ...over,
});

async function metered(over: Partial<Reading>) {
  const { usage, basis, charge } = await meter(admission, reading(over), counter);
  return { basis, prompt: promptTokens(usage), completion: completionTokens(usage), amount: charge.amount };
}

describe("an answer", () => {
  test.each([
    ["with figures", {}, "provider", 40, 20],
    ["with figures and no content", { texts: [] }, "provider", 40, 20],
    ["without figures", { usage: null }, "estimate", 8, 8],
    ["with figures of zero", { usage: { prompt_tokens: 0, completion_tokens: 0 } }, "estimate", 8, 8],
    ["with an empty usage", { usage: {} }, "estimate", 8, 8],
    ["with the output's figure alone", { usage: { completion_tokens: 20 } }, "estimate", 8, 20],
    ["with the prompt's figure alone", { usage: { prompt_tokens: 40 } }, "estimate", 40, 8],
    ["with a negative figure", { usage: { prompt_tokens: -40, completion_tokens: 20 } }, "estimate", 8, 8],
    [
      "with a figure that is no number",
      { usage: { prompt_tokens: "40", completion_tokens: 20 } },
      "estimate",
      8,
      8,
    ],
    ["with half a token", { usage: { prompt_tokens: 40.5, completion_tokens: 20 } }, "estimate", 8, 8],
    [
      "with more than the context holds",
      { usage: { prompt_tokens: 9e6, completion_tokens: 1 } },
      "estimate",
      8,
      8,
    ],
    ["cut, without figures", { usage: null, complete: false }, "partial", 8, 8],
    [
      "cut, with the prompt's figure",
      { usage: { prompt_tokens: 40, completion_tokens: 0 }, complete: false },
      "partial",
      40,
      8,
    ],
    [
      "cut, with a figure below what was delivered",
      { usage: { prompt_tokens: 40, completion_tokens: 3 }, complete: false },
      "partial",
      40,
      8,
    ],
    ["cut, with a figure above what was delivered", { complete: false }, "partial", 40, 20],
    [
      "cut, with figures that make no sense",
      { usage: { prompt_tokens: -1 }, complete: false },
      "partial",
      8,
      8,
    ],
  ] as const)("%s is charged by %s", async (_what, over, basis, prompt, completion) => {
    expect(await metered(over)).toMatchObject({ basis, prompt, completion });
  });

  test("costs what its usage costs, at the multipliers of its route", async () => {
    // 2.5 and 10 USD a million tokens, twice.
    expect((await metered({})).amount).toBe(((40 * 2_500 + 20 * 10_000) * 2) as never);
    const { charge } = await meter(admission, reading({}), counter);
    expect(charge.numbers.multipliers).toEqual({ model: 1, rates: 2, factor: 1 });
  });

  test("in many pieces costs what it costs whole", async () => {
    for (const usage of [null, { prompt_tokens: 40, completion_tokens: 20 }]) {
      const whole = await metered({ usage, texts: ["hello world"] });
      expect(await metered({ usage, texts: [..."hello world"] })).toEqual(whole);
    }
  });

  test("that gives figures is not counted: neither its prompt nor its text", async () => {
    const never: TokenCounter = {
      count: () => Promise.reject(new Error("counted")),
    };
    const { usage } = await meter(admission, reading({}), never);
    expect(usage).toEqual({ ...NO_USAGE, inText: 40, outText: 20 });
  });
});
