// A request of a long conversation to a key of its own style: the provider gets the client's bytes, and the body is decoded and
// parsed once, encoded never and copied at most once, whether the event loop or a worker reads it.

import { afterEach, describe, expect, spyOn, test } from "bun:test";
import type { LevelKey } from "../../actors/level/view.ts";
import { encodeFor } from "../../src/gateway/attempt/encode-request.ts";
import { readPayload } from "../../src/gateway/body.ts";
import { findEndpoint } from "../../src/gateway/endpoints.ts";
import { parsedBy } from "../../src/gateway/large-body/outlined-payload.ts";
import { sizeOf } from "../../src/gateway/metering/request-size.ts";
import { inProcess } from "./large-body/in-process.ts";

const CHAT = "/v1/chat/completions";
const MESSAGES = "/v1/messages";
const RESPONSES = "/v1/responses";
type Path = typeof CHAT | typeof MESSAGES | typeof RESPONSES;

const MARK = { cache_control: { type: "ephemeral", ttl: "5m" } };
/** A tool's output: quotes, escapes, colors of a terminal, characters of one to four bytes. */
const OUTPUT = 'grep -n "x" \\ C:\\dir\t\u001b[31mred\u001b[0m\n Prüfung – 漢字 😀 {"model":"inner"} '.repeat(
  4,
);
const SCHEMA = { type: "object", properties: { model: { type: "string" }, path: { type: "string" } } };

/** A message or item of each style for one turn, with a cache mark wherever the style has a place for it. */
const TURNS: Readonly<Record<Path, (nth: number) => readonly object[]>> = {
  [CHAT]: (nth) => [
    {
      role: "assistant",
      content: null,
      tool_calls: [{ id: `c${nth}`, type: "function", function: { name: "read", arguments: '{"a":1}' } }],
    },
    { role: "tool", tool_call_id: `c${nth}`, content: [{ type: "text", text: OUTPUT, ...MARK }] },
  ],
  [MESSAGES]: (nth) => [
    {
      role: "assistant",
      content: [
        { type: "thinking", thinking: "So …", signature: "c2ln" },
        { type: "tool_use", id: `t${nth}`, name: "read", input: { model: "inner" }, ...MARK },
      ],
    },
    {
      role: "user",
      content: [
        { type: "tool_result", tool_use_id: `t${nth}`, content: [{ type: "text", text: OUTPUT }], ...MARK },
      ],
    },
  ],
  [RESPONSES]: (nth) => [
    { type: "reasoning", id: `rs_${nth}`, summary: [], encrypted_content: "c2ln".repeat(20) },
    { type: "function_call", call_id: `c${nth}`, name: "read", arguments: '{"model":"inner"}' },
    { type: "function_call_output", call_id: `c${nth}`, output: OUTPUT },
  ],
};

const system = [{ type: "text", text: "Du bist …", ...MARK }];
const tools = (nested: boolean) =>
  Array.from({ length: 20 }, (_, nth) => {
    const one = { name: `tool_${nth}`, description: "reads", parameters: SCHEMA };
    if (nested) return { type: "function", function: one, ...MARK };
    return { ...one, type: "function", strict: false };
  });

function bodyOf(path: Path, turns: number): object {
  const said = Array.from({ length: turns }, (_, nth) => TURNS[path](nth)).flat();
  const first = { role: "user", content: "Look." };
  switch (path) {
    case CHAT:
      return {
        model: "m",
        messages: [{ role: "system", content: system }, first, ...said],
        tools: tools(true),
      };
    case MESSAGES: {
      const declared = [{ name: "read", description: "reads", input_schema: SCHEMA, ...MARK }];
      return { model: "m", max_tokens: 9, system, messages: [first, ...said], tools: declared, ...MARK };
    }
    case RESPONSES:
      return { model: "m", instructions: "…", input: [first, ...said], tools: tools(false), store: false };
  }
}

/** Spellings of the same value by different clients. */
const SPELT: Readonly<Record<string, (body: object) => string>> = {
  "without white space": (body) => JSON.stringify(body),
  "with line ends and tabs": (body) => JSON.stringify(body, null, "\t"),
  "with every character escaped": (body) =>
    JSON.stringify(body).replace(
      /[\u0080-\uffff]/g,
      (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`,
    ),
};

const KEYS: Readonly<Record<Path, LevelKey>> = {
  [CHAT]: keyOf("chat"),
  [MESSAGES]: keyOf("messages"),
  [RESPONSES]: keyOf("chat"),
};

function keyOf(style: string): LevelKey {
  return { provider: "https://api.example.com", config: { api_style: style } } as unknown as LevelKey;
}

/** Sends a body through all steps up to the connection. `model` is the provider's name of it. */
async function sent(path: Path, text: string, model: string): Promise<string | Uint8Array> {
  const endpoint = findEndpoint(path);
  const headers = { "content-type": "application/json", "content-length": String(Buffer.byteLength(text)) };
  const request = new Request("http://x/", { method: "POST", headers, body: text });
  const taking = { path, takes: endpoint.takes, most: 10_000_000, large: inProcess(256 * 1024) };
  const parsed = parsedBy(endpoint.dialect, await readPayload(request, taking));
  if (!parsed.ok) throw new Error(parsed.refusal.message);
  expect(sizeOf(parsed.request).promptTokens).toBeGreaterThan(text.length / 8);
  const parts = {
    upstream: { naming: () => ({ model }), lacks: () => false },
    clock: { wall: () => 0 },
  } as never;
  const input = { model: "m", headers: {}, id: "i", promptTokens: 7 };
  const exchange = await encodeFor(parts, endpoint, KEYS[path], parsed.request, input);
  if ("refusal" in exchange) throw new Error(exchange.refusal.message);
  return exchange.outgoing.body as string | Uint8Array;
}

const textOf = (body: string | Uint8Array): string => Buffer.from(body as Uint8Array).toString("utf8");

/** Turns of a body that the event loop reads as text, of one that it reads as bytes, and of one for a worker. */
const TURN_COUNTS = { "some KB": 4, "a hundred KB": 150, "half a megabyte": 1_000 } as const;

describe.each([CHAT, MESSAGES, RESPONSES] as const)("a conversation at %s", (path) => {
  describe.each(Object.entries(TURN_COUNTS))("of %s", (_, turns) => {
    test.each(Object.entries(SPELT))("reaches the provider as it came, %s", async (_, spell) => {
      const text = spell(bodyOf(path, turns));
      expect(textOf(await sent(path, text, "m")) === text).toBe(true);
      for (const model of ["n", "a-longer-name"]) {
        const named = text.replace(/"model":(\s*)"m"/, `"model":$1"${model}"`);
        expect(textOf(await sent(path, text, model)) === named).toBe(true);
      }
    });
  });
});

/** How a body is read: on the event loop as text or, since its length is not stated, as bytes; or as a worker does. */
type Reading = "text" | "bytes" | "worker";

async function hintOf(path: Path, body: object, reading: Reading): Promise<unknown> {
  const { takes, dialect } = findEndpoint(path);
  const text = JSON.stringify(body);
  const headers = { ...(reading === "text" && { "content-length": String(Buffer.byteLength(text)) }) };
  const request = new Request("http://x/", { method: "POST", headers, body: text });
  const large = inProcess(reading === "worker" ? 0 : Number.POSITIVE_INFINITY);
  const taking = { path, takes, most: 10_000_000, large };
  const parsed = parsedBy(dialect, await readPayload(request, taking));
  return parsed.ok ? parsed.request.conversation : parsed;
}

test.each([
  [CHAT, {}],
  [MESSAGES, {}],
  [MESSAGES, { metadata: { user_id: "für mich" } }],
  [RESPONSES, {}],
  [RESPONSES, { prompt_cache_key: "für mich" }],
] as const)("a conversation at %s keeps its hint when it becomes large, with %j", async (path, more) => {
  const body = { ...bodyOf(path, 4), ...more };
  const hint = await hintOf(path, body, "text");
  expect(hint).toMatchObject({ hash: expect.any(Number) });
  for (const reading of ["bytes", "worker"] as const) expect(await hintOf(path, body, reading)).toEqual(hint);
});

/** Bytes or characters that passed through natives which decode, parse, encode or copy. */
interface Counted {
  parses: number;
  decoded: number;
  encoded: number;
  written: number;
  copied: number;
}

const spies: { mockRestore(): void }[] = [];
afterEach(() => {
  for (const spy of spies.splice(0)) spy.mockRestore();
});

/** Small texts, such as those of ids and names, are not counted. */
const COUNTED_MIN = 4_096;

function counting(): Counted {
  const counted: Counted = { parses: 0, decoded: 0, encoded: 0, written: 0, copied: 0 };
  function watch<T extends object>(
    of: T,
    name: keyof T & string,
    count: (self: never, given: never, made: never) => void,
  ) {
    const native = of[name] as (...given: unknown[]) => unknown;
    const spy = spyOn(of as never, name as never).mockImplementation(function (
      this: unknown,
      ...given: unknown[]
    ) {
      const made = Reflect.apply(native, this, given);
      count(this as never, given as never, made as never);
      return made;
    } as never);
    spies.push(spy as never);
  }
  const add = (what: keyof Counted, size: number) => {
    if (size >= COUNTED_MIN) counted[what] += what === "parses" ? 1 : size;
  };
  watch(JSON, "parse", (_self, [text]: [string]) => add("parses", text.length));
  watch(JSON, "stringify", (_self, _given, made: string | undefined) => add("written", made?.length ?? 0));
  watch(Buffer.prototype, "toString", (_self, _given, made: string) => add("decoded", made.length));
  watch(TextDecoder.prototype, "decode", (_self, _given, made: string) => add("decoded", made.length));
  watch(TextEncoder.prototype, "encode", (_self, _given, made: Uint8Array) => add("encoded", made.length));
  watch(Buffer, "from", (_self, [what]: [unknown]) => {
    if (typeof what === "string") add("encoded", what.length);
  });
  const bytes = Object.getPrototypeOf(Uint8Array.prototype) as Uint8Array;
  watch(bytes, "set", (_self, [source]: [ArrayLike<number>]) => add("copied", source.length));
  watch(bytes, "slice", (_self, _given, made: Uint8Array) => add("copied", made.length));
  watch(bytes, "copyWithin", (self: Uint8Array, [_to, from, to = self.length]: [number, number, number?]) =>
    add("copied", to - from),
  );
  return counted;
}

describe.each([CHAT, MESSAGES, RESPONSES] as const)("a conversation at %s, by its work", (path) => {
  test.each([150, 1_000])("of %d turns is decoded and parsed once, and nothing else", async (turns) => {
    const text = JSON.stringify(bodyOf(path, turns));
    const bytes = Buffer.byteLength(text);
    const counted = counting();
    expect(await sent(path, text, "m")).toBeInstanceOf(Uint8Array);
    const { decoded, ...others } = counted;
    expect(others).toEqual({ parses: 1, encoded: 0, written: 0, copied: 0 });
    expect(decoded).toBeLessThanOrEqual(bytes);
  });

  test.each([
    ["a shorter name", "", 0],
    ["a longer name", "a-longer-name", 1],
  ])("with %s of the model is copied at most once", async (_, model, copies) => {
    const text = JSON.stringify(bodyOf(path, 1_000));
    const counted = counting();
    await sent(path, text, model);
    expect(counted).toMatchObject({ parses: 1, encoded: 0, written: 0 });
    expect(counted.copied).toBeLessThanOrEqual(copies * Buffer.byteLength(text));
  });
});
