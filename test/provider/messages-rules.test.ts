// Each rule of the messages dialect refuses the request that breaks it, in its words, and no request that keeps it.

import { expect, test } from "bun:test";
import { signatureOf } from "./message.ts";
import { brokenRule, type MessagesBody } from "./messages-rules.ts";

const VERSION = { "anthropic-version": "2023-06-01" };
const user = (content: unknown) => ({ role: "user", content });
const assistant = (content: unknown) => ({ role: "assistant", content });
const use = (id: string, input: unknown = {}) => ({ type: "tool_use", id, name: "add", input });
const thoughts = (thinking: string, place: number) => ({
  ...{ type: "thinking", thinking },
  signature: signatureOf(thinking, place),
});
const result = (id: string) => ({ type: "tool_result", tool_use_id: id, content: "3" });
const MARKED = { type: "text", text: "hi", cache_control: { type: "ephemeral" } };
const STRICT = { name: "add", input_schema: {}, strict: true };
const body = (more: object): MessagesBody => ({
  model: "claude-sonnet-4-5",
  max_tokens: 10,
  messages: [user("hi")],
  ...more,
});

test.each(
  // biome-ignore format: a table
  [
    ["no model", { model: undefined }, "model: Field required"],
    ["no messages", { messages: undefined }, "messages: Field required"],
    ["an empty conversation", { messages: [] }, "messages: at least one message is required"],
    ["no limit", { max_tokens: undefined }, "max_tokens: Field required"],
    ["a negative limit", { max_tokens: -1 }, "max_tokens: Input should be a valid integer"],
    ["a limit in words", { max_tokens: "10" }, "max_tokens: Input should be a valid integer"],
    ["a role of chat", { messages: [user("hi"), { role: "tool", content: "3" }] }, "messages.1: role: "],
    ["an empty text", { messages: [user("")] }, "messages.0: text content blocks must be non-empty"],
    ["an empty text block", { messages: [user([{ type: "text", text: "" }])] }, "messages.0: text content"],
    ["an id with a dot", { messages: [user("hi"), assistant([use("a.b")]), user([result("a.b")])] }, "messages.1: tool_use.id"],
    ["an input in text", { messages: [user("hi"), assistant([use("a", "{}")]), user([result("a")])] }, "messages.1: tool_use.input"],
    ["thoughts without a signature", { messages: [user("hi"), assistant([{ type: "thinking", thinking: "hm", signature: "" }])] }, "messages.1: thinking.signature"],
    ["thoughts in another place", { messages: [user("hi"), assistant([{ type: "text", text: "so" }, thoughts("hm", 0)]), user("and?")] }, "messages.1: `thinking` or"],
    ["other thoughts", { messages: [user("hi"), assistant([{ ...thoughts("hm", 0), thinking: "ha" }, { type: "text", text: "so" }])] }, "messages.1: `thinking` or"],
    ["thoughts at the end", { messages: [user("hi"), assistant([{ type: "text", text: "so" }, thoughts("hm", 1)])] }, "messages.1: The final block"],
    ["a call without its result", { messages: [user("hi"), assistant([use("a")]), user("so?")] }, "messages.1: `tool_use`"],
    ["five marks of the cache", { messages: [user(Array(5).fill(MARKED))] }, "A maximum of 4 blocks with cache_control"],
    ["strict tools by the dozen", { tools: Array(21).fill(STRICT) }, "tools: Too many strict tools (21)"],
    ["a result without its call", { messages: [user([result("a")])] }, "messages.0: unexpected `tool_use_id`"],
  ],
)("%s is refused", (_, more, words) => {
  expect(brokenRule(body(more), VERSION, true)).toStartWith(words);
});

test.each(
  // biome-ignore format: a table
  [
    ["a limit of 0", { max_tokens: 0 }],
    ["a prefill", { messages: [user("hi"), assistant("I")] }],
    ["a system message between", { messages: [user("hi"), { role: "system", content: "be brief" }, user("so?")] }],
    ["a call and its result", { messages: [user("hi"), assistant([use("a")]), user([result("a")])] }],
    ["results over two messages of one turn", { messages: [user("hi"), assistant([use("a"), use("b")]), user([result("a")]), user([result("b")])] }],
    ["thoughts in their places", { messages: [user("hi"), assistant([thoughts("hm", 0), { type: "text", text: "so" }, thoughts("ha", 2), use("a")]), user([result("a")])] }],
    ["sampling", { temperature: 0.5 }],
    ["four marks of the cache", { messages: [user(Array(4).fill(MARKED))] }],
    ["as many strict tools as there may be", { tools: [...Array(20).fill(STRICT), { name: "add", input_schema: {} }] }],
    ["a field nobody knows", { colour: "green" }],
  ],
)("%s is taken", (_, more) => {
  expect(brokenRule(body(more), VERSION, true)).toBeNull();
});

test("a count needs no limit", () => {
  expect(brokenRule(body({ max_tokens: undefined }), VERSION, false)).toBeNull();
});

test("no version is refused before all else", () => {
  expect(brokenRule({}, {}, true)).toBe("anthropic-version: header is required");
});

test.each(["temperature", "top_p", "top_k"])("the version of 2026 does not take %s", (name) => {
  const sampled = body({ [name]: 1 });
  const words = brokenRule(sampled, { "anthropic-version": "2026-10-21" }, true);
  expect(words).toBe(`${name}: Extra inputs are not permitted`);
});
