// What end-to-end tests rely on and could not notice by themselves: that a knob changes what its row says, that a stream says
// what the whole answer says, and that the memory of a call has the true count.

import { afterAll, describe, expect, test } from "bun:test";
import { encode } from "gpt-tokenizer/encoding/o200k_base";
import {
  askIn,
  askMessages,
  BOTH,
  chatBody,
  eventsOf,
  formOf,
  type Json,
  jsonOf,
  post,
  wavFile,
} from "./asking.ts";
import { startProvider } from "./provider.ts";

const provider = startProvider();
afterAll(() => provider.close());
const lastCall = () => provider.calls().at(-1)!;

const png = () => new File([Buffer.from([137, 80, 78, 71, 0, 255])], "a.png", { type: "image/png" });
const CHAT = "/v1/chat/completions";
const chat = (text: string, extra: object = {}) => chatBody(text, extra);
const respond = (input: string, extra: object = {}) => ({ model: "gpt-4o", input, ...extra });
const complete = (prompt: unknown, extra: object = {}) => ({ model: "m", prompt, ...extra });
const embed = (input: unknown, extra: object = {}) => ({ model: "m", input, ...extra });
const draw = (prompt: string, extra: object = {}) => ({ model: "gpt-image-1", prompt, ...extra });
const rank = (query: string, extra: object = {}) => ({
  model: "m",
  query,
  documents: ["a", "b c"],
  ...extra,
});
const write = (fields: Record<string, string | File>) =>
  formOf({ file: wavFile(2.5), model: "gpt-4o-transcribe", prompt: "Hi [[output=8]]", ...fields });

const CALLED = [
  { type: "function", name: "look_up" },
  { type: "function", name: "add" },
];

/** Path, request, part of its answer, part of what is remembered of the call. */
// biome-ignore format: a table
const ANSWERS: readonly (readonly [path: string, body: object | FormData, answer: object, call?: object])[] =
  [
    [
      CHAT,
      chat("[[prompt=2006 cached=1920 cache_write=6 audio_in=10 output=300 reasoning=200 audio_out=50]]"),
      {
        usage: {
          prompt_tokens: 2006,
          completion_tokens: 300,
          total_tokens: 2306,
          prompt_tokens_details: { cached_tokens: 1920, cache_write_tokens: 6, audio_tokens: 10 },
          completion_tokens_details: { reasoning_tokens: 200, audio_tokens: 50 },
        },
      },
      { usage: { prompt: 2006, completion: 300 } },
    ],
    [CHAT, chat("[[output=4]]", { n: 3 }), { usage: { completion_tokens: 12 } }],
    [CHAT, chat("[[output=50]]", { max_tokens: 7 }), { usage: { completion_tokens: 7 } }],
    [CHAT, chat("[[answered=other tier=flex finish=odd]]"), { model: "other", service_tier: "flex" }],
    [
      "/v1/responses",
      respond("Good morning [[cached=2 output=4 searches=1]]"),
      { status: "completed", usage: { input_tokens: 8, input_tokens_details: { cached_tokens: 2 } } },
      { usage: { prompt: 8, completion: 4, cached: 2, searches: 1 } },
    ],
    ["/v1/responses", respond("[[output=50]]", { max_output_tokens: 7 }), { status: "incomplete" }],
  ["/v1/responses", respond("[[finish=content_filter]]"), { incomplete_details: { reason: "content_filter" } }],
    ["/v1/responses", respond("[[finish=failed]]"), { status: "failed", usage: null }],
    ["/v1/responses", respond("[[finish=failed usage=always output=5]]"), { usage: { output_tokens: 5 } }],
    ["/v1/responses", respond("[[usage=none]]"), { usage: null }],
  ["/v1/responses", respond("[[finish=refusal]]"), { output: [{ content: [{ type: "refusal" }] }] }],
  ["/v1/responses", respond("[[tool]]", { tools: CALLED }), { output: [{ type: "function_call", name: "look_up" }] }],
    ["/v1/responses", respond("[[usage=null_details]]"), { usage: { input_tokens_details: null } }],
    ["/v1/completions", complete("[[output=50]]"), { usage: { completion_tokens: 16 } }],
    ["/v1/completions", complete([[5, 6], [7]]), { usage: { prompt_tokens: 3 } }],
    [
      "/v1/completions",
      complete("[[output=4]]", { n: 2, best_of: 6 }),
      { choices: [{ index: 0 }, { index: 1 }], usage: { completion_tokens: 24 } },
      { usage: { completion: 24 } },
    ],
  ["/v1/embeddings", embed([[1, 2], [3]]), { data: [{ index: 0 }, { index: 1 }], usage: { prompt_tokens: 3 } }],
    ["/v1/embeddings", embed("Hi [[usage=zero]]"), { usage: { prompt_tokens: 0, total_tokens: 0 } }],
  ["/v1/embeddings", embed("Hi [[shape=jina prompt=9]]"), { usage: { total_tokens: 9 } }],
    ["/v1/embeddings", embed("Hi [[shape=voyage prompt=9]]"), { usage: { total_tokens: 9 } }],
  ["/v1/embeddings", embed("Hi [[shape=cohere prompt=9]]"), { meta: { billed_units: { input_tokens: 9 } } }],
    ["/v1/images/generations", { model: "dall-e-3", prompt: "A" }, {}, { units: { images: 1 } }],
    [
      "/v1/images/generations",
      draw("A red cat", { n: 2 }),
      { usage: { input_tokens_details: { text_tokens: 3, image_tokens: 0 }, output_tokens: 544 } },
      { usage: { prompt: 3, completion: 544 }, units: { images: 2 } },
    ],
    [
      "/v1/images/edits",
      formOf({ model: "gpt-image-1", prompt: "A hat [[image_in=50]]", image: png() }),
      { usage: { input_tokens: 52, input_tokens_details: { text_tokens: 2, image_tokens: 50 } } },
      { usage: { imageIn: 50 }, files: [{ field: "image", name: "a.png", sizeBytes: 6 }] },
    ],
  ["/v1/images/variations", formOf({ model: "dall-e-2", image: png(), n: "2" }), {}, { units: { images: 2 } }],
    [
      "/v1/audio/transcriptions",
      write({}),
      { usage: { input_token_details: { text_tokens: 1, audio_tokens: 25 }, output_tokens: 8 } },
      { units: { seconds: 2.5 }, usage: { prompt: 26, audioIn: 25, completion: 8 } },
    ],
    ["/v1/audio/transcriptions", write({ model: "whisper-1" }), { usage: { type: "duration", seconds: 3 } }],
    ["/v1/audio/transcriptions", write({ prompt: "[[billed=duration]]" }), { usage: { type: "duration" } }],
  ["/v1/audio/transcriptions", write({ model: "whisper-1", response_format: "verbose_json" }), { duration: 2.5, usage: { type: "duration" } }],
    ["/v1/audio/transcriptions", write({ prompt: "[[seconds=90]]" }), {}, { units: { seconds: 90 } }],
  ["/v1/rerank", rank("red", { documents: Array(101).fill("cat") }), { meta: { billed_units: { search_units: 2 } } }, { units: { searchUnits: 2 } }],
    ["/v1/audio/transcriptions", write({ response_format: "diarized_json" }), { segments: [{ speaker: "A" }, { speaker: "B" }] }],
  ["/v1/rerank", rank("red cat [[shape=jina]]"), { usage: { total_tokens: 7 } }],
    ["/v1/rerank", rank("red cat [[shape=voyage]]"), { object: "list", usage: { total_tokens: 7 } }],
    ["/v1/moderations", { input: ["hi", "ho"] }, { results: [{ flagged: false }, { flagged: false }] }],
  ["/v1/moderations", { input: "hi [[finish=content_filter]]" }, { results: [{ flagged: true }] }],
];

test.each(ANSWERS)("%s, asked %j", async (path, body, answer, call = {}) => {
  expect(await jsonOf(await post(provider, path, body))).toMatchObject(answer);
  expect(lastCall()).toMatchObject({ path, status: 200, ...call });
});

/** Path, request of a stream, and part of its last event: the only one with usage. */
const STREAMS: readonly (readonly [path: string, body: object | FormData, last: object])[] = [
  [CHAT, chat("[[output=4]]", { n: 3 }), { choices: [], usage: { completion_tokens: 12 } }],
  ["/v1/completions", complete("[[output=3]]"), { choices: [], usage: { completion_tokens: 3 } }],
  ["/v1/images/generations", draw("A [[output=9]]", { partial_images: 2 }), { usage: { output_tokens: 9 } }],
  ["/v1/audio/transcriptions", write({}), { type: "transcript.text.done", usage: { output_tokens: 8 } }],
  [
    "/v1/audio/speech",
    { model: "gpt-4o-mini-tts", input: "one two [[output=70]]", voice: "v", stream_format: "sse" },
    { type: "speech.audio.done", usage: { input_tokens: 2, output_tokens: 70 } },
  ],
];

test.each(STREAMS)("%s, streamed, reports its usage at its end alone", async (path, body, last) => {
  if (body instanceof FormData) body.set("stream", "true");
  const streaming = { ...body, stream: true, stream_options: { include_usage: true } };
  const events = await eventsOf(await post(provider, path, body instanceof FormData ? body : streaming));
  expect(events.at(-1)).toMatchObject(last);
  expect(events.filter(({ usage }) => usage != null)).toHaveLength(1);
});

/** Path, and a request whose script keeps usage back. */
const WITHOUT_USAGE: readonly (readonly [path: string, body: object | FormData])[] = [
  ["/v1/embeddings", embed("Hi [[usage=none]]")],
  ["/v1/audio/transcriptions", write({ prompt: "[[usage=none]]" })],
  ["/v1/rerank", rank("red [[usage=none shape=jina]]")],
];

test.each(WITHOUT_USAGE)("%s reports no usage when its script says so", async (path, body) => {
  expect(await jsonOf(await post(provider, path, body))).not.toHaveProperty("usage");
});

test("an answer that speech was cut in has made what it has sent", async () => {
  const input = "Hi 🎉 [[fault=cut after=3 how=clean]]";
  const response = await post(provider, "/v1/audio/speech", { model: "tts-1", input, voice: "alloy" });
  expect((await response.arrayBuffer()).byteLength).toBe(3000);
  expect(lastCall()).toMatchObject({ units: { characters: input.length - 1 }, usage: { completion: 15 } });
});

describe.each(BOTH)("words of $name", (style) => {
  const asked = askIn(style);

  test("are a token of o200k each", async () => {
    const said = style.textOf(await jsonOf(await asked(provider, "[[output=64]]")));
    // "Say." of a message is two.
    expect(encode(said)).toHaveLength(style.name === "chat" ? 64 : 65);
  });

  test.each(["", "utf8", "gzip", "pings=5"])("are the same streamed as whole: %s", async (knobs) => {
    const text = `[[output=20 ${knobs}]]`;
    const whole = style.textOf(await jsonOf(await asked(provider, text)));
    const events = await eventsOf(await asked(provider, text, { stream: true }));
    expect(events.map(style.wordOf).join("")).toBe(whole);
    expect(whole.includes("日本")).toBe(knobs === "utf8");
  });

  test("follow a schema, and are counted as they are sent", async () => {
    const schema = {
      type: "object",
      properties: {
        city: { type: "string" },
        kind: { enum: ["big", "small"] },
        days: { type: "array", items: { type: "integer" } },
        note: { type: ["null", "string"] },
        place: { anyOf: [{ type: "object", properties: { near: { type: "boolean" } } }, { type: "null" }] },
      },
    };
    const extra =
      style.name === "chat"
        ? { response_format: { type: "json_schema", json_schema: { name: "trip", schema } } }
        : { output_config: { format: { type: "json_schema", schema } } };
    const whole = await jsonOf(await asked(provider, "Rome", extra));
    expect(JSON.parse(style.textOf(whole))).toEqual({
      city: expect.stringContaining("Rome"),
      kind: "big",
      days: [expect.any(Number)],
      note: null,
      place: { near: true },
    });
    expect(lastCall().usage!.completion).toBe(style.outputOf(whole));
  });
});

const TOOLS = ["look_up", "add"].map((name) => ({
  type: "function",
  function: { name, parameters: { type: "object" } },
}));

test.each([
  ["fragments", 2],
  ["whole", 2],
  ["repeat_id", 2],
  ["interleaved", 2],
  ["no_index", 1],
  ["zero_index", 1],
])("streamed tool calls as %s are numbered in %d ways and hold the same arguments", async (form, indices) => {
  const body = chatBody(`Paris [[tool=2 tool_form=${form}]]`, { stream: true, tools: TOOLS });
  const events = await eventsOf(await post(provider, CHAT, body));
  const parts = events.flatMap((event) => event.choices[0].delta.tool_calls ?? []);
  expect(parts.map((part) => part.function.name).filter(Boolean)).toEqual(["look_up", "add"]);
  expect(new Set(parts.map((part) => part.index)).size).toBe(indices);
  const joined = parts.map((part) => part.function.arguments ?? "").join("");
  if (form !== "interleaved") expect(joined).toBe('{"text":"Paris"}'.repeat(2));
  const changes = parts.filter((part, nth) => part.index !== parts[nth - 1]?.index).length;
  if (form === "interleaved") expect(changes).toBe(parts.length);
});

test("calls that are signed are refused without their signatures", async () => {
  const said = { role: "user", content: "Paris [[tool signed]]" };
  const asked = (messages: readonly Json[]) => post(provider, CHAT, chatBody("", { tools: TOOLS, messages }));
  const { choices } = await jsonOf(await asked([said]));
  const [call] = choices[0].message.tool_calls;
  const { extra_content: _, ...unsigned } = call;
  const returned = async (calls: readonly Json[]) => {
    const answer = { role: "assistant", content: null, tool_calls: calls };
    return (await asked([said, answer, { role: "tool", tool_call_id: call.id, content: "rain" }])).status;
  };
  const signed = (thought_signature: string) => [
    { ...unsigned, extra_content: { google: { thought_signature } } },
  ];
  expect([await returned([call]), await returned([unsigned]), await returned(signed("other"))]).toEqual([
    200, 400, 400,
  ]);
  expect(await returned(signed("skip_thought_signature_validator"))).toBe(200);
});

describe("thoughts of messages", () => {
  const knobs = "[[think reasoning=4 output=6]]";

  test("are a signed block before the text, streamed word by word", async () => {
    const { content, usage } = await jsonOf(await askMessages(provider, knobs));
    expect(content.map((block: Json) => block.type)).toEqual(["thinking", "text"]);
    expect(content[0].signature).not.toBe("");
    expect(usage).toMatchObject({ output_tokens: 6, output_tokens_details: { thinking_tokens: 4 } });
    const events = await eventsOf(await askMessages(provider, knobs, { stream: true }));
    const kinds = events.flatMap((event) => (event.index === 0 && event.delta ? [event.delta.type] : []));
    expect(kinds).toEqual([...Array(4).fill("thinking_delta"), "signature_delta"]);
  });

  test("are inside the limit", async () => {
    const { usage } = await jsonOf(
      await askMessages(provider, "[[think reasoning=20 output=30]]", { max_tokens: 5 }),
    );
    expect(usage).toMatchObject({ output_tokens: 5, output_tokens_details: { thinking_tokens: 5 } });
  });
});

test.each([
  ["Hi [[output=6 reasoning=2 think searches=1]]", {}],
  ["Paris [[tool=2 tool_form=interleaved]]", { tools: CALLED }],
])("a streamed response ends as the whole one, numbered, its usage at the end: %s", async (input, more) => {
  const whole = await jsonOf(await post(provider, "/v1/responses", respond(input, more)));
  const asked = respond(input, { ...more, stream: true });
  const events = await eventsOf(await post(provider, "/v1/responses", asked));
  const bare = (items: Json) => items.map(({ id: _, call_id: __, ...item }: Json) => item);
  expect(bare(events.at(-1).response.output)).toEqual(bare(whole.output));
  expect(events.map((event) => event.sequence_number)).toEqual(events.map((_, nth) => nth));
  expect(events.filter((event) => event.response?.usage != null)).toHaveLength(1);
});

test("what is kept is known to the key that made it, and to no other", async () => {
  const reach = (method: string, path: string, secret: string) =>
    fetch(`${provider.url}${path}`, { method, headers: { authorization: `Bearer ${secret}` } });
  const { id, output } = await jsonOf(await post(provider, "/v1/responses", respond("Hi"), "sk-own"));
  const talk = await jsonOf(await post(provider, "/v1/conversations", {}, "sk-own"));
  const referring = [
    { previous_response_id: id },
    { input: [{ type: "item_reference", id: output[0].id }] },
    { conversation: talk.id },
    { conversation: { id: talk.id } },
  ];
  for (const body of referring) {
    expect((await post(provider, "/v1/responses", respond("On", body), "sk-own")).status).toBe(200);
    expect((await post(provider, "/v1/responses", respond("On", body), "sk-other")).status).toBe(404);
  }
  expect((await reach("DELETE", `/v1/responses/${id}`, "sk-other")).status).toBe(404);
  expect((await reach("GET", `/v1/responses/${id}/input_items`, "sk-own")).status).toBe(200);
  expect((await reach("DELETE", `/v1/responses/${id}`, "sk-own")).status).toBe(200);
  expect((await reach("GET", `/v1/responses/${id}`, "sk-own")).status).toBe(404);
  const unkept = await jsonOf(
    await post(provider, "/v1/responses", respond("Hi", { store: false }), "sk-own"),
  );
  expect((await reach("GET", `/v1/responses/${unkept.id}`, "sk-own")).status).toBe(404);
});
