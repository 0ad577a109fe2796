// A request read by a worker is the same as one read on the event loop, as text or as bytes: what is known of it, what is sent to
// providers of both styles, what its prompt counts, and why it is refused.

import { describe, expect, test } from "bun:test";
import type { LevelKey } from "../../../actors/level/view.ts";
import { realClock } from "../../../src/base/clock.ts";
import { RefusedError } from "../../../src/base/errors.ts";
import type { ModelRequest } from "../../../src/dialect/dialect.ts";
import type { Json } from "../../../src/dialect/json.ts";
import { encodeFor } from "../../../src/gateway/attempt/encode-request.ts";
import { type BodyRequest, readPayload } from "../../../src/gateway/body.ts";
import { codecFor } from "../../../src/gateway/codec/native-codec.ts";
import type { ProviderExchange, RequestOrigin } from "../../../src/gateway/codec/provider-codec.ts";
import { findEndpoint, type GatewayEndpoint, hashPrefixOf } from "../../../src/gateway/endpoints.ts";
import { parsedBy, promptOf } from "../../../src/gateway/large-body/outlined-payload.ts";
import { sizeOf } from "../../../src/gateway/metering/request-size.ts";
import { createCounter } from "../../../src/gateway/metering/token-counter.ts";
import { GOOD } from "../../e2e/surfaces-bodies.ts";
import { type InProcessBodies, inProcess } from "./in-process.ts";

const MOST = 10_000_000;
const HERE = inProcess(Number.POSITIVE_INFINITY);
const KEYS = ["chat", "messages"].map(
  (style) => ({ provider: "https://api.example.com", config: { api_style: style } }) as unknown as LevelKey,
);
const INPUT = { model: "m", headers: { "anthropic-version": "x" }, id: "01ABC", promptTokens: 7 };
const NAMING = { model: "other", add: { added: "1" }, without: ["user"] };
const HAS_ALL = { lacks: () => false };
const PARTS = {
  upstream: { naming: () => NAMING, ...HAS_ALL },
  clock: { wall: () => 1_700_000_000_000 },
} as never;

const counter = createCounter({ clock: realClock() });

interface Sent {
  readonly path: string;
  readonly body: string | Uint8Array | FormData;
}

/** A body whose length is not stated is read as bytes, however small it is. */
function requestOf({ body }: Sent, isStated: boolean): BodyRequest {
  const type = body instanceof FormData ? {} : { "content-type": "application/json" };
  const length = isStated ? { "content-length": String(Buffer.byteLength(body as string)) } : {};
  const headers = { "idempotency-key": "k", ...type, ...length };
  const request = new Request("http://x/", { method: "POST", headers, body: body as BodyInit });
  if (!isStated) return request;
  // The server's text has no byte order mark.
  const text = async () => new TextDecoder().decode(await request.bytes());
  const { body: chunks, signal } = request;
  return { headers: request.headers, body: chunks, signal, text, bytes: () => request.bytes() };
}

const textOf = (body: string | Uint8Array | null): string =>
  typeof body === "string" ? body : Buffer.from(body ?? []).toString("utf8");

/** The boundary of a form is made anew by each request. */
const withoutBoundary = (text: string): string => text.replace(/-{4,}WebkitFormBoundary\w+/gi, "B");

function originOf({ origin }: ProviderExchange): RequestOrigin {
  if (origin.kind !== "request") throw new Error("it is a request's");
  return origin;
}

async function sentTo(endpoint: GatewayEndpoint, key: LevelKey, request: ModelRequest): Promise<unknown> {
  if (codecFor(endpoint, key, "m", HAS_ALL) === null) return null;
  const exchange = await encodeFor(PARTS, endpoint, key, request, INPUT);
  if ("refusal" in exchange) return exchange;
  const { headers, body } = exchange.outgoing;
  const sent = withoutBoundary(textOf(body));
  const names = [...sent.matchAll(/"name":"([^"]*)"/g)].map(([, name]) => name!);
  const own = names.map((name) => originOf(exchange).toolNames.get(name));
  return {
    headers: withoutBoundary(JSON.stringify(headers)),
    sent,
    own,
    model: exchange.sentModel,
    repeatedFields: originOf(exchange).repeatedFields,
  };
}

/** In which order keys are asked: one of each style twice, as attempts at several keys do, and the other style first. */
const ORDERS: readonly (readonly LevelKey[])[] = [[...KEYS, ...KEYS], KEYS.toReversed()];

/** All that later steps see of a request, or its refusal. */
const seen = async (given: Sent, large: InProcessBodies, isStated = false): Promise<readonly unknown[]> => {
  const all: unknown[] = [];
  for (const keys of ORDERS) all.push(await seenOf(given, large, isStated, keys));
  return all;
};

async function seenOf(
  given: Sent,
  large: InProcessBodies,
  isStated: boolean,
  keys: readonly LevelKey[],
): Promise<unknown> {
  const endpoint = findEndpoint(given.path);
  const { path, takes, dialect } = endpoint;
  try {
    const payload = await readPayload(requestOf(given, isStated), { path, takes, most: MOST, large });
    const parsed = parsedBy(dialect, payload);
    if (!parsed.ok) return parsed;
    const { payload: _, ...facts } = parsed.request;
    const tokens = async () => {
      const prompt = promptOf(endpoint, parsed.request);
      return prompt instanceof Promise ? prompt : counter.count(prompt);
    };
    // A count of tokens alone is made of a body that nothing was done with.
    const first = keys === ORDERS[1] ? await tokens() : null;
    const sent: unknown[] = [];
    for (const key of keys) sent.push(await sentTo(endpoint, key, parsed.request));
    return {
      facts,
      size: { ...sizeOf(parsed.request), demands: { ...sizeOf(parsed.request).demands } },
      references: [...(dialect.objects?.referencesOf(payload.value as Json) ?? [])],
      isKept: dialect.objects?.isKept(payload.value as Json),
      sent,
      tokens: [first, await tokens()],
      hash: payload.hash(hashPrefixOf(path)),
    };
  } catch (error) {
    if (error instanceof RefusedError) return error.refusal;
    throw error;
  }
}

/** Demands of a body that is read on the event loop are getters of a class. */
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value) ?? "null");

const CHAT = "/v1/chat/completions";
const MESSAGES = "/v1/messages";
const RESPONSES = "/v1/responses";
const SAID = { model: "m", max_tokens: 9, messages: [{ role: "user", content: "hi, 漢字" }] };
const chat = (more: object, path = CHAT): Sent => ({ path, body: JSON.stringify({ ...SAID, ...more }) });
const asked = (more: object): Sent => ({
  path: RESPONSES,
  body: JSON.stringify({ model: "m", input: "a", ...more }),
});
const tool = (name: string) => ({ type: "function", function: { name, parameters: {} } });
const CARRYING = { type: "reasoning", summary: [], encrypted_content: "arborgate.1.e30" };
const PICTURE = {
  type: "image_url",
  image_url: { url: `data:image/png;base64,${"iVBORw0K".repeat(2_000)}` },
};
const THOUGHT = [
  {
    role: "assistant",
    content: [
      { type: "thinking", thinking: "a", signature: "" },
      { type: "text", text: "b" },
    ],
  },
];

const CALLED = [
  {
    role: "assistant",
    content: "Ich prüfe – später",
    tool_calls: [{ id: "c1", type: "function", function: { name: "f", arguments: '{"größe":"漢"}' } }],
  },
  { role: "tool", tool_call_id: "c1", content: [{ type: "text", text: "fünf 😀" }] },
];

const FOREIGN = {
  ...SAID,
  system: "Sei höflich.",
  messages: [
    ...SAID.messages,
    {
      role: "assistant",
      content: [{ type: "tool_use", id: "t1", name: "f", input: { größe: ["é", 1], a: "ß" } }],
    },
    { role: "user", content: [{ type: "tool_result", tool_use_id: "t1", content: "fünf 😀" }] },
  ],
  tools: [{ name: "f", description: "misst", input_schema: { type: "object", properties: { größe: {} } } }],
};

const CASES: readonly (readonly [string, Sent])[] = [
  ...GOOD.filter(({ body }) => !(body("") instanceof FormData)).map(
    ({ path, body }) => [`good at ${path}`, { path, body: JSON.stringify(body("")) }] as const,
  ),
  [
    "a response with thinking of another provider",
    asked({ input: [CARRYING, { role: "user", content: "a" }] }),
  ],
  [
    "a response that repeats its request",
    asked({ instructions: "b", tools: [{ type: "custom", name: "a.b" }] }),
  ],
  ["a response that repeats less of its request", asked({ instructions: "b".repeat(300_000), store: false })],
  ["a response that cannot be translated", asked({ store: true })],
  ["a stream", chat({ stream: true })],
  ["a stream with options", chat({ stream: true, stream_options: { include_obfuscation: false } })],
  ["options that are long", chat({ stream: true, stream_options: { x: "y".repeat(20_000) } })],
  ["a field twice", { path: CHAT, body: `{"model":"a",${JSON.stringify(SAID).slice(1)}` }],
  [
    "more fields than are searched",
    chat(Object.fromEntries(Array.from({ length: 1_200 }, (_, i) => [`f${i}`, i]))),
  ],
  ["a field with a long name", chat({ ["é".repeat(3_000)]: 1 })],
  ["a user, whom the provider does not take", chat({ user: "u" })],
  ["tools whose names are changed", chat({ tools: ["a.b", "c d", 'q"\\', "fine"].map(tool) })],
  [
    "the same at messages",
    chat({ tools: ["a.b", "fine"].map((name) => ({ name, input_schema: {} })) }, MESSAGES),
  ],
  ["a picture", chat({ messages: [{ role: "user", content: [PICTURE, { type: "text", text: "what?" }] }] })],
  ["thinking without a signature", chat({ messages: [...SAID.messages, ...THOUGHT] }, MESSAGES)],
  ["a token count", chat({}, "/v1/messages/count_tokens")],
  [
    "tools that are billed per call",
    asked({ tools: [{ type: "code_interpreter", container: "c1" }, { type: "web_search" }] }),
  ],
  ["many kinds of tools", asked({ tools: Array.from({ length: 900 }, (_, i) => ({ type: `kind_${i}` })) })],
  [
    "references",
    asked({
      previous_response_id: "resp_1",
      input: [{ type: "item_reference", id: "i1" }, { role: "user", content: "a" }, { id: "i2" }],
    }),
  ],
  ["a conversation", asked({ conversation: { id: "conv_1" }, store: false })],
  ["a conversation by id", asked({ conversation: "conv_1" })],
  ["tokens", { path: "/v1/embeddings", body: JSON.stringify({ model: "m", input: [[1, 2], [3]] }) }],
  [
    "the cache of an hour",
    chat(
      { messages: [{ role: "user", content: [{ type: "text", text: "a", cache_control: { ttl: "1h" } }] }] },
      MESSAGES,
    ),
  ],
  ["a service tier", chat({ service_tier: "flex", n: 3 })],
  [
    "names that are not ASCII",
    chat({ tools: ["wörter", "größe"].map(tool), metadata: { schlüssel: "wert", é: ["ü"] } }),
  ],
  ["arguments that are not ASCII", chat({ messages: [...SAID.messages, ...CALLED] })],
  [
    "a field with the name of the prototype",
    { path: CHAT, body: JSON.stringify(SAID).replace('"role"', '"__proto__":{"ö":"ü"},"role"') },
  ],
  ["a model that is not ASCII", chat({ model: "größer" })],
  [
    "names and words that are not ASCII at messages",
    { path: MESSAGES, body: JSON.stringify(FOREIGN).replace('"größe"', '"__proto__":{"ö":"ü"},"größe"') },
  ],
  ["a field spelt with other letters", chat({ ſpeed: "fast" }, MESSAGES)],
  [
    "the same in a body that is serialized again",
    { path: MESSAGES, body: `{"a":1,"a":2,${JSON.stringify({ ...SAID, ſpeed: "fast" }).slice(1)}` },
  ],
  ["white space", { path: CHAT, body: `\r\n ${JSON.stringify(SAID, null, 2)}\t\n` }],
  ["escapes", { path: CHAT, body: JSON.stringify(SAID).replace("hi", '\\u0068\\\\i\\"\\n') }],
  ["a byte order mark", { path: CHAT, body: `\ufeff${JSON.stringify(SAID)}` }],
  ["no UTF-8", { path: CHAT, body: Buffer.from(JSON.stringify(SAID).replace("hi", "\xff\xfe"), "latin1") }],
  ["no JSON", { path: CHAT, body: '{"model":' }],
  ["nothing", { path: CHAT, body: " " }],
  ["a list", { path: CHAT, body: "[]" }],
  ["too deep a nesting", { path: CHAT, body: `{"a":${"[".repeat(600)}${"]".repeat(600)}}` }],
  ["no model", { path: CHAT, body: '{"messages":[]}' }],
  ["what is not offered", chat({ fallbacks: ["x"] })],
  ["a kept conversation", chat({ thread: "t" }, MESSAGES)],
  [
    "what cannot be translated",
    chat({ messages: [{ role: "user", content: [{ type: "input_audio", input_audio: {} }] }] }),
  ],
];

describe("JSON", () => {
  test.each(CASES)("%s", async (_what, given) => {
    const large = inProcess(0);
    const byWorker = plain(await seen(given, large));
    expect(plain(await seen(given, HERE, true))).toEqual(byWorker);
    expect(plain(await seen(given, HERE))).toEqual(byWorker);
    expect(large.done[0]).toBe("read");
  });

  test("is held as bytes and an outline, and not as a value, while its request runs", async () => {
    const { takes, dialect } = findEndpoint(CHAT);
    const payload = await readPayload(requestOf(chat({}), false), {
      path: CHAT,
      takes,
      most: MOST,
      large: HERE,
    });
    expect(parsedBy(dialect, payload)).toMatchObject({ ok: true, request: { model: "m", maxOutput: 9 } });
    expect(payload.value).toEqual({ input: [] });
  });
});

describe("a form", () => {
  const forms = GOOD.filter(({ body }) => body("") instanceof FormData);
  test.each(forms.map((row) => [row.path, row] as const))("good at %s", async (path, { body }) => {
    const large = inProcess(0);
    const given = { path, body: body("") as FormData };
    expect(plain(await seen(given, large))).toEqual(plain(await seen(given, HERE)));
    expect(large.done[0]).toBe("read");
  });

  test("that is malformed", async () => {
    const headers = { "content-type": "multipart/form-data; boundary=x" };
    const path = "/v1/audio/transcriptions";
    for (const large of [HERE, inProcess(0)]) {
      const request = new Request("http://x/", { method: "POST", headers, body: "--y--" });
      const reading = readPayload(request, { path, takes: "form", most: MOST, large });
      expect(await reading.catch((error: RefusedError) => error.refusal)).toEqual({
        code: "invalid_parameter",
        message: "The body must begin with the boundary that its content type names.",
      });
    }
  });
});

test("a large request is encoded by a worker where its value is needed, and otherwise not", async () => {
  const jobs = async (given: Sent): Promise<readonly string[]> => {
    const large = inProcess(0);
    await seenOf(given, large, false, ORDERS[0]!);
    return large.done;
  };
  // Two of the four keys speak the other style; the prompt is counted last.
  expect(await jobs(chat({}))).toEqual(["read", "encode", "encode", "count"]);
  expect(await jobs(asked({}))).toEqual(["read", "encode", "encode", "count"]);
  const twice = { path: RESPONSES, body: '{"model":"a","model":"m","input":"a"}' };
  expect(await jobs(twice)).toEqual(["read", "encode", "encode", "encode", "encode", "count"]);
});

test("more arrays and objects than a body may have are refused before any of them is made", async () => {
  const body = `{"model":"m","x":[${"[],".repeat(1_000_000)}[]]}`;
  const refused = { code: "invalid_json", message: "The body has more than 1000000 arrays and objects." };
  expect(await seen({ path: CHAT, body }, inProcess(0))).toEqual([refused, refused]);
  const words = chat({ messages: [{ role: "user", content: `\\"[{`.repeat(600_000) }] });
  expect((await seen(words, inProcess(0)))[0]).toMatchObject({ facts: { model: "m" } });
});
