// The completions dialect: which requests are refused, how many outputs they ask for, and that answers and streams are the
// chat dialect's with a text.

import { describe, expect, test } from "bun:test";
import { completions } from "../../../src/dialect/text/completions.ts";
import { readUsage } from "../../../src/dialect/usage.ts";
import { ask, type Refused, read, testRefusals } from "../asking.ts";

const LEAST = { model: "m", prompt: "hi" };
const asked = (extra: Record<string, unknown> = {}) => ask(completions, { ...LEAST, ...extra });

describe("a request is refused for", () => {
  const REFUSED: Refused = [
    ["not being an object", [], "body"],
    ["a missing model", { prompt: "hi" }, "model", "missing_parameter"],
    ["a missing prompt", { model: "m" }, "prompt", "missing_parameter"],
    ["a prompt that is null", { model: "m", prompt: null }, "prompt"],
    ["a prompt that is an object", { ...LEAST, prompt: {} }, "prompt"],
    ["no prompts", { ...LEAST, prompt: [] }, "prompt"],
    ["prompts of which one has no tokens", { ...LEAST, prompt: [[1], []] }, "prompt"],
    ["texts among tokens", { ...LEAST, prompt: [1, "a"] }, "prompt"],
    ["texts among lists of tokens", { ...LEAST, prompt: [[1], "a"] }, "prompt"],
    ["tokens below 0", { ...LEAST, prompt: [-1] }, "prompt"],
    ["tokens with a fraction", { ...LEAST, prompt: [[1.5]] }, "prompt"],
    ["n of 0", { ...LEAST, n: 0 }, "n"],
    ["best_of of 0", { ...LEAST, best_of: 0 }, "best_of"],
    ["best_of of 129", { ...LEAST, best_of: 129 }, "best_of"],
    ["an output limit below 0", { ...LEAST, max_tokens: -1 }, "max_tokens"],
    ["a stream that is no boolean", { ...LEAST, stream: "yes" }, "stream"],
    ["stream options that are no object", { ...LEAST, stream_options: [] }, "stream_options"],
    ["a service tier that is no string", { ...LEAST, service_tier: 1 }, "service_tier"],
    ["background", { ...LEAST, background: true }, "background"],
  ];
  testRefusals(completions, REFUSED);
});

describe("a parsed request has", () => {
  test("its defaults, nulls counting as absent: 16 tokens of output", () => {
    expect(asked({ max_tokens: null, n: null, stream: null, stream_options: null })).toMatchObject({
      model: "m",
      n: 1,
      maxOutput: 16,
      stream: false,
      includeUsage: false,
      promptBytes: 2,
      inputs: 1,
      images: 0,
      files: 0,
      measured: {},
      answerForm: null,
      never: ["inAudio", "inImage", "outAudio", "outImage", "inCacheWrite1h"],
    });
    expect(asked()).not.toHaveProperty("promptTokens");
  });
  test("its own limit, 0 too, and whether it wants the usage chunk", () => {
    expect(asked({ max_tokens: 0 }).maxOutput).toBe(0);
    const extra = { max_tokens: 900, stream: true, stream_options: { include_usage: true } };
    expect(asked(extra)).toMatchObject({ maxOutput: 900, stream: true, includeUsage: true });
  });
  const OUTPUTS: readonly (readonly [what: string, extra: Record<string, unknown>, n: number])[] = [
    ["n", { n: 3 }, 3],
    ["best_of, of which n are given back", { n: 2, best_of: 5 }, 5],
    ["best_of alone", { best_of: 4 }, 4],
    ["n, where best_of is less", { n: 4, best_of: 1 }, 4],
    ["n for each prompt", { n: 3, prompt: ["a", "b"] }, 6],
    ["best_of for each list of tokens", { best_of: 2, prompt: [[1], [2], [3]] }, 6],
    ["one for a prompt of tokens", { prompt: [1, 2, 3] }, 1],
  ];
  test.each(OUTPUTS)("its outputs: %s", (_what, extra, n) => expect(asked(extra).n).toBe(n));

  const PROMPTS: readonly (readonly [
    what: string,
    prompt: unknown,
    inputs: number,
    tokens: number | undefined,
  ])[] = [
    ["a text", "abc", 1, undefined],
    ["an empty text", "", 1, undefined],
    ["texts", ["a", "b", ""], 3, undefined],
    ["tokens", [0, 15_496, 3], 1, 3],
    ["lists of tokens", [[1, 2], [3]], 2, 3],
  ];
  test.each(PROMPTS)(
    "how many tokens there are in %s, where that is known",
    (_what, prompt, inputs, tokens) => {
      const request = asked({ prompt });
      expect([request.inputs, request.promptTokens]).toEqual([inputs, tokens]);
    },
  );
  test("its text, what comes behind it included", () => {
    const request = asked({ prompt: ["ab", "é"], suffix: "cde", user: "nobody" });
    expect(request.promptBytes).toBe(7);
    expect(completions.promptTexts(request)).toEqual(["ab", "é", "cde"]);
  });
});

describe("an answer", () => {
  const answered = (body: unknown) => read(completions, LEAST, body);
  test("gives its usage and the texts of its choices", () => {
    const usage = { prompt_tokens: 1, completion_tokens: 2 };
    const choices = [{ text: "a", index: 0 }, { text: "b", index: 1 }, { text: "" }, null];
    expect(answered({ object: "text_completion", usage, choices })).toMatchObject({
      ok: true,
      usage,
      texts: ["a", "b"],
      measured: {},
    });
    expect(readUsage(completions.usage, usage, { contextWindow: 0, outputLimit: 0 })).toMatchObject({
      inText: 1,
      outText: 2,
    });
  });
  test.each([
    ["an error", '{"error":{"message":"m"}}', "error_body"],
    ["without choices", "{}", "error_body"],
    ["a page", "<html>", "server_error"],
  ])("that is %s is a failure", (_what, text, fault) =>
    expect(answered(text)).toEqual({ ok: false, fault: fault as "error_body" }),
  );
});

test("a stream is the chat dialect's: text is content, [DONE] its end, usage only for a client that asked", () => {
  const stream = completions.stream({ includeUsage: false, fingerprint: null });
  const chunk = (text: string, finish: string | null = null) =>
    JSON.stringify({ choices: [{ index: 0, text, finish_reason: finish }] });
  expect(stream.feedData(chunk("a"), "")).toMatchObject({ kind: "pass", content: true });
  expect(stream.feedData(chunk("", "stop"), "")).toMatchObject({ kind: "pass", content: false });
  expect(stream.feedData('{"choices":[],"usage":{"prompt_tokens":1}}', "").kind).toBe("withheld");
  expect(stream.feedData("[DONE]", "").kind).toBe("done");
  expect([stream.outcome(true), stream.usage, stream.texts()]).toEqual([
    "complete",
    { prompt_tokens: 1 },
    ["a"],
  ]);
});
