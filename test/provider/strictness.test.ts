// The stand-in refuses what its provider would refuse, so a gateway that sends it is found out: requests lacking sense at
// every endpoint. The rules of conversations in messages are in messages-rules.test.ts.

import { afterAll, expect, test } from "bun:test";
import { askIn, chatBody, formOf, jsonOf, post, STYLES, wavFile } from "./asking.ts";
import { startProvider } from "./provider.ts";

const provider = startProvider();
afterAll(() => provider.close());

const GOOD = {
  chat: ["/v1/chat/completions", chatBody("hi")],
  responses: ["/v1/responses", { model: "m", input: "hi" }],
  completions: ["/v1/completions", { model: "m", prompt: "hi" }],
  embeddings: ["/v1/embeddings", { model: "m", input: "a" }],
  images: ["/v1/images/generations", { model: "gpt-image-1", prompt: "A cat" }],
  speech: ["/v1/audio/speech", { model: "tts-1", input: "Hello", voice: "alloy" }],
  rerank: ["/v1/rerank", { model: "r", query: "q", documents: ["d"] }],
  moderations: ["/v1/moderations", { input: "hi" }],
} as const;

test.each([
  ["chat", { model: undefined }, "model"],
  ["chat", { messages: undefined }, "messages"],
  ["chat", { stream_options: { include_usage: true } }, "stream_options"],
  ["responses", { model: undefined }, "model"],
  ["responses", { input: undefined }, "input"],
  [
    "responses",
    { input: [{ role: "user", content: [{ type: "input_image", image_url: "file:///x" }] }] },
    "input",
  ],
  ["completions", { model: undefined }, "model"],
  ["completions", { prompt: undefined }, "prompt"],
  ["completions", { n: 3, best_of: 2 }, "best_of"],
  ["completions", { best_of: 2, stream: true }, "best_of"],
  ["completions", { max_tokens: -1 }, "max_tokens"],
  ["embeddings", { model: undefined }, "model"],
  ["embeddings", { input: [] }, "input"],
  ["embeddings", { input: [1.5] }, "input"],
  ["embeddings", { input: Array(2049).fill("a") }, "input"],
  ["embeddings", { encoding_format: "hex" }, "encoding_format"],
  ["embeddings", { dimensions: 0 }, "dimensions"],
  ["images", { prompt: undefined }, "prompt"],
  ["images", { n: 11 }, "n"],
  ["images", { partial_images: 4 }, "partial_images"],
  ["images", { model: "dall-e-3", stream: true }, "stream"],
  ["images", { response_format: "url" }, "response_format"],
  ["speech", { input: undefined }, "input"],
  ["speech", { voice: undefined }, "voice"],
  ["speech", { input: "x".repeat(4097) }, "input"],
  ["speech", { response_format: "midi" }, "response_format"],
  ["speech", { stream_format: "sse" }, "stream_format"],
  ["rerank", { model: undefined }, "model"],
  ["rerank", { query: undefined }, "query"],
  ["rerank", { documents: [] }, "documents"],
  ["rerank", { documents: [{ title: "x" }] }, "documents"],
  ["moderations", { input: 5 }, "input"],
])("%s is refused with %j", async (name, extra, param) => {
  const [path, body] = GOOD[name as keyof typeof GOOD];
  const response = await post(provider, path, { ...body, ...extra });
  expect([response.status, (await jsonOf(response)).error.param]).toEqual([400, param]);
});

test.each([
  ["chat", { messages: [{ role: "user", content: [null] }] }],
  ["chat", { messages: [null] }],
  ["chat", { stream: true, messages: [{ role: "user", content: [{ type: "odd", content: [null] }] }] }],
])(
  "%s is refused with a field of a type that it does not expect, and the next request is answered: %j",
  async (name, extra) => {
    const [path, body] = GOOD[name as keyof typeof GOOD];
    expect((await post(provider, path, { ...body, ...extra })).status).toBe(400);
    expect((await post(provider, path, body)).status).toBe(200);
  },
);

const sound = wavFile(1);
test.each([
  ["images/edits", { model: "gpt-image-1", prompt: "A hat" }, "image"],
  ["audio/transcriptions", { model: "", file: sound }, "model"],
  ["audio/transcriptions", { model: "whisper-1", file: new File(["x"], "a.txt") }, "file"],
  ["audio/transcriptions", { model: "whisper-1", file: sound, response_format: "pdf" }, "response_format"],
  [
    "audio/translations",
    { model: "whisper-1", file: sound, response_format: "diarized_json" },
    "response_format",
  ],
])("a form of %s is refused without %j", async (name, fields, param) => {
  const response = await post(provider, `/v1/${name}`, formOf(fields as Record<string, string | File>));
  expect([response.status, (await jsonOf(response)).error.param]).toEqual([400, param]);
});

const DATA = "iVBORw0KGgo=";
const base64 = (media_type: string, data = DATA) => ({ type: "base64", media_type, data });
const url = (link: unknown) => ({ type: "image_url", image_url: { url: link } });

test.each([
  ["chat", url(`data:image/png;base64,${DATA}`), 200],
  ["chat", url("https://x.example/a.png"), 200],
  ["chat", url("file:///a.png"), 400],
  ["chat", url("data:text/plain;base64,AAAA"), 400],
  ["chat", url(5), 400],
  ["messages", { type: "image", source: base64("image/png") }, 200],
  ["messages", { type: "image", source: { type: "url", url: "https://x.example/a" } }, 200],
  ["messages", { type: "image", source: { type: "file", file_id: "f" } }, 200],
  ["messages", { type: "image", source: base64("image/tiff") }, 400],
  ["messages", { type: "image", source: base64("image/png", `data:image/png;base64,${DATA}`) }, 400],
  ["messages", { type: "image", source: { type: "url" } }, 400],
  ["messages", { type: "image", source: null }, 400],
] as const)("an image in %s as %j is %d, and 85 tokens of a prompt", async (name, image, status) => {
  const messages = [{ role: "user", content: [{ type: "text", text: "Look" }, image] }];
  const response = await askIn(STYLES[name])(provider, "", { messages });
  expect(response.status).toBe(status);
  if (status === 200) expect(provider.calls().at(-1)!.usage!.prompt).toBe(1 + 6 + 85);
});

const { path, body } = STYLES.messages;
const version = { "anthropic-version": "2023-06-01" };

test.each([
  ["x-api-key", { "x-api-key": "sk-own-2001", ...version }, 200],
  ["a bearer token", { authorization: "Bearer sk-own-2001", ...version }, 200],
  [
    "both, x-api-key first",
    { "x-api-key": "sk-own-2001", authorization: "Bearer sk-no-2004", ...version },
    200,
  ],
  ["no key", version, 401],
  ["no version", { "x-api-key": "sk-own-2001" }, 400],
] as const)("messages with %s", async (_, headers, status) => {
  const sent = new Headers(Object.entries(headers));
  const response = await fetch(`${provider.url}${path}`, {
    method: "POST",
    headers: sent,
    body: JSON.stringify(body("hi")),
  });
  expect(response.status).toBe(status);
  if (status === 200) expect(provider.calls().at(-1)).toMatchObject({ key: "2001" });
});
