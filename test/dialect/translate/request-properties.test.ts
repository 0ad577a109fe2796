// Translated requests as laws: there and back keeps the meaning, and whatever a client writes, its provider is sent
// something that it takes.

import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { Json } from "../../../src/dialect/json.ts";
import { encryptedContentOf } from "../../../src/dialect/translate/reasoning-item.ts";
import {
  chatRequestOf,
  chatRequestOfResponses,
  messagesRequestOf,
  messagesRequestOfResponses,
} from "../../../src/dialect/translate/request-translations.ts";
import type { ModelFacts } from "../../../src/dialect/translate/translation.ts";
import { improperChat, improperMessages } from "./proper-requests.ts";
import { bodyOf, PLAIN, PNG_SOURCE, PNG_URL } from "./request-samples.ts";

/** A conversation of what both dialects have words for; each test writes it in one of them. */
const words = fc.string({ minLength: 1, maxLength: 12 }).map((some) => `w${some}w`);
const name = fc.stringMatching(/^[a-zA-Z0-9_-]{1,64}$/);
const input = fc
  .dictionary(fc.stringMatching(/^[a-z]{1,6}$/), fc.jsonValue(), { maxKeys: 3 })
  .map((value) => JSON.parse(JSON.stringify(value)) as Json);
const part = fc.oneof(
  words.map((text) => ({ text })),
  fc.constantFrom({ image: PNG_URL }, { image: "https://a.example/b.png" }),
);
const round = fc.record({
  user: fc.array(part, { minLength: 1, maxLength: 3 }),
  text: fc.option(words),
  calls: fc.array(
    fc.record({ name, input, result: fc.array(words, { maxLength: 2 }), failed: fc.boolean() }),
    { maxLength: 3 },
  ),
});
const sample = fc.record({
  system: fc.array(words, { maxLength: 2 }),
  rounds: fc.array(round, { minLength: 1, maxLength: 4 }),
  open: fc.boolean(),
  tools: fc.uniqueArray(fc.record({ name, description: words, at: words }), {
    maxLength: 3,
    selector: (tool) => tool.name,
  }),
  choice: fc.option(fc.constantFrom("auto", "any", "none", "tool")),
  single: fc.boolean(),
  stops: fc.array(words, { maxLength: 4 }),
  limit: fc.integer({ min: 1, max: 100_000 }),
  temperature: fc.option(fc.double({ min: 0, max: 1, noNaN: true })),
  user: fc.option(fc.string({ minLength: 1, maxLength: 64 })),
  stream: fc.boolean(),
});
type Sample = typeof sample extends fc.Arbitrary<infer T> ? T : never;
type Round = Sample["rounds"][number];

const given = (fields: Json): Json =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined && value !== null));
const idOf = (round: number, call: number): string => `call_${round}_${call}`;
const schemaOf = (at: string): Json => ({ type: "object", properties: { at: { description: at } } });

function inMessages(some: Sample): Json {
  const image = (url: string) => (url === PNG_URL ? PNG_SOURCE : { type: "url", url });
  const messages = some.rounds.flatMap((round, r): Json[] => {
    const blocks = round.user.map((one) =>
      "text" in one ? { type: "text", ...one } : { type: "image", source: image(one.image) },
    );
    const results = round.calls.map(({ result, failed }, c) => ({
      type: "tool_result",
      tool_use_id: idOf(r, c),
      content: result.map((text) => ({ type: "text", text })),
      is_error: failed,
    }));
    const content = [
      ...(round.text === null ? [] : [{ type: "text", text: round.text }]),
      ...round.calls.map((call, c) => ({
        type: "tool_use",
        id: idOf(r, c),
        name: call.name,
        input: call.input,
      })),
    ];
    return [
      { role: "user", content: blocks },
      ...(content.length === 0 ? [] : [{ role: "assistant", content }]),
      ...(results.length === 0 ? [] : [{ role: "user", content: results }]),
    ];
  });
  const { choice, single, tools } = some;
  return given({
    model: "m",
    system: some.system.map((text) => ({ type: "text", text })),
    messages: some.open ? [...messages, { role: "user", content: "and?" }] : messages,
    tools: tools.map(({ name, description, at }) => ({ name, description, input_schema: schemaOf(at) })),
    tool_choice:
      choice === null || tools.length === 0
        ? null
        : given({
            type: choice,
            name: choice === "tool" ? tools[0]!.name : null,
            disable_parallel_tool_use: single || null,
          }),
    stop_sequences: some.stops,
    max_tokens: some.limit,
    temperature: some.temperature,
    metadata: some.user === null ? null : { user_id: some.user },
    stream: some.stream,
  });
}

function inChat(some: Sample): Json {
  const messages = some.rounds.flatMap((round, r): Json[] => {
    const parts = round.user.map((one) =>
      "text" in one ? { type: "text", ...one } : { type: "image_url", image_url: { url: one.image } },
    );
    return [
      { role: "user", content: parts },
      ...(round.text === null && round.calls.length === 0 ? [] : [chatAnswer(round, r)]),
      ...round.calls.map(({ result }, c) => ({
        role: "tool",
        tool_call_id: idOf(r, c),
        content: result.join("\n"),
      })),
    ];
  });
  const { choice, single, tools } = some;
  const named = { type: "function", function: { name: tools[0]?.name } };
  return given({
    model: "m",
    messages: [
      ...some.system.map((content) => ({ role: "system", content })),
      ...messages,
      ...(some.open ? [{ role: "user", content: "and?" }] : []),
    ],
    tools: tools.map(({ name, description, at }) => ({
      type: "function",
      function: { name, description, parameters: schemaOf(at) },
    })),
    tool_choice:
      choice === null || tools.length === 0
        ? null
        : choice === "tool"
          ? named
          : { auto: "auto", any: "required", none: "none" }[choice],
    parallel_tool_calls: single && choice !== null && choice !== "none" && tools.length > 0 ? false : null,
    stop: some.stops,
    max_tokens: some.limit,
    temperature: some.temperature,
    user: some.user,
    stream: some.stream,
  });
}

function inResponses(some: Sample): Json {
  const input = some.rounds.flatMap((round, r): Json[] => {
    const parts = round.user.map((one) =>
      "text" in one ? { type: "input_text", ...one } : { type: "input_image", image_url: one.image },
    );
    return [
      { role: "user", content: parts },
      ...(round.text === null ? [] : [{ type: "message", role: "assistant", content: round.text }]),
      ...round.calls.map(({ name, input: value }, c) => ({
        ...{ type: "function_call", call_id: idOf(r, c) },
        ...{ name, arguments: JSON.stringify(value) },
      })),
      ...round.calls.map(({ result }, c) => ({
        ...{ type: "function_call_output", call_id: idOf(r, c) },
        output: result.map((text) => ({ type: "input_text", text })),
      })),
    ];
  });
  const { choice, tools } = some;
  return given({
    model: "m",
    instructions: some.system.length === 0 ? null : some.system.join("\n"),
    input: some.open ? [...input, { role: "user", content: "and?" }] : input,
    tools: tools.map(({ name, description, at }) => ({
      ...{ type: "function", name, description },
      parameters: schemaOf(at),
    })),
    tool_choice:
      choice === "tool" && tools.length > 0
        ? { type: "function", name: tools[0]!.name }
        : choice === null || choice === "tool"
          ? null
          : { auto: "auto", any: "required", none: "none" }[choice],
    parallel_tool_calls: some.single && choice !== null && choice !== "none" ? false : null,
    max_output_tokens: some.limit,
    temperature: some.temperature,
    user: some.user,
    stream: some.stream,
  });
}

const chatAnswer = (round: Round, r: number): Json => ({
  role: "assistant",
  content: round.text,
  tool_calls: round.calls.map(({ name, input }, c) => ({
    id: idOf(r, c),
    type: "function",
    function: { name, arguments: JSON.stringify(input) },
  })),
});

const list = (value: unknown): readonly Json[] =>
  typeof value === "string" ? [{ type: "text", text: value }] : Array.isArray(value) ? (value as Json[]) : [];
const textOf = (value: unknown): string =>
  list(value)
    .filter((one) => one.type === "text")
    .map((one) => one.text)
    .join("\n");
const shown = (blocks: readonly Json[]): unknown[] =>
  blocks.flatMap(({ type, text, source, image_url }) => {
    if (type === "text") return [text];
    if (type === "image_url") return [(image_url as Json).url];
    const { type: kind, url } = (source ?? {}) as Json;
    return type === "image" ? [kind === "url" ? url : PNG_URL] : [];
  });

/** Things that only differ in how they may be written: none at all, or an empty list. */
const orNone = (value: unknown): unknown =>
  Array.isArray(value) && value.length === 0 ? undefined : value === false ? undefined : value;

/**
 * The normal form of a messages request. Turns of one role are one; an answer's texts, a result's and the system's are
 * one text each, line by line; a failed result is one that begins with "Error: "; a single tool asked of a model that may
 * call none means nothing; empty lists are none.
 */
function normalMessages(body: Json): unknown {
  const turns: { role: unknown; results: unknown[]; shown: unknown[]; calls: unknown[] }[] = [];
  for (const { role, content } of body.messages as Json[]) {
    if (turns.at(-1)?.role !== role) turns.push({ role, results: [], shown: [], calls: [] });
    const turn = turns.at(-1)!;
    for (const block of list(content)) {
      if (block.type === "tool_use") turn.calls.push([block.id, block.name, block.input]);
      else if (block.type === "tool_result") {
        const resultText = textOf(block.content);
        turn.results.push([block.tool_use_id, block.is_error === true ? `Error: ${resultText}` : resultText]);
      } else turn.shown.push(...shown([block]));
    }
  }
  const choice = body.tool_choice as Json | undefined;
  const { disable_parallel_tool_use: single, ...rest } = choice ?? {};
  return {
    ...body,
    system: textOf(body.system),
    messages: turns.map((turn) =>
      turn.role === "assistant" ? { ...turn, shown: turn.shown.join("\n") } : turn,
    ),
    tools: orNone(body.tools),
    tool_choice: choice?.type === "none" || choice === undefined ? rest : { ...rest, single },
    stop_sequences: orNone(body.stop_sequences),
    stream: orNone(body.stream),
  };
}

/** The normal form of a chat request: as above, with the fields that say how it is answered left out. */
function normalChat(body: Json): unknown {
  const { stream_options: _, ...rest } = body;
  const messages = body.messages as Json[];
  const system = messages.filter(({ role }) => role === "system").map(({ content }) => textOf(content));
  const turns: Json[] = [];
  for (const message of messages) {
    if (message.role === "system") continue;
    const last = turns.at(-1);
    if (message.role === "user" && last?.role === "user")
      (last.shown as unknown[]).push(...shown(list(message.content)));
    else if (message.role === "user") turns.push({ role: "user", shown: shown(list(message.content)) });
    else turns.push({ ...message, tool_calls: orNone(message.tool_calls) });
  }
  return {
    ...rest,
    messages: turns,
    system: system.join("\n"),
    tools: orNone(body.tools),
    stop: orNone(body.stop),
    stream: orNone(body.stream),
  };
}

describe("there and back keeps the meaning", () => {
  const model = { ...PLAIN, name: "m" };
  test("of a messages request", () =>
    fc.assert(
      fc.property(sample, (some) => {
        const body = inMessages(some);
        const back = bodyOf(messagesRequestOf(bodyOf(chatRequestOf(body, model)), model));
        expect(normalMessages(back)).toEqual(normalMessages(body));
      }),
      { numRuns: 300 },
    ));
  test("of a chat request", () =>
    fc.assert(
      fc.property(sample, (some) => {
        const body = inChat(some);
        const back = bodyOf(chatRequestOf(bodyOf(messagesRequestOf(body, model)), model));
        expect(normalChat(back)).toEqual(normalChat(body));
      }),
      { numRuns: 300 },
    ));
});

describe("a responses request means the same by either way", () => {
  const model = { ...PLAIN, name: "m" };
  test("to a messages provider, directly and through the chat style", () =>
    fc.assert(
      fc.property(sample, (some) => {
        const body = inResponses(some);
        const directly = bodyOf(messagesRequestOfResponses(body, model));
        const through = bodyOf(messagesRequestOf(bodyOf(chatRequestOfResponses(body, model)), model));
        expect(normalMessages(through)).toEqual(normalMessages(directly));
      }),
      { numRuns: 300 },
    ));
  test("to a chat provider, directly and through the messages style", () =>
    fc.assert(
      fc.property(sample, (some) => {
        const body = inResponses(some);
        const directly = bodyOf(chatRequestOfResponses(body, model));
        const through = bodyOf(chatRequestOf(bodyOf(messagesRequestOfResponses(body, model)), model));
        expect(normalChat(through)).toEqual(normalChat(directly));
      }),
      { numRuns: 300 },
    ));
});

/** What no honest client writes: right words in wrong places, wrong types everywhere, ids that collide. */
const id = fc.constantFrom<unknown>("a", "b", "a_2", "", "a.b", "x".repeat(80), 5, null, undefined);
const junk = fc.oneof(
  fc.constantFrom<unknown>(undefined, null, "", " ", "{}", '{"a":1}', "[", 0, -1, 1.5, true, [], {}),
  fc.jsonValue({ maxDepth: 2 }),
);
const toolName = fc.constantFrom<unknown>("look", "a.b", "", "n".repeat(200), "constructor", "__proto__", 7);
const block = fc.oneof(
  junk,
  fc.record({ type: fc.constant("text"), text: fc.oneof(fc.constantFrom("", " ", "a", "b "), junk) }),
  fc.record({ type: fc.constant("tool_use"), id, name: toolName, input: junk }),
  fc.record({
    type: fc.constant("tool_result"),
    tool_use_id: id,
    content: fc.oneof(
      junk,
      fc.constant([
        { type: "text", text: "" },
        { type: "image", source: PNG_SOURCE },
      ]),
    ),
    is_error: junk,
  }),
  fc.record({ type: fc.constant("thinking"), thinking: junk, signature: junk }),
  fc.record({ type: fc.constantFrom("image", "document", "search_result"), source: junk, content: junk }),
  fc.constant({ type: "image", source: PNG_SOURCE }),
  fc.record({ type: fc.constant("image_url"), image_url: fc.oneof(junk, fc.constant({ url: PNG_URL })) }),
  fc.record({ type: fc.constantFrom("file", "input_audio", "refusal"), file: junk, refusal: junk }),
);
const content = fc.oneof(junk, fc.array(block, { maxLength: 4 }), fc.constantFrom("hi", "b \n"));
const call = fc.oneof(
  junk,
  fc.record({ id, function: fc.oneof(junk, fc.record({ name: toolName, arguments: junk })) }),
  fc.record({ id, custom: fc.record({ name: toolName, input: junk }) }),
);
const message = fc.oneof(
  { weight: 1, arbitrary: junk },
  {
    weight: 9,
    arbitrary: fc.record(
      {
        role: fc.constantFrom("system", "developer", "user", "assistant", "tool", "function", "else"),
        content,
        tool_calls: fc.oneof(junk, fc.array(call, { maxLength: 3 })),
        tool_call_id: id,
        function_call: junk,
        thinking_blocks: fc.oneof(junk, fc.array(block, { maxLength: 2 })),
        refusal: junk,
      },
      { requiredKeys: ["role", "content"] },
    ),
  },
);
const tool = fc.oneof(
  junk,
  fc.record({ name: toolName, description: junk, input_schema: junk, strict: junk }),
  fc.record({ type: fc.constant("function"), function: fc.record({ name: toolName, parameters: junk }) }),
);
const choice = fc.oneof(
  junk,
  fc.constantFrom<unknown>("auto", "none", "required"),
  fc.record({
    type: fc.constantFrom("auto", "any", "tool", "none", "function", "allowed_tools"),
    name: toolName,
    function: fc.record({ name: toolName }),
    allowed_tools: fc.oneof(junk, fc.record({ mode: junk, tools: fc.array(tool, { maxLength: 2 }) })),
    disable_parallel_tool_use: junk,
  }),
);
const CARRIED = encryptedContentOf({
  ...{ provider: "maker", text: "" },
  blocks: [{ type: "thinking", thinking: "a", signature: "S" }],
});
const responsesItem = fc.oneof(
  { weight: 1, arbitrary: junk },
  {
    weight: 9,
    arbitrary: fc.record(
      {
        type: fc.constantFrom<unknown>(
          ...["message", "function_call", "custom_tool_call", "function_call_output"],
          ...["custom_tool_call_output", "reasoning", "web_search_call", undefined, 5],
        ),
        role: fc.constantFrom("system", "developer", "user", "assistant", "else"),
        content: fc.oneof(
          junk,
          fc.array(
            fc.oneof(
              junk,
              fc.record({ type: fc.constantFrom("input_text", "output_text"), text: junk }),
              fc.constant({ type: "input_image", image_url: PNG_URL }),
              fc.record({ type: fc.constantFrom("input_file", "refusal"), file_data: junk, refusal: junk }),
            ),
            { maxLength: 3 },
          ),
        ),
        call_id: id,
        name: toolName,
        arguments: junk,
        input: junk,
        output: fc.oneof(junk, fc.constant([{ type: "input_image", image_url: PNG_URL }])),
        encrypted_content: fc.oneof(junk, fc.constantFrom("arborgate.1.", "arborgate.1.e30", CARRIED)),
      },
      { requiredKeys: ["type", "content"] },
    ),
  },
);
const hostileResponses = fc.record(
  {
    input: fc.oneof(
      { weight: 1, arbitrary: junk },
      { weight: 15, arbitrary: fc.array(responsesItem, { maxLength: 8 }) },
    ),
    instructions: content,
    tools: fc.oneof(
      { weight: 9, arbitrary: fc.constant(undefined) },
      { weight: 1, arbitrary: junk },
      {
        weight: 9,
        arbitrary: fc.array(
          fc.record({
            type: fc.constantFrom("function", "custom"),
            ...{ name: toolName, description: junk, parameters: junk, format: junk, strict: junk },
          }),
          { maxLength: 3 },
        ),
      },
    ),
    tool_choice: choice,
    parallel_tool_calls: junk,
    max_output_tokens: fc.oneof(junk, fc.integer({ min: -1, max: 20_000 })),
    temperature: junk,
    top_p: junk,
    reasoning: fc.oneof(junk, fc.record({ effort: fc.constantFrom("none", "low", "max") })),
    text: fc.oneof(junk, fc.record({ format: junk, verbosity: junk })),
    user: junk,
    prompt_cache_key: junk,
    stream: junk,
  },
  { requiredKeys: ["input"] },
);
const hostile = fc.record(
  {
    messages: fc.oneof(
      { weight: 1, arbitrary: junk },
      { weight: 15, arbitrary: fc.array(message, { maxLength: 8 }) },
    ),
    system: content,
    tools: fc.oneof(junk, fc.array(tool, { maxLength: 3 })),
    tool_choice: choice,
    parallel_tool_calls: junk,
    stop: fc.oneof(junk, fc.array(junk)),
    stop_sequences: fc.oneof(junk, fc.array(junk)),
    max_tokens: fc.oneof(junk, fc.integer({ min: -1, max: 20_000 })),
    max_completion_tokens: junk,
    temperature: junk,
    top_p: junk,
    top_k: junk,
    reasoning_effort: fc.oneof(junk, fc.constantFrom("none", "low", "high", "max")),
    thinking: fc.oneof(
      junk,
      fc.record({ type: fc.constantFrom("enabled", "disabled"), budget_tokens: junk }),
    ),
    output_config: fc.oneof(junk, fc.record({ effort: junk, format: junk })),
    response_format: fc.oneof(junk, fc.record({ type: fc.constant("json_schema"), json_schema: junk })),
    metadata: junk,
    user: junk,
    stream: junk,
    n: junk,
  },
  { requiredKeys: ["messages"] },
);
const facts: fc.Arbitrary<ModelFacts> = fc.record({
  name: fc.constant("m"),
  maxOutputTokens: fc.constantFrom(0, 4_096, 64_000),
  contextWindow: fc.constantFrom(0, 4_096, 200_000),
  quirks: fc
    .subarray(["no_sampling_params", "no_prefill", "no_forced_tool_choice", "adaptive_thinking"])
    .map((quirks) => new Set(quirks)),
  reasoning: fc.boolean(),
  readsReasoning: fc.boolean(),
  signsCalls: fc.boolean(),
  efforts: fc.constantFrom([], ["low", "medium", "high"], ["none", "low"]),
  structured: fc.boolean(),
  lateSystem: fc.boolean(),
  topK: fc.boolean(),
  verbosity: fc.boolean(),
  cacheKey: fc.boolean(),
  cacheMarks: fc.boolean(),
  provider: fc.constantFrom("maker", "other"),
});

for (const [provider, translate, improper] of [
  ["a messages provider", messagesRequestOfResponses, improperMessages],
  ["a chat provider", chatRequestOfResponses, improperChat],
] as const)
  describe(`whatever a responses client writes, ${provider}`, () => {
    test("is sent what it takes, or nothing: the refusal names the field", () =>
      fc.assert(
        fc.property(hostileResponses, facts, (body, model) => {
          const request = translate(body, model);
          if (request.ok) expect(improper(JSON.parse(JSON.stringify(request.body)) as Json)).toEqual([]);
          else expect(request.refusal.message).toStartWith(`${request.refusal.field} `);
        }),
        { numRuns: 2_000 },
      ));
    test("is sent something most of the time: what is proved above is not empty", () => {
      const made = fc.sample(hostileResponses, { numRuns: 300, seed: 1 });
      expect(made.filter((body) => translate(body, PLAIN).ok).length).toBeGreaterThan(60);
    });
    test("is sent items of any number", () => {
      const content = Array.from({ length: 200_000 }, () => ({ type: "output_text", text: "a" }));
      const answer = { role: "assistant", content };
      const results = content.map(() => ({ type: "function_call_output", call_id: "x", output: "b" }));
      const input = [answer, { role: "user", content }, answer, ...results];
      expect(improper(bodyOf(translate({ input }, PLAIN)))).toEqual([]);
    });
  });

/** Both ways: the translation, and what its provider finds wrong with it. */
const WAYS = [
  ["a messages provider", messagesRequestOf, improperMessages],
  ["a chat provider", chatRequestOf, improperChat],
] as const;

for (const [provider, translate, improper] of WAYS)
  describe(`whatever a client writes, ${provider}`, () => {
    test("is sent what it takes, or nothing: the refusal names the field", () =>
      fc.assert(
        fc.property(hostile, facts, (body, model) => {
          const before = JSON.stringify(body);
          const request = translate(body, model);
          expect(JSON.stringify(body)).toBe(before);
          if (request.ok) expect(improper(JSON.parse(JSON.stringify(request.body)) as Json)).toEqual([]);
          else expect(request.refusal.message).toStartWith(`${request.refusal.field} `);
        }),
        { numRuns: 2_000 },
      ));
    test("is sent something most of the time: what is proved above is not empty", () => {
      const sent = fc.sample(hostile, { numRuns: 300, seed: 1 }).filter((body) => translate(body, PLAIN).ok);
      expect(sent.length).toBeGreaterThan(60);
    });
    test("is sent messages of any length", () => {
      const content = Array.from({ length: 200_000 }, () => ({ type: "text", text: "a" }));
      const turns = ["system", "user", "assistant"].map((role) => ({ role, content }));
      const results = {
        role: "user",
        content: content.map(() => ({ type: "tool_result", tool_use_id: "x" })),
      };
      const orphans = content.map(() => ({ role: "tool", tool_call_id: "x", content: "b" }));
      const messages = [...turns, ...turns, results, ...orphans];
      expect(improper(bodyOf(translate({ system: content, messages }, PLAIN)))).toEqual([]);
    });
    test("never gets more than a line's worth of work for each line", () => {
      const use = { type: "tool_use", id: "a", name: "look", input: {} };
      const call = { id: "a", function: { name: "look", arguments: "{}" } };
      const messages = Array.from({ length: 20_000 }, () => ({
        role: "assistant",
        content: [use],
        tool_calls: [call],
      }));
      const request = translate({ messages }, PLAIN);
      expect(improper(bodyOf(request)).filter((rule) => !rule.startsWith("id "))).toEqual([]);
    });
  });
