// The dialects of transcription and translation: a file in a form, answers in every form, and how long the file was.

import { describe, expect, test } from "bun:test";
import { transcriptions, translations } from "../../../src/dialect/media/transcriptions.ts";
import { measuredOf } from "../../../src/dialect/non-token-usage.ts";
import { file, form, json, readBack, wav } from "./bodies.ts";

type Fields = readonly (readonly [string, string | File])[];
const SOUND = file(new Uint8Array(40_000));
const asked = async (more: Fields = [], sound: File = SOUND, dialect = transcriptions) => {
  const parsed = dialect.parse(await form([["file", sound], ["model", "m"], ...more]));
  if (!parsed.ok) throw new Error(parsed.refusal.message);
  return parsed.request;
};

describe("a request is refused for", () => {
  // biome-ignore format: a table
  const REFUSED: readonly (readonly [rule: string, fields: Fields, field: string, code?: string])[] = [
    ["a missing file", [["model", "m"]], "file", "missing_parameter"],
    ["a file that is text", [["file", "x"], ["model", "m"]], "file", "missing_parameter"],
    ["two files", [["file", SOUND], ["file", SOUND], ["model", "m"]], "file"],
    ["a missing model", [["file", SOUND]], "model", "missing_parameter"],
    ["two models", [["file", SOUND], ["model", "m"], ["model", "n"]], "model"],
    ["two forms of answer", [["file", SOUND], ["model", "m"], ["response_format", "srt"], ["response_format", "json"]], "response_format"],
    ["a stream that is no boolean", [["file", SOUND], ["model", "m"], ["stream", "yes"]], "stream"],
    ["a prompt that is a file", [["file", SOUND], ["model", "m"], ["prompt", file("x", "p.txt")]], "prompt"],
  ];
  for (const [rule, fields, field, code] of REFUSED) {
    test(rule, async () => {
      expect(transcriptions.parse(await form(fields))).toMatchObject({
        ok: false,
        refusal: { field, code: code ?? "invalid_parameter" },
      });
    });
  }
  test("being no form", () => {
    expect(transcriptions.parse(json({ model: "m" }))).toMatchObject({
      ok: false,
      refusal: { field: "body" },
    });
  });
  test("a translation that is to be streamed", async () => {
    const payload = await form([
      ["file", SOUND],
      ["model", "m"],
      ["stream", "true"],
    ]);
    expect(translations.parse(payload)).toMatchObject({ ok: false, refusal: { field: "stream" } });
  });
});

describe("a request", () => {
  test("lasts as long as its WAV says", async () => {
    expect((await asked([], file(wav(64_000), "a.wav"))).measured).toEqual({ seconds: 2 });
  });
  test("lasts at most as long as its size at 32 kbit/s", async () => {
    expect((await asked()).measured).toEqual({ seconds: 10, estimated: true });
  });
  test("may come to as many words as can be said in that time", async () => {
    expect((await asked()).maxOutput).toBe(250 + 80);
  });
  test("streams when it says so, and names the form of its answer where that is no JSON", async () => {
    expect(
      await asked([
        ["stream", "true"],
        ["response_format", "text"],
      ]),
    ).toMatchObject({ stream: true, answerForm: "text" });
    for (const name of ["text", "srt", "vtt"])
      expect((await asked([["response_format", name]])).answerForm).toBe(name);
    for (const name of ["json", "verbose_json", "diarized_json"]) {
      expect((await asked([["response_format", name]])).answerForm).toBeNull();
    }
  });
  test("passes on with its file and the file's name, the model changed", async () => {
    const request = await asked([
      ["language", "de"],
      ["timestamp_granularities[]", "word"],
      ["prompt", "ü"],
    ]);
    const sent = await readBack(
      request.payload,
      transcriptions.upstreamBody(request, { model: "n", add: { v: "1" } }),
    );
    expect([...sent.keys()]).toEqual([
      "file",
      "model",
      "language",
      "timestamp_granularities[]",
      "prompt",
      "v",
    ]);
    expect(sent.get("model")).toBe("n");
    const sound = sent.get("file") as File;
    expect([sound.name, sound.type, sound.size]).toEqual(["a.mp3", "audio/mpeg", 40_000]);
    expect(transcriptions.promptTexts(request)).toEqual(["ü"]);
    expect(request.promptBytes).toBe(2);
  });
});

describe("an answer", () => {
  const answer = async (
    text: unknown,
    contentType: string,
    form_: string,
    sound: File = SOUND,
    dialect = transcriptions,
  ) =>
    dialect.readAnswer(
      { text: typeof text === "string" ? text : JSON.stringify(text), contentType },
      await asked([["response_format", form_]], sound, dialect),
    );
  const JSON_TYPE = "application/json";
  const GUESSED = { seconds: 10, estimated: true };

  // biome-ignore format: a table
  const ROWS: readonly (readonly [
    what: string,
    form: string,
    type: string,
    text: unknown,
    expected: Record<string, unknown>,
  ])[] = [
    [
      "json with usage in tokens",
      "json",
      JSON_TYPE,
      { text: "hi", usage: { type: "tokens", input_tokens: 9, output_tokens: 2 } },
      { usage: { type: "tokens", input_tokens: 9, output_tokens: 2 }, texts: ["hi"], measured: GUESSED },
    ],
    [
      "json with usage as a duration",
      "json",
      JSON_TYPE,
      { text: "hi", usage: { type: "duration", seconds: 3 } },
      { usage: { type: "duration", seconds: 3 } },
    ],
    ["json without usage", "json", JSON_TYPE, { text: "hi" }, { usage: null, measured: GUESSED, texts: ["hi"] }],
    ["json of silence", "json", JSON_TYPE, { text: "" }, { texts: [] }],
    [
      "verbose_json by its duration",
      "verbose_json",
      JSON_TYPE,
      { text: "hi", duration: 8.47, segments: [{ end: 7 }] },
      { measured: { seconds: 8.47 } },
    ],
    ["verbose_json by its duration in quotes", "verbose_json", JSON_TYPE, { text: "hi", duration: "8.47" }, { measured: { seconds: 8.47 } }],
    [
      "verbose_json without a duration, by its segments",
      "verbose_json",
      JSON_TYPE,
      { text: "hi", segments: [{ end: 3 }, { end: 2 }, null, { end: "x" }] },
      { measured: { seconds: 3 } },
    ],
    ["verbose_json by its words", "verbose_json", JSON_TYPE, { text: "hi", words: [{ end: 4.5 }] }, { measured: { seconds: 4.5 } }],
    ["verbose_json with a duration of nothing", "verbose_json", JSON_TYPE, { text: "hi", duration: 0 }, { measured: GUESSED }],
    ["verbose_json with a duration of nonsense", "verbose_json", JSON_TYPE, { text: "hi", duration: -4 }, { measured: GUESSED }],
    [
      "diarized_json by what was said last",
      "diarized_json",
      JSON_TYPE,
      {
        segments: [
          { speaker: "A", text: "hi", end: 6 },
          { speaker: "B", text: "ho", end: 7 },
        ],
      },
      { measured: { seconds: 7 }, texts: ["hi", "ho"] },
    ],
    ["text", "text", "text/plain", "hi\n", { body: null, texts: ["hi\n"], measured: GUESSED }],
    ["text that looks like JSON", "text", "text/plain", '{"a":1}', { body: null, texts: ['{"a":1}'] }],
    ["text as a JSON string", "text", JSON_TYPE, '"hi"', { body: null, texts: ["hi"] }],
    ["text as JSON all the same", "text", JSON_TYPE, { text: "hi" }, { texts: ["hi"] }],
    [
      "srt by its last stamp",
      "srt",
      "text/plain",
      "1\n00:00:00,000 --> 00:00:02,500\nhi\n",
      { body: null, texts: ["hi"], measured: { seconds: 2.5 } },
    ],
    ["vtt by its last stamp", "vtt", "text/vtt", "WEBVTT\n\n00:00.000 --> 00:03.250\nhi\n", { texts: ["hi"], measured: { seconds: 3.25 } }],
    ["srt of silence", "srt", "text/plain", "", { texts: [], measured: GUESSED }],
  ];
  for (const [what, form_, type, text, expected] of ROWS) {
    test(what, async () => {
      const read = await answer(text, type, form_);
      expect(read).toMatchObject({ ok: true, ...expected });
      if (read.ok && expected.measured)
        expect(read.measured).toEqual(expected.measured as typeof read.measured);
    });
  }

  test("of a WAV: what its header knows is no shorter than what was said in it", async () => {
    const sound = file(wav(128_000), "a.wav");
    const stamps = "1\n00:00:00,000 --> 00:00:02,500\nhi\n";
    expect(await answer(stamps, "text/plain", "srt", sound)).toMatchObject({ measured: { seconds: 4 } });
    const read = await answer("hi", "text/plain", "text", sound);
    expect(read.ok && read.measured).toEqual({ seconds: 4 });
  });

  const FAULTS: readonly (readonly [
    what: string,
    form: string,
    type: string,
    text: unknown,
    fault: string,
  ])[] = [
    ["an error", "json", JSON_TYPE, { error: { message: "no" } }, "error_body"],
    ["JSON without words", "json", JSON_TYPE, { id: 1 }, "error_body"],
    ["code and words", "json", JSON_TYPE, { code: 1, message: "no" }, "error_body"],
    ["a page where JSON should be", "json", "text/html", "<html>", "server_error"],
    ["a page where text should be", "srt", "text/html", "<html>", "server_error"],
    ["an error where text should be", "text", "text/plain", { error: { message: "no" } }, "error_body"],
    ["an error as JSON where text should be", "vtt", JSON_TYPE, { error: { message: "no" } }, "error_body"],
  ];
  for (const [what, form_, type, text, fault] of FAULTS) {
    test(`that is ${what} is a fault`, async () => {
      expect(await answer(text, type, form_)).toEqual({ ok: false, fault: fault as "error_body" });
    });
  }

  test("of a translation", async () => {
    expect(
      await answer({ text: "hi", duration: 5 }, JSON_TYPE, "verbose_json", SOUND, translations),
    ).toMatchObject({
      ok: true,
      measured: { seconds: 5 },
    });
  });
});

describe("a stream", () => {
  const machine = () => transcriptions.stream({ includeUsage: true, fingerprint: null });
  const send = (stream: ReturnType<typeof machine>, event: Record<string, unknown>) =>
    stream.feedData(JSON.stringify(event), String(event.type));
  test("of words, with usage in the last event", () => {
    const stream = machine();
    expect(send(stream, { type: "transcript.text.delta", delta: "Hel" })).toMatchObject({
      kind: "pass",
      content: true,
    });
    send(stream, { type: "transcript.text.delta", delta: "lo" });
    const usage = { type: "tokens", input_tokens: 14, output_tokens: 2 };
    expect(send(stream, { type: "transcript.text.done", text: "Hello", usage }).kind).toBe("done");
    expect([stream.usage, stream.texts().join(""), stream.chars]).toEqual([usage, "Hello", 5]);
    expect(stream.outcome(true)).toBe("complete");
  });
  test("without usage lasts until its last segment", () => {
    const stream = machine();
    const first = send(stream, {
      ...{ type: "transcript.text.segment", text: "hi" },
      ...{ start: 0, end: 6.5, speaker: "A" },
    });
    // Words of a speaker are content: a client that got them has got something.
    expect([first, stream.delivered]).toMatchObject([{ kind: "pass", content: true }, true]);
    send(stream, { type: "transcript.text.segment", text: "ho", start: 1, end: 4, speaker: "B" });
    send(stream, { type: "transcript.text.done", text: "hi ho" });
    expect(stream.texts()).toEqual(["hi ho"]);
    expect(measuredOf({ seconds: 10, estimated: true }, stream.measured)).toEqual({ seconds: 6.5 });
  });
  test("without its last event is broken", () => {
    const stream = machine();
    send(stream, { type: "transcript.text.delta", delta: "x" });
    expect(stream.outcome(true)).toBe("broken");
  });
});
