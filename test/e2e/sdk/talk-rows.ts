// The table's rows of conversation: what every SDK shows of an answer in either style, on the way as it is and translated.

import { expect } from "bun:test";
import { ANTHROPIC, EVERYBODY, expectExact, type Left, OFFICIAL, type Row, sentIn } from "./rows.ts";
import { PICTURE, RESULTS, TOOLS } from "./script.ts";

/** How each style says that it wants its calls answered. */
const FINISHES = { chat: "tool_calls", messages: "tool_use" } as const;
const SAID_40 = /^hi there time year( \S+){36}$/;

function expectWhole(left: Left, text: string | RegExp): void {
  expect(left.seen.text).toMatch(text);
  if (left.seen.tokens !== null) expect(left.seen.cached).toBe(2);
  expectExact(left);
  if (left.seen.request_id !== undefined) expect(left.seen.request_id).toBe(left.lines[0].request_id);
}

function expectLoop(left: Left): void {
  const { seen, calls, style } = left;
  expect(seen).toMatchObject({
    finish: FINISHES[style as keyof typeof FINISHES],
    calls: TOOLS.map((name) => [name, { text: "use it" }]),
    text: "use it",
  });
  for (const result of RESULTS) expect(sentIn(calls[1])).toContain(result);
  expectExact(left, 2);
}

function expectThoughts(left: Left): void {
  expect(left.seen).toMatchObject({ text: "hm time", again: "and on" });
  expect(left.seen.thoughts?.trim().split(" ")).toHaveLength(4);
  expectExact(left, 2);
}

/** They show the thoughts of an answer. */
const THINKING = [...OFFICIAL, "vercel, messages", "langchain, messages"] as const;

export const TALK: readonly Row[] = [
  {
    scenario: "whole",
    description: "a whole answer, its usage, its request id, its charge",
    clients: EVERYBODY,
    said: "hi there [[output=3 cached=2]]",
    expect: (left) => expectWhole(left, /^hi there time$/),
  },
  {
    scenario: "streamed",
    description: "a stream with its usage, charged like the whole answer",
    clients: EVERYBODY,
    said: "hi there [[output=40 cached=2 pings=3 fault=split bytes=1000]]",
    expect(left) {
      expectWhole(left, SAID_40);
      expect(left.lines[0].stream).toBe(true);
    },
  },
  {
    scenario: "streamed_without_usage",
    description: "a stream that asked for no usage has none, and is charged exactly",
    clients: ["openai"],
    said: "hi there [[output=40]]",
    expect({ seen, lines, calls, ...left }) {
      expect(seen).toEqual({ text: expect.stringMatching(SAID_40), has_usage: false });
      const tokens = [lines[0].prompt_tokens, lines[0].completion_tokens];
      expectExact({ ...left, lines, calls, seen: { tokens } });
    },
  },
  {
    scenario: "whole_by_bearer",
    description: "the key may come as a bearer token",
    clients: ["anthropic"],
    said: "hi [[output=1]]",
    expect(left) {
      expect(left.seen.text).toBe("hi");
      expectExact(left);
    },
  },
  {
    scenario: "tools",
    description: "parallel calls, their results, and the answer after them",
    clients: EVERYBODY,
    said: "use it [[tool=2 output=2]]",
    expect: expectLoop,
  },
  ...["fragments", "whole", "repeat_id"].map(
    (form): Row => ({
      scenario: "tools_streamed",
      description: `the same, streamed, calls as ${form}`,
      clients: form === "fragments" ? EVERYBODY : ["openai"],
      ...(form === "fragments" ? {} : { routes: ["same"] }),
      said: `use it [[tool=2 output=2 tool_form=${form}]]`,
      expect: expectLoop,
    }),
  ),
  {
    scenario: "structured",
    description: "an answer that follows a schema",
    clients: EVERYBODY,
    said: "Rome",
    expect(left) {
      expect(left.seen.value).toEqual({ text: "Rome" });
      expectExact(left);
    },
  },
  {
    scenario: "image",
    description: "a picture in the prompt",
    clients: EVERYBODY,
    said: "look [[output=1]]",
    expect(left) {
      expect(left.seen.text).toBe("look");
      expect(left.seen.tokens[0]).toBeGreaterThan(85);
      expect(sentIn(left.calls[0])).toContain(PICTURE);
      expectExact(left);
    },
  },
  {
    scenario: "thinking",
    description: "thoughts apart from the text, and the next turn that has them",
    clients: THINKING,
    said: "hm [[think reasoning=4 output=6]]",
    expect: expectThoughts,
  },
  {
    scenario: "thinking_streamed",
    description: "the same, streamed",
    clients: ["openai", "anthropic", "vercel, messages", "langchain, messages"],
    said: "hm [[think reasoning=4 output=6]]",
    expect: expectThoughts,
  },
  {
    scenario: "models",
    description: "models can be listed and asked for, with their limits; an unknown one is a NotFoundError",
    clients: OFFICIAL,
    expect({ seen, lines, calls }) {
      expect(seen.limits).toEqual([128_000, 16_384]);
      expect(seen).toMatchObject({ listed: true, class: "NotFoundError", missing: "model_not_found" });
      expect([lines, calls]).toEqual([[], []]);
    },
  },
  {
    scenario: "count_tokens",
    description: "tokens are counted for nothing",
    clients: ANTHROPIC,
    said: "how many are these",
    expect({ seen, lines, route }) {
      // The provider's own count, or ours where it has none.
      expect(seen.tokens).toBeWithin(route === "same" ? 10 : 4, 20);
      expect(lines).toEqual([]);
    },
  },
];
