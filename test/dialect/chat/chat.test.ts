// The chat dialect, whole: which requests are refused and why, what changes on the way to the provider, what an answer holds.

import { describe, expect, test } from "bun:test";
import { chat } from "../../../src/dialect/chat/chat.ts";
import { ask, named, type Refused, read, sent, testRefusals } from "../asking.ts";

const { withFingerprint } = chat;
const MESSAGES = [{ role: "user", content: "hi" }];
const LEAST = { model: "m", messages: MESSAGES };
const asked = (extra: Record<string, unknown> = {}) => ask(chat, { ...LEAST, ...extra });

describe("a request is refused for", () => {
  // biome-ignore format: a table
  const REFUSED: Refused = [
    ["not being an object", [], "body"],
    ["a missing model", { messages: MESSAGES }, "model", "missing_parameter"],
    ["an empty model", { model: " ", messages: MESSAGES }, "model"],
    ["a model that is no string", { model: 4, messages: MESSAGES }, "model"],
    ["a model over 256 characters", { model: "m".repeat(257), messages: MESSAGES }, "model"],
    ["missing messages", { model: "m" }, "messages", "missing_parameter"],
    ["empty messages", { model: "m", messages: [] }, "messages"],
    ["messages as a string", { model: "m", messages: "hi" }, "messages"],
    ["a message that is no object", { model: "m", messages: [null] }, "messages"],
    ["a message without a role", { model: "m", messages: [{ content: "x" }] }, "messages"],
    ["a role that is no string", { model: "m", messages: [{ role: 1 }] }, "messages"],
    ["a stream that is no boolean", { model: "m", messages: MESSAGES, stream: "true" }, "stream"],
    ["stream_options that are no object", { model: "m", messages: MESSAGES, stream_options: [] }, "stream_options"],
    ["n of 0", { model: "m", messages: MESSAGES, n: 0 }, "n"],
    ["n of 129", { model: "m", messages: MESSAGES, n: 129 }, "n"],
    ["n of 1.5", { model: "m", messages: MESSAGES, n: 1.5 }, "n"],
    ["n as a string", { model: "m", messages: MESSAGES, n: "1" }, "n"],
    ["best_of of 0", { model: "m", messages: MESSAGES, best_of: 0 }, "best_of"],
    ["best_of of 129", { model: "m", messages: MESSAGES, best_of: 129 }, "best_of"],
    ["max_tokens of 0", { model: "m", messages: MESSAGES, max_tokens: 0 }, "max_tokens"],
    ["max_tokens below 0", { model: "m", messages: MESSAGES, max_tokens: -1 }, "max_tokens"],
    ["max_completion_tokens as a string", { model: "m", messages: MESSAGES, max_completion_tokens: "9" }, "max_completion_tokens"],
    ["a service tier that is no string", { model: "m", messages: MESSAGES, service_tier: {} }, "service_tier"],
    ["speed fast, which is not priced", { model: "m", messages: MESSAGES, speed: "fast" }, "speed"],
    ["inference_geo, which is not priced", { model: "m", messages: MESSAGES, inference_geo: "us" }, "inference_geo"],
    ["background", { model: "m", messages: MESSAGES, background: true }, "background"],
  ];
  testRefusals(chat, REFUSED);
});

describe("a parsed request has", () => {
  test.each([
    [{ best_of: 4 }, 4],
    [{ n: 2, best_of: 4 }, 4],
    [{ n: 4, best_of: 2 }, 4],
    [{ n: null, best_of: null }, 1],
  ])("that so many answers may be generated: %p", (more, n) => expect(asked(more).n).toBe(n));
  test("its defaults, nulls counting as absent", () => {
    expect(
      asked({
        n: null,
        stream: null,
        max_tokens: null,
        stream_options: null,
        background: false,
        speed: "standard",
      }),
    ).toMatchObject({
      model: "m",
      stream: false,
      n: 1,
      maxOutput: null,
      includeUsage: false,
      images: 0,
      files: 0,
      serviceTier: null,
    });
  });
  test("the larger of its two output limits", () => {
    expect(asked({ max_tokens: 5 }).maxOutput).toBe(5);
    expect(asked({ max_tokens: 5, max_completion_tokens: 9 }).maxOutput).toBe(9);
  });
  test("how many choices it wants", () => expect(asked({ n: 3 }).n).toBe(3));
  test("whether it wants the usage chunk", () => {
    expect(asked({ stream: true, stream_options: { include_usage: true } }).includeUsage).toBe(true);
    expect(asked({ stream: true, stream_options: { include_usage: false } }).includeUsage).toBe(false);
  });
  test("its text in UTF-8 bytes, tools and schemas included", () => {
    const base = asked().promptBytes;
    expect(asked({ messages: [{ role: "user", content: "hi😀😀" }] }).promptBytes).toBe(base + 8);
    expect(
      asked({ tools: [{ type: "function", function: { name: "f", description: "x".repeat(900) } }] })
        .promptBytes,
    ).toBeGreaterThan(900);
    expect(
      asked({ response_format: { type: "json_schema", schema: { type: "file", d: "x".repeat(900) } } })
        .promptBytes,
    ).toBeGreaterThan(900);
    expect(asked({ metadata: { note: "x".repeat(900) } }).promptBytes).toBe(base);
  });
  test.each(["tools", "functions", "response_format", "prediction", "tool_choice"])(
    "the bytes of %s",
    (field) => {
      const request = asked({ [field]: { a: "x".repeat(900) } });
      expect(request.promptBytes).toBeGreaterThan(900);
      expect(chat.promptTexts(request)).toContain("x".repeat(900));
    },
  );
  test("the kinds of token that it cannot have", () => {
    expect(asked().never).toEqual(["inAudio", "inImage", "outAudio", "outImage", "inCacheWrite1h"]);
    const part = (type: string) => asked({ messages: [{ role: "user", content: [{ type }] }] }).never;
    expect(part("image_url")).not.toContain("inImage");
    expect(part("input_audio")).not.toContain("inAudio");
    expect(asked({ modalities: ["text", "audio"] }).never).not.toContain("outAudio");
    expect(asked({ prompt_cache_breakpoint: { ttl: "1h" } }).never).not.toContain("inCacheWrite1h");
  });
  test("images and files by number, not by the bytes of their payload", () => {
    const data = "A".repeat(100_000);
    const request = asked({
      messages: [
        {
          role: "user",
          content: [
            { type: "text", text: "what is this" },
            { type: "image_url", image_url: { url: `data:image/png;base64,${data}` } },
            { type: "image_url", image_url: `data:image/png;base64,${data}` },
            { type: "input_audio", input_audio: { data, format: "wav" } },
            { type: "file", file: { file_data: data } },
            { type: "constructor", x: 1 },
          ],
        },
      ],
    });
    expect(request).toMatchObject({ images: 2, files: 2 });
    expect(request.promptBytes).toBeLessThan(200);
  });
});

test("the prompt's texts are what the model reads, without payloads and without metadata", () => {
  const request = asked({
    messages: [
      {
        role: "user",
        content: [
          { type: "text", text: "look" },
          { type: "image_url", image_url: { url: "data:x" } },
        ],
      },
    ],
    tools: [{ type: "function", function: { name: "f", parameters: { type: "file", description: "d" } } }],
    metadata: { a: "hidden" },
  });
  const texts = chat.promptTexts(request);
  expect(texts).toEqual(expect.arrayContaining(["user", "look", "f", "d", "parameters"]));
  expect(texts.join(" ")).not.toMatch(/data:x|hidden/);
});

describe("the body for the provider", () => {
  const body = (extra: Record<string, unknown>) => JSON.parse(sent(chat, { ...LEAST, ...extra }, named("n")));
  test("of a stream asks for usage and keeps the other stream options", () => {
    const options = { include_usage: false, include_obfuscation: false };
    expect(body({ stream: true, stream_options: options }).stream_options).toEqual({
      include_usage: true,
      include_obfuscation: false,
    });
    expect(body({ stream: true }).stream_options).toEqual({ include_usage: true });
    expect(body({ stream: true, stream_options: null }).stream_options).toEqual({ include_usage: true });
  });
  test("of a stream does not ask a provider that does not know how", () => {
    const asking = { ...LEAST, stream: true, stream_options: { include_usage: true } };
    const naming = { ...named("n"), without: ["stream_options"] };
    expect(JSON.parse(sent(chat, asking, naming))).toEqual({ ...LEAST, model: "n", stream: true });
  });
  test("of a whole answer does not ask for it", () => {
    expect(body({ stream: false })).toEqual({ ...LEAST, model: "n", stream: false });
  });
});

describe("an answer", () => {
  const answered = (body: unknown) => read(chat, LEAST, body);
  test("gives its usage, tier and all its texts", () => {
    const usage = { prompt_tokens: 1 };
    expect(
      answered({
        usage,
        service_tier: "flex",
        choices: [
          {
            finish_reason: "stop",
            message: { content: "a", reasoning_content: "b", reasoning: "b", refusal: null },
          },
          {
            finish_reason: "tool_calls",
            message: {
              content: [
                { type: "text", text: "c" },
                { type: "thinking", thinking: [{ type: "text", text: "d" }] },
              ],
              refusal: "e",
              tool_calls: [
                { function: { name: "f", arguments: "{}" } },
                { custom: { name: "g", input: "h" } },
              ],
              function_call: { name: "i", arguments: "j" },
              audio: { transcript: "k" },
            },
          },
          { text: "old" },
          null,
        ],
      }),
    ).toMatchObject({
      ok: true,
      usage,
      serviceTier: "flex",
      texts: ["a", "b", "c", "d", "e", "i", "j", "k", "f", "{}", "g", "h", "old"],
    });
  });
  test("without choices in the list or without usage is an answer all the same", () => {
    expect(answered({ choices: [] })).toMatchObject({ ok: true, usage: null, texts: [] });
    expect(answered({ choices: [], error: null })).toMatchObject({ ok: true });
  });
  const FAULTS: readonly (readonly [string, string, string])[] = [
    ["an error object", '{"error":{"message":"m"}}', "error_body"],
    ["an error string", '{"error":"m"}', "error_body"],
    ["an error beside choices", '{"choices":[],"error":{"message":"m"}}', "error_body"],
    ["code and msg", '{"code":1113,"msg":"m"}', "error_body"],
    ["a base_resp that is not 0", '{"base_resp":{"status_code":1008},"choices":null}', "error_body"],
    ["no choices", '{"id":"x"}', "error_body"],
    ["an array", "[]", "error_body"],
    ["a page", "<html>", "server_error"],
    ["nothing", "", "server_error"],
  ];
  for (const [what, text, fault] of FAULTS) {
    test(`that is ${what} is a failure`, () =>
      expect(answered(text)).toEqual({ ok: false, fault: fault as "error_body" }));
  }
});

describe("the fingerprint", () => {
  const put = (text: string) => withFingerprint(text, JSON.parse(text), "fp_1");
  test("of the provider stays, byte for byte", () => {
    expect(put('{ "system_fingerprint":"fp_p", "x":1.0 }')).toBe('{ "system_fingerprint":"fp_p", "x":1.0 }');
  });
  test("is added where there is none, leaving the other bytes", () => {
    expect(put('{ "x":1.0 }')).toBe('{"system_fingerprint":"fp_1", "x":1.0 }');
    expect(put("{}")).toBe('{"system_fingerprint":"fp_1"}');
  });
  test("replaces a null", () =>
    expect(JSON.parse(put('{"system_fingerprint":null,"x":1}'))).toEqual({
      system_fingerprint: "fp_1",
      x: 1,
    }));
  test("is left out when there is none to give, or no object to give it to", () => {
    expect(withFingerprint("{}", {}, null)).toBe("{}");
    expect(withFingerprint("text", null, "fp_1")).toBe("text");
  });
});
