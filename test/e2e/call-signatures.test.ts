// Loops of tools at a chat key whose provider signs its calls and demands the signatures back, with the makers' SDKs of the
// other styles, which know nothing of such signatures.

import { describe, expect, test } from "bun:test";
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { type Json, MODEL } from "./harness.ts";
import { useBench } from "./use-bench.ts";

const bench = useBench();

const ROUNDS = 3;
const SAID = `look [[tool=2 signed rounds=${ROUNDS}]]`;
const PARAMETERS = { type: "object" as const, properties: {} };

/** An account whose only key is of the chat style. */
async function keyOfAccount(): Promise<string> {
  const owner = await bench.owner({ style: "chat" });
  await bench.call(owner.key, "PUT", `/x-keys/${owner.keys[0]!.id}`, { Config: { responses: false } });
  return owner.key;
}

/** The signatures that the provider received in its last call, by assistant message. */
const signatures = (): unknown[] =>
  (bench.provider.calls().at(-1)!.body as Json).messages
    .filter(({ tool_calls }: Json) => tool_calls !== undefined)
    .map(({ tool_calls }: Json) =>
      tool_calls.map((call: Json) => call.extra_content?.google.thought_signature),
    );

const EXPECTED = Array.from({ length: ROUNDS }, () => [expect.stringMatching(/^signed\+/), undefined]);

test.each([false, true])("a responses client returns them (streamed: %p)", async (stream) => {
  const client = new OpenAI({ apiKey: await keyOfAccount(), baseURL: `${bench.url}/v1`, maxRetries: 0 });
  const tools: OpenAI.Responses.Tool[] = [
    { type: "function", name: "look_up", parameters: PARAMETERS, strict: false },
  ];
  const input: OpenAI.Responses.ResponseInput = [{ role: "user", content: SAID }];
  for (let round = 0; ; round++) {
    const asked = { model: MODEL, input, tools };
    const { output }: { output: Json[] } = stream
      ? await client.responses.stream(asked).finalResponse()
      : await client.responses.create(asked);
    const calls = output.filter((item) => item.type === "function_call");
    expect(calls).toHaveLength(round < ROUNDS ? 2 : 0);
    if (calls.length === 0) break;
    input.push(...(output as OpenAI.Responses.ResponseInput));
    for (const { call_id } of calls) input.push({ type: "function_call_output", call_id, output: "found" });
  }
  expect(signatures()).toEqual(EXPECTED);
});

test.each([false, true])("a messages client returns them (streamed: %p)", async (stream) => {
  const client = new Anthropic({
    authToken: await keyOfAccount(),
    apiKey: null,
    baseURL: bench.url,
    maxRetries: 0,
  });
  const tools = [{ name: "look_up", input_schema: PARAMETERS }];
  const messages: Anthropic.MessageParam[] = [{ role: "user", content: SAID }];
  for (let round = 0; ; round++) {
    const asked = { model: MODEL, max_tokens: 100, messages, tools };
    const { content } = stream
      ? await client.messages.stream(asked).finalMessage()
      : await client.messages.create(asked);
    const calls = content.filter((block) => block.type === "tool_use");
    expect(calls).toHaveLength(round < ROUNDS ? 2 : 0);
    if (calls.length === 0) break;
    messages.push({ role: "assistant", content: content as Anthropic.ContentBlockParam[] });
    const results = calls.map(({ id }) => ({
      type: "tool_result" as const,
      tool_use_id: id,
      content: "found",
    }));
    messages.push({ role: "user", content: results });
  }
  expect(signatures()).toEqual(EXPECTED);
});

describe("a conversation that began at another provider", () => {
  const GEMINI = "gemini-3-flash-preview";
  const UNCHECKED = "skip_thought_signature_validator";
  const PRICING = { ChatPricing: { "*": { InputText: 1, OutputText: 2 } } };
  const LOOK = { name: "look", arguments: "{}" };
  const asked = "look [[tool signed]]";
  /** More than the event loop reads. */
  const LONG = `${"word ".repeat(80_000)}${asked}`;

  const chat = (said: string) => ({
    messages: [
      { role: "user", content: said },
      {
        role: "assistant",
        content: null,
        tool_calls: [
          { id: "call_1", type: "function", function: LOOK },
          { id: "call_2", type: "function", function: LOOK },
        ],
      },
      { role: "tool", tool_call_id: "call_1", content: "x" },
      { role: "tool", tool_call_id: "call_2", content: "y" },
    ],
  });
  const messages = (said: string) => ({
    max_tokens: 100,
    messages: [
      { role: "user", content: said },
      {
        role: "assistant",
        content: [
          { type: "tool_use", id: "call_1", name: "look", input: {} },
          { type: "tool_use", id: "call_2", name: "look", input: {} },
        ],
      },
      {
        role: "user",
        content: [
          { type: "tool_result", tool_use_id: "call_1", content: "x" },
          { type: "tool_result", tool_use_id: "call_2", content: "y" },
        ],
      },
    ],
  });
  const responses = (said: string) => ({
    input: [
      { role: "user", content: said },
      { type: "function_call", call_id: "call_1", ...LOOK },
      { type: "function_call", call_id: "call_2", ...LOOK },
      { type: "function_call_output", call_id: "call_1", output: "x" },
      { type: "function_call_output", call_id: "call_2", output: "y" },
    ],
  });

  async function send(path: string, body: object): Promise<number> {
    const owner = await bench.owner({ style: "chat", pricing: PRICING });
    await bench.call(owner.key, "PUT", `/x-keys/${owner.keys[0]!.id}`, { Config: { responses: false } });
    return (await bench.call(owner.key, "POST", path, body)).status;
  }

  describe.each([
    ["chat", "/v1/chat/completions", chat],
    ["messages", "/v1/messages", messages],
    ["responses", "/v1/responses", responses],
  ] as const)("of a %s client", (_, path, bodyOf) => {
    test.each([
      ["whole", asked, { stream: false }],
      ["streamed", asked, { stream: true }],
      ["with a body that a worker has read", LONG, {}],
    ])("goes on at Gemini 3: %s", async (_how, said, more) => {
      expect(await send(path, { model: GEMINI, ...bodyOf(said), ...more })).toBe(200);
      expect(signatures()).toEqual([[UNCHECKED, undefined]]);
    });

    test.each(["gemini-2.5-flash", MODEL])("gets nothing added at %s", async (model) => {
      expect(await send(path, { model, ...bodyOf(asked) })).toBe(400);
      expect(signatures()).toEqual([[undefined, undefined]]);
    });
  });
});
