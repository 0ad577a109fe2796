// Every provider's usage figures in the one normal form, and the figures that count as missing.

import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { completionTokens, NO_USAGE, promptTokens, type Usage } from "../../actors/pricing/usage.ts";
import { readUsage, type UsageDialect } from "../../src/dialect/usage.ts";

const open = { contextWindow: 0, outputLimit: 0 };
const DIALECTS: readonly UsageDialect[] = [
  ...(["chat", "messages", "responses", "embeddings", "images"] as const),
  ...(["transcription", "speech", "rerank", "gemini"] as const),
];

type Row = [rule: string, dialect: UsageDialect, raw: unknown, counts: Partial<Usage>];

// biome-ignore format: a table
const ROWS: Row[] = [
  ["plain chat", "chat", { prompt_tokens: 5, completion_tokens: 7, total_tokens: 12 }, { inText: 5, outText: 7 }],
  [
    "cached, written and audio tokens are inside the prompt",
    "chat",
    {
      ...{ prompt_tokens: 100, completion_tokens: 50, total_tokens: 150 },
      prompt_tokens_details: { cached_tokens: 40, cache_write_tokens: 30, audio_tokens: 10 },
      completion_tokens_details: { reasoning_tokens: 20, audio_tokens: 5, rejected_prediction_tokens: 3 },
    },
    { inText: 20, inCached: 40, inCacheWrite: 30, inAudio: 10, outText: 25, outReason: 20, outAudio: 5 },
  ],
  [
    "cached tokens that stand under two names count once",
    "chat",
    {
      ...{ prompt_tokens: 1000, completion_tokens: 100, total_tokens: 1100 },
      ...{
        prompt_cache_hit_tokens: 600,
        prompt_cache_miss_tokens: 400,
        prompt_tokens_details: { cached_tokens: 600 },
      },
    },
    { inText: 400, inCached: 600, outText: 100 },
  ],
  [
    "cached tokens at the top level are inside the prompt",
    "chat",
    { prompt_tokens: 10, completion_tokens: 1, total_tokens: 11, cached_tokens: 4 },
    { inText: 6, inCached: 4, outText: 1 },
  ],
  [
    "an explicit cache's writes are inside the prompt",
    "chat",
    {
      prompt_tokens: 10,
      completion_tokens: 1,
      prompt_tokens_details: { cache_creation_input_tokens: 4, cached_tokens: 2 },
    },
    { inText: 4, inCached: 2, inCacheWrite: 4, outText: 1 },
  ],
  [
    "another dialect's fields beside the own ones change nothing",
    "chat",
    {
      ...{
        prompt_tokens: 12307,
        completion_tokens: 550,
        cache_creation_input_tokens: 12304,
        cache_read_input_tokens: 0,
      },
      prompt_tokens_details: { cached_tokens: 0, cache_write_tokens: 12304 },
    },
    { inText: 3, inCacheWrite: 12304, outText: 550 },
  ],
  [
    "thinking that only the total knows is output",
    "chat",
    { prompt_tokens: 10, completion_tokens: 5, total_tokens: 115 },
    { inText: 10, outText: 5, outReason: 100 },
  ],
  [
    "thinking beside the completion is counted once though it is named too",
    "chat",
    {
      prompt_tokens: 10,
      completion_tokens: 5,
      total_tokens: 115,
      completion_tokens_details: { reasoning_tokens: 100 },
    },
    { inText: 10, outText: 5, outReason: 100 },
  ],
  [
    "a total smaller than its parts is not believed",
    "chat",
    { prompt_tokens: 10, completion_tokens: 5, total_tokens: 3 },
    { inText: 10, outText: 5 },
  ],
  [
    "parts larger than their total are cut to it",
    "chat",
    {
      ...{
        prompt_tokens: 10,
        completion_tokens: 5,
        prompt_tokens_details: { cached_tokens: 8, audio_tokens: 8 },
      },
      completion_tokens_details: { reasoning_tokens: 99 },
    },
    { inCached: 8, inAudio: 2, outReason: 5 },
  ],
  [
    "levels may be null",
    "chat",
    {
      prompt_tokens: 1,
      completion_tokens: null,
      prompt_tokens_details: null,
      completion_tokens_details: null,
    },
    { inText: 1 },
  ],
  ["an empty usage is zero", "chat", {}, {}],
  [
    "cache reads and writes are beside the input, thinking inside the output",
    "messages",
    {
      ...{
        input_tokens: 3,
        cache_creation_input_tokens: 100,
        cache_read_input_tokens: 50,
        output_tokens: 20,
      },
      cache_creation: { ephemeral_5m_input_tokens: 60, ephemeral_1h_input_tokens: 40 },
      ...{ output_tokens_details: { thinking_tokens: 8 }, server_tool_use: { web_search_requests: 2 } },
    },
    {
      inText: 3,
      inCached: 50,
      inCacheWrite: 60,
      inCacheWrite1h: 40,
      outText: 12,
      outReason: 8,
      webSearches: 2,
    },
  ],
  [
    "writes known by their life alone are writes",
    "messages",
    {
      input_tokens: 1,
      cache_creation: { ephemeral_5m_input_tokens: 6, ephemeral_1h_input_tokens: 4 },
      output_tokens: 1,
    },
    { inText: 1, inCacheWrite: 6, inCacheWrite1h: 4, outText: 1 },
  ],
  [
    "one-hour writes are cut to all writes",
    "messages",
    { cache_creation_input_tokens: 3, cache_creation: { ephemeral_1h_input_tokens: 9 } },
    { inCacheWrite1h: 3 },
  ],
  [
    "null levels of messages",
    "messages",
    {
      input_tokens: 1,
      output_tokens: 2,
      cache_creation: null,
      cache_read_input_tokens: null,
      server_tool_use: null,
    },
    { inText: 1, outText: 2 },
  ],
  [
    "responses: cached inside input, reasoning inside output",
    "responses",
    {
      ...{
        input_tokens: 20,
        output_tokens: 9,
        total_tokens: 29,
        output_tokens_details: { reasoning_tokens: 4 },
      },
      input_tokens_details: { cached_tokens: 5, cache_write_tokens: 6 },
    },
    { inText: 9, inCached: 5, inCacheWrite: 6, outText: 5, outReason: 4 },
  ],
  ["embeddings by prompt", "embeddings", { prompt_tokens: 8, total_tokens: 8 }, { inText: 8 }],
  ["embeddings by total", "embeddings", { total_tokens: 9 }, { inText: 9 }],
  ["embeddings by billed units", "embeddings", { billed_units: { input_tokens: 4 } }, { inText: 4 }],
  ["embeddings by a meta object", "embeddings", { meta: { billed_units: { input_tokens: 4 } } }, { inText: 4 }],
  [
    "image tokens",
    "images",
    { input_tokens: 50, input_tokens_details: { text_tokens: 30, image_tokens: 20 }, output_tokens: 1056 },
    { inText: 30, inImage: 20, outImage: 1056 },
  ],
  [
    "text among an image's output",
    "images",
    { input_tokens: 1, output_tokens: 100, output_tokens_details: { image_tokens: 90, text_tokens: 10 } },
    { inText: 1, outText: 10, outImage: 90 },
  ],
  ["transcription by duration", "transcription", { type: "duration", seconds: 90 }, { seconds: 90 }],
  [
    "transcription by duration, tokens of zero beside it",
    "transcription",
    { type: "duration", seconds: 90, input_tokens: 0, output_tokens: 0 },
    { seconds: 90 },
  ],
  ["a verbose transcription's duration", "transcription", { duration: "8.47" }, { seconds: 8.47 }],
  [
    "transcription by tokens",
    "transcription",
    {
      type: "tokens",
      input_tokens: 14,
      input_token_details: { text_tokens: 4, audio_tokens: 10 },
      output_tokens: 45,
    },
    { inText: 4, inAudio: 10, outText: 45 },
  ],
  ["speech by tokens", "speech", { input_tokens: 5, output_tokens: 90, total_tokens: 95 }, { inText: 5, outAudio: 90 }],
  ["rerank by search units", "rerank", { billed_units: { search_units: 2 } }, { calls: 2 }],
  ["rerank by meta", "rerank", { meta: { billed_units: { search_units: 2 } } }, { calls: 2 }],
  ["rerank by tokens", "rerank", { total_tokens: 26000 }, { inText: 26000 }],
  [
    "gemini: thoughts beside candidates, tool results beside the prompt, cached inside it",
    "gemini",
    {
      ...{ promptTokenCount: 100, toolUsePromptTokenCount: 10, cachedContentTokenCount: 30 },
      ...{ candidatesTokenCount: 20, thoughtsTokenCount: 5, totalTokenCount: 135 },
      promptTokensDetails: [
        { modality: "TEXT", tokenCount: 60 },
        { modality: "AUDIO", tokenCount: 40 },
        null,
      ],
    },
    { inText: 40, inCached: 30, inAudio: 40, outText: 20, outReason: 5 },
  ],
];

test.each(ROWS)("%s (%s)", (_rule, dialect, raw, counts) => {
  expect(readUsage(dialect, raw, open)).toEqual({ ...NO_USAGE, ...counts });
});

describe("missing", () => {
  test("what is no object is no usage", () => {
    for (const raw of [null, undefined, 5, "x", true, []]) {
      for (const dialect of DIALECTS) expect(readUsage(dialect, raw, open)).toBeNull();
    }
  });

  test("what is no non-negative integer, or absurdly large, makes the usage missing", () => {
    for (const bad of [-1, 0.5, "5", true, {}, [], Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53, 1e15]) {
      const rows: [UsageDialect, unknown][] = [
        ["chat", { prompt_tokens: bad, completion_tokens: 1 }],
        ["chat", { prompt_tokens: 1, completion_tokens: bad }],
        ["chat", { prompt_tokens: 1, completion_tokens: 1, total_tokens: bad }],
        ["messages", { input_tokens: 1, output_tokens: 1, cache_read_input_tokens: bad }],
        ["responses", { input_tokens: bad, output_tokens: 1 }],
        ["embeddings", { total_tokens: bad }],
        ["images", { output_tokens: bad }],
        ["transcription", { input_tokens: bad }],
        ["speech", { output_tokens: bad }],
        ["rerank", { billed_units: { search_units: bad } }],
        ["gemini", { promptTokenCount: bad }],
      ];
      for (const [dialect, raw] of rows) expect(readUsage(dialect, raw, open)).toBeNull();
    }
  });

  test.each([-1, Number.NaN, Number.POSITIVE_INFINITY, 1e9, "x", "-1", "1e3", {}])(
    "%p is no duration",
    (seconds) => {
      expect(readUsage("transcription", { type: "duration", seconds }, open)).toBeNull();
    },
  );

  test("more than the window or the output limit allows, with slack, is missing", () => {
    const bounds = { contextWindow: 100_000, outputLimit: 10_000 };
    const reads = (prompt_tokens: number, completion_tokens: number) =>
      readUsage("chat", { prompt_tokens, completion_tokens }, bounds) !== null;
    expect([reads(110_000, 11_000), reads(300_000, 1), reads(1, 30_000)]).toEqual([true, false, false]);
  });

  test("each web search allows another turn over the context", () => {
    const usage = { input_tokens: 300_000, output_tokens: 1, server_tool_use: { web_search_requests: 2 } };
    expect(readUsage("messages", usage, { contextWindow: 100_000, outputLimit: 0 })).not.toBeNull();
  });
});

describe("for any JSON", () => {
  const figure = fc.oneof({ weight: 8, arbitrary: fc.nat(100_000) }, fc.jsonValue());
  const names = [
    ..."prompt_tokens completion_tokens total_tokens input_tokens output_tokens cached_tokens".split(" "),
    ..."cache_creation_input_tokens cache_read_input_tokens reasoning_tokens audio_tokens".split(" "),
    ..."image_tokens text_tokens ephemeral_1h_input_tokens promptTokenCount totalTokenCount".split(" "),
    "candidatesTokenCount",
  ];
  const level = fc.dictionary(fc.constantFrom(...names), figure);
  const parts = "prompt_tokens_details completion_tokens_details input_tokens_details cache_creation".split(
    " ",
  );
  const raw = fc
    .tuple(level, fc.dictionary(fc.constantFrom(...parts), fc.oneof(level, fc.jsonValue())))
    .map(([top, below]) => ({ ...top, ...below }));

  test("reading never throws, and what it gives are non-negative integers", () => {
    fc.assert(
      fc.property(fc.constantFrom(...DIALECTS), fc.oneof(raw, fc.jsonValue()), (dialect, value) => {
        const { seconds, ...counts } = readUsage(dialect, value, open) ?? NO_USAGE;
        for (const count of Object.values(counts))
          expect(Number.isSafeInteger(count) && count >= 0).toBe(true);
        expect(Number.isFinite(seconds)).toBe(true);
      }),
    );
  });

  test("chat counts are disjoint: they sum to the stated totals, nothing twice", () => {
    fc.assert(
      fc.property(raw, fc.nat(100_000), fc.nat(100_000), (value, prompt_tokens, completion_tokens) => {
        const usage = readUsage(
          "chat",
          { ...value, prompt_tokens, completion_tokens, total_tokens: null },
          open,
        );
        if (!usage) return;
        expect([promptTokens(usage), completionTokens(usage)]).toEqual([prompt_tokens, completion_tokens]);
      }),
    );
  });
});
