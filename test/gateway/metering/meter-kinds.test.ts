// What a price counts on which kind of path, and what an image takes in tokens where nobody says.

import { describe, expect, test } from "bun:test";
import type { Group, Price } from "../../../actors/pricing/price.ts";
import { imageTokens, METERS, type Unit, unitOf } from "../../../src/gateway/metering/meter-kinds.ts";

describe("a price counts", () => {
  // biome-ignore format: a table
  const ROWS: readonly [rule: string, unit: Unit, meter: keyof typeof METERS, Group, model: string, Price][] =
    [
      ["tokens in chat", "token", "tokens", "ChatPricing", "gpt-4o", { InputText: 1 }],
      ["tokens of fine-tuned models", "token", "tokens", "FineTuningPricing", "gpt-4o", { InputText: 1 }],
      ["images", "image", "images", "ImgPricing", "dall-e-3", { Call: 1 }],
      ["calls", "call", "calls", "CallPricing", "omni-moderation-latest", { Call: 0 }],
    ["searches, and tokens where they are priced", "search", "rerank", "RerankPricing", "rerank-2.5", { Input: 1 }],
    ["characters of a voice that is known for it", "character", "speech", "AudioPricing", "tts-1", { Input: 15 }],
    ["seconds of an ear that is known for it", "second", "sound", "AudioPricing", "whisper-1", { Input: 6 }],
    ["tokens of a voice that is known for nothing else", "token", "speech", "AudioPricing", "gpt-4o-mini-tts", { Input: 0.6, Output: 12 }],
    ["characters of a voice that its Owner alone knows", "character", "speech", "AudioPricing", "mine", { Input: 1 }],
    ["seconds of an ear that its Owner alone knows", "second", "sound", "AudioPricing", "mine", { Input: 1 }],
    ["tokens of a model that its Owner prices on both sides", "token", "speech", "AudioPricing", "mine", { Input: 1, Output: 2 }],
  ];
  test.each(ROWS)("%s", (_rule, unit, meter, group, name, price) => {
    expect(unitOf(METERS[meter], { group, name, price, tiers: null }, name)).toBe(unit);
  });
});

describe("an image takes", () => {
  test.each([
    ["its quality and size", { quality: "high", size: "1024x1536" }, 6_240, 6_240],
    ["less in a low quality", { quality: "low", size: "1024x1024" }, 272, 272],
    ["a square of the middle quality where both are open", {}, 1_056, 6_240],
    ["the same where the provider is to decide", { quality: "auto", size: "auto" }, 1_056, 6_240],
    ["what its size alone leaves open", { size: "1536x1024" }, 1_584, 6_240],
    [
      "no more than a large one, whatever is written",
      { quality: "high", size: "99999x99999" },
      66_560,
      66_560,
    ],
    ["a square where its size is no size", { quality: "low", size: "0x0" }, 272, 408],
    [
      "a middle one where its quality is no quality",
      { quality: "toString", size: "1024x1024" },
      1_056,
      4_160,
    ],
  ])("%s", (_rule, kind, likely, most) => {
    expect([imageTokens(kind), imageTokens(kind, true)]).toEqual([likely, most]);
  });
});
