// The chat stream machine: what of each event reaches the client, what counts as content, and how a stream ended.

import { describe, expect, test } from "bun:test";
import { CHAT_DONE, chatStreamError, createChatStream } from "../../../src/dialect/chat/chat-stream.ts";
import type { StreamOptions } from "../../../src/dialect/dialect.ts";
import { TEXT_CHARS_MAX } from "../../../src/dialect/text-buffer.ts";
import { SseReader } from "../../../src/sse/sse-reader.ts";
import { stepsOf, workOf } from "../../work-counter/work-counter.ts";

const delta = (d: unknown, extra: object = {}, choice: object = {}) => ({
  id: "c",
  choices: [{ index: 0, delta: d, finish_reason: null, ...choice }],
  ...extra,
});
const USAGE = { prompt_tokens: 3, completion_tokens: 2 };
const DONE = "data: [DONE]\n\n";
const wire = (...chunks: unknown[]) =>
  chunks.map((c) => (typeof c === "string" ? c : `data: ${JSON.stringify(c)}\n\n`)).join("");

function run(text: string, given: Partial<StreamOptions> = {}) {
  const reader = new SseReader({ maxEventBytes: 1_000_000 });
  const stream = createChatStream({ includeUsage: false, fingerprint: null, ...given });
  const events = [...reader.push(new TextEncoder().encode(text)), ...reader.end()];
  const steps = events.map((event) => stream.feed(event));
  const sent = steps.map((s, i) => ("bytes" in s ? (s.bytes ?? events[i]!.raw) : new Uint8Array()));
  const out = sent.map((bytes) => new TextDecoder().decode(bytes)).join("");
  return {
    stream,
    steps,
    out,
    kinds: steps.map((s) => s.kind),
    contents: steps.map((s) => s.kind === "pass" && s.content),
  };
}

describe("content is", () => {
  const CONTENT: readonly (readonly [string, unknown, boolean])[] = [
    ["text", { content: "a" }, true],
    ["parts of text", { content: [{ type: "text", text: "a" }] }, true],
    ["a refusal", { refusal: "no" }, true],
    ["reasoning_content", { reasoning_content: "hm" }, true],
    ["reasoning", { reasoning: "hm" }, true],
    ["opaque reasoning", { reasoning_details: [{ type: "encrypted" }] }, true],
    ["a tool call", { tool_calls: [{ index: 0, id: "t", function: { name: "f", arguments: "" } }] }, true],
    ["the bare beginning of a tool call", { tool_calls: [{ index: 0, id: "t" }] }, true],
    ["an old function call", { function_call: { name: "f" } }, true],
    ["audio", { audio: { data: "AA" } }, true],
    ["not a role alone", { role: "assistant", content: "" }, false],
    ["not an empty delta", {}, false],
    ["not nulls", { content: null, refusal: null, tool_calls: null, audio: null }, false],
    ["not empty lists", { content: [], tool_calls: [] }, false],
  ];
  for (const [what, d, content] of CONTENT) {
    test(what, () => {
      const { stream, contents } = run(wire(delta(d)));
      expect(contents).toEqual([content]);
      expect(stream.delivered).toBe(content);
    });
  }
  test("not a comment, a filter chunk, a late chunk without delta, or an odd choice", () => {
    const { contents } = run(
      wire(
        ": OPENROUTER PROCESSING\n\n",
        { choices: [], prompt_filter_results: [] },
        { choices: [{ index: 0 }] },
        { choices: [null] },
        { choices: null },
      ),
    );
    expect(contents).toEqual([false, false, false, false, false]);
  });
  test("the text of an old completion", () =>
    expect(run(wire({ choices: [{ index: 0, text: "a" }] })).contents).toEqual([true]));
});

describe("what passes", () => {
  test("is byte for byte what came, unknown fields, odd spacing and unknown events included", () => {
    const text = wire(
      'data: {"choices":[ {"index":0,"delta":{"content":"a"},"x":1.0} ],"y":12345678901234567890}\n\n',
      'event: something.new\ndata: {"z":1}\n\n',
      ": keep-alive\n\n",
      'data:{"choices":[],"prompt_filter_results":[]}\r\n\r\n',
      delta({}, { usage: null }),
      DONE,
    );
    const { out, kinds } = run(text);
    expect(out).toBe(text);
    expect(kinds.at(-1)).toBe("done");
  });
  test("includes the usage chunk for a client that asked", () => {
    const text = wire(delta({ content: "a" }), { choices: [], usage: USAGE }, DONE);
    expect(run(text, { includeUsage: true }).out).toBe(text);
  });
  test("does not include the usage chunk for others", () => {
    const { out, stream } = run(wire(delta({ content: "a" }), { choices: [], usage: USAGE }, DONE));
    expect(out).toBe(wire(delta({ content: "a" }), DONE));
    expect(stream.usage).toEqual(USAGE);
  });
  test("keeps usage on a content chunk for a client that asked, and loses only that for others", () => {
    const chunk = delta({ content: "a" }, { usage: USAGE, extra: true });
    expect(run(wire(chunk), { includeUsage: true }).out).toBe(wire(chunk));
    expect(run(wire(chunk)).out).toBe(wire(delta({ content: "a" }, { extra: true })));
  });
  test("has the provider's fingerprint, else ours, leaving the other bytes", () => {
    const own = wire(delta({}, { system_fingerprint: "fp_p" }));
    expect(run(own, { fingerprint: "fp_1" }).out).toBe(own);
    expect(run('data: { "choices":[], "x":1.0 }\n\n', { fingerprint: "fp_1" }).out).toBe(
      'data: {"system_fingerprint":"fp_1", "choices":[], "x":1.0 }\n\n',
    );
    expect(run(wire({ system_fingerprint: null, choices: [] }), { fingerprint: "fp_1" }).out).toBe(
      wire({ system_fingerprint: "fp_1", choices: [] }),
    );
    expect(run('data: {\ndata: "choices":[]}\n\n', { fingerprint: "fp_1" }).out).toBe(
      'data: {"choices":[],"system_fingerprint":"fp_1"}\n\n',
    );
  });
  test("has our name of the model where the provider repeats what it was sent, and any other as it came", () => {
    const alias = { upstreamModel: "dep", model: "m" };
    const words = ["a", "b", "c"].map((content) => delta({ content }));
    const chunks = (model: string) => words.map((word) => ({ ...word, model }));
    expect(run(wire(...chunks("dep")), { alias }).out).toBe(wire(...chunks("m")));
    expect(run(wire(...chunks("m-2024")), { alias }).out).toBe(wire(...chunks("m-2024")));
    expect(run(wire(...words), { alias }).out).toBe(wire(...words));
    expect(JSON.parse(run(wire(chunks("dep")[0]), { alias, fingerprint: "fp_1" }).out.slice(6))).toEqual({
      ...{ ...words[0], model: "m", system_fingerprint: "fp_1" },
    });
  });
  test("is nothing of a named event without data, at which SDKs throw", () => {
    expect(run("event: ping\ndata:\n\n").kinds).toEqual(["withheld"]);
  });
  test("is nothing after the end", () => {
    expect(run(wire(DONE, delta({ content: "a" }), DONE)).kinds).toEqual(["done", "withheld", "withheld"]);
  });
});

describe("an error inside the stream is", () => {
  const ERRORS: readonly (readonly [string, string])[] = [
    ["an error key", 'data: {"error":{"message":"m"}}\n\n'],
    ["an error event", 'event: error\ndata: {"message":"m"}\n\n'],
    ["code and message without choices", 'data: {"object":"error","code":500,"message":"m"}\n\n'],
    ["something that is not JSON", "data: <html>\n\n"],
    ["something that is no object", "data: 7\n\n"],
  ];
  for (const [what, text] of ERRORS) {
    test(what, () => {
      const { steps, stream } = run(text + DONE);
      expect(steps[0]?.kind).toBe("error");
      expect(steps[1]?.kind).toBe("withheld");
      expect(stream.outcome(true)).toBe("broken");
    });
  }
  test("not an error of null", () =>
    expect(run(wire(delta({ content: "a" }, { error: null }))).kinds).toEqual(["pass"]));
});

describe("a stream ended", () => {
  const finish = (index = 0) => delta({}, {}, { index, finish_reason: "stop" });
  test("complete with [DONE]", () =>
    expect(run(wire(delta({ content: "a" }), DONE)).stream.outcome(false)).toBe("complete"));
  test("complete with [DONE] that lacks its blank line, which is then added", () => {
    const { out, stream } = run(`${wire(delta({ content: "a" }))}data: [DONE]`);
    expect(out).toEndWith("data: [DONE]\n\n");
    expect(stream.outcome(true)).toBe("complete");
  });
  test("complete after a finish reason when the connection closed in order", () => {
    const { stream } = run(wire(delta({ content: "a" }), finish()));
    expect(stream.outcome(true)).toBe("complete");
    expect(stream.outcome(false)).toBe("broken");
  });
  test("broken while one of several choices is unfinished", () => {
    const two = [delta({ content: "a" }), delta({ content: "b" }, {}, { index: 1 })];
    expect(run(wire(...two, finish())).stream.outcome(true)).toBe("broken");
    expect(run(wire(...two, finish(), finish(1))).stream.outcome(true)).toBe("complete");
  });
  test("broken without a finish reason", () =>
    expect(run(wire(delta({ content: "a" }))).stream.outcome(true)).toBe("broken"));
  test("broken in the middle of an event, of which nothing passes", () => {
    const { out, stream } = run(`${wire(delta({ content: "a" }))}data: {"choices":[{"del`);
    expect(out).toBe(wire(delta({ content: "a" })));
    expect(stream.outcome(true)).toBe("broken");
  });
  test("empty without a chunk, comments or not", () => {
    expect(run("").stream.outcome(true)).toBe("empty");
    expect(run(": ping\n\n").stream.outcome(true)).toBe("empty");
  });
});

describe("for the charge", () => {
  test("the last usage counts, never a sum", () => {
    const { stream } = run(
      wire(
        delta({ content: "a" }, { usage: { completion_tokens: 1 } }),
        delta({}, { usage: { completion_tokens: 2 } }),
        { choices: [], usage: null },
      ),
    );
    expect(stream.usage).toEqual({ completion_tokens: 2 });
  });
  test("all generated text is kept in order, and the service tier", () => {
    const { stream } = run(
      wire(
        delta({ reasoning_content: "think " }, { service_tier: "auto" }),
        delta({ content: "hel" }, { service_tier: "priority" }),
        delta({ content: "lo" }),
        delta({ tool_calls: [{ index: 0, function: { name: "f", arguments: "{" } }] }),
        delta({ tool_calls: [{ index: 0, function: { arguments: "}" } }] }),
      ),
    );
    expect(stream.texts().join("")).toBe("think hellof{}");
    expect(stream.chars).toBe(14);
    expect(stream.serviceTier).toBe("priority");
  });
  test("text is kept up to a bound in few strings, its length beyond", () => {
    const stream = createChatStream({ includeUsage: false, fingerprint: null });
    const data = JSON.stringify(delta({ content: "x".repeat(1_000) }));
    const raw = new TextEncoder().encode(`data: ${data}\n\n`);
    for (let i = 0; i < 3_000; i++) stream.feed({ raw, name: "", data });
    expect(stream.chars).toBe(3_000_000);
    expect(stream.texts().join("").length).toBeWithin(TEXT_CHARS_MAX / 2, TEXT_CHARS_MAX + 3_000);
    expect(stream.texts().length).toBeLessThan(150);
  });
});

test("the closing event is the one that the SDKs wait for", () =>
  expect(new TextDecoder().decode(CHAT_DONE)).toBe(DONE));

test("the error event is one the SDKs raise", () => {
  const bytes = chatStreamError({ message: "a\nb", type: "upstream_error", code: "upstream_failed" });
  expect(new TextDecoder().decode(bytes)).toBe(
    'data: {"error":{"message":"a\\nb","type":"upstream_error","code":"upstream_failed"}}\n\n',
  );
});

test.each([100, 2_000])(
  "of %d events each byte is gone over a few times, and each event is read once",
  (count) => {
    const text = wire(
      ...Array.from({ length: count }, (_, i) =>
        delta(
          { content: ` word${i}` },
          { object: "chat.completion.chunk", created: 1, model: "gpt-x", usage: null },
        ),
      ),
      DONE,
    );
    const bytes = new TextEncoder().encode(text);
    const once = () => {
      const reader = new SseReader({ maxEventBytes: 1_000_000 });
      const stream = createChatStream({ includeUsage: false, fingerprint: null });
      for (const event of reader.push(bytes)) stream.feed(event);
    };
    expect(stepsOf(once)).toBeLessThan(10 * bytes.length);
    expect(workOf(once).parses).toBeLessThanOrEqual(count + 1);
  },
);

describe("an event of megabytes", () => {
  const read = (event: string, given: Partial<StreamOptions> = {}) => {
    const reader = new SseReader({ maxEventBytes: 16_000_000 });
    const stream = createChatStream({ includeUsage: false, fingerprint: null, ...given });
    const [parsed] = reader.push(new TextEncoder().encode(event));
    const step = stream.feed(parsed!);
    return { step, out: "bytes" in step ? new TextDecoder().decode(step.bytes ?? parsed!.raw) : "", stream };
  };

  test("gets the fingerprint as a small one does, in its bytes", () => {
    const text = "é word ".repeat(20_000);
    const { out, stream } = read(wire(delta({ content: text })), { fingerprint: "fp" });
    expect(out).toBe(wire({ system_fingerprint: "fp", ...delta({ content: text }) }));
    expect(stream.chars).toBe(text.length);
    const named = `event: a\n${wire(delta({ content: text }))}`;
    expect(read(named, { fingerprint: "fp" }).out).toBe(
      `event: a\n${wire({ system_fingerprint: "fp", ...delta({ content: text }) })}`,
    );
  });

  test("is no pattern for the next one", () => {
    const { stream } = read(wire(delta({ content: "a".repeat(100_000) })));
    expect(stream.feedRun?.(wire(delta({ content: "b" })), 0)).toBeNull();
  });

  test("with very many arrays ends the stream as an error does, before they are made", () => {
    const lists = `{"choices":[],"x":[${"[],".repeat(400_000)}[]]}`;
    expect(read(`data: ${lists}\n\n`).step.kind).toBe("error");
    const said = delta({ content: "[{".repeat(400_000) });
    expect(read(wire(said)).step).toMatchObject({ kind: "pass", content: true });
  });
});
