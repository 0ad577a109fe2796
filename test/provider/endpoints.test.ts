// What holds at every endpoint alike: what is remembered, who is let in, and that each fault does what its row says.

import { afterAll, describe, expect, test } from "bun:test";
import { failure, formOf, jsonOf, post, until, wavFile } from "./asking.ts";
import { sha256Of } from "./form.ts";
import { startProvider } from "./provider.ts";

const provider = startProvider();
afterAll(() => provider.close());
const lastCall = () => provider.calls().at(-1)!;

/** An endpoint, and a request for it that carries a script. */
interface Row {
  readonly path: string;
  readonly body: (script: string) => object | FormData;
}

const png = () => new File([Buffer.from([137, 80, 78, 71, 0, 255, 13, 10])], "a.png", { type: "image/png" });
const sound = (prompt: string, more = {}) =>
  formOf({ model: "gpt-4o-transcribe", file: wavFile(0.1), prompt, ...more });

const WHOLE: readonly Row[] = [
  { path: "/v1/responses", body: (input) => ({ model: "m", input }) },
  { path: "/v1/completions", body: (prompt) => ({ model: "m", prompt }) },
  { path: "/v1/embeddings", body: (input) => ({ model: "m", input: `a ${input}` }) },
  { path: "/v1/images/generations", body: (prompt) => ({ model: "gpt-image-1", prompt }) },
  { path: "/v1/images/edits", body: (prompt) => formOf({ model: "gpt-image-1", prompt, image: png() }) },
  { path: "/v1/images/variations", body: (user) => formOf({ user, image: png() }) },
  { path: "/v1/audio/transcriptions", body: sound },
  { path: "/v1/audio/translations", body: sound },
  { path: "/v1/rerank", body: (query) => ({ model: "m", query, documents: ["a"] }) },
  { path: "/v1/moderations", body: (input) => ({ input }) },
  { path: "/v1/conversations", body: (user) => ({ user }) },
];

const STREAMED: readonly Row[] = [
  { path: "/v1/responses", body: (input) => ({ model: "m", input, stream: true }) },
  { path: "/v1/completions", body: (prompt) => ({ model: "m", prompt, stream: true }) },
  {
    path: "/v1/images/generations",
    body: (prompt) => ({ model: "gpt-image-1", prompt, stream: true, partial_images: 3 }),
  },
  {
    path: "/v1/images/edits",
    body: (prompt) =>
      formOf({ model: "gpt-image-1", prompt, image: png(), stream: "true", partial_images: "3" }),
  },
  { path: "/v1/audio/transcriptions", body: (prompt) => sound(prompt, { stream: "true" }) },
  { path: "/v1/audio/speech", body: (input) => ({ model: "tts-1", input: `a ${input}`, voice: "v" }) },
  {
    path: "/v1/audio/speech",
    body: (input) => ({ model: "gpt-4o-mini-tts", input: `a ${input}`, voice: "v", stream_format: "sse" }),
  },
];

describe.each([...WHOLE, ...STREAMED])("$path", ({ path, body }) => {
  const ask = (script: string, secret?: string) => post(provider, path, body(`[[${script}]]`), secret);

  test("needs a key", async () => {
    const bare = await fetch(`${provider.url}${path}`, { method: "POST", body: "{}" });
    expect(bare.status).toBe(401);
  });

  test("is refused as told, with the headers that go with it", async () => {
    const response = await ask("fault=429 retry=7");
    expect([response.status, response.headers.get("retry-after")]).toEqual([429, "7"]);
    expect((await jsonOf(response)).error.code).toBe("rate_limit_exceeded");
    expect(lastCall()).toMatchObject({ status: 429, usage: null, units: null });
  });

  test("does as its key is told", async () => {
    provider.behave("sk-bad-0009", "fault=500", 1);
    expect((await ask("pings=0", "sk-bad-0009")).status).toBe(500);
    const good = await ask("pings=0", "sk-bad-0009");
    await good.arrayBuffer();
    expect([good.status, lastCall().key]).toEqual([200, "0009"]);
  });

  test("closes before any head", async () => {
    await failure(ask("fault=reset"));
  });

  test("is cut while its body is under way", async () => {
    const response = await ask("fault=cut after=2");
    await failure(response.arrayBuffer());
    await until(() => lastCall().outcome !== null);
    expect(lastCall()).toMatchObject({ path, status: 200, outcome: "cut" });
  });

  test("can be empty after a good head", async () => {
    const response = await ask("fault=empty");
    expect([response.status, await response.text()]).toEqual([200, ""]);
  });

  test("can be packed", async () => {
    const plain = Buffer.from(await (await ask("pings=0")).arrayBuffer());
    const packed = await ask("gzip");
    expect(packed.headers.get("content-encoding")).toBe("gzip");
    const bytes = Buffer.from(await packed.arrayBuffer());
    // Ids are counted up, and the lengths of their texts are alike.
    expect(bytes.length).toBe(plain.length);
  });

  test("refuses a mistaken script by name", async () => {
    const response = await ask("falt=500");
    expect([response.status, (await jsonOf(response)).error.code]).toEqual([400, "bad_script"]);
  });

  test("is remembered as it came, byte for byte, without its key", async () => {
    const form = body("[[pings=0]]");
    const request = new Request(`${provider.url}${path}?a=1`, {
      method: "POST",
      headers: { authorization: "Bearer sk-memory-0008", "x-extra": "here" },
      body: form instanceof FormData ? form : JSON.stringify(form, null, 1),
    });
    const bytes = Buffer.from(await request.clone().arrayBuffer());
    await (await fetch(request)).arrayBuffer();
    const call = lastCall();
    expect(call).toMatchObject({ method: "POST", path, query: "a=1", key: "0008", outcome: "complete" });
    expect(call.headers).toMatchObject({ "x-extra": "here" });
    expect(JSON.stringify(call.headers)).not.toContain("sk-memory");
    expect(sha256Of(call.bytes)).toBe(sha256Of(bytes));
    if (!(form instanceof FormData)) return;
    const file = form.get("file") ?? form.get("image");
    if (!(file instanceof File)) throw new Error("The form must have a file");
    const sent = Buffer.from(await file.arrayBuffer());
    expect(call.files).toEqual([
      {
        field: expect.any(String),
        name: file.name,
        type: file.type,
        sizeBytes: sent.length,
        sha256: sha256Of(sent),
      },
    ]);
  });
});

describe.each(WHOLE)("whole answers of $path", ({ path, body }) => {
  const ask = (script: string) => post(provider, path, body(`[[${script}]]`));

  test("can be an error body with 200, or no JSON", async () => {
    expect(await jsonOf(await ask("fault=error_event"))).toMatchObject({ error: { type: "server_error" } });
    const garbage = await (await ask("fault=garbage")).text();
    expect(() => JSON.parse(garbage)).toThrow();
  });

  test("can be huge, or carry a filter's results", async () => {
    expect((await (await ask("fault=huge kb=100")).text()).length).toBeGreaterThan(100 * 1024);
    expect(await jsonOf(await ask("fault=azure"))).toContainKey("content_filter_results");
  });
});

const events = STREAMED.filter(({ body }) => !JSON.stringify(body("")).includes("tts-1"));

describe.each(events)("streams of $path", ({ path, body }) => {
  const text = async (script: string) => (await post(provider, path, body(`[[${script}]]`))).text();
  const count = (stream: string) => stream.match(/^data: /gm)!.length;

  test("lack their last event with no_done", async () => {
    const good = await text("pings=0");
    const open = await text("fault=no_done");
    expect(count(open)).toBe(count(good) - 1);
    expect(good.slice(0, 20)).toBe(open.slice(0, 20));
  });

  test("break off with an error event", async () => {
    const stream = await text("fault=error_event after=2");
    expect(count(stream)).toBe(3);
    expect(stream.slice(stream.lastIndexOf("data: "))).toContain("server_error");
  });

  test("are kept alive by comments, and split anywhere", async () => {
    const stream = await text("pings=2 fault=split bytes=200");
    expect(stream.match(/^: ping$/gm)).toHaveLength(2);
    expect(count(stream)).toBe(count(await text("pings=0")));
  });

  test("hold events that are no JSON, or lack their delta", async () => {
    const whole = count(await text("pings=0"));
    expect(count(await text("fault=garbage"))).toBe(whole + 1);
    expect(count(await text("fault=no_delta"))).toBe(whole + 1);
  });
});

describe("a form", () => {
  const send = (bytes: string, type: string) =>
    fetch(`${provider.url}/v1/audio/transcriptions`, {
      method: "POST",
      headers: { authorization: "Bearer sk-form", "content-type": type },
      body: Buffer.from(bytes, "latin1"),
    });
  const part = (head: string, content: string) =>
    `--b\r\ncontent-disposition: form-data; ${head}\r\n\r\n${content}\r\n`;
  const file = part('name="file"; filename="a.wav"', "x\r\n--bx\r\n\r\n--");
  const model = part("name=model", "whisper-1");

  test("has files that look like boundaries, bare names and repeated fields", async () => {
    const granularity = (value: string) => part('name="timestamp_granularities[]"', value);
    const body = `${file}${model}${granularity("word")}${granularity("segment")}--b--`;
    const response = await send(body.replace("--bx", "--xb"), 'multipart/form-data; boundary="b"');
    expect(response.status).toBe(200);
    await response.text();
    expect(lastCall().body).toEqual({
      model: "whisper-1",
      "timestamp_granularities[]": ["word", "segment"],
    });
    expect(lastCall().files[0]!.sizeBytes).toBe("x\r\n--xb\r\n\r\n--".length);
  });

  test.each([
    ["without a boundary", `${file}${model}--b--`, "multipart/form-data"],
    ["without an end", `${file}${model}`, "multipart/form-data; boundary=b"],
    ["with a part without a name", `${part("x=1", "y")}--b--`, "multipart/form-data; boundary=b"],
    ["that is empty", "", "multipart/form-data; boundary=b"],
  ])("%s is a 400", async (_, body, type) => {
    expect((await send(body, type)).status).toBe(400);
  });
});

test("bodies as they came are let go of when they are too many", async () => {
  const own = startProvider();
  const large = { model: "m", input: "x".repeat(30 * 1024 * 1024) };
  for (let nth = 0; nth < 3; nth++) await (await post(own, "/v1/moderations", large)).text();
  expect(own.calls().map(({ bytes }) => bytes.length > 0)).toEqual([false, true, true]);
  own.close();
});
