// What is known of models behind their providers: by catalogue, by host, by name.

import { describe, expect, test } from "bun:test";
import { modelFacts } from "../../../src/dialect/translate/model-capabilities.ts";

describe("a model", () => {
  test("of the catalogue has its limit and its quirks, and keeps the name that its provider is sent", () => {
    const facts = modelFacts("claude-opus-4-8", "api.anthropic.com");
    expect(facts).toMatchObject({
      name: "claude-opus-4-8",
      maxOutputTokens: 128_000,
      contextWindow: 1_000_000,
    });
    expect([...facts.quirks].sort()).toEqual(["adaptive_thinking", "no_prefill", "no_sampling_params"]);
  });
  test("of nobody's is asked for nothing special", () =>
    expect(modelFacts("my-own", "llm.example")).toEqual({
      name: "my-own",
      maxOutputTokens: 0,
      contextWindow: 0,
      quirks: new Set(),
      reasoning: false,
      readsReasoning: false,
      signsCalls: false,
      efforts: [],
      structured: true,
      lateSystem: false,
      topK: false,
      verbosity: false,
      cacheKey: false,
      cacheMarks: false,
      provider: expect.any(String),
    }));
  test("has the provider of its host, by a name that does not say the host", () => {
    const { provider } = modelFacts("my-own", "llm.example");
    expect(provider).not.toContain("llm");
    expect(modelFacts("another", "llm.example").provider).toBe(provider);
    expect(modelFacts("my-own", "llm2.example").provider).not.toBe(provider);
  });
  test("that the catalogue says cannot be held to a schema is not", () =>
    expect(modelFacts("deepseek-v3.2", "api.deepseek.com").structured).toBe(false));
});

const REASONING: readonly (readonly [name: string, reasoning: boolean])[] = [
  ["o1", true],
  ["o3-mini", true],
  ["o4-mini-2025-04-16", true],
  ["gpt-5", true],
  ["gpt-5.6-sol", true],
  ["gpt-6-astra", true],
  ["gpt-9", true],
  ["openai/gpt-5-mini", true],
  ["gpt-4o", false],
  ["gpt-35-turbo", false],
  ["gpt-4.1", false],
  ["gpt-oss-120b", false],
  ["deepseek-reasoner", false],
  ["olmo-2", false],
];
for (const [name, reasoning] of REASONING)
  test(`${name} ${reasoning ? "refuses" : "takes"} max_tokens`, () =>
    expect(modelFacts(name, "").reasoning).toBe(reasoning));

const EFFORTS: readonly (readonly [name: string, efforts: string])[] = [
  ["claude-opus-4-6", "low medium high max"],
  ["claude-opus-5", "low medium high xhigh max"],
  ["claude-3-5-haiku-20241022", ""],
  ["gpt-5", "minimal low medium high"],
  ["gpt-5-pro", "high"],
  ["gpt-5-chat", ""],
  ["gpt-5.1", "none low medium high"],
  ["gpt-5.1-codex-max", "none low medium high xhigh"],
  ["gpt-5.4", "none low medium high xhigh"],
  ["gpt-5.4-pro", "medium high xhigh"],
  ["o3", "low medium high"],
  ["gpt-4o", ""],
  ["gemini-2.5-pro", "low medium high"],
  ["grok-3-mini", "low high"],
  ["grok-4.5", ""],
];
for (const [name, efforts] of EFFORTS)
  test(`${name} takes the efforts: ${efforts || "none at all"}`, () =>
    expect(modelFacts(name, "").efforts.join(" ")).toBe(efforts));

const SIGNED: readonly (readonly [name: string, host: string, signs: boolean])[] = [
  ["gemini-3-flash-preview", "generativelanguage.googleapis.com", true],
  ["gemini-3.1-pro-preview", "us-central1-aiplatform.googleapis.com", true],
  ["gemini-4-argon", "aiplatform.googleapis.com", true],
  ["models/gemini-3.5-flash", "generativelanguage.googleapis.com", true],
  ["google/gemini-3.5-flash", "llm.example", true],
  ["gemini-pro-latest", "", true],
  ["gemini-30-flash", "", true],
  ["gemini-2.5-pro", "generativelanguage.googleapis.com", false],
  ["gemini-2-5-pro", "", false],
  ["gemini-1.5-flash", "", false],
  ["gemma-3-27b-it", "generativelanguage.googleapis.com", false],
  ["my-gemini-3", "", false],
  ["google/gemini-3.5-flash", "openrouter.ai", false],
  ["gpt-5", "api.openai.com", false],
];
for (const [name, host, signs] of SIGNED)
  test(`${name} at ${host || "an unknown host"} ${signs ? "demands" : "does not demand"} signatures`, () =>
    expect(modelFacts(name, host).signsCalls).toBe(signs));

describe("earlier reasoning is read", () => {
  test("by a provider that asks for it", () =>
    expect(modelFacts("kimi-k3", "api.moonshot.ai").readsReasoning).toBe(true));
  test("by such a model behind an unknown host", () =>
    expect(modelFacts("deepseek-v3.2", "llm.example").readsReasoning).toBe(true));
  test("not by such a model behind a provider that does not", () =>
    expect(modelFacts("deepseek-v3.2", "api.groq.com").readsReasoning).toBe(false));
  test("not by others", () => expect(modelFacts("gpt-5", "api.openai.com").readsReasoning).toBe(false));
});

const LATE: readonly (readonly [name: string, host: string, late: boolean])[] = [
  ["gpt-5", "api.openai.com", true],
  ["my-deployment", "acme.openai.azure.com", true],
  ["mistral-large-4", "api.mistral.ai", false],
  ["claude-opus-4-8", "api.anthropic.com", true],
  ["claude-opus-5-5", "api.anthropic.com", true],
  ["claude-opus-4-7", "api.anthropic.com", false],
  ["claude-sonnet-5", "api.anthropic.com", false],
  ["claude-opus-4-8", "aiplatform.googleapis.com", false],
];
for (const [name, host, late] of LATE)
  test(`${name} at ${host} takes ${late ? "late" : "no late"} system messages`, () =>
    expect(modelFacts(name, host).lateSystem).toBe(late));

test("top_k is known to some providers", () => {
  expect(modelFacts("qwen-max", "dashscope.aliyuncs.com").topK).toBe(true);
  expect(modelFacts("gpt-5", "api.openai.com").topK).toBe(false);
});
