// The short way through a stream against the long one: whatever chunks come, both must say the same of each.

import { expect, test } from "bun:test";
import fc from "fast-check";
import { createChatStream } from "../../../src/dialect/chat/chat-stream.ts";
import { SseReader } from "../../../src/sse/sse-reader.ts";

const words = fc.oneof(
  fc.constantFrom(
    "hello",
    " world",
    "",
    'a "quote"',
    "back\\slash",
    "line\nfeed",
    "tab\t",
    "ü€😀",
    '","x":"',
    "\u007f",
  ),
  fc.string({ unit: "grapheme", maxLength: 12 }),
);
const chunkWith = (delta: object, beside: object = {}, choice: object = {}) => ({
  ...beside,
  choices: [{ index: 0, delta, ...choice }],
});
const counted = (n: number) => ({ usage: { prompt_tokens: n, completion_tokens: n + 1 } });

/** Chunks of one answer: mostly content alone, now and then anything else that providers send. */
const chunk: fc.Arbitrary<object> = fc.oneof(
  { weight: 8, arbitrary: words.map((content) => chunkWith({ content }, {}, { finish_reason: null })) },
  { weight: 1, arbitrary: words.map((content) => chunkWith({ content }, {}, { index: 1 })) },
  { weight: 1, arbitrary: words.map((reasoning) => chunkWith({ content: "x", reasoning })) },
  { weight: 1, arbitrary: words.map((content) => chunkWith({ content }, { x: { content } })) },
  { weight: 1, arbitrary: fc.constant(chunkWith({ role: "assistant", content: "" })) },
  { weight: 1, arbitrary: fc.constant(chunkWith({}, {}, { finish_reason: "stop" })) },
  { weight: 1, arbitrary: fc.nat(99).map((n) => ({ choices: [], ...counted(n) })) },
  { weight: 1, arbitrary: words.map((content) => ({ ...chunkWith({ content }), ...counted(1) })) },
  {
    weight: 1,
    arbitrary: words.map((name) => chunkWith({ tool_calls: [{ index: 0, function: { name } }] })),
  },
  { weight: 1, arbitrary: words.map((content) => chunkWith({ content }, {}, { text: "x" })) },
  { weight: 2, arbitrary: words.map((content) => chunkWith({ content }, { system_fingerprint: "fp_own" })) },
  { weight: 1, arbitrary: words.map((content) => chunkWith({ content }, { system_fingerprint: null })) },
);

const stream = fc.record({
  chunks: fc.array(chunk, { maxLength: 30 }),
  includeUsage: fc.boolean(),
  fingerprint: fc.constantFrom(null, "fp_1"),
  alias: fc.constantFrom(null, { upstreamModel: "dep", model: "m" }),
});

test("both ways pass the same bytes and count the same", () => {
  fc.assert(
    fc.property(stream, ({ chunks, ...options }) => {
      const data = chunks.map((one) => JSON.stringify({ id: "c", model: "dep", ...one }));
      const short = createChatStream(options);
      const long = createChatStream(options);
      const reader = new SseReader({ maxEventBytes: 1_000_000 });
      for (const one of [...data, "[DONE]"]) {
        const bytes = new TextEncoder().encode(`data: ${one}\n\n`);
        const [event] = reader.push(bytes);
        const a = short.feedData(one, "");
        const b = long.feed(event!);
        expect(a.kind).toBe(b.kind);
        if (a.kind !== "pass" || b.kind !== "pass") continue;
        expect(a.content).toBe(b.content);
        expect(Buffer.from(a.bytes ?? bytes).toString()).toBe(Buffer.from(b.bytes ?? event!.raw).toString());
      }
      expect(short.texts().join("")).toBe(long.texts().join(""));
      expect(short.chars).toBe(long.chars);
      expect(short.usage).toEqual(long.usage);
      expect(short.delivered).toBe(long.delivered);
      expect(short.outcome(true)).toBe(long.outcome(true));
    }),
    { numRuns: 400 },
  );
});
