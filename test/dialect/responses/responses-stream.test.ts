// The responses stream machine: what of each event reaches the client, what counts as content, where usage is read, and how a
// stream ended.

import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { ModelAlias } from "../../../src/dialect/dialect.ts";
import type { Json } from "../../../src/dialect/json.ts";
import { createResponsesStream } from "../../../src/dialect/responses/responses-stream.ts";
import { SseReader } from "../../../src/sse/sse-reader.ts";

type Event = Record<string, unknown> & { readonly type: string };
const line = (event: Event | string) =>
  typeof event === "string" ? event : `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
const wire = (...events: (Event | string)[]) =>
  events
    .map((event, i) => line(typeof event === "string" ? event : { ...event, sequence_number: i }))
    .join("");

const USAGE = { input_tokens: 3, output_tokens: 2 };
const said = (text: string, index = 0): Event => ({
  type: "response.output_text.delta",
  item_id: "msg_1",
  output_index: index,
  delta: text,
});
const CREATED: Event = {
  type: "response.created",
  response: {
    id: "resp_1",
    status: "in_progress",
    output: [],
    usage: null,
    service_tier: "auto",
    error: null,
  },
};
const last = (status: string, over: Record<string, unknown> = {}): Event => ({
  type: `response.${status}`,
  response: { id: "resp_1", status, output: [], usage: USAGE, service_tier: "default", error: null, ...over },
});
const message = (text: string) => ({ type: "message", content: [{ type: "output_text", text }] });
const call = { type: "function_call", id: "fc_1", call_id: "c", name: "f", arguments: "" };

function run(text: string, alias: ModelAlias | null = null) {
  const reader = new SseReader({ maxEventBytes: 1_000_000 });
  const reported: [Json, string][] = [];
  const stream = createResponsesStream(
    { includeUsage: true, fingerprint: null, alias },
    {
      event: (event, type) => reported.push([event, type]),
      repeated: () => undefined,
    },
  );
  const events = [...reader.push(new TextEncoder().encode(text)), ...reader.end()];
  const steps = events.map((event) => stream.feed(event));
  const out = steps
    .map((s, i) => ("bytes" in s ? (s.bytes ?? events[i]!.raw) : new Uint8Array()))
    .map((bytes) => new TextDecoder().decode(bytes));
  return {
    stream,
    reported,
    out: out.join(""),
    kinds: steps.map((s) => s.kind),
    contents: steps.map((s) => s.kind === "pass" && s.content),
    errors: steps.flatMap((s) => (s.kind === "error" ? [s.text] : [])),
    said: stream.texts().join(""),
  };
}

/** The whole order of events, as the makers send it. */
// biome-ignore format: a table
const WHOLE = [
  CREATED,
  { type: "response.in_progress", response: { id: "resp_1", usage: null } },
  { type: "response.output_item.added", output_index: 0, item: { type: "reasoning", id: "rs_1", summary: [] } },
  { type: "response.reasoning_summary_part.added", output_index: 0, part: { type: "summary_text", text: "" } },
  { type: "response.reasoning_summary_text.delta", output_index: 0, delta: "hm" },
  { type: "response.reasoning_summary_text.done", output_index: 0, text: "hm" },
  { type: "response.output_item.done", output_index: 0, item: { type: "reasoning", summary: [{ type: "summary_text", text: "hm" }] } },
  { type: "response.output_item.added", output_index: 1, item: { type: "message", content: [] } },
  { type: "response.content_part.added", output_index: 1, part: { type: "output_text", text: "" } },
  said("Hel", 1),
  said("lo", 1),
  { type: "response.output_text.done", output_index: 1, text: "Hello" },
  { type: "response.content_part.done", output_index: 1, part: { type: "output_text", text: "Hello" } },
  { type: "response.output_item.done", output_index: 1, item: message("Hello") },
  { type: "response.output_item.added", output_index: 2, item: call },
  { type: "response.function_call_arguments.delta", output_index: 2, delta: '{"a":' },
  { type: "response.function_call_arguments.delta", output_index: 2, delta: "1}" },
  { type: "response.function_call_arguments.done", output_index: 2, arguments: '{"a":1}' },
  { type: "response.output_item.done", output_index: 2, item: { ...call, arguments: '{"a":1}' } },
  last("completed", { output: [message("Hello"), { ...call, arguments: '{"a":1}' }] }),
];

describe("a whole stream", () => {
  test("passes byte for byte, its last event to be sent after the charge", () => {
    const { out, kinds, stream } = run(wire(...WHOLE));
    expect(out).toBe(wire(...WHOLE));
    expect(kinds.slice(0, -1).every((kind) => kind === "pass")).toBe(true);
    expect(kinds.at(-1)).toBe("done");
    expect(stream.outcome(true)).toBe("complete");
    expect(stream.usage).toEqual(USAGE);
    expect(stream.serviceTier).toBe("default");
  });
  test("has the client's name for the model, and passes as it came otherwise", () => {
    const alias = { upstreamModel: "dep", model: "m" };
    const called = (model: string) =>
      wire(
        { type: "response.created", response: { id: "resp_1", model, output: [] } },
        { type: "response.in_progress", response: { id: "resp_1", model: "another" } },
        said("dep"),
        last("completed", { model }),
      );
    expect(run(called("dep"), alias).out).toBe(called("m"));
    expect(run(called("dep").slice(0, -1), alias).out).toBe(called("m"));
  });
  test("counts what was generated once, however often it was said", () => {
    const { stream } = run(wire(...WHOLE));
    expect(stream.texts().join("")).toBe('hmHello{"a":1}f');
    expect(stream.chars).toBe(15);
  });
  test("is reported event by event, once each", () => {
    const { reported } = run(wire(...WHOLE));
    expect(reported.map(([, type]) => type)).toEqual(WHOLE.map(({ type }) => type));
    expect(reported.at(-1)![0]).toMatchObject({ response: { id: "resp_1" } });
  });
  test("gives the same however its bytes were cut", () => {
    const text = wire(...WHOLE);
    const bytes = new TextEncoder().encode(text);
    fc.assert(
      fc.property(fc.array(fc.nat(bytes.length), { maxLength: 20 }), (cuts) => {
        const reader = new SseReader({ maxEventBytes: 1_000_000 });
        const stream = createResponsesStream();
        const places = [0, ...cuts.sort((a, b) => a - b), bytes.length];
        let out = "";
        for (let i = 1; i < places.length; i++) {
          for (const event of reader.push(bytes.slice(places[i - 1], places[i]))) {
            const step = stream.feed(event);
            if ("bytes" in step) out += new TextDecoder().decode(step.bytes ?? event.raw);
          }
        }
        expect(out).toBe(text);
        expect(stream.outcome(true)).toBe("complete");
      }),
      { numRuns: 50 },
    );
  });
  test("has no two events of which one is recognized by the words of the other", () => {
    const patterns: boolean[] = [];
    const stream = createResponsesStream(undefined, {
      event: (_event, _type, pattern) => patterns.push(pattern),
      repeated: () => expect.unreachable(),
    });
    for (const event of WHOLE) stream.feedData(JSON.stringify(event), event.type);
    expect(patterns).toEqual(WHOLE.map(() => false));
  });
  test("gives the same, read line by line", () => {
    const stream = createResponsesStream();
    const steps = WHOLE.map((event) => stream.feedData(JSON.stringify(event), event.type));
    expect(steps.at(-1)).toEqual({ kind: "done", bytes: new TextEncoder().encode(line(WHOLE.at(-1)!)) });
    expect(stream.texts().join("")).toBe('hmHello{"a":1}f');
    expect(stream.feedData("[DONE]", "")).toEqual({ kind: "withheld" });
  });
});

describe("what passes", () => {
  test.each([
    [
      "odd spacing and numbers",
      'event: response.created\ndata:{ "type":"response.created", "x":1.0 }\r\n\r\n',
    ],
    [
      "an event that nobody knows",
      'event: response.new.thing\ndata: {"type":"response.new.thing","y":[1e3]}\n\n',
    ],
    ["an event without its name", 'data: {"type":"response.queued"}\n\n'],
    ["a comment", ": keep-alive\n\n"],
    ["a keep-alive with data", 'event: keepalive\ndata: {"type":"keepalive","sequence_number":3}\n\n'],
  ])("is byte for byte what came: %s", (_what, text) => {
    const { out, contents } = run(text);
    expect(out).toBe(text);
    expect(contents).toEqual([false]);
  });
  test.each([
    ["[DONE] of hosts that add one", "data: [DONE]\n\n"],
    ["a name without data, at which clients throw", "event: ping\n\n"],
    ["empty data", "event: ping\ndata:\n\n"],
  ])("is not %s", (_what, text) => {
    expect(run(text).kinds).toEqual(["withheld"]);
    expect(run(wire(...WHOLE) + text).out).toBe(wire(...WHOLE));
  });
  test("is nothing after the end", () => {
    expect(run(wire(...WHOLE, said("more"), last("failed"))).out).toBe(wire(...WHOLE));
  });
});

describe("content is", () => {
  // biome-ignore format: a table
  const CONTENT: readonly (readonly [what: string, event: Event, content: boolean, text: string])[] = [
    ["text", said("a"), true, "a"],
    ["a refusal", { type: "response.refusal.delta", delta: "no" }, true, "no"],
    ["reasoning", { type: "response.reasoning_text.delta", delta: "hm" }, true, "hm"],
    ["a summary of it", { type: "response.reasoning_summary_text.delta", delta: "hm" }, true, "hm"],
    ["a call's arguments", { type: "response.function_call_arguments.delta", delta: "{" }, true, "{"],
    ["a custom call's input", { type: "response.custom_tool_call_input.delta", delta: "x" }, true, "x"],
    ["code", { type: "response.code_interpreter_call_code.delta", delta: "x" }, true, "x"],
    ["a delta that nobody knows", { type: "response.new.delta", delta: "x" }, true, "x"],
    ["text in an object", { type: "response.reasoning.delta", delta: { text: "x" } }, true, "x"],
    ["sound, which is no text", { type: "response.audio.delta", delta: "AAAA" }, true, ""],
    ["part of an image", { type: "response.image_generation_call.partial_image", partial_image_b64: "A" }, true, ""],
    ["the beginning of a call", { type: "response.output_item.added", item: call }, true, ""],
    ["the beginning of a search", { type: "response.output_item.added", item: { type: "web_search_call" } }, true, ""],
    ["not that of a message", { type: "response.output_item.added", item: { type: "message", content: [] } }, false, ""],
    ["not that of reasoning", { type: "response.output_item.added", item: { type: "reasoning" } }, false, ""],
    ["a message that comes at once", { type: "response.output_item.done", item: message("a") }, true, "a"],
    ["a call that comes at once", { type: "response.output_item.done", item: { ...call, arguments: "{}" } }, true, "f{}"],
    ["not an empty message", { type: "response.output_item.done", item: message("") }, false, ""],
    ["a text that is said at its end", { type: "response.output_text.done", text: "a" }, true, ""],
    ["a refusal that is", { type: "response.refusal.done", refusal: "a" }, true, ""],
    ["arguments that are", { type: "response.function_call_arguments.done", arguments: "{}" }, true, ""],
    ["an input that is", { type: "response.custom_tool_call_input.done", input: "a" }, true, ""],
    ["code that is", { type: "response.code_interpreter_call_code.done", code: "a" }, true, ""],
    ["not an empty one", { type: "response.output_text.done", text: "" }, false, ""],
    ["not an empty delta", said(""), false, ""],
    ["not a delta of nothing", { type: "response.output_text.delta", delta: {} }, false, ""],
    ["not the news that it goes on", CREATED, false, ""],
    ["not the progress of a tool", { type: "response.web_search_call.searching" }, false, ""],
    ["not an item that is none", { type: "response.output_item.done", item: null }, false, ""],
  ];
  test.each(CONTENT)("%s", (_what, event, content, text) => {
    const { stream, contents, said } = run(wire(event));
    expect(contents).toEqual([content]);
    expect(stream.delivered).toBe(content);
    expect(said).toBe(text);
  });
});

describe("the last event", () => {
  test.each(["completed", "incomplete"])(
    "response.%s carries the usage, which is read nowhere else",
    (status) => {
      const early = { type: "response.in_progress", response: { usage: { input_tokens: 99 } } };
      const { stream, kinds } = run(wire(CREATED, early, said("a"), last(status)));
      expect(kinds.at(-1)).toBe("done");
      expect(stream.usage).toEqual(USAGE);
      expect(run(wire(CREATED, early, said("a"))).stream.usage).toBeNull();
    },
  );
  test("without usage ends the answer all the same", () => {
    const { stream, kinds } = run(wire(said("a"), last("completed", { usage: null })));
    expect([kinds.at(-1), stream.outcome(true), stream.usage]).toEqual(["done", "complete", null]);
  });
  test("without a response ends it too", () => {
    const { stream, kinds } = run(wire(said("a"), { type: "response.completed" }));
    expect([kinds.at(-1), stream.usage]).toEqual(["done", null]);
  });
  test("is known by its name where its data has no type", () => {
    const { kinds, stream } = run(
      'event: response.completed\ndata: {"response":{"usage":{"input_tokens":1}}}\n\n',
    );
    expect([kinds, stream.usage]).toEqual([["done"], { input_tokens: 1 }]);
  });
  test("is known by its data where it has no name, or another", () => {
    const data = JSON.stringify(last("completed"));
    for (const name of ["", "event: message\n"])
      expect(run(`${name}data: ${data}\n\n`).kinds).toEqual(["done"]);
  });
  test("is whole though the connection ended in it", () => {
    const text = wire(said("a"), last("completed"));
    const { kinds, out, stream } = run(text.slice(0, -1));
    expect(kinds.at(-1)).toBe("done");
    expect(out).toBe(text);
    expect(stream.outcome(true)).toBe("complete");
  });
  test("may say everything at once", () => {
    const output = [message("Hello"), { ...call, arguments: "{}" }];
    expect(run(wire(CREATED, last("completed", { output }))).said).toBe("Hellof{}");
  });

  const ERROR = { code: "server_error", message: "The model broke" };
  test("response.failed, of which the cost is known, is paid for and passed on without the provider's words", () => {
    const failed = (message: string) => wire(said("a"), last("failed", { error: { ...ERROR, message } }));
    const { kinds, out, stream } = run(failed("org-1 broke"));
    expect([kinds.at(-1), stream.usage]).toEqual(["done", USAGE]);
    expect(out).toBe(failed("The provider failed while it was answering."));
  });
  test("response.failed without usage is the provider's error, in words of its own", () => {
    const { errors, stream, out } = run(
      wire(CREATED, said("a"), last("failed", { usage: null, error: ERROR, instructions: "secret" })),
    );
    expect(errors).toEqual([JSON.stringify({ error: ERROR })]);
    expect([stream.outcome(true), stream.usage, stream.delivered]).toEqual(["broken", null, true]);
    expect(out).not.toContain("failed");
  });
  test("response.failed before anything was delivered is an error, whatever it says of usage", () => {
    const { errors, stream } = run(wire(CREATED, last("failed", { error: ERROR })));
    expect(errors).toEqual([JSON.stringify({ error: ERROR })]);
    expect([stream.outcome(true), stream.delivered, stream.usage]).toEqual(["broken", false, null]);
  });
  test("response.failed without a word is an error too", () => {
    expect(run(wire(last("failed", { error: { code: {}, message: [] } }))).errors).toEqual([
      '{"error":{"code":null,"message":null}}',
    ]);
    expect(run('event: response.failed\ndata: {"type":"response.failed"}\n\n').errors.length).toBe(1);
  });
});

describe("an error inside the stream", () => {
  const ERRORS: readonly (readonly [what: string, text: string])[] = [
    [
      "of the dialect",
      '{"type":"error","code":"server_error","message":"m","param":null,"sequence_number":3}',
    ],
    ["of the chat dialect", '{"error":{"message":"m"}}'],
    ["in one word", '{"error":"m"}'],
    ["as code and words", '{"code":1113,"msg":"m"}'],
    ["that is no JSON", "<html>"],
    ["that is no object", "[]"],
  ];
  test.each(ERRORS)("%s ends it", (_what, data) => {
    const { errors, out, stream } = run(`${wire(said("a"))}data: ${data}\n\n${wire(last("completed"))}`);
    expect(errors).toEqual([data]);
    expect(out).toBe(wire(said("a")));
    expect(stream.outcome(true)).toBe("broken");
  });
  test("is no JSON, read line by line, too", () => {
    expect(createResponsesStream().feedData("<html>", "")).toEqual({ kind: "error", text: "<html>" });
  });
  test("may have a number for a code", () => {
    const error = { code: 429, message: "slow down" };
    expect(run(wire(last("failed", { usage: null, error }))).errors).toEqual([JSON.stringify({ error })]);
  });
  test("is known by its name", () => {
    expect(run('event: error\ndata: {"message":"m"}\n\n').errors).toEqual(['{"message":"m"}']);
  });
  test("is an event too large to be read", () => {
    const stream = createResponsesStream();
    const large = { raw: new Uint8Array(), name: "", data: null, fault: "too_large" } as const;
    expect(stream.feed(large)).toMatchObject({ kind: "error" });
    expect(stream.outcome(true)).toBe("broken");
  });
});

describe("ids that it has reported", () => {
  const made = (text: string) => [...run(text).stream.made!];
  const item = (type: string, id: unknown): Event => ({
    type,
    output_index: 0,
    item: { ...message("a"), id },
  });

  test("begin with the response's own, before any content", () => {
    expect(made(wire(CREATED))).toEqual(["resp_1"]);
  });
  test("are those of the response, its conversation and its items, each once", () => {
    const conversation = { id: "conv_1" };
    const output = [{ ...message("a"), id: "msg_1" }, call];
    const text = wire(
      CREATED,
      item("response.output_item.added", "msg_1"),
      item("response.output_item.done", "msg_1"),
      last("completed", { output, conversation }),
    );
    expect(made(text)).toEqual(["resp_1", "msg_1", "conv_1", "fc_1"]);
  });
  test("are known of a stream that was cut, as far as it came", () => {
    expect(made(wire(CREATED, item("response.output_item.added", "msg_1"), said("a")))).toEqual([
      "resp_1",
      "msg_1",
    ]);
  });
  test("are texts, and not without end", () => {
    expect(made(wire(item("response.output_item.done", 5), item("response.output_item.done", "")))).toEqual(
      [],
    );
    const output = Array.from({ length: 2_000 }, (_, i) => ({ id: `msg_${i}` }));
    expect(made(wire(last("completed", { output }))).length).toBe(1_000);
  });
});

describe("a stream without its last event", () => {
  test.each([
    ["after some text", "broken", wire(CREATED, said("a"))],
    ["after [DONE]", "broken", `${wire(CREATED, said("a"))}data: [DONE]\n\n`],
    ["after its first event", "broken", wire(CREATED)],
    ["of nothing", "empty", ""],
    ["of comments", "empty", ": a\n\n: b\n\n"],
    ["of [DONE] alone", "empty", "data: [DONE]\n\n"],
  ])("%s is %s", (_what, outcome, text) => {
    const { stream } = run(text);
    expect(stream.outcome(true)).toBe(outcome as "broken");
    expect(stream.outcome(false)).toBe(outcome as "broken");
    expect(stream.closing).toBeUndefined();
  });
  test("passes an event on whole that came without its blank line", () => {
    const { out, kinds } = run(wire(said("a")).slice(0, -1));
    expect([out, kinds]).toEqual([wire(said("a")), ["pass"]]);
  });
  test("keeps what was passed on before half an event", () => {
    const { out, kinds } = run(`${wire(said("a"))}event: response.output_text.delta\ndata: {"type":`);
    expect([out, kinds.at(-1)]).toEqual([wire(said("a")), "withheld"]);
  });
});

test("searches are counted as they come, and never twice", () => {
  const search = { type: "web_search_call", status: "completed", action: { type: "search", query: "q" } };
  const done = { type: "response.output_item.done", item: search };
  expect(run(wire(done, done)).stream.measured).toEqual({ webSearches: 2 });
  const output = [search, search, { ...search, action: { type: "open_page" } }];
  expect(run(wire(done, done, last("completed", { output }))).stream.measured).toEqual({ webSearches: 2 });
  expect(run(wire(last("completed", { output }))).stream.measured).toEqual({ webSearches: 2 });
});

test("our own error comes under the number that is next", () => {
  const { stream } = run(wire(CREATED, said("a"), said("b")));
  const reported = new TextDecoder().decode(stream.streamError!({ message: "m", type: "t", code: "c" }));
  expect(reported).toBe(
    'event: error\ndata: {"type":"error","code":"c","message":"m","param":null,"sequence_number":3}\n\n',
  );
});
