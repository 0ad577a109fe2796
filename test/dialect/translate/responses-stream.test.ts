// What a responses client receives of a chat provider's and of a messages provider's stream, event by event.

import { describe, expect, test } from "bun:test";
import {
  responsesStreamOfChat,
  responsesStreamOfMessages,
} from "../../../src/dialect/translate/answer-translations.ts";
import { carriedThinking } from "../../../src/dialect/translate/reasoning-item.ts";
import { stepsOf, workOf } from "../../work-counter/work-counter.ts";
import { properResponses } from "./responses-grammar.ts";
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
  messagesWire,
  type Row,
  role,
  run,
  START,
  STOP,
  stop,
  text,
  textBlock,
  thinkingBlock,
  thought,
} from "./streams.ts";

const OPTIONS = { includeUsage: false, fingerprint: null };
const ofChat = (chunks: readonly (object | string)[], context = CONTEXT) =>
  run(responsesStreamOfChat(context, OPTIONS), chatWire(...chunks));
const ofMessages = (events: readonly (Row | string)[], context = CONTEXT) =>
  run(responsesStreamOfMessages(context, OPTIONS), messagesWire(...events));
const ERROR = { message: "m", type: "api_error", code: "upstream_error" };
const failed = ({ early, machine }: ReturnType<typeof run>) =>
  properResponses(early + Buffer.from(machine.streamError!(ERROR)).toString());

/** The types of the events between the first two and the last one, without their common beginning. */
const typesOf = (out: string): string[] =>
  eventsOf(out)
    .slice(2, -1)
    .map(({ type }) => String(type).slice("response.".length));
const types = (text: string): string[] => text.trim().split(/\s+/);
const MESSAGE = (deltas: string) =>
  `output_item.added content_part.added ${deltas} output_text.done content_part.done output_item.done`;
const REASONING = (deltas: string) =>
  `output_item.added reasoning_summary_part.added ${deltas} reasoning_summary_text.done reasoning_summary_part.done output_item.done`;
const CALL = (deltas: string) => `output_item.added ${deltas} function_call_arguments.done output_item.done`;
const SAID = "output_text.delta ";
const THOUGHT = "reasoning_summary_text.delta ";
const GIVEN = "function_call_arguments.delta ";

describe("an ordinary answer", () => {
  const { out, early, machine, complete, content } = ofChat([
    role(),
    text("Hel"),
    text('lo "you"'),
    finish("stop"),
    COUNTED,
    DONE,
  ]);
  const frames = out.split("\n\n");
  const framed = (event: Row) => `event: ${event.type}\ndata: ${JSON.stringify(event)}`;
  const place = { item_id: "msg_A1_0", output_index: 0, content_index: 0 };
  const part = (words: string) => ({ type: "output_text", annotations: [], logprobs: [], text: words });
  const item = {
    id: "msg_A1_0",
    type: "message",
    status: "completed",
    role: "assistant",
    content: [part('Hello "you"')],
  };

  test("is exactly these events", () =>
    expect(frames.slice(2, -2)).toEqual(
      [
        {
          type: "response.output_item.added",
          output_index: 0,
          item: { ...item, status: "in_progress", content: [] },
        },
        { type: "response.content_part.added", ...place, part: part("") },
        { type: "response.output_text.delta", ...place, logprobs: [], delta: "Hel" },
        { type: "response.output_text.delta", ...place, logprobs: [], delta: 'lo "you"' },
        { type: "response.output_text.done", ...place, text: 'Hello "you"', logprobs: [] },
        { type: "response.content_part.done", ...place, part: part('Hello "you"') },
        { type: "response.output_item.done", output_index: 0, item },
      ].map((event, nth) => framed({ ...event, sequence_number: nth + 2 })),
    ));
  test("begins and ends with the response", () => {
    const events = eventsOf(out);
    const { response } = events[0]!;
    expect(response).toMatchObject({
      id: "resp_A1",
      created_at: 1_700_000_000,
      completed_at: null,
      status: "in_progress",
    });
    expect(events[1]).toEqual({ type: "response.in_progress", response, sequence_number: 1 });
    expect(events.at(-1)).toEqual({
      type: "response.completed",
      response: {
        ...(response as Row),
        status: "completed",
        completed_at: 1_700_000_000,
        output: [item],
        usage: {
          input_tokens: 9,
          input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
          output_tokens: 4,
          output_tokens_details: { reasoning_tokens: 0 },
          total_tokens: 13,
        },
      },
      sequence_number: 9,
    });
    expect(out).not.toContain("[DONE]");
  });
  test("ends after the charge, and is metered as the provider says", () => {
    expect(typesOf(early)).toEqual(types("output_item.added content_part.added output_text.delta"));
    expect([complete, content]).toEqual([true, true]);
    expect(machine).toMatchObject({ usage: COUNTED.usage, delivered: true, chars: 11 });
    expect(machine.made).toBeUndefined();
  });
});

describe("the events of a chat provider's", () => {
  const first = (index: number, id: string, name: string, json = "") =>
    call({ index, id, function: { name, arguments: json } });
  const more = (index: number, json: string) => call({ index, function: { arguments: json } });
  // biome-ignore format: a table
  const ROWS: readonly (readonly [what: string, chunks: readonly object[], events: string])[] = [
    ["reasoning and text", [thought("h"), thought("m"), text("a")], `${REASONING(THOUGHT.repeat(2))} ${MESSAGE(SAID)}`],
    ["reasoning and text in one chunk", [chunk({ reasoning: "h", content: "a" })], `${REASONING(THOUGHT)} ${MESSAGE(SAID)}`],
    ["reasoning after text", [text("a"), thought("h"), text("b")], `${MESSAGE(SAID)} ${REASONING(THOUGHT)} ${MESSAGE(SAID)}`],
    ["a refusal after text", [text("a"), chunk({ refusal: "no" }), chunk({ refusal: "!" })],
      "output_item.added content_part.added output_text.delta output_text.done content_part.done content_part.added refusal.delta refusal.delta refusal.done content_part.done output_item.done"],
    ["a call", [text("a"), first(0, "t", "f"), more(0, '{"x"'), more(0, ":1}")], `${MESSAGE(SAID)} ${CALL(GIVEN.repeat(2))}`],
    ["a call without arguments", [first(0, "t", "f")], CALL(GIVEN)],
    ["calls in turn", [first(0, "t", "f", "{"), more(0, "}"), first(1, "u", "g", "{"), more(1, "}")], `${CALL(GIVEN.repeat(2))} ${CALL(GIVEN)}`],
    ["calls through each other, the second in one piece", [first(0, "t", "f"), first(1, "u", "g"), more(1, "{"), more(0, "{"), more(1, "}"), more(0, "}")], `${CALL(GIVEN.repeat(2))} ${CALL(GIVEN)}`],
    ["text during a call, behind it", [first(0, "t", "f"), text("a"), more(0, "{}"), text("b")], `${CALL(GIVEN)} ${MESSAGE(SAID)}`],
    ["a call whose id comes late", [call({ index: 0, function: { name: "f", arguments: "{" } }), call({ index: 0, id: "t", function: { arguments: "}" } })], CALL(GIVEN)],
    ["no content", [], "output_item.added content_part.added output_text.done content_part.done output_item.done"],
  ];
  test.each(ROWS)("%s", (_what, chunks, events) => {
    const { out, complete } = ofChat([role(), ...chunks, finish("stop"), COUNTED, DONE]);
    expect(typesOf(out)).toEqual(types(events));
    expect(properResponses(out)).toMatchObject({ endings: 1 });
    expect(complete).toBe(true);
  });
});

describe("the events of a messages provider's", () => {
  // biome-ignore format: a table
  const ROWS: readonly (readonly [what: string, events: readonly Row[], types: string])[] = [
    ["thinking and text", [...thinkingBlock(0, "h", "m"), ...textBlock(1, "a")], `${REASONING(THOUGHT.repeat(2))} ${MESSAGE(SAID)}`],
    ["thinking twice", [...thinkingBlock(0, "h"), ...thinkingBlock(1, "m")], `${REASONING(THOUGHT)} ${REASONING(THOUGHT)}`],
    ["thinking that is signed and not shown", [...thinkingBlock(0), ...textBlock(1, "a")], `output_item.added output_item.done ${MESSAGE(SAID)}`],
    ["thinking that nobody may read", [block(0, { type: "redacted_thinking", data: "d" }), stop(0), ...textBlock(1, "a")], `output_item.added output_item.done ${MESSAGE(SAID)}`],
    ["texts that were cut", [...textBlock(0, "a"), ...textBlock(1, "b")], MESSAGE(SAID.repeat(2))],
    ["text, a call, text", [...textBlock(0, "a"), ...callBlock(1, "t", "f", '{"x"', ":1}"), ...textBlock(2, "b")], `${MESSAGE(SAID)} ${CALL(GIVEN.repeat(2))} ${MESSAGE(SAID)}`],
    ["calls", [...callBlock(0, "t", "f", "{}"), ...callBlock(1, "u", "g", "{", "}")], `${CALL(GIVEN)} ${CALL(GIVEN.repeat(2))}`],
    ["a call without input", callBlock(0, "t", "f"), CALL(GIVEN)],
    ["a call without an id, which is known at its end", callBlock(0, "", "f", "{", "}"), CALL(GIVEN)],
    ["a call whose input came with its beginning", [block(0, { type: "tool_use", id: "t", name: "f", input: { x: 1 } }), stop(0)], CALL(GIVEN)],
    ["calls through each other",
      [...[0, 1].map((nth) => block(nth, { type: "tool_use", id: `t${nth}`, name: "f", input: {} })), ...[1, 0, 1, 0].map((nth) => delta(nth, { type: "input_json_delta", partial_json: " " })), stop(0), delta(1, { type: "input_json_delta", partial_json: "{}" }), stop(1)],
      `${CALL(GIVEN.repeat(2))} ${CALL(GIVEN.repeat(2))}`],
    ["the provider's own tools and news", [block(0, { type: "server_tool_use", id: "s", name: "web_search", input: {} }), stop(0), { type: "news" }, ...textBlock(1, "a")], MESSAGE(SAID)],
  ];
  test.each(ROWS)("%s", (_what, events, expected) => {
    const { out, complete } = ofMessages([START, ...events, ended("end_turn"), STOP]);
    expect(typesOf(out)).toEqual(types(expected));
    expect(properResponses(out)).toMatchObject({ endings: 1 });
    expect(complete).toBe(true);
  });

  test("thinking comes with what the provider requires back", () => {
    const hidden = block(1, { type: "redacted_thinking", data: "d" });
    const { out } = ofMessages([
      START,
      ...thinkingBlock(0, "h", "m"),
      hidden,
      stop(1),
      ...thinkingBlock(2),
      ended("end_turn"),
      STOP,
    ]);
    const items = properResponses(out).response!.output as Row[];
    expect(items.map((item) => carriedThinking(item)!.blocks)).toEqual([
      [{ type: "thinking", thinking: "hm", signature: "signed" }],
      [{ type: "redacted_thinking", data: "d" }],
      [{ type: "thinking", thinking: "", signature: "signed" }],
    ]);
  });
  test("thinking that waits behind a call loses its signature, and stays", () => {
    const { out } = ofMessages([
      START,
      block(0, { type: "tool_use", id: "t", name: "f", input: {} }),
      ...thinkingBlock(1, "hm"),
      stop(0),
      ended("end_turn"),
      STOP,
    ]);
    const [, item] = properResponses(out).response!.output as Row[];
    expect(carriedThinking(item!)).toMatchObject({ blocks: [], text: "hm" });
  });
  test("a ping is a comment", () => expect(ofMessages([{ type: "ping" }]).early).toBe(": ping\n\n"));
});

describe("a custom tool's call", () => {
  const context = { ...CONTEXT, repeatedFields: { tools: [{ type: "custom", name: "patch" }] } };
  test("is its text, in one piece", () => {
    const parts = ['{"in', 'put":"a\\', 'n\\"b\\""}'];
    const { out } = ofMessages(
      [START, ...callBlock(0, "t", "patch", ...parts), ended("tool_use"), STOP],
      context,
    );
    expect(typesOf(out)).toEqual(
      types("output_item.added custom_tool_call_input.delta custom_tool_call_input.done output_item.done"),
    );
    const item = { id: "ctc_A1_0", type: "custom_tool_call", call_id: "t", name: "patch", input: 'a\n"b"' };
    expect(properResponses(out).response!.output).toEqual([item]);
  });
  test("without any has no delta", () => {
    const { out } = ofMessages([START, ...callBlock(0, "t", "patch"), ended("tool_use"), STOP], context);
    expect(typesOf(out)).toEqual(types("output_item.added custom_tool_call_input.done output_item.done"));
  });
  test("that was cut has no input", () => {
    const cut = [START, ...callBlock(0, "t", "patch", '{"input":"a').slice(0, 2)];
    expect(failed(ofMessages(cut, context)).response!.output).toEqual([
      { id: "ctc_A1_0", type: "custom_tool_call", call_id: "t", name: "patch", input: "" },
    ]);
  });
});

describe("the end", () => {
  // biome-ignore format: a table
  const ROWS: readonly (readonly [what: string, end: string, status: string, reason: string | null])[] = [
    ["of a chat answer that was cut by its limit", "length", "incomplete", "max_output_tokens"],
    ["of one that was filtered", "content_filter", "incomplete", "content_filter"],
    ["of any other", "stop", "completed", null],
  ];
  test.each(ROWS)("%s", (_what, reason, status, why) => {
    const { response } = properResponses(ofChat([text("a"), finish(reason), DONE]).out);
    expect(response).toMatchObject({
      ...{ status, incomplete_details: why === null ? null : { reason: why } },
      ...{ output: [{ status }], usage: { input_tokens: 77, output_tokens: 1 } },
    });
  });
  test("of a message comes after its item, which says that it is incomplete", () => {
    const { out, early } = ofMessages([START, ...callBlock(0, "t", "f", '{"x'), ended("max_tokens"), STOP]);
    expect(early).not.toContain("output_item.done");
    expect(properResponses(out).response!.output).toMatchObject([{ status: "incomplete", arguments: '{"x' }]);
  });
  test("of a call that was cut before its first argument has none", () => {
    const { out } = ofMessages([START, ...callBlock(0, "t", "f"), ended("max_tokens"), STOP]);
    expect(properResponses(out).response!.output).toMatchObject([{ status: "incomplete", arguments: "" }]);
  });
  test("of a custom tool's call that was cut has the text so far", () => {
    const context = { ...CONTEXT, repeatedFields: { tools: [{ type: "custom", name: "patch" }] } };
    const events = [START, ...callBlock(0, "t", "patch", '{"input":"a\\nb'), ended("max_tokens"), STOP];
    expect(properResponses(ofMessages(events, context).out).response!.output).toMatchObject([
      { type: "custom_tool_call", input: "a\nb" },
    ]);
  });
  test("of an answer that was filtered before its first word has no item", () =>
    expect(properResponses(ofMessages([START, ended("refusal"), STOP]).out).response).toMatchObject({
      ...{ status: "incomplete", output: [] },
    }));
  test("comes once, whether by usage, [DONE] or the connection", () => {
    const body = [text("a"), finish("stop")];
    for (const last of [[COUNTED, text("b"), DONE], [DONE], [COUNTED, DONE, DONE], []])
      expect(properResponses(ofChat([...body, ...last]).out)).toMatchObject({ endings: 1, text: "a" });
  });
});

describe("a stream that fails", () => {
  test("ends with what was said, and its estimated usage", () => {
    const { response, failures } = failed(
      ofChat([
        role(),
        thought("hm"),
        text("a"),
        call({ index: 0, id: "t", function: { name: "f", arguments: '{"x' } }),
      ]),
    );
    expect(failures).toBe(1);
    expect(response).toMatchObject({
      status: "failed",
      error: { code: "server_error", message: "m" },
      incomplete_details: null,
      completed_at: null,
      output: [
        { type: "reasoning" },
        { type: "message", status: "completed" },
        { status: "incomplete", arguments: '{"x' },
      ],
      usage: { input_tokens: 77, output_tokens: 2 },
    });
  });
  test("before its first event is a whole stream all the same", () =>
    expect(failed(ofMessages([{ type: "ping" }]))).toMatchObject({
      failures: 1,
      response: { output: [], usage: null },
    }));
  test("at its charge ends as failed in place of its last event", () => {
    const ran = ofChat([text("a"), finish("stop"), COUNTED, DONE]);
    const checked = failed(ran);
    expect(checked).toMatchObject({ failures: 1, endings: 0, text: "a" });
    expect(checked.response).toMatchObject({
      usage: { output_tokens: 4 },
      output: [{ status: "completed" }],
    });
  });
  test("by the provider's error gives its text to be judged", () => {
    const ran = ofMessages([
      START,
      ...textBlock(0, "a"),
      { type: "error", error: { type: "overloaded_error", message: "m" } },
    ]);
    expect(ran.end?.kind).toBe("error");
    expect(failed(ran)).toMatchObject({ failures: 1, text: "a" });
  });
  test("for its size has all that was sent", () => {
    const large = "x".repeat(1_000_000);
    const ran = ofChat([role(), ...Array.from({ length: 18 }, () => text(large)), finish("stop"), DONE]);
    expect(ran.end).toEqual({ kind: "error", text: "the answer is too large to be repeated at its end" });
    const { response } = failed(ran);
    const [item] = response!.output as { content: { text: string }[] }[];
    expect(item!.content[0]!.text.length).toBe(17_000_000);
  });
});

test.each([100, 2_000])(
  "of %d events each byte is gone over a few times, and plain words are no JSON",
  (count) => {
    const words = Array.from({ length: count }, (_, i) => ` word${i}`);
    const chat = chatWire(role(), ...words.map(text), finish("stop"), DONE);
    const messages = messagesWire(START, ...textBlock(0, ...words), ended("end_turn"), STOP);
    for (const [wire, once] of [
      [chat, () => void run(responsesStreamOfChat(CONTEXT, OPTIONS), chat)],
      [messages, () => void run(responsesStreamOfMessages(CONTEXT, OPTIONS), messages)],
    ] as const) {
      expect(stepsOf(once)).toBeLessThan(12 * wire.length);
      expect(workOf(once).parses).toBeLessThan(10);
    }
  },
);
