// The messages stream machine: what of each event reaches the client, what counts as content, how usage is merged, and how a
// stream ended.

import { describe, expect, test } from "bun:test";
import { createMessagesStream, MESSAGE_STOP } from "../../../src/dialect/messages/messages-stream.ts";
import { TEXT_CHARS_MAX } from "../../../src/dialect/text-buffer.ts";
import { readUsage } from "../../../src/dialect/usage.ts";
import { SseReader } from "../../../src/sse/sse-reader.ts";

interface Event {
  readonly type: string;
  readonly [field: string]: unknown;
}
const wire = (...events: (Event | string)[]) =>
  events
    .map((one) => (typeof one === "string" ? one : `event: ${one.type}\ndata: ${JSON.stringify(one)}\n\n`))
    .join("");

const START = {
  type: "message_start",
  message: {
    id: "msg_1",
    type: "message",
    content: [],
    usage: { input_tokens: 10, cache_read_input_tokens: 4, output_tokens: 3, service_tier: "standard" },
  },
};
const PING = { type: "ping" };
const block = (content_block: object, index = 0) => ({ type: "content_block_start", index, content_block });
const delta = (given: object, index = 0) => ({ type: "content_block_delta", index, delta: given });
const say = (text: string) => delta({ type: "text_delta", text });
const end = (index = 0) => ({ type: "content_block_stop", index });
const TEXT = block({ type: "text", text: "" });
const finish = (usage?: unknown, stop_reason: unknown = "end_turn") => ({
  type: "message_delta",
  delta: { stop_reason, stop_sequence: null },
  ...(usage === undefined ? {} : { usage }),
});
const STOP = { type: "message_stop" };
const GOLDEN = wire(START, PING, TEXT, say("Hel"), say("lo"), end(), finish({ output_tokens: 2 }), STOP);

function run(text: string) {
  const reader = new SseReader({ maxEventBytes: 1_000_000 });
  const stream = createMessagesStream();
  const events = [...reader.push(new TextEncoder().encode(text)), ...reader.end()];
  const steps = events.map((event) => stream.feed(event));
  const sent = steps.map((s, i) => ("bytes" in s ? (s.bytes ?? events[i]!.raw) : new Uint8Array()));
  return {
    stream,
    steps,
    out: sent.map((bytes) => new TextDecoder().decode(bytes)).join(""),
    kinds: steps.map((s) => s.kind),
    contents: steps.map((s) => s.kind === "pass" && s.content),
  };
}

test("an ordinary stream passes byte for byte, its closing event handed back", () => {
  const { out, kinds, contents, stream } = run(GOLDEN);
  expect(out).toBe(GOLDEN);
  expect(kinds).toEqual([...Array(7).fill("pass"), "done"]);
  expect(contents).toEqual([false, false, false, true, true, false, false, false]);
  expect(stream.texts().join("")).toBe("Hello");
  expect(stream.chars).toBe(5);
  expect(stream.outcome(true)).toBe("complete");
});

test("a stream of thinking, calls and tools of the provider too", () => {
  const text = wire(
    START,
    block({ type: "thinking", thinking: "", signature: "" }),
    delta({ type: "thinking_delta", thinking: "hm" }),
    delta({ type: "signature_delta", signature: "opaque" }),
    end(),
    block({ type: "server_tool_use", id: "s", name: "web_search", input: {} }, 1),
    delta({ type: "input_json_delta", partial_json: "" }, 1),
    delta({ type: "input_json_delta", partial_json: '{"query":"q"}' }, 1),
    end(1),
    block({ type: "web_search_tool_result", content: [{ title: "found" }] }, 2),
    end(2),
    block({ type: "tool_use", id: "t", name: "f", input: {} }, 3),
    end(3),
    finish({ output_tokens: 20 }, "tool_use"),
    STOP,
  );
  const { out, stream } = run(text);
  expect(out).toBe(text);
  expect(stream.texts().join("|")).toBe('hmweb_search{"query":"q"}f');
  expect(stream.outcome(true)).toBe("complete");
});

describe("content is", () => {
  const CONTENT: readonly (readonly [what: string, event: Event | string, content: boolean])[] = [
    ["text", say("a"), true],
    ["thinking", delta({ type: "thinking_delta", thinking: "a" }), true],
    ["a call's input", delta({ type: "input_json_delta", partial_json: "{" }), true],
    ["a signature", delta({ type: "signature_delta", signature: "a" }), true],
    ["a citation", delta({ type: "citations_delta", citation: { cited_text: "a" } }), true],
    ["a delta that nobody knows yet", delta({ type: "new_delta", news: "a" }), true],
    ["the beginning of a call", block({ type: "tool_use", name: "f", input: {} }), true],
    ["the beginning of the provider's own call", block({ type: "server_tool_use", name: "f" }), true],
    ["what such a call found", block({ type: "web_search_tool_result", content: [] }), true],
    ["thinking that nobody may read", block({ type: "redacted_thinking", data: "a" }), true],
    ["a block that begins with text", block({ type: "text", text: "a" }), true],
    ["not the beginning of a text", TEXT, false],
    ["not the beginning of thinking", block({ type: "thinking", thinking: "", signature: "" }), false],
    ["not an empty text", say(""), false],
    ["not an empty input", delta({ type: "input_json_delta", partial_json: "" }), false],
    ["not the message's beginning", START, false],
    ["not a ping", PING, false],
    ["not a comment", ": still here\n\n", false],
    ["not the end of a block", end(), false],
    ["not the message's end", finish({ output_tokens: 1 }), false],
    ["not an event that nobody knows", { type: "something_new", text: "a" }, false],
    ["not a delta without a delta", { type: "content_block_delta", index: 0, delta: null }, false],
    ["not a block without a block", { type: "content_block_start", index: 0 }, false],
  ];
  for (const [what, event, content] of CONTENT)
    test(what, () => {
      const { stream, contents, out } = run(wire(event));
      expect(contents).toEqual([content]);
      expect(stream.delivered).toBe(content);
      expect(out).toBe(wire(event));
    });
});

describe("what passes", () => {
  test("is what came, odd spacing, unknown fields and unknown events included", () => {
    const text = wire(
      'event: content_block_delta\ndata: { "type":"content_block_delta", "index":0, "x":1.0, "delta":{"type":"text_delta","text":"a"} }\n\n',
      'event:ping\r\ndata:{"type": "ping"}\r\n\r\n',
      'event: something.new\nid: 7\ndata: {"type":"something.new",\ndata: "y":12345678901234567890}\n\n',
      ": keep-alive\n\n",
      'event: message_stop\nretry: 5\ndata: { "type": "message_stop", "x": 1.0 }\n\n',
    );
    expect(run(text).out).toBe(text);
  });
  test("gets the name that its data says, where it has none", () => {
    const unnamed = [START, say("a"), STOP].map((one) => `data: ${JSON.stringify(one)}\n\n`).join("");
    const { out, kinds } = run(unnamed);
    expect(out).toBe(wire(START, say("a"), STOP));
    expect(kinds).toEqual(["pass", "pass", "done"]);
  });
  test("keeps its lines when it gets a name", () =>
    expect(run('data: {"type":\ndata: "ping"}\n\n').out).toBe(
      'event: ping\ndata: {"type":\ndata: "ping"}\n\n',
    ));
  test("gets no name that would not stay on its line", () => {
    const text = 'data: {"type":"a\\nevent: b"}\n\n';
    expect(run(text).out).toBe(text);
  });
  test("without a type, or with another name, is left as it is", () => {
    const text = wire('data: {"x":1}\n\n', 'event: other\ndata: {"type":"ping"}\n\n');
    expect(run(text).out).toBe(text);
  });
  test("is read by its data, or by its name where its data says no type", () => {
    const text = 'event: other\ndata: {"type":"message_stop"}\n\n';
    expect(run(text).kinds).toEqual(["done"]);
    expect(run("event: message_stop\ndata: {}\n\n").kinds).toEqual(["done"]);
  });
  test("is nothing of a name without data, at which SDKs throw", () =>
    expect(run("event: message_stop\n\nevent: ping\ndata:\n\n").kinds).toEqual(["withheld", "withheld"]));
  test("is nothing after the end", () =>
    expect(run(wire(STOP, say("a"), STOP, "data: [DONE]\n\n")).kinds).toEqual([
      "done",
      "withheld",
      "withheld",
      "withheld",
    ]));
});

describe("[DONE], which is not of this dialect", () => {
  const DONE = "data: [DONE]\n\n";
  test("stands for the closing event that is missing, once the answer has its reason to stop", () => {
    const { steps, stream, out } = run(
      wire(START, TEXT, say("a"), end(), finish({ output_tokens: 1 }), DONE),
    );
    expect(steps.at(-1)).toEqual({ kind: "done", bytes: MESSAGE_STOP });
    expect(out).not.toContain("[DONE]");
    expect(stream.outcome(false)).toBe("complete");
  });
  test("ends nothing before", () => {
    const { kinds, stream, out } = run(wire(START, TEXT, say("a"), DONE));
    expect(kinds.at(-1)).toBe("withheld");
    expect(out).not.toContain("[DONE]");
    expect(stream.outcome(true)).toBe("broken");
  });
});

describe("an error inside the stream is", () => {
  const ERRORS: readonly (readonly [what: string, text: string])[] = [
    ["an error event", wire({ type: "error", error: { type: "overloaded_error", message: "m" } })],
    ["an error without its name", 'data: {"type":"error","error":{"type":"api_error"}}\n\n'],
    ["an error by its name alone", 'event: error\ndata: {"message":"m"}\n\n'],
    ["an error of another dialect", 'data: {"error":{"message":"m"}}\n\n'],
    ["code and message", 'data: {"code":500,"message":"m"}\n\n'],
    ["something that is not JSON", "event: content_block_delta\ndata: <html>\n\n"],
    ["something that is no object", "data: [7]\n\n"],
  ];
  for (const [what, text] of ERRORS)
    test(what, () => {
      const { steps, stream } = run(wire(START) + text + wire(STOP));
      expect(steps[1]).toEqual({ kind: "error", text: text.split("data: ")[1]!.trimEnd() });
      expect(steps[2]?.kind).toBe("withheld");
      expect(stream.outcome(true)).toBe("broken");
    });
  test("an event over the bound", () => {
    const step = createMessagesStream().feed({
      raw: new Uint8Array(),
      name: "",
      data: null,
      fault: "too_large",
    });
    expect(step.kind).toBe("error");
  });
  test("not an error of null, nor a message beside a code that has a type", () => {
    const text = wire({ ...START, error: null }, { type: "ping", code: 0, message: "ok" });
    expect(run(text).kinds).toEqual(["pass", "pass"]);
  });
});

describe("a stream ended", () => {
  const done = finish({ output_tokens: 1 });
  // biome-ignore format: a table
  const OUTCOMES: readonly (readonly [
    rule: string,
    text: string,
    clean: boolean,
    outcome: "complete" | "broken" | "empty",
  ])[] = [
    ["complete with message_stop, however it closed", wire(START, STOP), false, "complete"],
    ["complete with message_stop that lacks its blank line", wire(START) + wire(STOP).trimEnd(), true, "complete"],
    ["complete with its reason to stop and every block closed", wire(START, TEXT, end(), done), true, "complete"],
    ["broken there when it did not close in order", wire(START, TEXT, end(), done), false, "broken"],
    ["broken with a block open", wire(START, TEXT, say("a"), done), true, "broken"],
    ["broken with another block open", wire(START, TEXT, block({ type: "text" }, 1), end(), done), true, "broken"],
    ["broken without a reason to stop", wire(START, TEXT, end(), finish({}, null)), true, "broken"],
    ["broken after its beginning", wire(START), true, "broken"],
    ["broken in the middle of an event", `${wire(START)}event: message_stop\ndata: {"ty`, true, "broken"],
    ["empty without an event", "", true, "empty"],
    ["empty after pings and comments", wire(PING, ": still here\n\n", PING), true, "empty"],
  ];
  for (const [rule, text, clean, outcome] of OUTCOMES)
    test(rule, () => expect(run(text).stream.outcome(clean)).toBe(outcome));
  test("with a cut closing event gets it whole, and of another cut event nothing that cannot be read", () => {
    expect(run(wire(START) + wire(STOP).trimEnd()).out).toBe(wire(START, STOP));
    expect(run(`${wire(START)}event: content_block_delta\ndata: {"ty`).out).toBe(wire(START));
    expect(run(wire(START, say("a")).trimEnd()).out).toBe(wire(START, say("a")));
    expect(run(`data: ${JSON.stringify(PING)}`).out).toBe(wire(PING));
  });
});

describe("for the charge", () => {
  const usageOf = (...events: Event[]) => run(wire(...events)).stream.usage;
  const read = (usage: unknown) => readUsage("messages", usage, { contextWindow: 0, outputLimit: 0 });

  test("each figure of the last count replaces the one before, and none is added", () => {
    expect(
      usageOf(
        START,
        finish({ output_tokens: 5, input_tokens: null }, null),
        finish({ output_tokens: 9, cache_read_input_tokens: 6 }),
        STOP,
      ),
    ).toEqual({ input_tokens: 10, cache_read_input_tokens: 6, output_tokens: 9, service_tier: "standard" });
  });
  test("what is inside is replaced whole", () => {
    const inside = { ...START, message: { usage: { server_tool_use: { web_search_requests: 1, a: 1 } } } };
    const last = { output_tokens: 1, server_tool_use: { web_search_requests: 2 } };
    expect(usageOf(inside, finish(last), STOP)).toEqual(last);
  });
  test("a name that means something to the language is a name", () => {
    const odd = JSON.parse('{"output_tokens":1,"__proto__":{"input_tokens":99}}');
    expect(read(usageOf(finish(odd), STOP))).toMatchObject({ inText: 0, outText: 1 });
  });
  test("the place kept for the output's count is none", () => {
    const usage = usageOf(START, TEXT, say("hello"));
    expect(usage).toEqual({ input_tokens: 10, cache_read_input_tokens: 4, service_tier: "standard" });
    expect(read(usage)).toMatchObject({ inText: 10, inCached: 4, outText: 0 });
  });
  test("an answer with its end but without its count has no usage, so that it is counted", () => {
    expect(usageOf(START, TEXT, say("hello"), end(), STOP)).toBeNull();
    expect(usageOf(START, TEXT, say("hello"), end(), finish())).toBeNull();
    expect(usageOf(START, TEXT, say("hello"), end(), finish({ input_tokens: 10 }), STOP)).toBeNull();
  });
  test("no usage at all is none", () => {
    expect(usageOf({ type: "message_start", message: {} }, TEXT, say("a"))).toBeNull();
    expect(usageOf({ type: "message_start" }, finish("x"))).toBeNull();
  });
  test("the last tier counts", () => {
    const { stream } = run(wire(START, finish({ output_tokens: 1, service_tier: "priority" })));
    expect(stream.serviceTier).toBe("priority");
    expect(run(wire(TEXT)).stream.serviceTier).toBeNull();
  });
  test("text is kept up to a bound in few strings, its length beyond", () => {
    const stream = createMessagesStream();
    const data = JSON.stringify(say("x".repeat(1_000)));
    for (let i = 0; i < 3_000; i++) stream.feedData(data, "content_block_delta");
    expect(stream.chars).toBe(3_000_000);
    expect(stream.texts().join("").length).toBeWithin(TEXT_CHARS_MAX / 2, TEXT_CHARS_MAX + 3_000);
    expect(stream.texts().length).toBeLessThan(150);
  });
});
