// A streamed answer is read alike however its bytes are cut, and what it says of its cost is exact.

import { describe, expect, test } from "bun:test";
import { toNanos } from "../../../console/api/amount.ts";
import { type ChatEvent, ChatStreamReader } from "../../../console/api/chat-stream.ts";

const chunk = (fields: object): string => `data: ${JSON.stringify(fields)}\n\n`;
const delta = (fields: object): string => chunk({ choices: [{ index: 0, delta: fields }] });

const STREAM = [
  ": keep-alive\n\n",
  delta({ role: "assistant", content: "" }),
  delta({ reasoning_content: "hm" }),
  delta({ content: "Grüße, 世界 🌲" }),
  chunk({ choices: [], usage: { prompt_tokens: 9, completion_tokens: 4 } }),
  ": cost=0.000000123\n\n",
  "data: [DONE]\n\n",
].join("");

const EVENTS: readonly ChatEvent[] = [
  { kind: "thought", text: "hm" },
  { kind: "answer", text: "Grüße, 世界 🌲" },
  { kind: "usage", prompt: 9, completion: 4 },
  { kind: "cost", cost: toNanos(123n) },
  { kind: "end" },
];

/** Reads a text in pieces of so many bytes. */
function read(text: string, size: number): ChatEvent[] {
  const bytes = new TextEncoder().encode(text);
  const reader = new ChatStreamReader();
  const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, nth) =>
    bytes.subarray(nth * size, (nth + 1) * size),
  );
  return pieces.flatMap((piece) => reader.read(piece));
}

describe("a streamed answer", () => {
  test.each([1, 2, 3, 7, 64, 10_000])("in pieces of %d bytes", (size) => {
    expect(read(STREAM, size)).toEqual([...EVENTS]);
  });

  test("with the line ends of another platform", () => {
    expect(read(STREAM.replaceAll("\n", "\r\n"), 5)).toEqual([...EVENTS]);
  });

  test("that breaks ends with its error and without an end", () => {
    const error = { message: "The provider broke off.", type: "server_error", code: "upstream_failed" };
    expect(read(delta({ content: "Once" }) + chunk({ error }), 11)).toEqual([
      { kind: "answer", text: "Once" },
      { kind: "error", code: "upstream_failed", message: "The provider broke off." },
    ]);
  });

  test("that is cut inside an event says nothing of it", () => {
    expect(read('data: {"choices":[{"delta":{"content":"lost', 8)).toEqual([]);
  });
});
