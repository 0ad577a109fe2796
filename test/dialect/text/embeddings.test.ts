// The embeddings dialect: the forms of input and what they weigh, and answers with and without usage.

import { describe, expect, test } from "bun:test";
import { embeddings } from "../../../src/dialect/text/embeddings.ts";
import { readUsage } from "../../../src/dialect/usage.ts";
import { ask, named, type Refused, read, sent, testRefusals } from "../asking.ts";

const LEAST = { model: "m", input: "hi" };
const asked = (extra: Record<string, unknown> = {}) => ask(embeddings, { ...LEAST, ...extra });

describe("a request is refused for", () => {
  const REFUSED: Refused = [
    ["not being an object", null, "body"],
    ["a missing model", { input: "hi" }, "model", "missing_parameter"],
    ["missing input", { model: "m" }, "input", "missing_parameter"],
    ["input that is null", { model: "m", input: null }, "input"],
    ["no inputs", { ...LEAST, input: [] }, "input"],
    ["input that is an object", { ...LEAST, input: { text: "a" } }, "input"],
    ["inputs of two kinds", { ...LEAST, input: ["a", [1]] }, "input"],
    ["tokens that are no integers", { ...LEAST, input: [1, 0.5] }, "input"],
    ["a stream", { ...LEAST, stream: true }, "stream"],
    ["background", { ...LEAST, background: true }, "background"],
  ];
  testRefusals(embeddings, REFUSED);
});

describe("a parsed request has", () => {
  test("that it is only read", () => {
    expect(asked({ stream: false, dimensions: 256 })).toMatchObject({
      model: "m",
      stream: false,
      n: 1,
      maxOutput: 0,
      images: 0,
      files: 0,
      measured: {},
      answerForm: null,
    });
    expect(asked().never).toEqual([
      "inAudio",
      "inImage",
      "outAudio",
      "outImage",
      "inCacheWrite1h",
      "inCached",
      "inCacheWrite",
    ]);
  });
  const INPUTS: readonly (readonly [
    what: string,
    input: unknown,
    inputs: number,
    tokens: number | undefined,
    texts: readonly string[],
  ])[] = [
    ["a text", "héllo", 1, undefined, ["héllo"]],
    ["texts", ["a", "bc", ""], 3, undefined, ["a", "bc"]],
    ["tokens", [5, 6, 7], 1, 3, []],
    ["lists of tokens", [[5, 6], [7], [8, 9]], 3, 5, []],
  ];
  test.each(INPUTS)("the weight of %s", (_what, input, inputs, tokens, texts) => {
    const request = asked({ input });
    expect([request.inputs, request.promptTokens]).toEqual([inputs, tokens]);
    expect(embeddings.promptTexts(request)).toEqual(texts);
    if (tokens === undefined) expect(request.promptBytes).toBe(Buffer.byteLength(texts.join("")));
  });
});

test("the encoding that an SDK asks for passes untouched", () => {
  const body = '{"input":"hi","model":"m","encoding_format":"base64", "dimensions":1e3}';
  expect(sent(embeddings, body, named("n"))).toBe(body.replace('"m"', '"n"'));
});

describe("an answer", () => {
  const answered = (body: unknown) => read(embeddings, LEAST, body);
  const data = [{ object: "embedding", index: 0, embedding: "AACAPw==" }];
  const USAGES: readonly (readonly [host: string, body: Record<string, unknown>, tokens: number])[] = [
    ["of the maker", { usage: { prompt_tokens: 8, total_tokens: 8 } }, 8],
    ["of a host with a total alone", { usage: { total_tokens: 9 } }, 9],
    ["of a host that bills units", { meta: { api_version: {}, billed_units: { input_tokens: 7 } } }, 7],
  ];
  test.each(USAGES)("%s says what was read", (_host, body, inText) => {
    const answer = answered({ data, ...body });
    expect(answer).toMatchObject({ ok: true, texts: [], serviceTier: null, measured: {} });
    if (!answer.ok) return;
    const bounds = { contextWindow: 0, outputLimit: 0 };
    expect(readUsage(embeddings.usage, answer.usage, bounds)).toMatchObject({ inText, outText: 0 });
  });
  test("without usage is one all the same: its input is counted", () =>
    expect(answered({ data })).toMatchObject({ ok: true, usage: null, texts: [] }));
  test.each([
    ["an error", '{"error":{"message":"m"}}', "error_body"],
    ["an error beside data", '{"data":[],"error":"m"}', "error_body"],
    ["code and msg", '{"code":1113,"msg":"m"}', "error_body"],
    ["without data", '{"embeddings":[]}', "error_body"],
    ["data that is no list", '{"data":{}}', "error_body"],
    ["an array", "[]", "error_body"],
    ["a page", "<html>", "server_error"],
  ])("that is %s is a failure", (_what, text, fault) =>
    expect(answered(text)).toEqual({ ok: false, fault: fault as "error_body" }),
  );
  test("goes to the client as it came", () =>
    expect(embeddings.withFingerprint('{ "data":[] }', {}, "fp_1")).toBe('{ "data":[] }'));
});
