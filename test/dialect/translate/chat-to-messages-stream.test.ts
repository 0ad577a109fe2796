// A chat provider's stream as a messages client reads it: one fixture for each thing that hosts do, each event of the
// outcome written down.

import { describe, expect, test } from "bun:test";
import { messagesStreamOf } from "../../../src/dialect/translate/answer-translations.ts";
import { readUsage } from "../../../src/dialect/usage.ts";
import { stepsOf, workOf } from "../../work-counter/work-counter.ts";
import {
  block,
  CONTEXT,
  COUNTED,
  call,
  callBlock,
  chatWire,
  chunk,
  DONE,
  delta,
  ended,
  eventsOf,
  finish,
  type Row,
  role,
  run,
  STOP,
  stop,
  text,
  textBlock,
  thought,
  usage,
} from "./streams.ts";

const machine = () => messagesStreamOf(CONTEXT, { includeUsage: false, fingerprint: "fp_ours" });
const translated = (...chunks: readonly (object | string)[]) => run(machine(), chatWire(...chunks));

const OPENING = {
  type: "message_start",
  message: {
    ...{ id: "msg_A1", type: "message", role: "assistant", model: "asked-for", content: [] },
    ...{ stop_reason: null, stop_sequence: null },
    usage: { input_tokens: 77, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 0 },
  },
};
const thinkingBlock = (index: number, ...pieces: readonly string[]) => [
  block(index, { type: "thinking", thinking: "", signature: "" }),
  ...pieces.map((thinking) => delta(index, { type: "thinking_delta", thinking })),
  delta(index, { type: "signature_delta", signature: "" }),
  stop(index),
];
const FIGURES = {
  input_tokens: 9,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
  output_tokens: 4,
};
const ending = (stop_reason = "end_turn", figures: Row = {}) => [
  ended(stop_reason, { ...FIGURES, ...figures }),
  STOP,
];
const first = (given: Row = {}) =>
  call({ index: 0, id: "t0", type: "function", function: { name: "f", arguments: "" }, ...given });
const more = (index: number, json: string | null) => call({ index, function: { arguments: json } });
const byId = (id: string, json: string) => call({ id, function: { arguments: json } });
const other = (index: number, json = "") =>
  call({ index, id: `t${index}`, function: { name: `f${index}`, arguments: json } });

test("an ordinary stream, byte for byte", () => {
  const { out, early, content, complete, machine } = translated(
    role(),
    text("Hel"),
    text('lo "you"'),
    finish("stop"),
    COUNTED,
    DONE,
  );
  const frame = (one: { type: string }) => `event: ${one.type}\ndata: ${JSON.stringify(one)}\n\n`;
  expect(early).toBe([OPENING, ...textBlock(0, "Hel", 'lo "you"')].map(frame).join(""));
  expect(out).toBe([OPENING, ...textBlock(0, "Hel", 'lo "you"'), ...ending()].map(frame).join(""));
  expect(content).toBe(true);
  expect(complete).toBe(true);
  expect(machine).toMatchObject({ delivered: true, chars: 11, serviceTier: null });
  expect(machine.texts().join("")).toBe('Hello "you"');
});

test("the provider's usage stays in its own shape, for the charge", () => {
  const { machine } = translated(role(), text("a"), finish("stop"), COUNTED, DONE);
  expect(machine.usage).toEqual({ prompt_tokens: 9, completion_tokens: 4, total_tokens: 13 });
  expect(readUsage("chat", machine.usage, { contextWindow: 0, outputLimit: 0 })).toMatchObject({
    inText: 9,
    outText: 4,
  });
});

describe("blocks", () => {
  const GOOD_END = [finish("stop"), COUNTED, DONE];
  const CALL_END = [finish("tool_calls"), COUNTED, DONE];
  // biome-ignore format: a table
  const ROWS: readonly (readonly [
    what: string,
    chunks: readonly (object | string)[],
    events: readonly object[],
  ])[] = [
    [
      "thinking, then text, then a call",
      [role(), thought("h"), thought("m"), text("a"), first(), more(0, '{"x"'), more(0, ":1}"), ...CALL_END],
      [
        ...thinkingBlock(0, "h", "m"),
        ...textBlock(1, "a"),
        ...callBlock(2, "t0", "f", '{"x"', ":1}"),
        ...ending("tool_use"),
      ],
    ],
    [
      "reasoning under its other name",
      [chunk({ reasoning: "hm" }), text("a"), ...GOOD_END],
      [...thinkingBlock(0, "hm"), ...textBlock(1, "a"), ...ending()],
    ],
    [
      "reasoning and text in one chunk, and a finish",
      [chunk({ reasoning_content: "hm", content: "a" }, { finish_reason: "stop" }), COUNTED, DONE],
      [...thinkingBlock(0, "hm"), ...textBlock(1, "a"), ...ending()],
    ],
    [
      "text, thinking, text, each a block of its own",
      [text("a"), thought("hm"), text("b"), ...GOOD_END],
      [...textBlock(0, "a"), ...thinkingBlock(1, "hm"), ...textBlock(2, "b"), ...ending()],
    ],
    [
      "parts",
      [
        chunk({
          content: [
            { type: "thinking", thinking: [{ text: "hm" }] },
            { type: "text", text: "a" },
          ],
        }),
        ...GOOD_END,
      ],
      [...thinkingBlock(0, "hm"), ...textBlock(1, "a"), ...ending()],
    ],
    ["a refusal", [chunk({ refusal: "no" }), ...GOOD_END], [...textBlock(0, "no"), ...ending("refusal")]],
    ["a whole call in one chunk", [other(0, '{"x":1}'), ...CALL_END], [...callBlock(0, "t0", "f0", '{"x":1}'), ...ending("tool_use")]],
    ["a call that is given nothing", [first(), more(0, null), ...CALL_END], [...callBlock(0, "t0", "f"), ...ending("tool_use")]],
    [
      "arguments that came before the name, and the name before the id",
      [
        call({ index: 0, function: { arguments: '{"x' } }),
        call({ index: 0, function: { name: "f", arguments: '":' } }),
        call({ index: 0, id: "t0", function: { arguments: "1" } }),
        more(0, "}"),
        ...CALL_END,
      ],
      [...callBlock(0, "t0", "f", '{"x":1', "}"), ...ending("tool_use")],
    ],
    [
      "a call whose id never comes",
      [
        call({ index: 0, id: "", function: { name: "f", arguments: '{"x":' } }),
        more(0, "1}"),
        text("a"),
        ...CALL_END,
      ],
      [...textBlock(0, "a"), ...callBlock(1, "toolu_A1_0", "f", '{"x":1}'), ...ending("tool_use")],
    ],
    [
      "a call whose name never comes, which nobody could answer",
      [call({ index: 0, id: "t0" }), more(0, "{}"), text("a"), ...GOOD_END],
      [...textBlock(0, "a"), ...ending()],
    ],
    [
      "calls one after the other",
      [other(0), more(0, "{}"), other(1), more(1, '{"y"'), more(1, ":1}"), ...CALL_END],
      [...callBlock(0, "t0", "f0", "{}"), ...callBlock(1, "t1", "f1", '{"y":1}'), ...ending("tool_use")],
    ],
    [
      "calls through each other",
      [other(0), other(1), more(1, '{"y"'), more(0, '{"x"'), more(1, ":1}"), more(0, ":1}"), ...CALL_END],
      [
        ...callBlock(0, "t0", "f0", '{"x"', ":1}"),
        ...callBlock(1, "t1", "f1", '{"y":1}'),
        ...ending("tool_use"),
      ],
    ],
    [
      "calls whose later fragments have the id alone",
      [other(0), other(1), byId("t1", "{}"), byId("t0", '{"x":1}'), ...CALL_END],
      [...callBlock(0, "t0", "f0", '{"x":1}'), ...callBlock(1, "t1", "f1", "{}"), ...ending("tool_use")],
    ],
    [
      "calls whose later fragments have the index alone",
      [
        call({ id: "t0", function: { name: "f0", arguments: "" } }),
        more(0, '{"x":1}'),
        call({ id: "t1", function: { name: "f1", arguments: "" } }),
        more(1, "{}"),
        ...CALL_END,
      ],
      [...callBlock(0, "t0", "f0", '{"x":1}'), ...callBlock(1, "t1", "f1", "{}"), ...ending("tool_use")],
    ],
    [
      "calls in one chunk",
      [
        chunk({
          tool_calls: [
            { index: 0, id: "t0", function: { name: "f0", arguments: "{}" } },
            { index: 1, id: "t1", function: { name: "f1", arguments: "{}" } },
          ],
        }),
        ...CALL_END,
      ],
      [...callBlock(0, "t0", "f0", "{}"), ...callBlock(1, "t1", "f1", "{}"), ...ending("tool_use")],
    ],
    [
      "a call behind one that is not ready keeps its place",
      [
        call({ index: 0, function: { name: "f0" } }),
        other(1, "{}"),
        call({ index: 0, id: "t0" }),
        more(0, "[]"),
        ...CALL_END,
      ],
      [...callBlock(0, "t0", "f0", "[]"), ...callBlock(1, "t1", "f1", "{}"), ...ending("tool_use")],
    ],
    [
      "text and thinking while a call is open",
      [first(), more(0, '{"x"'), text("a"), thought("hm"), more(0, ":1}"), text("b"), ...CALL_END],
      [
        ...callBlock(0, "t0", "f", '{"x"', ":1}"),
        ...textBlock(1, "a"),
        ...thinkingBlock(2, "hm"),
        ...textBlock(3, "b"),
        ...ending("tool_use"),
      ],
    ],
    [
      "ids said again in every fragment",
      [
        first(),
        call({ index: 0, id: "t0", function: { arguments: "{" } }),
        call({ index: 0, id: "", function: { arguments: "}" } }),
        ...CALL_END,
      ],
      [...callBlock(0, "t0", "f", "{", "}"), ...ending("tool_use")],
    ],
    [
      "calls without numbers, known by their ids",
      [
        call({ id: "t0", function: { name: "f0", arguments: "{" } }),
        call({ function: { arguments: "}" } }),
        call({ id: "t1", function: { name: "f1", arguments: "[" } }),
        call({ function: { arguments: "]" } }),
        ...CALL_END,
      ],
      [...callBlock(0, "t0", "f0", "{", "}"), ...callBlock(1, "t1", "f1", "[]"), ...ending("tool_use")],
    ],
    [
      "calls that are all numbered 0, through each other",
      [
        call({ index: 0, id: "t0", function: { name: "f0", arguments: "{" } }),
        call({ index: 0, id: "t1", function: { name: "f1", arguments: "[" } }),
        call({ index: 0, function: { arguments: "]" } }),
        call({ index: 0, id: "t0", function: { arguments: "}" } }),
        ...CALL_END,
      ],
      [...callBlock(0, "t0", "f0", "{", "}"), ...callBlock(1, "t1", "f1", "[]"), ...ending("tool_use")],
    ],
    [
      "whole calls without numbers or ids",
      [
        call({ function: { name: "f0", arguments: { x: 1 } } }),
        call({ function: { name: "f1", arguments: "{}" } }),
        ...CALL_END,
      ],
      [
        ...callBlock(0, "toolu_A1_0", "f0", '{"x":1}'),
        ...callBlock(1, "toolu_A1_1", "f1", "{}"),
        ...ending("tool_use"),
      ],
    ],
    [
      "a call in the old form",
      [
        chunk({ function_call: { name: "f", arguments: "" } }),
        chunk({ function_call: { arguments: "{}" } }),
        finish("function_call"),
        COUNTED,
        DONE,
      ],
      [...callBlock(0, "toolu_A1_0", "f", "{}"), ...ending("tool_use")],
    ],
    [
      "a name that had to be shortened",
      [call({ index: 0, id: "t0", function: { name: "short" } }), ...CALL_END],
      [...callBlock(0, "t0", "the_name_as_the_client_wrote_it"), ...ending("tool_use")],
    ],
    [
      "fields of null, empty ones, and late chunks without a delta",
      [
        chunk({ role: "assistant", content: null, reasoning_content: null, tool_calls: null }),
        chunk({ content: "", tool_calls: [] }, { finish_reason: "" }),
        chunk(undefined),
        { choices: [null, 7] },
        text("a"),
        ...GOOD_END,
      ],
      [...textBlock(0, "a"), ...ending()],
    ],
    [
      "an empty finish reason in every chunk, which ends nothing",
      [
        chunk({ content: "a" }, { finish_reason: "" }),
        chunk({ content: "b" }, { finish_reason: "" }),
        ...GOOD_END,
      ],
      [...textBlock(0, "a", "b"), ...ending()],
    ],
    [
      "a filter's chunk before the first",
      [{ id: "", model: "", choices: [], prompt_filter_results: [] }, text("a"), ...GOOD_END],
      [...textBlock(0, "a"), ...ending()],
    ],
    [
      "choices that nobody asked for",
      [
        chunk({ content: "b" }, { index: 1 }),
        chunk({ content: "b" }, { index: 1 }),
        text("a"),
        chunk({ content: "b" }, { index: 1 }),
        chunk({}, { index: 1, finish_reason: "stop" }),
        ...GOOD_END,
      ],
      [...textBlock(0, "a"), ...ending()],
    ],
    ["no content at all", [role(), ...GOOD_END], [...textBlock(0), ...ending()]],
    [
      "a call after the finish",
      [text("a"), finish("stop"), other(1, "{}"), finish("stop"), COUNTED],
      [...textBlock(0, "a"), ...callBlock(1, "t1", "f1", "{}"), ...ending("tool_use")],
    ],
    [
      "arguments after the end of their call, which have no place",
      [other(0, "{}"), finish("tool_calls"), more(0, "x"), COUNTED],
      [...callBlock(0, "t0", "f0", "{}"), ...ending("tool_use")],
    ],
  ];
  test.each(ROWS)("%s", (_what, chunks, events) => {
    const { out, complete } = translated(...chunks);
    expect(eventsOf(out)).toEqual([OPENING, ...events] as Row[]);
    expect(complete).toBe(true);
  });
});

describe("message_start", () => {
  test("is written at the first event, and once", () => {
    const stream = machine();
    const fed = [role(), role(), text("a")].map((one) => stream.feedData(JSON.stringify(one), ""));
    expect(fed.map(({ kind }) => kind)).toEqual(["pass", "withheld", "pass"]);
    expect(fed[0]).toMatchObject({ content: false });
    expect(fed[2]).toMatchObject({ content: true });
    expect(stream.delivered).toBe(true);
  });
});

describe("content", () => {
  test("is not what is held back, and a stream that breaks then delivered none", () => {
    const { content, machine, early } = translated(
      call({ index: 0, function: { name: "f", arguments: "{" } }),
    );
    expect(content).toBe(false);
    expect(machine.delivered).toBe(false);
    expect(eventsOf(early)).toEqual([OPENING]);
    expect(machine.texts().join("")).toBe("f{");
  });
  test("is the beginning of a call", () => expect(translated(first()).content).toBe(true));
  test("is thinking", () => expect(translated(thought("hm")).content).toBe(true));
});

describe("the end", () => {
  const BODY = [role(), text("a")];
  const CLOSED = [OPENING, ...textBlock(0, "a")] as Row[];
  const ESTIMATED = { input_tokens: 77, output_tokens: 1 };
  // biome-ignore format: a table
  const ROWS: readonly (readonly [
    what: string,
    chunks: readonly (object | string)[],
    reason: string,
    figures: Row,
  ])[] = [
    ["usage after the finish, and nothing more", [finish("stop"), COUNTED], "end_turn", {}],
    ["[DONE] without usage", [finish("length"), DONE], "max_tokens", ESTIMATED],
    ["a good end without usage or [DONE]", [finish("length")], "max_tokens", ESTIMATED],
    ["usage on the finish", [finish("stop", COUNTED.usage ? { usage: COUNTED.usage } : {}), DONE], "end_turn", {}],
    [
      "usage on every chunk, the last of which counts",
      [
        { ...text(""), usage: { prompt_tokens: 9, completion_tokens: 1 } },
        finish("stop", { usage: { prompt_tokens: 9, completion_tokens: 4 } }),
        DONE,
      ],
      "end_turn",
      {},
    ],
    ["usage before the finish ends nothing", [usage({ prompt_tokens: 1, completion_tokens: 1 }), finish("stop"), COUNTED, DONE], "end_turn", {}],
    ["[DONE] without a finish", [DONE], "end_turn", ESTIMATED],
    [
      "cached tokens beside the input",
      [
        finish("stop"),
        usage({ ...COUNTED.usage, prompt_tokens_details: { cached_tokens: 5, cache_write_tokens: 1 } }),
      ],
      "end_turn",
      { input_tokens: 3, cache_read_input_tokens: 5, cache_creation_input_tokens: 1 },
    ],
    ["a filter", [finish("content_filter"), COUNTED], "refusal", {}],
    ["two finishes", [finish("stop"), finish("stop"), COUNTED], "end_turn", {}],
  ];
  test.each(ROWS)("%s", (_what, chunks, reason, figures) => {
    const { out, early, complete } = translated(...BODY, ...chunks);
    expect(eventsOf(out)).toEqual([...CLOSED, ...ending(reason, figures)] as Row[]);
    // The ending is for after the charge.
    expect(early).not.toContain("message_delta");
    expect(complete).toBe(true);
  });
  test("a stop sequence that the host names", () =>
    expect(
      eventsOf(
        translated(text("a"), chunk({}, { finish_reason: "stop", stop_reason: "END" }), COUNTED).out,
      ).at(-2),
    ).toMatchObject({ delta: { stop_reason: "stop_sequence", stop_sequence: "END" } }));
  test("[DONE] without a finish, a call held back", () =>
    expect(
      eventsOf(translated(call({ index: 0, function: { name: "f", arguments: "{}" } }), DONE).out),
    ).toEqual([
      OPENING,
      ...callBlock(0, "toolu_A1_0", "f", "{}"),
      ...ending("tool_use", { input_tokens: 77, output_tokens: 1 }),
    ] as Row[]));
  test("a connection that ends without a finish or [DONE] has cut the answer", () => {
    const { complete, machine, early } = translated(...BODY);
    expect(complete).toBe(false);
    expect(machine.outcome(true)).toBe("broken");
    expect(eventsOf(early)).toEqual(CLOSED.slice(0, -1));
  });
  test("a connection that breaks after the finish has cut it too", () => {
    const stream = machine();
    for (const one of [...BODY, finish("stop")]) stream.feedData(JSON.stringify(one), "");
    expect(stream.outcome(false)).toBe("broken");
  });
  test("nothing at all is no answer", () => {
    expect(translated().machine.outcome(true)).toBe("empty");
    expect(translated(DONE).machine.outcome(true)).toBe("empty");
  });
  test("usage after the end is metered, and written nowhere", () => {
    const stream = machine();
    const say = (one: object | string) =>
      stream.feedData(typeof one === "string" ? one : JSON.stringify(one), "");
    for (const one of [...BODY, finish("stop")]) say(one);
    expect(say(COUNTED).kind).toBe("done");
    const later = { prompt_tokens: 9, completion_tokens: 6 };
    expect(say(usage(later))).toEqual({ kind: "withheld" });
    expect(say(text("b"))).toEqual({ kind: "withheld" });
    expect(say("[DONE]")).toEqual({ kind: "withheld" });
    expect(stream.usage).toEqual(later);
    expect(stream.closing?.()).toEqual(new Uint8Array());
    expect(stream.outcome(true)).toBe("complete");
  });
});

describe("an error inside the stream", () => {
  const ERROR = JSON.stringify({ error: { message: "m", type: "server_error" } });
  test("ends it: nothing is closed, and its text is judged", () => {
    const { end, early, machine } = translated(role(), text("a"), `data: ${ERROR}\n\n`, text("b"), DONE);
    expect(end).toEqual({ kind: "error", text: ERROR });
    expect(eventsOf(early)).toEqual([
      OPENING,
      block(0, { type: "text", text: "" }),
      delta(0, { type: "text_delta", text: "a" }),
    ] as Row[]);
    expect(machine.outcome(true)).toBe("broken");
    expect(machine.delivered).toBe(true);
  });
  test("before anything is all there is", () => {
    const { end, early } = translated(`data: ${ERROR}\n\n`);
    expect(end?.kind).toBe("error");
    expect(early).toBe("");
  });
});

test("what is held back is bounded", () => {
  const stream = machine();
  const say = (one: object) => stream.feedData(JSON.stringify(one), "");
  say(first());
  const large = "x".repeat(1024 * 1024);
  let steps = 0;
  while (say(text(large)).kind !== "error") expect(steps++).toBeLessThan(64);
  expect(stream.outcome(true)).toBe("broken");
});

describe("between events", () => {
  test("a comment passes as it came", () =>
    expect(
      translated(": PROCESSING\n\n", role()).early.startsWith(": PROCESSING\n\nevent: message_start\n"),
    ).toBe(true));
  test("a name without data, at which clients throw, does not", () =>
    expect(translated("event: x\n\n", "event: x\ndata:\n\n").early).toBe(""));
});

test.each([100, 2_000])(
  "of %d events each byte is gone over a few times, and plain words are no JSON",
  (count) => {
    const wire = chatWire(
      ...Array.from({ length: count }, (_, i) => ({
        ...text(` word${i}`),
        created: 1,
        model: "gpt-x",
        usage: null,
      })),
      finish("stop"),
      DONE,
    );
    const once = () => void run(machine(), wire);
    expect(stepsOf(once)).toBeLessThan(8 * wire.length);
    expect(workOf(once).parses).toBeLessThan(10);
  },
);
