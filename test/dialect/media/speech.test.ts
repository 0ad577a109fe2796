// The dialect of speech: its text by code points, its sound as bytes or in events, and what a sound comes to without usage.

import { describe, expect, test } from "bun:test";
import { isSound, speech } from "../../../src/dialect/media/speech.ts";
import { json, largeJson, wav } from "./bodies.ts";

const PLAIN = { model: "m", input: "Hello 😀", voice: "v" };
const asked = (more: Record<string, unknown> = {}) => {
  const parsed = speech.parse(json({ ...PLAIN, ...more }));
  if (!parsed.ok) throw new Error(parsed.refusal.message);
  return parsed.request;
};

describe("a request is refused for", () => {
  const REFUSED: readonly (readonly [
    rule: string,
    more: Record<string, unknown>,
    field: string,
    code?: string,
  ])[] = [
    ["a missing input", { input: undefined }, "input", "missing_parameter"],
    ["an empty input", { input: "" }, "input"],
    ["an input that is no string", { input: ["x"] }, "input"],
    ["a missing model", { model: undefined }, "model", "missing_parameter"],
    ["a speed below 0.25", { speed: 0.2 }, "speed"],
    ["a speed over 4", { speed: 4.1 }, "speed"],
    ["a speed that is no number", { speed: "fast" }, "speed"],
    ["a form that is no string", { response_format: 3 }, "response_format"],
    ["instructions that are no string", { instructions: {} }, "instructions"],
    ["a stream format that nobody knows", { stream_format: "ndjson" }, "stream_format"],
  ];
  for (const [rule, more, field, code] of REFUSED) {
    test(rule, () => {
      expect(speech.parse(json({ ...PLAIN, ...more }))).toMatchObject({
        ok: false,
        refusal: { field, code: code ?? "invalid_parameter" },
      });
    });
  }
});

describe("a request", () => {
  test("is measured in code points, and its answer is sound", () => {
    expect(asked()).toMatchObject({
      stream: false,
      n: 1,
      answerForm: "mp3",
      measured: { chars: 7 },
      promptBytes: 10,
    });
    expect(asked({ response_format: "opus", voice: { id: "x" } }).answerForm).toBe("opus");
  });
  test("is measured in full where it is so large that long base64 is left out, as which a text may pass", () => {
    const input = "word-by-word-".repeat(1_000);
    const instructions = "slowly-".repeat(1_000);
    const parsed = speech.parse(largeJson({ ...PLAIN, input, instructions }));
    if (!parsed.ok) throw new Error(parsed.refusal.message);
    expect(parsed.request).toMatchObject({ measured: { chars: 13_000 }, promptBytes: 20_000 });
    expect(speech.promptTexts(parsed.request)).toEqual([input, instructions]);
  });
  test("streams only when it asks for events", () => {
    expect(asked({ stream_format: "sse" })).toMatchObject({ stream: true, answerForm: null });
    expect(asked({ stream_format: "audio" }).stream).toBe(false);
  });
  test("may come to more tokens the slower it is spoken", () => {
    expect(asked({ speed: 0.5 }).maxOutput).toBe(250 + 70);
    expect(asked().maxOutput).toBe(250 + 35);
  });
  test("passes on as it came but for the model; instructions are counted, too", () => {
    const request = asked({ instructions: "slowly", x: 1 });
    expect(speech.upstreamBody(request, { model: "n", add: {} })).toBe(
      JSON.stringify({ ...PLAIN, model: "n", instructions: "slowly", x: 1 }),
    );
    expect(speech.promptTexts(request)).toEqual(["Hello 😀", "slowly"]);
    expect(request.promptBytes).toBe(16);
  });
});

describe("an answer", () => {
  const answer = (
    contentType: string,
    bytes: number,
    beginning: Uint8Array = new Uint8Array(0),
    form = "mp3",
  ) =>
    speech.readAnswer(
      { text: "", contentType, sound: { bytes, beginning } },
      asked({ response_format: form }),
    );
  test("is sound, as long as its bytes say", () => {
    expect(answer("audio/mpeg", 40_000)).toMatchObject({
      ok: true,
      body: null,
      usage: null,
      measured: { chars: 7, seconds: 2, estimated: true },
    });
    expect(answer("audio/pcm", 96_000, undefined, "pcm")).toMatchObject({ measured: { seconds: 2 } });
    expect(answer("application/octet-stream", 32_044, wav(32_000).subarray(0, 99), "wav")).toMatchObject({
      measured: { seconds: 1 },
    });
  });
  test("without a byte is none", () => {
    expect(answer("audio/mpeg", 0)).toEqual({ ok: false, fault: "server_error" });
  });
  test("of words is a fault", () => {
    const said = (contentType: string) => speech.readAnswer({ text: "{}", contentType }, asked());
    expect(said("application/json; charset=utf-8")).toEqual({ ok: false, fault: "error_body" });
    expect(said("text/html")).toEqual({ ok: false, fault: "server_error" });
    expect(said("audio/mpeg")).toEqual({ ok: false, fault: "server_error" });
  });
  test.each([
    ["audio/mpeg", true],
    ["application/octet-stream", true],
    ["", true],
    ["application/json", false],
    ["application/problem+json", false],
    [" text/plain; charset=utf-8", false],
    ["text/event-stream", false],
  ])("of the content type %p may be sound: %p", (contentType, may) => {
    expect(isSound(contentType)).toBe(may);
  });
});

describe("a stream", () => {
  test("carries sound in events, and its usage in the last", () => {
    const stream = speech.stream({ includeUsage: true, fingerprint: null });
    const delta = JSON.stringify({ type: "speech.audio.delta", audio: "A".repeat(26_668) });
    expect(stream.feedData(delta, "")).toEqual({ kind: "pass", bytes: null, content: true });
    expect(stream.feedData(delta, "")).toMatchObject({ content: true });
    expect(stream.measured?.seconds).toBeCloseTo(2, 3);
    expect(stream.measured?.estimated).toBe(true);
    const usage = { input_tokens: 14, output_tokens: 101, total_tokens: 115 };
    expect(stream.feedData(JSON.stringify({ type: "speech.audio.done", usage }), "").kind).toBe("done");
    expect(stream.usage).toEqual(usage);
    expect(stream.outcome(true)).toBe("complete");
  });
});
