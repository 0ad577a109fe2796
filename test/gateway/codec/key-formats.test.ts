// Which styles a provider key speaks: by its own word, else by its host.

import { describe, expect, test } from "bun:test";
import type { LevelKey } from "../../../actors/level/view.ts";
import { type ApiStyle, apiStylesOf } from "../../../src/gateway/codec/key-formats.ts";

const key = (provider: string, config: LevelKey["config"] = {}) => ({ provider, config }) as LevelKey;

describe("a key speaks", () => {
  const STYLES: readonly (readonly [
    rule: string,
    provider: string,
    config: LevelKey["config"],
    styles: ApiStyle[],
  ])[] = [
    ["chat at a host that nobody knows", "https://a.test/v1", {}, ["chat"]],
    ["chat at an address of this machine", "http://127.0.0.1:8000", {}, ["chat"]],
    ["chat at a chat host", "https://api.openai.com/v1", {}, ["chat"]],
    ["messages at a messages host", "https://api.anthropic.com", {}, ["messages"]],
    ["both where both have an address", "https://api.deepseek.com/v1", {}, ["chat", "messages"]],
    ["both there without a path too", "https://api.deepseek.com", {}, ["chat", "messages"]],
    [
      "messages alone at the messages address of such a host",
      "https://api.deepseek.com/anthropic/",
      {},
      ["messages"],
    ],
    ["both where a path only begins alike", "https://api.deepseek.com/anthropical", {}, ["chat", "messages"]],
    ["chat where the model decides", "https://europe-west1-aiplatform.googleapis.com", {}, ["chat"]],
    ["what it says itself: messages", "https://api.openai.com/v1", { api_style: "messages" }, ["messages"]],
    ["what it says itself: chat", "https://api.anthropic.com", { api_style: "chat" }, ["chat"]],
    ["by its host when it says nothing known", "https://api.anthropic.com", { api_style: "x" }, ["messages"]],
    ["chat when its address is none", "nowhere", {}, ["chat"]],
    ["chat behind deployments", "https://r.openai.azure.com", { provider_type: "cloud_a" }, ["chat"]],
    ["chat there, whatever the host", "https://api.anthropic.com", { provider_type: "cloud_a" }, ["chat"]],
  ];
  for (const [rule, provider, config, styles] of STYLES)
    test(rule, () => expect([...apiStylesOf(key(provider, config), "m")].sort()).toEqual(styles));
});

describe("a key of cloud_b speaks", () => {
  const one = key("https://aiplatform.googleapis.com", { provider_type: "cloud_b" });
  test("messages for Claude models", () => {
    expect([...apiStylesOf(one, "claude-opus-5")]).toEqual(["messages"]);
  });
  test("chat for all others", () => {
    expect([...apiStylesOf(one, "gemini-2.5-flash")]).toEqual(["chat"]);
    expect([...apiStylesOf(one, "meta/claude-like")]).toEqual(["chat"]);
  });
});

test("a key asked again gives the same set", () => {
  const one = key("https://api.moonshot.ai/v1");
  const first = apiStylesOf(one, "m");
  expect(apiStylesOf(one, "m")).toBe(first);
  expect(apiStylesOf(key("https://api.moonshot.ai/v1", { api_style: "chat" }), "m")).not.toBe(first);
});
