// A messages provider's stream as a chat client reads it: one fixture for each kind of event and ending.

import { describe, expect, test } from "bun:test";
import { chatStreamOf } from "../../../src/dialect/translate/answer-translations.ts";
import { readUsage } from "../../../src/dialect/usage.ts";
import { stepsOf, workOf } from "../../work-counter/work-counter.ts";
import {
  block,
  CONTEXT,
  callBlock,
  delta,
  ended,
  eventsOf,
  messagesWire,
  type Row,
  run,
  START,
  STOP,
  stop,
  textBlock,
  thinkingBlock,
} from "./streams.ts";

const machine = ({ includeUsage = false, fingerprint = null as string | null } = {}) =>
  chatStreamOf(CONTEXT, { includeUsage, fingerprint });
const translated = (...events: readonly (Row | string)[]) => run(machine(), messagesWire(...events));

const HEAD = {
  id: "chatcmpl-A1",
  object: "chat.completion.chunk",
  created: 1_700_000_000,
  model: "asked-for",
};
const chunk = (given: Row, finish_reason: string | null = null) => ({
  ...HEAD,
  choices: [{ index: 0, delta: given, logprobs: null, finish_reason }],
});
const ROLE = chunk({ role: "assistant", content: "" });
const said = (...pieces: readonly string[]) => pieces.map((content) => chunk({ content }));
const thought = (...pieces: readonly string[]) =>
  pieces.map((reasoning_content) => chunk({ reasoning_content }));
const called = (index: number, id: string, name: string, ...pieces: readonly string[]) => [
  chunk({ tool_calls: [{ index, id, type: "function", function: { name, arguments: "" } }] }),
  ...pieces.map((given) => chunk({ tool_calls: [{ index, function: { arguments: given } }] })),
];
const FIGURES = {
  ...{ prompt_tokens: 9, completion_tokens: 4, total_tokens: 13 },
  prompt_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
  completion_tokens_details: { reasoning_tokens: 0 },
};

describe("an ordinary stream, byte for byte", () => {
  const EVENTS = [START, { type: "ping" }, ...textBlock(0, "Hel", 'lo "you"'), ended("end_turn"), STOP];
  const frame = (one: object) => `data: ${JSON.stringify(one)}\n\n`;

  test("for a client that asked for no usage", () => {
    const { out, early, content, complete, machine } = translated(...EVENTS);
    const body = `${frame(ROLE)}: ping\n\n${said("Hel", 'lo "you"').map(frame).join("")}`;
    expect(early).toBe(body);
    expect(out).toBe(`${body}${frame(chunk({}, "stop"))}data: [DONE]\n\n`);
    expect(content).toBe(true);
    expect(complete).toBe(true);
    expect(machine).toMatchObject({ delivered: true, chars: 11 });
    expect(machine.texts().join("")).toBe('Hello "you"');
  });
  test("for a client that asked for it, with our fingerprint", () => {
    const { out } = run(machine({ includeUsage: true, fingerprint: "fp_ours" }), messagesWire(...EVENTS));
    const marked = ({ choices }: { choices: unknown }) =>
      frame({ ...HEAD, system_fingerprint: "fp_ours", choices, usage: null });
    const chunks = [ROLE, ...said("Hel", 'lo "you"'), chunk({}, "stop")].map(marked);
    const last = frame({ ...HEAD, system_fingerprint: "fp_ours", choices: [], usage: FIGURES });
    expect(out.replace(": ping\n\n", "")).toBe(`${chunks.join("")}${last}data: [DONE]\n\n`);
  });
});

test("the provider's usage stays in its own shape, for the charge", () => {
  const { machine } = translated(START, ...textBlock(0, "a"), ended("end_turn"), STOP);
  expect(machine.usage).toEqual({ input_tokens: 9, output_tokens: 4 });
  expect(readUsage("messages", machine.usage, { contextWindow: 0, outputLimit: 0 })).toMatchObject({
    inText: 9,
    outText: 4,
  });
});

describe("chunks", () => {
  // biome-ignore format: a table
  const ROWS: readonly (readonly [
    what: string,
    events: readonly Row[],
    stop: string,
    chunks: readonly object[],
    finish: string,
  ])[] = [
    ["thinking, then text", [...thinkingBlock(0, "h", "m"), ...textBlock(1, "a")], "end_turn", [...thought("h", "m"), ...said("a")], "stop"],
    [
      "calls, numbered among themselves",
      [...textBlock(0, "a"), ...callBlock(1, "t1", "f", "", '{"x"', ":1}"), ...callBlock(2, "t2", "g", "{}")],
      "tool_use",
      [...said("a"), ...called(0, "t1", "f", '{"x"', ":1}"), ...called(1, "t2", "g", "{}")],
      "tool_calls",
    ],
    ["a call that is given nothing", callBlock(0, "t", "f"), "tool_use", called(0, "t", "f", "{}"), "tool_calls"],
    ["a call that is given an empty text", callBlock(0, "t", "f", ""), "tool_use", called(0, "t", "f", "{}"), "tool_calls"],
    [
      "a call whose input came with its beginning",
      [block(0, { type: "tool_use", id: "t", name: "f", input: { x: 1 } }), stop(0)],
      "tool_use",
      called(0, "t", "f", '{"x":1}'),
      "tool_calls",
    ],
    ["a call that nobody ended", [block(0, { type: "tool_use", id: "t", name: "f" })], "tool_use", called(0, "t", "f", "{}"), "tool_calls"],
    ["a call without an id", callBlock(0, "", "f", "{}"), "tool_use", called(0, "call_A1_0", "f", "{}"), "tool_calls"],
    [
      "a name that had to be shortened",
      callBlock(0, "t", "short", "{}"),
      "tool_use",
      called(0, "t", "the_name_as_the_client_wrote_it", "{}"),
      "tool_calls",
    ],
    [
      "calls through each other",
      [
        block(0, { type: "tool_use", id: "t0", name: "f", input: {} }),
        block(1, { type: "tool_use", id: "t1", name: "g", input: {} }),
        delta(1, { type: "input_json_delta", partial_json: "[" }),
        delta(0, { type: "input_json_delta", partial_json: "{" }),
        delta(1, { type: "input_json_delta", partial_json: "]" }),
        delta(0, { type: "input_json_delta", partial_json: "}" }),
        stop(0),
        stop(1),
      ],
      "tool_use",
      [
        ...called(0, "t0", "f"),
        ...called(1, "t1", "g"),
        chunk({ tool_calls: [{ index: 1, function: { arguments: "[" } }] }),
        chunk({ tool_calls: [{ index: 0, function: { arguments: "{" } }] }),
        chunk({ tool_calls: [{ index: 1, function: { arguments: "]" } }] }),
        chunk({ tool_calls: [{ index: 0, function: { arguments: "}" } }] }),
      ],
      "tool_calls",
    ],
    [
      "blocks that begin with their words",
      [
        block(0, { type: "thinking", thinking: "hm" }),
        stop(0),
        block(1, { type: "text", text: "a" }),
        stop(1),
      ],
      "end_turn",
      [...thought("hm"), ...said("a")],
      "stop",
    ],
    [
      "the provider's own tools, citations, hidden thinking and news",
      [
        block(0, { type: "redacted_thinking", data: "d" }),
        stop(0),
        ...[block(1, { type: "server_tool_use", id: "s", name: "web_search", input: {} })],
        delta(1, { type: "input_json_delta", partial_json: '{"query":"q"}' }),
        stop(1),
        block(2, { type: "web_search_tool_result", tool_use_id: "s", content: [] }),
        stop(2),
        { type: "something_new", text: "b" },
        block(3, { type: "text", text: "" }),
        delta(3, { type: "citations_delta", citation: { cited_text: "c" } }),
        delta(3, { type: "new_delta", news: "b" }),
        delta(3, { type: "text_delta", text: "a" }),
        stop(3),
      ],
      "end_turn",
      said("a"),
      "stop",
    ],
    [
      "words of a kind that nobody knows, again and again",
      [
        delta(0, { type: "news_delta", text: "b" }),
        delta(0, { type: "news_delta", text: "b" }),
        ...textBlock(0, "a"),
      ],
      "end_turn",
      said("a"),
      "stop",
    ],
    [
      "text on both sides of a call's input",
      [
        block(0, { type: "tool_use", id: "t", name: "f", input: {} }),
        delta(1, { type: "text_delta", text: "a" }),
        delta(0, { type: "input_json_delta", partial_json: "{}" }),
        delta(1, { type: "text_delta", text: "b" }),
      ],
      "tool_use",
      [
        ...called(0, "t", "f"),
        ...said("a"),
        chunk({ tool_calls: [{ index: 0, function: { arguments: "{}" } }] }),
        ...said("b"),
      ],
      "tool_calls",
    ],
    ["no content", [], "end_turn", [], "stop"],
    ["max_tokens", textBlock(0, "a"), "max_tokens", said("a"), "length"],
    ["a full context", textBlock(0, "a"), "model_context_window_exceeded", said("a"), "length"],
    ["a refusal", textBlock(0, "a"), "refusal", said("a"), "content_filter"],
    ["a reason that nobody knows", textBlock(0, "a"), "new_reason", said("a"), "stop"],
    ["tool_use without any", textBlock(0, "a"), "tool_use", said("a"), "stop"],
  ];
  test.each(ROWS)("%s", (_what, events, reason, chunks, finish) => {
    const { out, complete } = translated(START, ...events, ended(reason), STOP);
    expect(eventsOf(out)).toEqual([ROLE, ...chunks, chunk({}, finish)] as Row[]);
    expect(out.endsWith("\n\ndata: [DONE]\n\n")).toBe(true);
    expect(complete).toBe(true);
  });
});

describe("the role", () => {
  test("comes first, though no message_start did", () =>
    expect(eventsOf(translated(...textBlock(0, "a")).early)).toEqual([ROLE, ...said("a")] as Row[]));
  test("comes once", () => expect(eventsOf(translated(START, START).early)).toEqual([ROLE]));
  test("is no content", () => expect(translated(START).content).toBe(false));
});

describe("the end", () => {
  const BODY = [START, ...textBlock(0, "a")];
  const CLOSED = [ROLE, ...said("a"), chunk({}, "stop")] as Row[];
  const ROWS: readonly (readonly [what: string, events: readonly (Row | string)[]])[] = [
    ["message_stop", [ended("end_turn"), STOP]],
    ["[DONE], as some hosts say", [ended("end_turn"), "data: [DONE]\n\n"]],
    ["a good end after the reason to stop", [ended("end_turn")]],
    ["message_delta twice", [ended("end_turn", { output_tokens: 2 }), ended(null), STOP]],
    ["no message_delta", [STOP]],
  ];
  test.each(ROWS)("%s", (_what, events) => {
    const { out, early, complete } = translated(...BODY, ...events);
    expect(eventsOf(out)).toEqual(CLOSED);
    expect(out.match(/\[DONE\]/g)).toHaveLength(1);
    // The ending is for after the charge.
    expect(eventsOf(early)).toEqual(CLOSED.slice(0, -1));
    expect(complete).toBe(true);
  });
  test("a reason that is said once stays", () =>
    expect(eventsOf(translated(...BODY, ended("max_tokens"), ended(null), STOP).out).at(-1)).toEqual(
      chunk({}, "length"),
    ));
  test("usage that never came is estimated", () => {
    const { out } = run(
      machine({ includeUsage: true }),
      messagesWire(...BODY, ended("end_turn", null), STOP),
    );
    expect(eventsOf(out).at(-1)).toMatchObject({
      choices: [],
      usage: { prompt_tokens: 77, completion_tokens: 1 },
    });
  });
  test("a connection that ends before has cut the answer", () => {
    const { complete, machine, out } = translated(...BODY);
    expect(complete).toBe(false);
    expect(machine.outcome(true)).toBe("broken");
    expect(out).not.toContain("[DONE]");
  });
  test("nothing, or pings alone, is no answer", () => {
    expect(translated().machine.outcome(true)).toBe("empty");
    expect(translated({ type: "ping" }).machine.outcome(true)).toBe("empty");
  });
  test("nothing is written after it", () => {
    const stream = machine();
    const say = (one: Row) => stream.feedData(JSON.stringify(one), String(one.type));
    for (const one of [...BODY, ended("end_turn")]) say(one);
    expect(say(STOP).kind).toBe("done");
    expect(say(STOP)).toEqual({ kind: "withheld" });
    expect(say(delta(0, { type: "text_delta", text: "b" }))).toEqual({ kind: "withheld" });
    expect(stream.closing?.()).toEqual(new Uint8Array());
  });
});

test("an error inside the stream ends it, and its text is judged", () => {
  const error = { type: "error", error: { type: "overloaded_error", message: "m" } };
  const { end, early, machine } = translated(START, ...textBlock(0, "a"), error, STOP);
  expect(end).toEqual({ kind: "error", text: JSON.stringify(error) });
  expect(eventsOf(early)).toEqual([ROLE, ...said("a")] as Row[]);
  expect(machine.outcome(true)).toBe("broken");
});

test("a comment passes as it came, a name without data does not", () =>
  expect(translated(": still here\n\n", "event: ping\n\n").early).toBe(": still here\n\n"));

test.each([100, 2_000])(
  "of %d events each byte is gone over a few times, and plain words are no JSON",
  (count) => {
    const wire = messagesWire(
      START,
      ...textBlock(0, ...Array.from({ length: count }, (_, i) => ` word${i}`)),
      ended("end_turn"),
      STOP,
    );
    const once = () => void run(machine(), wire);
    expect(stepsOf(once)).toBeLessThan(8 * wire.length);
    expect(workOf(once).parses).toBeLessThan(10);
  },
);
