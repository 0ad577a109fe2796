// Images, sound and words end to end, where they differ from a conversation: sound passes as it comes and breaks off when it
// is cut, words come in the form that was asked for, an image may be a stream; and what each of them costs then.

import { describe, expect, test } from "bun:test";
import { connect } from "node:net";
import { formOf, wavFile } from "../provider/asking.ts";
import { charges, type Json, nano, PRICING, until } from "./harness.ts";
import { OWN_PRICES } from "./surfaces-bodies.ts";
import { HeldTime } from "./timers.ts";
import { prepared, useBench } from "./use-bench.ts";

const bench = useBench({ settings: { KEY_FAILURES: "1000" } });
const owner = prepared(() => bench.owner({ pricing: { ...PRICING, ...OWN_PRICES } }));
const user = prepared(() => bench.subaccount(owner, { CreditGranted: 100 }));

const send = (path: string, body: object | FormData, headers: Record<string, string> = {}) => {
  const isForm = body instanceof FormData;
  const type: Record<string, string> = isForm ? {} : { "content-type": "application/json" };
  return fetch(bench.url + path, {
    method: "POST",
    headers: { authorization: `Bearer ${user.key}`, ...type, ...headers },
    body: isForm ? body : JSON.stringify(body),
  });
};
const speak = (input: string, more: object = {}, headers = {}) =>
  send("/v1/audio/speech", { model: "tts-1", input, voice: "alloy", ...more }, headers);
const write = (more: Record<string, string | File> = {}, path = "/v1/audio/transcriptions") =>
  send(path, formOf({ model: "whisper-1", file: wavFile(6), ...more }));
const draw = (more: object = {}) =>
  send(
    "/v1/images/generations",
    { model: "gpt-image-1", prompt: "a boat", ...more },
    { "x-arbor-cost": "stream" },
  );

const lastCharge = async (): Promise<Json> => charges(await bench.ledger(user.key)).at(-1);
const spent = async () => nano(await bench.balance(user.key));
const lastCall = () => bench.provider.calls().at(-1)!;

describe("sound", () => {
  test.each([
    ["mp3", "audio/mpeg"],
    ["opus", "audio/ogg"],
    ["wav", "audio/wav"],
    ["pcm", "audio/pcm"],
  ])("in %s comes byte for byte as the provider made it, as %s", async (response_format, type) => {
    const input = `say this ${response_format}`;
    const straight = await fetch(`${bench.provider.url}/v1/audio/speech`, {
      method: "POST",
      headers: { authorization: "Bearer sk-x-0001", "content-type": "application/json" },
      body: JSON.stringify({ model: "tts-1", input, voice: "alloy", response_format }),
    });
    const wanted = Buffer.from(await straight.arrayBuffer());
    const answer = await speak(input, { response_format });
    expect(answer.headers.get("content-type")).toBe(type);
    expect(Buffer.from(await answer.arrayBuffer()).equals(wanted)).toBe(true);
    expect(await lastCharge()).toMatchObject({
      basis: "provider",
      amount: -nano(15e-6 * input.length) / 1e9,
    });
  });

  test("comes as it is made: its head before its end, and its cost with the head", async () => {
    const time = new HeldTime();
    let answer: Response;
    let whole: ArrayBuffer;
    try {
      answer = await speak("slowly [[chunk_ms=2000]]");
      expect(lastCall().outcome).toBeNull();
      whole = (await time.passing(answer.arrayBuffer(), () => true)).outcome;
    } finally {
      time.release();
    }
    const cost = nano(answer.headers.get("x-arbor-cost")!);
    expect(whole.byteLength).toBe(8_000);
    expect(nano(-(await lastCharge()).amount)).toBe(cost);
  });

  test("that the provider cuts breaks off, and its characters are charged in full", async () => {
    const input = "half of it [[fault=cut after=4 how=rst]]";
    const answer = await speak(input);
    expect(answer.status).toBe(200);
    await expect(answer.arrayBuffer()).rejects.toThrow();
    await until("it is charged", async () => (await lastCharge())?.basis === "partial");
    expect((await lastCharge()).amount).toBe(-nano(15e-6 * input.length) / 1e9);
  });

  test("that is cut has no proper end on the wire", async () => {
    const body = JSON.stringify({ model: "tts-1", input: "x [[fault=cut after=4 how=rst]]", voice: "alloy" });
    const { hostname, port } = new URL(bench.url);
    const socket = connect(Number(port), hostname);
    let text = "";
    const ended = new Promise<void>((resolve) => {
      socket.on("close", () => resolve());
      socket.on("error", () => resolve());
    });
    socket.on("data", (data) => {
      text += data.toString("latin1");
    });
    const head = `POST /v1/audio/speech HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${user.key}\r\ncontent-length: ${body.length}\r\n\r\n`;
    socket.write(head + body);
    await ended;
    expect(text).toStartWith("HTTP/1.1 200");
    expect(text).not.toEndWith("0\r\n\r\n");
  });

  test("that fails before its first byte is an ordinary error, and free", async () => {
    const before = await spent();
    for (const fault of ["200.error", "empty", "reset"]) {
      const answer = await speak(`never [[fault=${fault}]]`);
      expect([fault, answer.status]).toEqual([fault, 502]);
      expect((await answer.json()) as Json).toHaveProperty("error.code", "upstream_failed");
    }
    expect(await spent()).toBe(before);
  });

  test("is charged in full to a client that goes in the middle, and the call is given up", async () => {
    const leaving = new AbortController();
    const input = "a long one [[kb=200 chunk_ms=30]]";
    const answer = await fetch(`${bench.url}/v1/audio/speech`, {
      method: "POST",
      headers: { authorization: `Bearer ${user.key}`, "content-type": "application/json" },
      body: JSON.stringify({ model: "tts-1", input, voice: "alloy" }),
      signal: leaving.signal,
    });
    const reader = answer.body!.getReader();
    await reader.read();
    leaving.abort();
    await reader.read().catch(() => undefined);
    await until("the call is given up", () => bench.provider.inFlight() === 0);
    await until(
      "it is charged",
      async () => (await lastCharge()).amount === -nano(15e-6 * input.length) / 1e9,
    );
    expect((await lastCharge()).basis).toBe("partial");
  });

  test("sends the provider the client's accept header", async () => {
    await (await speak("hm", {}, { accept: "audio/mpeg, */*;q=0.1" })).arrayBuffer();
    expect(lastCall().headers.accept).toBe("audio/mpeg, */*;q=0.1");
    expect(lastCall().headers["content-type"]).toBe("application/json");
  });

  test("that is priced in tokens and gives none is estimated by its length", async () => {
    // 8,000 bytes of what is no frame of MP3: 20,000 bytes a second, 1,250 tokens a minute.
    const answer = await speak("one two three", { model: "gpt-4o-mini-tts" });
    expect(answer.headers.get("x-arbor-cost")).toBeNull();
    await answer.arrayBuffer();
    const outAudio = Math.ceil((0.4 * 1_250) / 60);
    const line = await lastCharge();
    expect(line).toMatchObject({ basis: "estimate", completion_tokens: outAudio });
    expect(nano(-line.amount)).toBe(line.prompt_tokens * 600 + outAudio * 12_000);
  });

  test("as events is charged by what the last of them says", async () => {
    const more = { model: "gpt-4o-mini-tts", stream_format: "sse" };
    const answer = await speak("one two [[output=70]]", more, { "x-arbor-cost": "stream" });
    expect(answer.headers.get("content-type")).toStartWith("text/event-stream");
    const text = await answer.text();
    const cost = 2 * 600 + 70 * 12_000;
    expect(text.indexOf(`: cost=${(cost / 1e9).toString()}`)).toBeGreaterThan(0);
    expect(text.indexOf("speech.audio.done")).toBeGreaterThan(text.indexOf(": cost="));
    expect(await lastCharge()).toMatchObject({ basis: "provider", amount: -cost / 1e9, stream: true });
  });
});

describe("words", () => {
  test.each([
    ["json", "application/json", 6_000 * 100],
    ["verbose_json", "application/json", 6_000 * 100],
    ["text", "text/plain; charset=utf-8", 6_000 * 100],
    ["srt", "", 6_000 * 100],
    ["vtt", "", 6_000 * 100],
  ])("as %s come as they are called, and cost the same", async (response_format, type, cost) => {
    const answer = await write({ response_format });
    expect(answer.status).toBe(200);
    if (type !== "") expect(answer.headers.get("content-type")).toBe(type);
    else expect(answer.headers.get("content-type")).not.toContain("json");
    const text = await answer.text();
    expect(text.length).toBeGreaterThan(10);
    expect(nano(answer.headers.get("x-arbor-cost")!)).toBe(cost);
    expect(await lastCharge()).toMatchObject({ basis: "provider", amount: -cost / 1e9 });
  });

  test("of a sound of unknown length are estimated by its size", async () => {
    const file = new File([new Uint8Array(40_000)], "hum.mp3", { type: "audio/mpeg" });
    const answer = await write({ file, prompt: "[[usage=none]]" });
    await answer.text();
    // 4,000 bytes a second.
    expect(await lastCharge()).toMatchObject({ basis: "estimate", amount: -0.001 });
  });

  test("in tokens are charged by the provider's", async () => {
    const answer = await write({ model: "gpt-4o-transcribe", prompt: "[[output=12]]" });
    await answer.text();
    expect(await lastCharge()).toMatchObject({ basis: "provider", completion_tokens: 12, prompt_tokens: 60 });
  });

  test("streamed end with their last event, after the charge", async () => {
    const answer = await write({ model: "gpt-4o-transcribe", stream: "true", prompt: "[[output=12]]" });
    expect(answer.headers.get("content-type")).toStartWith("text/event-stream");
    const text = await answer.text();
    expect(text.match(/transcript\.text\.done/g)!.length).toBeGreaterThan(0);
    expect(await lastCharge()).toMatchObject({ basis: "provider", completion_tokens: 12, stream: true });
  });

  test("asked for as a stream of a model that has none come whole, and no key is to blame", async () => {
    for (const response_format of ["json", "srt"]) {
      const answer = await write({ stream: "true", response_format });
      expect(answer.status).toBe(200);
      expect(await answer.text()).not.toContain("event:");
      expect(nano(answer.headers.get("x-arbor-cost")!)).toBe(600_000);
    }
  });

  test("need a form", async () => {
    const answer = await send("/v1/audio/transcriptions", { model: "whisper-1" });
    expect([answer.status, ((await answer.json()) as Json).error.code]).toEqual([400, "invalid_parameter"]);
  });

  test("need a file", async () => {
    const answer = await send("/v1/audio/transcriptions", formOf({ model: "whisper-1" }));
    expect([answer.status, ((await answer.json()) as Json).error.code]).toEqual([400, "missing_parameter"]);
  });
});

describe("an image", () => {
  test("that streams ends with its last event, after the charge", async () => {
    const answer = await draw({
      stream: true,
      partial_images: 2,
      prompt: "a boat [[prompt=50 output=1056]]",
    });
    const text = await answer.text();
    const cost = 50 * 5_000 + 1_056 * 40_000;
    expect(text).toContain(": cost=0.04249\n\nevent: image_generation.completed");
    expect(await lastCharge()).toMatchObject({ basis: "provider", amount: -cost / 1e9, stream: true });
  });

  test("of which a part came is charged as one", async () => {
    const answer = await draw({
      stream: true,
      partial_images: 3,
      size: "1024x1024",
      quality: "low",
      prompt: "a boat [[fault=cut after=1 how=rst]]",
    });
    expect(await answer.text()).toContain("event: error");
    // The size and quality decide: the provider reported no tokens.
    expect(await lastCharge()).toMatchObject({ basis: "partial", amount: -0.011 });
  });

  test("from JSON is edited, too", async () => {
    const images = [{ image_url: "https://example.com/boat.png" }];
    const answer = await send("/v1/images/edits", {
      model: "gpt-image-1",
      prompt: "red [[prompt=9 image_in=5 output=10]]",
      images,
    });
    expect(answer.status).toBe(200);
    await answer.text();
    expect(await lastCharge()).toMatchObject({ amount: -(4 * 5_000 + 5 * 10_000 + 10 * 40_000) / 1e9 });
  });

  test("that did not come costs nothing, though the others do", async () => {
    const answer = await send("/v1/images/generations", {
      model: "dall-e-2",
      prompt: "boats",
      n: 3,
      size: "256x256",
    });
    expect(((await answer.json()) as Json).data).toHaveLength(3);
    expect(await lastCharge()).toMatchObject({ amount: -0.048 });
  });
});
