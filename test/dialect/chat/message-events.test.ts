// A chat stream as `x-stream-shape: message` has it: what each event says, what the last one says, and that nothing breaks it.

import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { createChatStream } from "../../../src/dialect/chat/chat-stream.ts";
import { messageEvents } from "../../../src/dialect/chat/message-events.ts";
import { chatStreamOf } from "../../../src/dialect/translate/answer-translations.ts";
import { SseReader } from "../../../src/sse/sse-reader.ts";

const HEAD = { id: "c", object: "chat.completion.chunk", created: 5, model: "m", system_fingerprint: "fp" };
const chunk = (delta: unknown, finish: string | null = null, more: object = {}, index = 0) => ({
  ...HEAD,
  choices: [{ index, delta, finish_reason: finish, logprobs: null }],
  ...more,
});
const wire = (...chunks: unknown[]) =>
  chunks.map((one) => (typeof one === "string" ? one : `data: ${JSON.stringify(one)}\n\n`)).join("");
const DONE = "data: [DONE]\n\n";
const USAGE = { prompt_tokens: 9, completion_tokens: 3, total_tokens: 12 };
const PROMPT = 7;

const straight = () => messageEvents(createChatStream({ includeUsage: true, fingerprint: null }), PROMPT);

/** Feeds the events as they come from the wire; `short`: those of one line the short way. */
function run(text: string, { machine = straight(), short = false } = {}) {
  const reader = new SseReader({ maxEventBytes: 1_000_000 });
  const events = [...reader.push(Buffer.from(text)), ...reader.end()];
  const steps = events.map((event) =>
    short && event.data !== null && event.fault === undefined
      ? machine.feedData(event.data, event.name)
      : machine.feed(event),
  );
  const out = steps
    .map((step, i) => ("bytes" in step ? Buffer.from(step.bytes ?? events[i]!.raw).toString() : ""))
    .join("");
  return { machine, steps, out, events: dataOf(out) };
}

const dataOf = (out: string) =>
  out
    .split("\n\n")
    .filter((block) => block.startsWith("data: {"))
    .map((block) => JSON.parse(block.slice("data: ".length)));

const said = (content: string, usage: object, more: object = {}) => ({
  ...{ ...HEAD, object: "chat.completion" },
  choices: [
    { index: 0, logprobs: null, message: { role: "assistant", content, ...more }, finish_reason: "" },
  ],
  usage,
});
const estimated = (completion: number) => ({
  prompt_tokens: PROMPT,
  completion_tokens: completion,
  total_tokens: PROMPT + completion,
});
const ending = (usage: object, reason = "stop", index = 0) => ({
  ...{ ...HEAD, object: "chat.completion" },
  choices: [{ index, message: { role: "assistant", content: "" }, finish_reason: reason }],
  usage,
});

describe.each([true, false])("short way: %p", (short) => {
  test("words are partial messages with usage so far, and the last event has the provider's figures", () => {
    const text = wire(
      chunk({ role: "assistant", content: "" }),
      chunk({ content: "four" }),
      chunk({ content: "more" }),
      chunk({}, "stop"),
      { ...HEAD, choices: [], usage: USAGE },
      DONE,
    );
    const { events, out, steps, machine } = run(text, { short });
    expect(events).toEqual([
      said("", estimated(0)),
      said("four", estimated(1)),
      said("more", estimated(2)),
      ending(USAGE),
    ]);
    expect(out.endsWith(`\n\n${DONE}`)).toBe(true);
    expect(steps.map((step) => step.kind)).toEqual(["pass", "pass", "pass", "withheld", "withheld", "done"]);
    expect(machine.outcome(true)).toBe("complete");
    expect(machine.usage).toEqual(USAGE);
  });
});

describe("the last event", () => {
  test("estimates where the provider reported nothing", () => {
    const { events } = run(wire(chunk({ content: "four" }), chunk({}, "length"), DONE));
    expect(events.at(-1)).toEqual(ending(estimated(1), "length"));
  });

  test("takes no zeros for figures", () => {
    const zero = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 };
    const { events } = run(wire(chunk({ content: "four" }, null, { usage: zero }), chunk({}, "stop"), DONE));
    expect(events.map((event) => event.usage)).toEqual([estimated(1), estimated(1)]);
  });

  test("has the reason of every choice", () => {
    const { events } = run(
      wire(
        chunk({ content: "a" }, null, {}, 0),
        chunk({ content: "b" }, "stop", {}, 1),
        chunk({}, "length", {}, 0),
        DONE,
      ),
    );
    expect(
      events.map(({ choices }) => choices.map((one: { finish_reason: string }) => one.finish_reason)),
    ).toEqual([[""], [""], ["stop", "length"]]);
    expect(events[1].choices[0]).toMatchObject({ index: 1, message: { content: "b" } });
    expect(events[2].choices.map((one: { index: number }) => one.index)).toEqual([1, 0]);
  });

  test("is said once by `closing` where the provider ended well without [DONE]", () => {
    const { machine, out } = run(wire(chunk({ content: "a" }), chunk({}, "stop")));
    expect(out).not.toContain("[DONE]");
    const last = Buffer.from(machine.closing!()).toString();
    expect(dataOf(last)).toEqual([ending(estimated(1))]);
    expect(last.endsWith(DONE)).toBe(true);
    expect(machine.closing!().length).toBe(0);
  });

  test("does not come when the answer is cut", () => {
    const { machine, out } = run(wire(chunk({ content: "a" })));
    expect(machine.outcome(true)).toBe("broken");
    expect(out).not.toContain('"stop"');
  });
});

test("usage that the provider reports in the middle stands from there on", () => {
  const growing = { prompt_tokens: 9, completion_tokens: 1, total_tokens: 10 };
  const { events } = run(
    wire(chunk({ content: "a" }, null, { usage: growing }), chunk({ content: "b" }), DONE),
  );
  expect(events.map((event) => event.usage)).toEqual([growing, growing, growing]);
});

test("tool calls and thoughts stand in the message", () => {
  const tool_calls = [{ index: 0, id: "t", type: "function", function: { name: "f", arguments: "{" } }];
  const { events, steps } = run(
    wire(
      chunk({ reasoning_content: "hm" }),
      chunk({ content: null, tool_calls }),
      chunk({}, "tool_calls"),
      DONE,
    ),
  );
  expect(events[0].choices[0].message).toEqual({ role: "assistant", content: "", reasoning_content: "hm" });
  expect(events[1].choices[0].message).toEqual({ role: "assistant", content: "", tool_calls });
  expect(events[2].choices[0].finish_reason).toBe("tool_calls");
  expect(steps[1]).toMatchObject({ content: true });
});

test("chunks without choices say nothing, comments pass, an error ends it", () => {
  const { out, steps } = run(
    wire({ ...HEAD, choices: [], prompt_filter_results: [] }, ": ping\n\n", { error: { message: "no" } }),
  );
  expect(out).toBe(": ping\n\n");
  expect(steps.at(-1)).toEqual({ kind: "error", text: '{"error":{"message":"no"}}' });
});

test("a translated stream takes the shape as well", () => {
  const about = { id: "x", model: "m", request: {}, provider: "anthropic" };
  const context = { ...about, toolNames: new Map(), now: 5_000, promptTokens: PROMPT };
  const inner = chatStreamOf(context as unknown as Parameters<typeof chatStreamOf>[0], {
    includeUsage: true,
    fingerprint: "fp",
  });
  const event = (type: string, more: object = {}) =>
    `event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`;
  const { events, out } = run(
    [
      event("message_start", {
        message: { id: "msg", role: "assistant", content: [], usage: { input_tokens: 9, output_tokens: 1 } },
      }),
      event("content_block_start", { index: 0, content_block: { type: "text", text: "" } }),
      event("ping"),
      event("content_block_delta", { index: 0, delta: { type: "text_delta", text: "four" } }),
      event("content_block_stop", { index: 0 }),
      event("message_delta", { delta: { stop_reason: "end_turn" }, usage: { output_tokens: 3 } }),
      event("message_stop"),
    ].join(""),
    { machine: messageEvents(inner, PROMPT) },
  );
  expect(
    events.map(({ object, choices }) => [object, choices[0].message.content, choices[0].finish_reason]),
  ).toEqual([
    ["chat.completion", "", ""],
    ["chat.completion", "four", ""],
    ["chat.completion", "", "stop"],
  ]);
  expect(events[1].usage).toEqual(estimated(1));
  expect(events[2].usage).toMatchObject(USAGE);
  expect(out).toContain(": ping\n\n");
  expect(out.endsWith(DONE)).toBe(true);
});

const delta = fc.record(
  {
    role: fc.constant("assistant"),
    content: fc.oneof(fc.string(), fc.constant(null), fc.jsonValue()),
    tool_calls: fc.jsonValue(),
  },
  { requiredKeys: [] },
);
const anyChunk = fc.oneof(
  fc.jsonValue(),
  fc.record(
    {
      id: fc.jsonValue(),
      choices: fc.oneof(
        fc.jsonValue(),
        fc.array(fc.record({ index: fc.nat(2), delta, finish_reason: fc.constantFrom(null, "stop", "", 5) })),
      ),
      usage: fc.oneof(fc.jsonValue(), fc.constant(USAGE)),
    },
    { requiredKeys: [] },
  ),
);

test("whatever comes, nothing is thrown, events are whole, and the words are those of the chat stream", () => {
  const words = (events: readonly Record<string, unknown>[], field: "delta" | "message") =>
    events.flatMap(({ choices }) =>
      (Array.isArray(choices) ? choices : []).flatMap((choice) => {
        const content = choice?.[field]?.content;
        return typeof content === "string" && content !== "" ? [content] : [];
      }),
    );
  fc.assert(
    fc.property(fc.array(anyChunk, { maxLength: 8 }), fc.boolean(), (chunks, short) => {
      const text = wire(...chunks.map((one) => `data: ${JSON.stringify(one)}\n\n`), DONE);
      const plain = run(text, {
        machine: createChatStream({ includeUsage: true, fingerprint: null }),
        short,
      });
      const shaped = run(text, { short });
      expect(shaped.steps.map(({ kind }) => kind === "pass" || kind === "withheld")).toEqual(
        plain.steps.map(({ kind }) => kind === "pass" || kind === "withheld"),
      );
      expect(words(shaped.events, "message")).toEqual(words(plain.events, "delta"));
      for (const { object, choices } of shaped.events) {
        expect([object, choices.length > 0]).toEqual(["chat.completion", true]);
      }
    }),
    { numRuns: 400 },
  );
});
