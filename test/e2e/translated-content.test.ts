// What of a conversation no SDK shows when it goes across the styles and back: what became of pictures in results, of names and
// of signatures. Tools, formats, thinking and ends as clients see them: sdk.test.ts. The stand-in is as strict as the providers
// are, so what it takes, they take.

import { describe, expect, test } from "bun:test";
import type { Json } from "./harness.ts";
import { ask } from "./harness-keys.ts";
import { prepared, useBench } from "./use-bench.ts";

const bench = useBench({ settings: { KEY_FAILURES: "1000" } });
const messagesKey = prepared(() => bench.owner({ style: "messages" }));
/** The key speaks the other style. */
const across = prepared(async () => ({ chat: messagesKey, messages: await bench.owner({ style: "chat" }) }));

const sent = (): Json => bench.provider.calls().at(-1)!.body;

async function chat(messages: object[]): Promise<Json> {
  const answer = await ask(bench, across.chat, { more: { messages } });
  expect(answer.result).toBe("200");
  return answer.body.choices[0];
}

async function message(messages: object[], more: object = {}, user = across.messages): Promise<Json> {
  const answer = await ask(bench, user, { style: "messages", more: { messages, ...more } });
  expect(answer.result).toBe("200");
  return answer.body;
}

const says = (content: unknown) => ({ role: "user", content });

const SCHEMA = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
const MESSAGES_TOOLS = [
  { name: "look", description: "looks", input_schema: SCHEMA },
  { name: "count", input_schema: { type: "object", properties: {} } },
];
const PNG = "iVBORw0KGgoAAAANSUhEUg==";
const PICTURE = { type: "image", source: { type: "base64", media_type: "image/png", data: PNG } };

test("parallel tools of messages are called, answered with a picture, and the answer given", async () => {
  const asked = says("look twice [[tool=2]]");
  const first = await message([asked], { tools: MESSAGES_TOOLS, tool_choice: { type: "auto" } });
  expect(sent().tools).toMatchObject([
    { type: "function", function: { name: "look", parameters: SCHEMA } },
    {},
  ]);
  expect(first.stop_reason).toBe("tool_use");
  const calls = first.content.filter(({ type }: Json) => type === "tool_use");
  expect(calls).toHaveLength(2);
  const results = calls.map(({ id }: Json, i: number) => ({
    type: "tool_result",
    tool_use_id: id,
    content: i === 0 ? [{ type: "text", text: "seen" }, PICTURE] : "done",
  }));
  const turns = [asked, { role: "assistant", content: first.content }, says(results)];
  const last = await message(turns, { tools: MESSAGES_TOOLS });
  expect(last.stop_reason).toBe("end_turn");
  const [, assistant, one, two, rest] = sent().messages;
  expect(assistant.tool_calls.map(({ id }: Json) => id)).toEqual(calls.map(({ id }: Json) => id));
  expect([one, two]).toMatchObject([
    { role: "tool", tool_call_id: calls[0].id },
    { role: "tool", tool_call_id: calls[1].id, content: "done" },
  ]);
  // A tool's message takes words alone: what it saw comes right behind.
  expect(JSON.stringify([one, two])).not.toContain(PNG);
  expect(rest.role).toBe("user");
  expect(rest.content).toContainEqual({
    type: "image_url",
    image_url: { url: `data:image/png;base64,${PNG}` },
  });
});

test("a name that the other style cannot spell comes back as the client wrote it", async () => {
  const name = `a_tool_with_a_rather_long_name_${"x".repeat(60)}`;
  const tools = [{ name, input_schema: SCHEMA }];
  const { content } = await message([says("[[tool=1]]")], { tools });
  expect(sent().tools[0].function.name).not.toBe(name);
  expect(content.find(({ type }: Json) => type === "tool_use").name).toBe(name);
});

describe("thinking", () => {
  const asked = says("think [[output=20 reasoning=8 think]]");

  test("chat: is shown, and goes back signed as it came", async () => {
    const first = await chat([asked]);
    expect(first.message.reasoning_content).not.toBe("");
    const [thought] = first.message.thinking_blocks;
    expect(thought).toMatchObject({ type: "thinking", thinking: first.message.reasoning_content });
    await chat([asked, first.message, says("go on")]);
    expect(sent().messages[1].content[0]).toEqual(thought);
    const { content } = first.message;
    // Some clients write it into the content instead, or into a message of its own.
    await chat([
      asked,
      { role: "assistant", content: [thought, { type: "text", text: content }] },
      says("go on"),
    ]);
    expect(sent().messages[1].content).toEqual([thought, { type: "text", text: content }]);
    const alone = { role: "assistant", content: null, thinking_blocks: [thought] };
    await chat([asked, alone, { role: "assistant", content }, says("go on")]);
    expect(sent().messages[1].content).toEqual([thought, { type: "text", text: content }]);
  });

  test("messages: is shown unsigned, and comes back to either style without harm", async () => {
    const first = await message([asked]);
    const [thought, ...rest] = first.content;
    expect(thought).toMatchObject({ type: "thinking", signature: "" });
    const turns = [asked, { role: "assistant", content: first.content }, says("go on")];
    await message(turns);
    expect(JSON.stringify(sent().messages[1])).toContain(rest[0].text);
    // The provider of the client's own style would refuse what it did not sign.
    await message(turns, {}, messagesKey);
    expect(sent().messages[1].content).toEqual(rest);
  });
});
