// Which chunks are nothing but whole events of one data line, and that they are then read as the byte-wise reader reads them.

import { expect, test } from "bun:test";
import fc from "fast-check";
import { isPlain, type PlainEvent, plainEvent } from "../../src/sse/sse-fast-path.ts";
import { SseReader } from "../../src/sse/sse-reader.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

/** A chunk as its events; null: they are not all plain. */
function plainChunk(chunk: Uint8Array): { text: string; events: PlainEvent[] } | null {
  const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(chunk);
  if (!isPlain(text)) return null;
  const events: PlainEvent[] = [];
  for (let at = 0; at < text.length; at = events.at(-1)!.end) {
    const event = plainEvent(text, at);
    if (event === null) return null;
    events.push(event);
  }
  return events.length === 0 ? null : { text, events };
}

const line = fc.oneof(
  fc.constantFrom("{}", "", " ", ":", "data: x", "event: y", "ü€😀", '{"a":"\\n"}'),
  fc.string({ unit: "grapheme", maxLength: 12 }).filter((text) => !/[\r\n\ufffd]/.test(text)),
);
const event = fc.record({ name: fc.oneof(fc.constant(""), line), data: line });
const wire = ({ name, data }: { name: string; data: string }) =>
  `${name === "" ? "" : `event: ${name}\n`}data: ${data}\n\n`;

test("named events and others are cut as they were put together", () => {
  fc.assert(
    fc.property(fc.array(event, { minLength: 1, maxLength: 8 }), (events) => {
      const text = events.map(wire).join("");
      const plain = plainChunk(bytes(text))!;
      expect(plain.events.map(({ name, data }) => ({ name, data }))).toEqual(events);
      expect(plain.events.map(({ end }, i) => text.slice(plain.events[i - 1]?.end ?? 0, end))).toEqual(
        events.map(wire),
      );
      expect(plain.text).toBe(text);
    }),
    { numRuns: 300 },
  );
});

test("whatever is found plain reads the same byte by byte", () => {
  const piece = fc.constantFrom(
    "data: ",
    "event: ",
    "data:",
    "\n",
    "\n\n",
    "a",
    ": c",
    "\r",
    "\ufeff",
    "id: 1\n",
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 14 }), (pieces) => {
      const text = `${pieces.join("")}\n\n`;
      const plain = plainChunk(bytes(text));
      if (plain === null) return;
      const reader = new SseReader({ maxEventBytes: 1_000 });
      const read = [...reader.push(bytes(text)), ...reader.end()];
      expect(plain.events.map(({ name, data }) => ({ name, data }))).toEqual(
        read.map(({ name, data }) => ({ name, data: data! })),
      );
    }),
    { numRuns: 2_000 },
  );
});

test.each([
  ["half an event", "data: {"],
  ["an event and a half", 'data: {}\n\ndata: {"a"'],
  ["a comment", ": ping\n\n"],
  ["a name alone", "event: x\n\n"],
  ["a name without a word", "event: \ndata: {}\n\n"],
  ["a name after the data", "data: {}\nevent: x\n\n"],
  ["two names", "event: x\nevent: y\ndata: {}\n\n"],
  ["an id beside", "event: x\nid: 1\ndata: {}\n\n"],
  ["two data lines", "data: {\ndata: }\n\n"],
  ["carriage returns", "data: {}\r\n\r\n"],
  ["a stray blank line", "data: {}\n\n\n\n"],
  ["no space after the colon", "data:{}\n\n"],
  ["no space after the name's colon", "event:x\ndata: {}\n\n"],
  ["a byte order mark", "\ufeffdata: {}\n\n"],
  ["nothing", ""],
])("%s is not plain", (_what, text) => {
  expect(plainChunk(bytes(text))).toBeNull();
});

test("bytes that are no UTF-8 are not plain", () => {
  expect(plainChunk(new Uint8Array([...bytes("data: "), 0xff, 10, 10]))).toBeNull();
});
