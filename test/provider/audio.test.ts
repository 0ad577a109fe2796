// What the stand-in says of sound and in sound: speech, transcriptions, translations; by fetch and by the official client.

import { afterAll, describe, expect, test } from "bun:test";
import OpenAI from "openai";
import { eventsOf, formOf, jsonOf, post, wavFile } from "./asking.ts";
import { startProvider } from "./provider.ts";

const provider = startProvider();
afterAll(() => provider.close());
const client = new OpenAI({ baseURL: `${provider.url}/v1`, apiKey: "sk-client-0001", maxRetries: 0 });
const lastCall = () => provider.calls().at(-1)!;

describe("speech", () => {
  const ask = (extra: object = {}) =>
    post(provider, "/v1/audio/speech", { model: "tts-1", input: "Hello", voice: "alloy", ...extra });

  test.each([
    ["mp3", "audio/mpeg"],
    ["opus", "audio/ogg"],
    ["aac", "audio/aac"],
    ["flac", "audio/flac"],
    ["wav", "audio/wav"],
    ["pcm", "audio/pcm"],
  ])("in %s is %s, in chunks without a length", async (response_format, type) => {
    const response = await ask({ response_format });
    expect(response.headers.get("content-type")).toBe(type);
    expect(response.headers.get("content-length")).toBeNull();
    const bytes = Buffer.from(await response.arrayBuffer());
    expect(bytes).toHaveLength(8000);
    if (response_format === "wav") expect(bytes.toString("latin1", 0, 4)).toBe("RIFF");
  });

  test("is paid by the character, of which some are two units of UTF-16", async () => {
    await (await ask({ input: "Hi 🎉é" })).arrayBuffer();
    expect(lastCall()).toMatchObject({ units: { characters: 5 }, usage: { completion: 40 } });
  });

  test("cut in the middle has made what it has sent", async () => {
    const response = await ask({ input: "Hi [[fault=cut after=3 how=clean]]" });
    const bytes = await response.arrayBuffer();
    expect([bytes.byteLength, lastCall().usage!.completion]).toEqual([3000, 15]);
  });

  test("split into small writes is the same sound", async () => {
    const whole = Buffer.from(await (await ask()).arrayBuffer());
    for (const fault of ["split bytes=777", "join", "crlf", "unstreamed"]) {
      const response = await ask({ input: `Hello [[fault=${fault}]]` });
      expect(whole.equals(Buffer.from(await response.arrayBuffer()))).toBe(true);
    }
  });

  test("as events has its usage at the end", async () => {
    const events = await eventsOf(
      await ask({ model: "gpt-4o-mini-tts", stream_format: "sse", input: "one two [[output=70]]" }),
    );
    const sound = events.filter(({ type }) => type === "speech.audio.delta");
    expect(Buffer.concat(sound.map(({ audio }) => Buffer.from(audio, "base64")))).toHaveLength(8000);
    expect(events.at(-1)).toEqual({
      type: "speech.audio.done",
      usage: { input_tokens: 2, output_tokens: 70, total_tokens: 72 },
    });
    expect(lastCall().usage!.completion).toBe(70);
  });

  test("comes to the official client", async () => {
    const response = await client.audio.speech.create({
      model: "tts-1",
      input: "Hello [[kb=5]]",
      voice: "alloy",
    });
    expect((await response.arrayBuffer()).byteLength).toBe(5 * 1024);
  });

  test.each([
    [{ input: undefined }, "input"],
    [{ voice: undefined }, "voice"],
    [{ input: "x".repeat(4097) }, "input"],
    [{ response_format: "midi" }, "response_format"],
    [{ stream_format: "sse" }, "stream_format"],
  ])("lacking sense is a 400: %j", async (extra, param) => {
    const response = await ask(extra);
    expect([response.status, (await jsonOf(response)).error.param]).toEqual([400, param]);
  });
});

const NEW = "gpt-4o-transcribe";
const OLD = "whisper-1";

describe.each(["transcriptions", "translations"])("%s", (kind) => {
  const ask = (fields: Record<string, string>, file = wavFile(2.5)) =>
    post(provider, `/v1/audio/${kind}`, formOf({ file, prompt: "Hi [[output=8]]", ...fields }));

  test("of a new model report tokens, sound and text apart", async () => {
    const body = await jsonOf(await ask({ model: NEW }));
    expect(body).toEqual({
      text: "Hi time year people way day man thing",
      usage: {
        type: "tokens",
        input_tokens: 26,
        input_token_details: { text_tokens: 1, audio_tokens: 25 },
        output_tokens: 8,
        total_tokens: 34,
      },
    });
    expect(lastCall()).toMatchObject({
      units: { seconds: 2.5 },
      usage: { prompt: 26, audioIn: 25, completion: 8 },
      files: [{ field: "file", name: "speech.wav", sizeBytes: 40_044 }],
    });
  });

  test("of an old model report seconds", async () => {
    expect((await jsonOf(await ask({ model: OLD }))).usage).toEqual({ type: "duration", seconds: 3 });
  });

  test.each([
    ["tokens", OLD],
    ["duration", NEW],
  ])("billed=%s says what usage counts", async (billed, model) => {
    const { usage } = await jsonOf(await ask({ model, prompt: `Hi [[billed=${billed}]]` }));
    expect(usage.type).toBe(billed);
  });

  test("usage=none tells none", async () => {
    expect(await jsonOf(await ask({ model: NEW, prompt: "Hi [[usage=none]]" }))).not.toHaveProperty("usage");
  });

  test("in words and pictures of time", async () => {
    const response = await ask({
      model: OLD,
      response_format: "verbose_json",
      "timestamp_granularities[]": "word",
    });
    const body = await jsonOf(response);
    expect(body).toMatchObject({ duration: 2.5, usage: { type: "duration" } });
    expect(body.segments.at(-1).end).toBe(2.5);
    expect(body.words).toHaveLength(8);
  });

  test.each([
    ["text", /^Hi time .*\n$/],
    ["srt", /^1\n00:00:00,000 --> 00:00:01,250\n[\s\S]*00:00:02,500\nman thing\n\n$/],
    ["vtt", /^WEBVTT\n\n00:00:00\.000 --> [\s\S]*00:00:02\.500\nman thing\n\n$/],
  ])("as %s are text without usage", async (response_format, form) => {
    const response = await ask({ model: OLD, response_format });
    expect(response.headers.get("content-type")).toStartWith("text/plain");
    expect(await response.text()).toMatch(form);
  });

  test("of a sound that is not understood are as long as its size", async () => {
    await (await ask({ model: OLD }, new File([Buffer.alloc(6000)], "a.mp3"))).text();
    expect(lastCall().units).toEqual({ seconds: 1.5 });
    await (await ask({ model: OLD, prompt: "[[seconds=90]]" })).text();
    expect(lastCall().units).toEqual({ seconds: 90 });
  });

  test.each([
    ["model", { model: "" }, undefined],
    ["file", { model: OLD }, new File(["x"], "a.txt")],
    ["response_format", { model: OLD, response_format: "pdf" }, undefined],
  ])("lacking sense are a 400: %s", async (param, fields, file) => {
    const response = await ask(fields as Record<string, string>, file);
    expect([response.status, (await jsonOf(response)).error.param]).toEqual([400, param]);
  });
});

describe("a streamed transcript", () => {
  test("has its usage at the end and no [DONE]", async () => {
    const form = formOf({ file: wavFile(1), model: NEW, stream: "true", prompt: "Hi [[output=3]]" });
    const text = await (await post(provider, "/v1/audio/transcriptions", form)).text();
    const events = await eventsOf(new Response(text));
    expect(text).not.toContain("[DONE]");
    expect(events.map(({ type, delta }) => [type, delta])).toEqual([
      ["transcript.text.delta", "Hi"],
      ["transcript.text.delta", " time"],
      ["transcript.text.delta", " year"],
      ["transcript.text.done", undefined],
    ]);
    expect(events.at(-1)).toMatchObject({ text: "Hi time year", usage: { output_tokens: 3 } });
  });

  test("is none of an old model", async () => {
    const form = formOf({ file: wavFile(1), model: OLD, stream: "true" });
    expect(await jsonOf(await post(provider, "/v1/audio/transcriptions", form))).toHaveProperty("text");
  });
});

test("diarized transcripts have speakers, translations none", async () => {
  const form = () => formOf({ file: wavFile(1), model: NEW, response_format: "diarized_json" });
  const { segments } = await jsonOf(await post(provider, "/v1/audio/transcriptions", form()));
  expect(segments[0]).toMatchObject({ speaker: "A", start: 0 });
  expect((await post(provider, "/v1/audio/translations", form())).status).toBe(400);
});

test("the official client sends files and reads answers and streams", async () => {
  const { text } = await client.audio.transcriptions.create({ file: wavFile(1), model: NEW });
  expect(text).toStartWith("time year");
  const stream = await client.audio.transcriptions.create({ file: wavFile(1), model: NEW, stream: true });
  expect((await Array.fromAsync(stream)).at(-1)!.type).toBe("transcript.text.done");
  expect((await client.audio.translations.create({ file: wavFile(1), model: OLD })).text).toStartWith("time");
});
