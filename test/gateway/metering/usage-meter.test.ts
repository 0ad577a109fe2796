// What an answer used and costs: the provider's figures where they make sense, else counted; never a silent zero, and
// the same for a whole answer and for its stream.

import { describe, expect, test } from "bun:test";
import { recompute } from "../../../actors/pricing/cost-parts.ts";
import { priceTable } from "../../../actors/pricing/price-table.ts";
import { completionTokens, NO_USAGE, promptTokens, type Usage } from "../../../actors/pricing/usage.ts";
import type { Admission } from "../../../src/gateway/context.ts";
import { METERS, type MeterKind } from "../../../src/gateway/metering/meter-kinds.ts";
import type { TokenCounter } from "../../../src/gateway/metering/token-counter.ts";
import { type MeterInput, meterUsage } from "../../../src/gateway/metering/usage-meter.ts";
import { sizeOf } from "../request-samples.ts";

const MODEL = "gpt-4o";
const admission = {
  route: {
    model: MODEL,
    priced: priceTable(null).find(MODEL, ["ChatPricing"])!,
    pricedByTokens: null,
    prices: priceTable(null),
    multipliers: { rates: 2, factor: 1 },
  },
  size: sizeOf({ promptTokens: 5, maxOutput: 500 }),
} as unknown as Admission;

/** One token a character, so that figures are plain. */
const counter: TokenCounter = {
  count: async (texts) => texts.reduce((sum, text) => sum + text.length, 0),
};

const reading = (over: Partial<MeterInput>): MeterInput => ({
  dialect: "chat",
  usage: { prompt_tokens: 40, completion_tokens: 20 },
  serviceTier: null,
  answeredModel: null,
  texts: ["hello", "you"],
  complete: true,
  prompt: () => ["a prompt"],
  promptTokens: null,
  promptBeside: 0,
  measured: {},
  ...over,
});

async function metered(over: Partial<MeterInput>) {
  const { usage, basis, charge } = await meterUsage(METERS.tokens, admission, reading(over), counter);
  return { basis, prompt: promptTokens(usage), completion: completionTokens(usage), amount: charge.amount };
}

describe("an answer", () => {
  test.each(
    // biome-ignore format: a table
    [
      ["with figures", {}, "provider", 40, 20],
      ["with figures and no content", { texts: [] }, "provider", 40, 20],
      ["without figures", { usage: null }, "estimate", 8, 8],
      ["with figures of zero", { usage: { prompt_tokens: 0, completion_tokens: 0 } }, "estimate", 8, 8],
      ["with an empty usage", { usage: {} }, "estimate", 8, 8],
      ["without figures, of whose text a sample was kept", { usage: null, chars: 800 }, "estimate", 8, 800],
      ["without figures, of whose text all was kept", { usage: null, chars: 8 }, "estimate", 8, 8],
      ["with the output's figure alone", { usage: { completion_tokens: 20 } }, "estimate", 8, 20],
      ["with the prompt's figure alone", { usage: { prompt_tokens: 40 } }, "estimate", 40, 8],
      ["with a negative figure", { usage: { prompt_tokens: -40, completion_tokens: 20 } }, "estimate", 8, 8],
      ["with a figure that is no number", { usage: { prompt_tokens: "40", completion_tokens: 20 } }, "estimate", 8, 8],
      ["with half a token", { usage: { prompt_tokens: 40.5, completion_tokens: 20 } }, "estimate", 8, 8],
      ["with more than the context holds", { usage: { prompt_tokens: 9e6, completion_tokens: 1 } }, "estimate", 8, 8],
      ["without figures, with an image", { usage: null, promptBeside: 1_600 }, "estimate", 1_608, 8],
      ["with the prompt's figure and an image", { usage: { prompt_tokens: 40 }, promptBeside: 1_600 }, "estimate", 40, 8],
      ["cut, without figures, with an image", { usage: null, promptBeside: 1_600, complete: false }, "partial", 1_608, 8],
      ["of three turns by its searches", { usage: { prompt_tokens: 300_000, completion_tokens: 20 }, measured: { webSearches: 2 } }, "provider", 300_000, 20],
      ["of three turns by its tools", { usage: { prompt_tokens: 300_000, completion_tokens: 20 }, measured: { toolUses: { code_interpreter: 2 } } }, "provider", 300_000, 20],
      ["of one turn, with more than it holds", { usage: { prompt_tokens: 300_000, completion_tokens: 20 } }, "estimate", 8, 8],
      ["cut, without figures", { usage: null, complete: false }, "partial", 8, 8],
      ["cut, with the prompt's figure", { usage: { prompt_tokens: 40, completion_tokens: 0 }, complete: false }, "partial", 40, 8],
      ["cut, with a figure below what was delivered", { usage: { prompt_tokens: 40, completion_tokens: 3 }, complete: false }, "partial", 40, 8],
      ["cut, with a figure above what was delivered", { complete: false }, "partial", 40, 20],
      ["cut, with figures that make no sense", { usage: { prompt_tokens: -1 }, complete: false }, "partial", 8, 8],
    ] as const,
  )("%s is charged by %s", async (_what, over, basis, prompt, completion) => {
    expect(await metered(over)).toMatchObject({ basis, prompt, completion });
  });

  test("costs what its usage costs, at the multipliers of its route", async () => {
    // 2.5 and 10 USD a million tokens, twice.
    expect((await metered({})).amount).toBe(((40 * 2_500 + 20 * 10_000) * 2) as never);
    const { charge } = await meterUsage(METERS.tokens, admission, reading({}), counter);
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
    const { usage } = await meterUsage(METERS.tokens, admission, reading({}), never);
    expect(usage).toEqual({ ...NO_USAGE, inText: 40, outText: 20 });
  });
});

describe("what is not counted in tokens", () => {
  const TABLE = priceTable({
    ImgPricing: { drawn: { Call: 0.04, Sizes: { "1024x1792": 0.08 } } },
    ChatPricing: { drawn: { InputText: 5, OutputText: 40 }, sketched: { InputText: 5, OutputText: 40 } },
    AudioPricing: { voice: { Input: 15 }, ear: { Input: 6 }, both: { Input: 2.5, Output: 10 } },
    RerankPricing: { ranks: { Call: 0.002 }, reads: { Input: 0.05 }, dear: { Input: 1, Call: 0.001 } },
    CallPricing: { judge: { Call: 0.001 } },
  });
  async function metering(kind: keyof typeof METERS, model: string, over: Partial<MeterInput>) {
    const row: MeterKind = METERS[kind];
    const priced = TABLE.find(model, row.groups)!;
    const tokenPrices = row.groupsForTokens === undefined ? null : TABLE.find(model, row.groupsForTokens);
    const pricedByTokens = tokenPrices === priced ? null : tokenPrices;
    const route = { model, priced, pricedByTokens, prices: TABLE, multipliers: { rates: 1, factor: 1 } };
    const granted = { route, size: sizeOf() } as unknown as Admission;
    return meterUsage(row, granted, reading({ usage: null, texts: [], ...over }), counter);
  }

  type Row = readonly [
    rule: string,
    kind: keyof typeof METERS,
    model: string,
    over: Partial<MeterInput>,
    basis: string,
    cost: number,
    counts: Partial<Usage>,
  ];
  const IMAGE_USAGE = { input_tokens: 50, input_tokens_details: { text_tokens: 50 }, output_tokens: 1_000 };
  // biome-ignore format: a table
  const ROWS: readonly Row[] = [
    [
      "images that came, in their size",
      "images",
      "drawn",
      { dialect: "images", measured: { calls: 2, image: { size: "1024x1792" } } },
      "provider",
      160_000_000,
      { calls: 2 },
    ],
    [
      "images in tokens, where the provider reported them",
      "images",
      "drawn",
      { dialect: "images", usage: IMAGE_USAGE, measured: { calls: 1 } },
      "provider",
      50 * 5_000 + 1_000 * 40_000,
      { inText: 50, outImage: 1_000, calls: 1 },
    ],
    [
      "images that have a price in tokens only, and no usage: by what one of them takes",
      "images",
      "sketched",
      { dialect: "images", measured: { calls: 2, image: { quality: "low", size: "1024x1024" } } },
      "estimate",
      8 * 5_000 + 2 * 272 * 40_000,
      { inText: 8, outImage: 544, calls: 2 },
    ],
    ["no image at all: nothing came", "images", "drawn", { dialect: "images", measured: { calls: 0 } }, "provider", 0, {}],
    [
      "an image of which a part came",
      "images",
      "drawn",
      { dialect: "images", measured: { calls: 1 }, complete: false },
      "partial",
      40_000_000,
      { calls: 1 },
    ],
    [
      "characters",
      "speech",
      "voice",
      { dialect: "speech", measured: { chars: 2_000, seconds: 9, estimated: true } },
      "provider",
      30_000_000,
      { chars: 2_000 },
    ],
    [
      "characters in full, though the sound was cut",
      "speech",
      "voice",
      { dialect: "speech", measured: { chars: 2_000 }, complete: false },
      "partial",
      30_000_000,
      { chars: 2_000 },
    ],
    [
      "characters, though the provider counts tokens",
      "speech",
      "voice",
      { dialect: "speech", usage: { input_tokens: 5, output_tokens: 90 }, measured: { chars: 10 } },
      "provider",
      150_000,
      { chars: 10 },
    ],
    [
      "speech in tokens without usage: the text, and 1,250 for each minute",
      "speech",
      "both",
      { dialect: "speech", measured: { chars: 8, seconds: 30, estimated: true } },
      "estimate",
      8 * 2_500 + 625 * 10_000,
      { inText: 8, outAudio: 625 },
    ],
    [
      "speech in tokens, as its last event says",
      "speech",
      "both",
      { dialect: "speech", usage: { input_tokens: 5, output_tokens: 90 }, measured: { seconds: 30 } },
      "provider",
      5 * 2_500 + 90 * 10_000,
      { inText: 5, outAudio: 90 },
    ],
    [
      "speech in tokens of which its last event leaves out the sound's: by its length",
      "speech",
      "both",
      { dialect: "speech", usage: { input_tokens: 5, output_tokens: 0 }, measured: { seconds: 30 } },
      "estimate",
      5 * 2_500 + 625 * 10_000,
      { inText: 5, outAudio: 625 },
    ],
    [
      "speech in tokens of which its last event leaves out the text's, counted, and no less sound than it says",
      "speech",
      "both",
      { dialect: "speech", usage: { output_tokens: 900 }, measured: { seconds: 30 } },
      "estimate",
      8 * 2_500 + 900 * 10_000,
      { inText: 8, outAudio: 900 },
    ],
    [
      "seconds as the provider says",
      "sound",
      "ear",
      { dialect: "transcription", usage: { type: "duration", seconds: 90 }, measured: { seconds: 3 } },
      "provider",
      9_000_000,
      { seconds: 90 },
    ],
    [
      "seconds that the file, or the answer, shows",
      "sound",
      "ear",
      { dialect: "transcription", measured: { seconds: 60 } },
      "provider",
      6_000_000,
      { seconds: 60 },
    ],
    [
      "seconds that are guessed from a size",
      "sound",
      "ear",
      { dialect: "transcription", measured: { seconds: 60, estimated: true } },
      "estimate",
      6_000_000,
      { seconds: 60 },
    ],
    [
      "seconds, though the provider counts tokens",
      "sound",
      "ear",
      { dialect: "transcription", usage: { input_tokens: 600, output_tokens: 5 }, measured: { seconds: 60 } },
      "provider",
      6_000_000,
      { seconds: 60 },
    ],
    [
      "sound in tokens, as the provider says",
      "sound",
      "both",
      {
        dialect: "transcription",
        usage: {
          input_tokens: 610,
          input_token_details: { text_tokens: 10, audio_tokens: 600 },
          output_tokens: 5,
        },
        texts: ["hello"],
        measured: { seconds: 60 },
      },
      "provider",
      610 * 2_500 + 5 * 10_000,
      { inText: 10, inAudio: 600, outText: 5 },
    ],
    [
      "sound in tokens, though the provider gives seconds: ten tokens a second, and the words",
      "sound",
      "both",
      {
        dialect: "transcription",
        usage: { type: "duration", seconds: 6 },
        texts: ["hello"],
        measured: { seconds: 60 },
      },
      "estimate",
      (8 + 60) * 2_500 + 5 * 10_000,
      { inText: 8, inAudio: 60, outText: 5 },
    ],
    [
      "searches as the provider says",
      "rerank",
      "ranks",
      { dialect: "rerank", usage: { billed_units: { search_units: 2 } }, measured: { calls: 1 } },
      "provider",
      4_000_000,
      { calls: 2 },
    ],
    ["searches as they were asked for", "rerank", "ranks", { dialect: "rerank", measured: { calls: 3 } }, "estimate", 6_000_000, { calls: 3 }],
    [
      "searches in tokens",
      "rerank",
      "reads",
      { dialect: "rerank", usage: { total_tokens: 26_000 }, measured: { calls: 1 } },
      "provider",
      1_300_000,
      { inText: 26_000 },
    ],
    ["searches in tokens that were not reported", "rerank", "reads", { dialect: "rerank", measured: { calls: 1 } }, "estimate", 400, { inText: 8 }],
    [
      "searches with both prices, of which one figure is missing",
      "rerank",
      "dear",
      { dialect: "rerank", usage: { total_tokens: 1_000 }, measured: { calls: 2 } },
      "estimate",
      1_000 * 1_000 + 2_000_000,
      { inText: 1_000, calls: 2 },
    ],
    ["calls", "calls", "judge", { dialect: "embeddings", measured: { calls: 1 } }, "provider", 1_000_000, { calls: 1 }],
    [
      "words at a price by the call, whose tokens are reported all the same",
      "tokens",
      "judge",
      { usage: { prompt_tokens: 40, completion_tokens: 20 } },
      "provider",
      1_000_000,
      { calls: 1, inText: 40, outText: 20 },
    ],
    [
      "vectors at a price by the call, without usage",
      "embeddings",
      "judge",
      { dialect: "embeddings" },
      "estimate",
      1_000_000,
      { calls: 1, inText: 8 },
    ],
    [
      "sound without reported usage: its seconds, and no file",
      "sound",
      "both",
      { dialect: "transcription", measured: { seconds: 10 }, promptBeside: 10_000 },
      "estimate",
      (8 + 100) * 2_500,
      { inText: 8, inAudio: 100 },
    ],
    [
      "embeddings as the provider says",
      "embeddings",
      "sketched",
      { dialect: "embeddings", usage: { prompt_tokens: 50, total_tokens: 50 } },
      "provider",
      250_000,
      { inText: 50 },
    ],
    ["embeddings without reported usage: counted", "embeddings", "sketched", { dialect: "embeddings" }, "estimate", 40_000, { inText: 8 }],
    [
      "embeddings of tokens without reported usage: as many as were sent",
      "embeddings",
      "sketched",
      { dialect: "embeddings", promptTokens: 77, prompt: () => [] },
      "estimate",
      77 * 5_000,
      { inText: 77 },
    ],
  ];
  test.each(ROWS)("is charged: %s", async (_rule, kind, model, over, basis, cost, counts) => {
    const { usage, charge, ...found } = await metering(kind, model, over);
    expect<readonly unknown[]>([found.basis, charge.amount]).toEqual([basis, cost]);
    expect<object>(usage).toMatchObject(counts as object);
    // What is recorded gives the same again.
    expect(recompute(usage, charge.numbers) as number).toBe(cost);
  });

  test("searches of the web that the answer shows are charged beside its tokens, once", async () => {
    const name = "claude-3-5-haiku-20241022";
    const priced = priceTable(null).find(name, ["ChatPricing"])!;
    const route = {
      model: name,
      priced,
      pricedByTokens: null,
      prices: priceTable(null),
      multipliers: { rates: 1, factor: 1 },
    };
    const granted = { route, size: sizeOf({ maxOutput: 500 }) } as unknown as Admission;
    const of = async (over: Partial<MeterInput>) =>
      (await meterUsage(METERS.tokens, granted, reading(over), counter)).charge.amount as number;
    const one = priced.tiers!.WebSearchCall! * 1e9;
    const plain = await of({});
    expect(await of({ measured: { webSearches: 3 } })).toBe(plain + 3 * one);
    const usage = { input_tokens: 40, output_tokens: 20, server_tool_use: { web_search_requests: 3 } };
    const stated = await of({ dialect: "messages", usage });
    expect(await of({ dialect: "messages", usage, measured: { webSearches: 3 } })).toBe(stated);
  });
});
