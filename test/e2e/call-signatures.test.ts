// Loops of tools at a chat key whose provider signs its calls and demands the signatures back, with the makers' SDKs of the
// other styles, which know nothing of such signatures.

import { expect, test } from "bun:test";
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
