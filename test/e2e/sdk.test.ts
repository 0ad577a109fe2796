// The official SDK of the chat style against the service: answers, streams, tools and errors as it expects them.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import OpenAI from "openai";
import { type Account, type Bench, MODEL, startBench } from "./harness.ts";

let bench: Bench;
let user: Account;
beforeAll(async () => {
  bench = await startBench();
  user = await bench.subaccount(await bench.owner());
});
afterAll(() => bench.close());

const client = () => new OpenAI({ apiKey: user.key, baseURL: `${bench.url}/v1`, maxRetries: 0 });

describe("the official SDK", () => {
  test("reads a whole answer", async () => {
    const { data, response } = await client()
      .chat.completions.create({
        model: MODEL,
        messages: [{ role: "user", content: "hi there [[output=3]]" }],
      })
      .withResponse();
    expect(data.choices[0]?.message.content).toBe("hi there time");
    expect(response.headers.get("x-request-id")).toBeString();
  });

  test("reads a stream with its usage", async () => {
    const stream = await client().chat.completions.create({
      model: MODEL,
      messages: [{ role: "user", content: "hi there [[output=3]]" }],
      stream: true,
      stream_options: { include_usage: true },
    });
    let said = "";
    let tokens = 0;
    for await (const chunk of stream) {
      said += chunk.choices[0]?.delta.content ?? "";
      tokens = chunk.usage?.total_tokens ?? tokens;
    }
    expect(said).toBe("hi there time");
    expect(tokens).toBe(8 + 3);
  });

  test("gets tool calls, whole and streamed alike", async () => {
    const tool = { type: "function" as const, function: { name: "look_up", parameters: { type: "object" } } };
    const request = {
      model: MODEL,
      messages: [{ role: "user" as const, content: "use it [[tool=2]]" }],
      tools: [tool],
    };
    const whole = await client().chat.completions.create(request);
    const streamed = await client().chat.completions.stream(request).finalChatCompletion();
    expect(whole.choices[0]?.finish_reason).toBe("tool_calls");
    const callsOf = (answer: OpenAI.Chat.Completions.ChatCompletion) =>
      answer.choices[0]?.message.tool_calls?.map((call) =>
        call.type === "function" ? [call.id, call.function.name, call.function.arguments] : [],
      );
    expect(callsOf(streamed)).toEqual(callsOf(whole));
    expect(callsOf(whole)).toHaveLength(2);
  });

  test("knows our errors by their classes", async () => {
    const wrong = new OpenAI({ apiKey: "sk-wrong", baseURL: `${bench.url}/v1`, maxRetries: 0 });
    const asked = { model: MODEL, messages: [{ role: "user" as const, content: "hi" }] };
    const thrown = (asking: PromiseLike<unknown>) =>
      asking.then(
        () => null,
        (error) => error,
      );
    expect(await thrown(wrong.chat.completions.create(asked))).toBeInstanceOf(OpenAI.AuthenticationError);
    const empty = client().chat.completions.create({ ...asked, messages: [] });
    expect(await thrown(empty)).toBeInstanceOf(OpenAI.BadRequestError);
  });

  test("throws on a stream that was cut, and never takes it for whole", async () => {
    const stream = await client().chat.completions.create({
      model: MODEL,
      messages: [{ role: "user", content: "cut [[output=20 fault=cut after=5]]" }],
      stream: true,
    });
    const read = async () => {
      for await (const _ of stream);
    };
    await expect(read()).rejects.toBeInstanceOf(OpenAI.APIError);
  });
});
