// The short way through a messages stream against the long one: whatever events come, both must say the same of each.

import { expect, test } from "bun:test";
import fc from "fast-check";
import { createMessagesStream } from "../../../src/dialect/messages/messages-stream.ts";

const words = fc.oneof(
  fc.constantFrom("hello", " world", "", 'a "quote"', "back\\slash", "line\nfeed", "ü€😀", '","x":"', "text"),
  fc.string({ unit: "grapheme", maxLength: 12 }),
);
const delta = (given: object, index = 0, beside: object = {}) => ({
  type: "content_block_delta",
  index,
  delta: given,
  ...beside,
});

/** Events of one answer: mostly text, now and then anything else that providers send. */
const event: fc.Arbitrary<object> = fc.oneof(
  { weight: 8, arbitrary: words.map((text) => delta({ type: "text_delta", text })) },
  { weight: 4, arbitrary: words.map((thinking) => delta({ type: "thinking_delta", thinking })) },
  { weight: 2, arbitrary: words.map((text) => delta({ type: "text_delta", text }, 1)) },
  { weight: 1, arbitrary: words.map((text) => delta({ type: "text_delta", text, thinking: text })) },
  { weight: 1, arbitrary: words.map((text) => delta({ type: "text_delta", text, thinking: "x" })) },
  { weight: 1, arbitrary: words.map((text) => delta({ type: "text_delta", text }, 0, { x: { text } })) },
  { weight: 1, arbitrary: words.map((text) => delta({ type: "text_delta", text }, 0, { error: { text } })) },
  { weight: 1, arbitrary: words.map((text) => ({ delta: { text } })) },
  { weight: 1, arbitrary: words.map((partial_json) => delta({ type: "input_json_delta", partial_json })) },
  { weight: 1, arbitrary: words.map((text) => ({ type: "something_new", delta: { text } })) },
  { weight: 1, arbitrary: fc.constant({ type: "content_block_start", index: 0, content_block: {} }) },
  {
    weight: 1,
    arbitrary: fc.nat(9).map((n) => ({
      type: "message_delta",
      delta: { stop_reason: n > 4 ? "end_turn" : null },
      usage: { output_tokens: n },
    })),
  },
);

const named = fc.tuple(
  event,
  fc.constantFrom("content_block_delta", "content_block_delta", "own", "other", ""),
);

test("both ways pass the same bytes and count the same", () => {
  fc.assert(
    fc.property(fc.array(named, { maxLength: 30 }), (events) => {
      const short = createMessagesStream();
      const long = createMessagesStream();
      for (const [one, given] of [...events, [{ type: "message_stop" }, "own"] as const]) {
        const data = JSON.stringify(one);
        const name = given === "own" && "type" in one ? String(one.type) : given;
        const raw = new TextEncoder().encode(`${name === "" ? "" : `event: ${name}\n`}data: ${data}\n\n`);
        const a = short.feedData(data, name);
        const b = long.feed({ raw, name, data });
        expect(a.kind).toBe(b.kind);
        if (a.kind === "pass" && b.kind === "pass") expect(a.content).toBe(b.content);
        if ("bytes" in a && "bytes" in b)
          expect(Buffer.from(a.bytes ?? raw).toString()).toBe(Buffer.from(b.bytes ?? raw).toString());
      }
      expect(short.texts().join("")).toBe(long.texts().join(""));
      expect(short.chars).toBe(long.chars);
      expect(short.usage).toEqual(long.usage);
      expect(short.delivered).toBe(long.delivered);
      expect(short.outcome(true)).toBe(long.outcome(true));
    }),
    { numRuns: 600 },
  );
});

test("a delta that says two things at once is never taken for one", () => {
  const stream = createMessagesStream();
  for (const text of ["a", "b"]) {
    const both = delta({ type: "text_delta", text, thinking: "x" });
    stream.feedData(JSON.stringify(both), "content_block_delta");
  }
  expect(stream.texts().join("")).toBe("axbx");
});
