// Which blocks of a translated request are marked for the prompt cache of a messages provider, and which requests are not.

import { describe, expect, test } from "bun:test";
import type { Json } from "../../../src/dialect/json.ts";
import {
  messagesRequestOf,
  messagesRequestOfResponses,
} from "../../../src/dialect/translate/request-translations.ts";
import { bodyOf, PLAIN } from "./request-samples.ts";

const FACTS = { ...PLAIN, cacheMarks: true };
const MARK = { cache_control: { type: "ephemeral" } };
const text = (words: string): Json => ({ type: "text", text: words });
const markedText = (words: string): Json => ({ ...text(words), ...MARK });
const user = (content: unknown): Json => ({ role: "user", content });
const said = (content: string): Json => ({ role: "assistant", content });

const chat = (extra: Json, facts = FACTS): Json =>
  bodyOf(messagesRequestOf({ model: "asked", ...extra }, facts));
const responses = (extra: Json): Json =>
  bodyOf(messagesRequestOfResponses({ model: "asked", ...extra }, FACTS));
const TOOL = { type: "function", name: "look" };
const SENT_TOOL = { name: "look", input_schema: { type: "object", properties: {} } };

describe("a conversation", () => {
  test("is marked at the end of the system texts and of the last two turns of the user", () =>
    expect(
      responses({
        instructions: "a",
        tools: [TOOL],
        input: [{ role: "system", content: "b" }, user("1"), said("2"), user("3"), said("4"), user("5")],
      }),
    ).toMatchObject({
      tools: [SENT_TOOL],
      system: [text("a"), markedText("b")],
      messages: [user("1"), said("2"), user([markedText("3")]), said("4"), user([markedText("5")])],
    }));

  test("without system texts is marked at the end of its tools", () => {
    const tools = [TOOL, { ...TOOL, name: "hear" }];
    expect(responses({ tools, input: [user("1"), said("2"), user("3")] }).tools).toEqual([
      SENT_TOOL,
      { ...SENT_TOOL, name: "hear", ...MARK },
    ]);
  });

  test("of calls is marked at the last result of a turn", () => {
    const call = (id: string) => ({ type: "function_call", call_id: id, name: "look", arguments: "{}" });
    const output = (id: string) => ({ type: "function_call_output", call_id: id, output: "x" });
    const input = [user("1"), call("a"), call("b"), output("a"), output("b")];
    expect((responses({ input }).messages as Json[]).at(-1)).toEqual(
      user([
        { type: "tool_result", tool_use_id: "a", content: "x" },
        { type: "tool_result", tool_use_id: "b", content: "x", ...MARK },
      ]),
    );
  });

  test("of a chat client is one as soon as it was answered", () => {
    const messages = [{ role: "system", content: "a" }, user("1"), said("2"), user("3")];
    expect(chat({ messages })).toMatchObject({
      system: [markedText("a")],
      messages: [user([markedText("1")]), said("2"), user([markedText("3")])],
    });
  });

  test.each([
    ["responses", () => responses({ input: [user("1")], prompt_cache_key: "k" })],
    ["chat", () => chat({ messages: [user("1")], prompt_cache_key: "k" })],
  ])("begins with a cache key at /v1/%s", (_, sent) =>
    expect(sent().messages).toEqual([user([markedText("1")])]),
  );

  test("that its client marks has no other marks", () => {
    const messages = [user([markedText("1")]), said("2"), user("3")];
    expect(chat({ messages })).toMatchObject({ messages: [user([markedText("1")]), said("2"), user("3")] });
    const marked = [user("1"), said("2"), { ...user("3"), ...MARK }];
    expect(chat({ messages: marked }).messages).toEqual([user("1"), said("2"), user([markedText("3")])]);
  });

  test("at a model whose provider reads no marks has none", () => {
    const messages = [{ role: "system", content: "a" }, user("1"), said("2"), user("3")];
    expect(JSON.stringify(chat({ messages }, PLAIN))).not.toContain("cache_control");
  });
});

test("a request that nothing continues is not marked", () => {
  const messages = [{ role: "system", content: "a" }, user("1")];
  expect(chat({ messages })).toMatchObject({ system: [text("a")], messages: [user("1")] });
});
