// What distinguishes a conversation in a request's body: what its turns have in common gives the same hint, and what another
// conversation has instead gives another one.

import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { chat } from "../../src/dialect/chat/chat.ts";
import { type ConversationHint, hashOfName } from "../../src/dialect/conversation-hint.ts";
import type { Dialect } from "../../src/dialect/dialect.ts";
import { countTokens, messages } from "../../src/dialect/messages/messages.ts";
import { makeRoom } from "../../src/dialect/payload/patched-bytes.ts";
import type { Payload } from "../../src/dialect/payload/payload.ts";
import { jsonPayload } from "../../src/dialect/payload/payload-json.ts";
import { jsonBytesPayload } from "../../src/dialect/payload/payload-json-bytes.ts";
import { responses } from "../../src/dialect/responses/responses.ts";
import { completions } from "../../src/dialect/text/completions.ts";
import { embeddings } from "../../src/dialect/text/embeddings.ts";
import { moderations } from "../../src/dialect/text/moderations.ts";
import { rerank } from "../../src/dialect/text/rerank.ts";

const asText = (body: object): Payload => jsonPayload(JSON.stringify(body));

function asBytes(body: object): Payload {
  const bytes = Buffer.from(JSON.stringify(body));
  const room = makeRoom(bytes.length);
  room.buffer.set(bytes, room.from);
  return jsonBytesPayload(room);
}

function hintOf(dialect: Dialect, body: object, read = asText): ConversationHint | undefined {
  const parsed = dialect.parse(read({ model: "m", ...body }));
  if (!parsed.ok) throw new Error(parsed.refusal.message);
  return parsed.request.conversation;
}

const user = (content: unknown) => ({ role: "user", content });
const assistant = (content: unknown) => ({ role: "assistant", content });
const system = (content: unknown) => ({ role: "system", content });

/** How a conversation of a style is written: its system prompt and its turns, the user's first. */
const STYLES: readonly [Dialect, (system: unknown, ...turns: unknown[]) => object][] = [
  [chat, (first, ...turns) => ({ messages: [system(first), ...turns.map(turnOf)] })],
  [chat, (first, ...turns) => ({ messages: [{ role: "developer", content: first }, ...turns.map(turnOf)] })],
  [messages, (first, ...turns) => ({ max_tokens: 1, system: first, messages: turns.map(turnOf) })],
  [responses, (first, ...turns) => ({ instructions: first, input: turns.map(turnOf) })],
];
const turnOf = (content: unknown, nth: number) => (nth % 2 === 0 ? user(content) : assistant(content));

describe.each(STYLES)("a conversation in style %#", (dialect, write) => {
  const first = hintOf(dialect, write("be brief", "hello"));

  test("keeps its hint as it grows", () => {
    const later = { ...first!, isLaterTurn: true };
    expect(hintOf(dialect, write("be brief", "hello", "hi", "and now?"))).toEqual(later);
    expect(hintOf(dialect, { ...write("be brief", "hello", "hi", "x"), temperature: 1 })).toEqual(later);
  });

  test("keeps it when its first message is written as a part, or marked for the cache", () => {
    const marked = [{ type: "text", text: "hello", cache_control: { type: "ephemeral" } }];
    expect(hintOf(dialect, write("be brief", [{ type: "text", text: "hello" }]))).toEqual(first);
    expect(hintOf(dialect, write("be brief", marked))).toEqual(first);
  });

  test("has another one with another model, system prompt or first message", () => {
    const others = [
      hintOf(dialect, { ...write("be brief", "hello"), model: "n" }),
      hintOf(dialect, write("be long", "hello")),
      hintOf(dialect, write("be brief", "good day")),
      hintOf(dialect, write("be briefhello", "")),
    ];
    expect(new Set([first, ...others].map((one) => one!.hash)).size).toBe(5);
  });

  test("has the hash of its prompt_cache_key before any other", () => {
    const named = { ...write("be brief", "hello"), prompt_cache_key: "abc", metadata: { user_id: "u" } };
    expect(hintOf(dialect, named)).toEqual({
      hash: hashOfName("abc"),
      isCacheKey: true,
      isLaterTurn: false,
    });
    for (const prompt_cache_key of ["", null, 5]) {
      expect(hintOf(dialect, { ...write("be brief", "hello"), prompt_cache_key })).toEqual(first);
    }
  });

  test("is hashed for 64 KB at most", () => {
    const long = `${"word ".repeat(20_000)}`;
    expect(hintOf(dialect, write("be brief", `${long}a`))).toEqual(
      hintOf(dialect, write("be brief", `${long}b`)),
    );
    expect(hintOf(dialect, write(long, "a"))).toEqual(hintOf(dialect, write(long, "b")));
  });

  test("has the same one in a large body, whose images are shortened", () => {
    const image = (letter: string) => [
      { type: "text", text: "look" },
      { type: "image_url", image_url: { url: `data:image/png;base64,${letter.repeat(20_000)}` } },
    ];
    for (const content of [
      image("A"),
      "QUJD".repeat(5_000),
      `data:text/plain;base64,${"QUJD".repeat(5_000)}`,
    ]) {
      const body = write("be brief", content);
      expect(hintOf(dialect, body, asBytes)).toEqual(hintOf(dialect, body));
    }
    expect(hintOf(dialect, write("", image("A")))).not.toEqual(hintOf(dialect, write("", image("B"))));
  });

  test("has the same name however long, and however the body was read", () => {
    const before = { metadata: { a: "A".repeat(9_000), user_id: "U".repeat(9_000) } };
    const named = { ...before, ...write("be brief", "hello"), prompt_cache_key: "Q".repeat(9_000) };
    expect(hintOf(dialect, { ...before, ...write("be brief", "hello") }, asBytes)).toEqual(
      hintOf(dialect, { ...before, ...write("be brief", "hello") }),
    );
    expect(hintOf(dialect, named, asBytes)).toEqual(hintOf(dialect, named));
  });

  test("is read from whatever the messages are", () => {
    const anything = fc.jsonValue({ maxDepth: 4 });
    fc.assert(
      fc.property(anything, anything, (one, other) => {
        const { hash } = hintOf(dialect, write(one, other))!;
        return Number.isInteger(hash) && hash >= 0 && hash < 2 ** 32;
      }),
    );
  });
});

test("a later turn repeats an answer, a call or reasoning; a first one has turns of the client alone", () => {
  const isLater = (dialect: Dialect, body: object) => hintOf(dialect, body)!.isLaterTurn;
  const asked = [user("hello"), user("there")];
  expect(isLater(chat, { messages: [{ role: "developer", content: "brief" }, ...asked] })).toBe(false);
  expect(isLater(chat, { messages: [...asked, { role: "tool", tool_call_id: "c", content: "4" }] })).toBe(
    true,
  );
  expect(isLater(messages, { max_tokens: 1, messages: asked })).toBe(false);
  expect(isLater(responses, { input: "hello" })).toBe(false);
  expect(isLater(responses, { input: asked })).toBe(false);
  for (const type of ["reasoning", "function_call", "function_call_output"])
    expect(isLater(responses, { input: [...asked, { type, call_id: "c" }] })).toBe(true);
  expect(isLater(responses, { input: [...asked, assistant("hi")], prompt_cache_key: "k" })).toBe(true);
  expect(isLater(completions, { prompt: "hello" })).toBe(false);
});

describe("messages", () => {
  const body = { max_tokens: 1, messages: [user("hello")] };

  test("have the hash of metadata.user_id before that of their beginning", () => {
    const metadata = { user_id: "user_1_session_2" };
    const hint = { hash: hashOfName("user_1_session_2"), isCacheKey: false, isLaterTurn: false };
    expect(hintOf(messages, { ...body, metadata })).toEqual(hint);
    expect(hintOf(messages, { ...body, metadata, messages: [user("other")] })).toEqual(hint);
    expect(hintOf(messages, { ...body, metadata: { user_id: "" } })).toEqual(hintOf(messages, body));
  });

  test("have the same hint whatever is billed by a line of their system prompt", () => {
    const line = (version: string) => ({ type: "text", text: `x-anthropic-billing-header: cch=${version};` });
    const brief = { type: "text", text: "be brief" };
    const steady = hintOf(messages, { ...body, system: [brief] });
    expect(hintOf(messages, { ...body, system: [line("a"), brief] })).toEqual(steady);
    expect(hintOf(messages, { ...body, system: [line("b"), brief] }, asBytes)).toEqual(steady);
    expect(hintOf(messages, { ...body, system: line("a").text })).toEqual(hintOf(messages, body));
    expect(hintOf(messages, { ...body, system: [line("a"), { ...brief, text: "be long" }] })).not.toEqual(
      steady,
    );
  });

  test("of the token count have the hint of the request that is counted", () => {
    expect(hintOf(countTokens, body)).toEqual(hintOf(messages, body));
  });

  test("have no such field in the chat style", () => {
    const metadata = { user_id: "u" };
    const said = { messages: [user("hello")] };
    expect(hintOf(chat, { ...said, metadata })).toEqual(hintOf(chat, said));
  });
});

test("an input of one text is a first user message, and a stored prompt a system prompt", () => {
  expect(hintOf(responses, { input: "hello" })).toEqual(hintOf(responses, { input: [user("hello")] }));
  const prompt = (id: string) => ({ prompt: { variables: { name: id } } });
  expect(hintOf(responses, prompt("a"))).not.toEqual(hintOf(responses, prompt("b")));
});

test("a prompt without turns has the hint of its first 4,096 characters", () => {
  const long = "word ".repeat(1_000);
  expect(hintOf(completions, { prompt: `${long}a` })).toEqual(hintOf(completions, { prompt: `${long}b` }));
  expect(hintOf(completions, { prompt: "a" })).not.toEqual(hintOf(completions, { prompt: "b" }));
  expect(hintOf(completions, { prompt: [1, 2] })).not.toEqual(hintOf(completions, { prompt: [1, 3] }));
});

test("requests without conversation have none", () => {
  expect(hintOf(embeddings, { input: "a", prompt_cache_key: "k" })).toBeUndefined();
  expect(hintOf(moderations, { input: "a" })).toBeUndefined();
  expect(hintOf(rerank, { query: "a", documents: ["b"] })).toBeUndefined();
});

test("a hash is the same in every release", () => {
  // Nodes of two releases share the work during an update, and must name the same key. The value is that of xxHash32.
  expect(hashOfName("")).toBe(0x02cc5d05);
});
