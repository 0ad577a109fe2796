// The official messages client takes the stand-in for its provider: answers, streams, counts, and errors by their class.

import { afterAll, describe, expect, test } from "bun:test";
import Anthropic from "@anthropic-ai/sdk";
import { failure, type Json } from "./asking.ts";
import { startProvider } from "./provider.ts";

const provider = startProvider();
afterAll(() => provider.close());

const client = new Anthropic({ baseURL: provider.url, apiKey: "sk-client-0001", maxRetries: 0 });
const asking = (content: string) => ({
  model: "claude-bench",
  max_tokens: 500,
  messages: [{ role: "user" as const, content }],
  tools: [{ name: "look_up", input_schema: { type: "object" as const, properties: {} } }],
});
const say = (content: string) => client.messages.create(asking(content));
const streamed = (content: string) => client.messages.stream(asking(content)).finalMessage();

/** What a reader makes of an answer; a stream tells no citations where there are none. */
const contentOf = ({ content }: { content: readonly object[] }) =>
  content.map((block: Json) => [block.type, block.text ?? block.thinking ?? block.input, block.signature]);

describe("a stream is put together as the whole answer", () => {
  test.each([
    "[[output=12]]",
    "[[output=12 think reasoning=4]]",
    "[[output=12 utf8]]",
    "[[tool=2]]",
    "[[tool=2 tool_form=whole]]",
    "[[output=12 gzip]]",
    "[[output=12 pings=5]]",
    "[[output=12 usage=duplicate]]",
    "[[output=12 usage=cumulative]]",
    "[[output=12 usage=output_only]]",
    "[[output=12 fault=crlf]]",
    "[[output=12 fault=split bytes=50]]",
    "[[output=12 fault=huge kb=100]]",
    "[[output=12 fault=comments]]",
    "[[output=12 fault=azure]]",
  ])("%s", async (knobs) => {
    const whole = await say(`Hi ${knobs} [[prompt=90 cached=40]]`);
    const stream = await streamed(`Hi ${knobs} [[prompt=90 cached=40]]`);
    expect(contentOf(stream)).toEqual(contentOf(whole));
    expect(stream.stop_reason).toBe(whole.stop_reason);
    expect(stream.usage.output_tokens).toBe(whole.usage.output_tokens);
    expect(stream.usage).toMatchObject({ input_tokens: 50, cache_read_input_tokens: 40 });
  });
});

describe("an error has its class", () => {
  test.each([
    ["400", Anthropic.BadRequestError],
    ["401", Anthropic.AuthenticationError],
    ["403", Anthropic.PermissionDeniedError],
    ["404", Anthropic.NotFoundError],
    ["409", Anthropic.ConflictError],
    ["422", Anthropic.UnprocessableEntityError],
    ["429", Anthropic.RateLimitError],
    ["500", Anthropic.InternalServerError],
    ["502", Anthropic.InternalServerError],
    ["529", Anthropic.InternalServerError],
  ])("%s, whole and streamed", async (fault, kind) => {
    expect(await failure(say(`[[fault=${fault}]]`))).toBeInstanceOf(kind);
    expect(await failure(streamed(`[[fault=${fault}]]`))).toBeInstanceOf(kind);
  });

  test("also inside a stream", async () => {
    const error = await failure(streamed("[[fault=error_event]]"));
    expect(error).toBeInstanceOf(Anthropic.APIError);
    expect(error).toMatchObject({ type: "overloaded_error" });
  });

  test("and a request id", async () => {
    expect(await failure(say("[[fault=500]]"))).toMatchObject({
      requestID: expect.stringMatching(/^req_\d+$/),
    });
  });
});

test.each(["cut", "cut how=fin", "empty", "200.error"])("%s is an error to a stream", async (fault) => {
  await failure(streamed(`[[fault=${fault}]]`));
});

test("tokens are counted", async () => {
  const { max_tokens: _, ...body } = asking("one two [[prompt=77]]");
  expect((await client.messages.countTokens(body)).input_tokens).toBe(77);
});
