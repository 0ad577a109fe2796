// The event reader: any splitting of the same bytes gives the same events, and their bytes are the input.

import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { type SseEvent, SseReader } from "../../src/sse/sse-reader.ts";
import { workOf } from "../work-counter/work-counter.ts";

const bytes = (text: string) => new TextEncoder().encode(text);
const MAX = 1_000_000;

function readAll(chunks: readonly Uint8Array[], maxEventBytes = MAX): SseEvent[] {
  const reader = new SseReader({ maxEventBytes });
  const events: SseEvent[] = [];
  for (const chunk of chunks) events.push(...reader.push(chunk.slice()));
  events.push(...reader.end());
  return events;
}

const plain = (events: readonly SseEvent[]) =>
  events.map((e) => ({ ...e, raw: Buffer.from(e.raw).toString("latin1") }));
const datas = (text: string) => readAll([bytes(text)]).map((e) => e.data);

function split(input: Uint8Array, cuts: readonly number[]): Uint8Array[] {
  const at = [0, ...cuts.map((c) => c % (input.length + 1)).sort((a, b) => a - b), input.length];
  return at.slice(1).map((end, i) => input.subarray(at[i], end));
}

describe("an event", () => {
  test("is one data line, with or without the space", () => {
    expect(datas('data: {"a":1}\n\ndata:x\n\ndata:  y\n\n')).toEqual(['{"a":1}', "x", " y"]);
  });
  test("ends with any of the three line ends, mixed too", () => {
    expect(datas("data: a\r\n\r\ndata: b\r\rdata: c\n\ndata: d\r\n\ndata: e\n\r\n")).toEqual([
      "a",
      "b",
      "c",
      "d",
      "e",
    ]);
  });
  test("joins several data lines by line feeds", () => {
    expect(datas("data: a\ndata: b\ndata\n\n")).toEqual(["a\nb\n"]);
  });
  test("has the name of its event line", () => {
    expect(readAll([bytes("event: ping\ndata: {}\nid: 7\nretry: 1\n\n")])).toMatchObject([
      { name: "ping", data: "{}" },
    ]);
  });
  test("without data is a comment", () => {
    expect(readAll([bytes(": still here\n\nevent: x\n\n")])).toMatchObject([
      { name: "", data: null },
      { name: "x", data: null },
    ]);
  });
  test("keeps its own bytes, stray blank lines being events of their own", () => {
    expect(plain(readAll([bytes("\n: c\ndata: a\n\n\ndata: b\n\n")])).map((e) => e.raw)).toEqual([
      "\n",
      ": c\ndata: a\n\n",
      "\n",
      "data: b\n\n",
    ]);
  });
  test("may follow a byte order mark", () => {
    expect(datas("\ufeffdata: a\n\ndata: \ufeffb\n\n")).toEqual(["a", "\ufeffb"]);
  });
  test("survives a character split over chunks", () => {
    const input = bytes("data: grüße 👋🏽\n\n");
    expect(readAll([...input].map((b) => new Uint8Array([b]))).map((e) => e.data)).toEqual(["grüße 👋🏽"]);
  });
  test("that the end cut off is marked", () => {
    expect(readAll([bytes("data: a\n\ndata: [DONE]\n")])).toMatchObject([
      { data: "a" },
      { data: "[DONE]", fault: "cut" },
    ]);
    expect(readAll([bytes('data: {"a')])).toMatchObject([{ data: '{"a', fault: "cut" }]);
  });
  test("closed by a carriage return at the very end is whole", () => {
    expect(plain(readAll([bytes("data: a\r\r")]))).toEqual([{ raw: "data: a\r\r", name: "", data: "a" }]);
  });
  test("is given as soon as its blank line is there", () => {
    const reader = new SseReader({ maxEventBytes: MAX });
    expect(reader.push(bytes("data: a\n"))).toHaveLength(0);
    expect(reader.push(bytes("\n"))).toHaveLength(1);
    expect(reader.push(bytes("data: b\r\n\r\n"))).toHaveLength(1);
  });
});

describe("an event over the bound", () => {
  test("is reported once, and nothing follows", () => {
    const reader = new SseReader({ maxEventBytes: 100 });
    expect(reader.push(bytes("data: ok\n\n"))).toHaveLength(1);
    expect(reader.push(bytes(`data: ${"x".repeat(50)}`))).toHaveLength(0);
    expect(reader.push(bytes("x".repeat(60)))).toMatchObject([{ fault: "too_large" }]);
    expect(reader.push(bytes("\n\ndata: more\n\n"))).toEqual([]);
    expect(reader.end()).toEqual([]);
  });
  test("does not take the events before it along, and many small ones may share a large chunk", () => {
    const small = "data: ok\n\n".repeat(50);
    expect(readAll([bytes(`${small}data: ${"x".repeat(200)}\n\n`)], 100)).toHaveLength(51);
  });
});

test("any splitting of the same bytes gives the same events, and their bytes are the input", () => {
  const piece = fc.oneof(
    fc.constantFrom(
      "\n",
      "\r",
      "\r\n",
      "\n\n",
      "\r\n\r\n",
      "data: ",
      "data:",
      "event: ",
      ": c",
      ":",
      "é👋",
      " ",
      '{"a":1}',
      "id: 1",
      "\ufeff",
    ),
    fc.string({ unit: "grapheme", maxLength: 8 }),
  );
  fc.assert(
    fc.property(
      fc.array(piece, { maxLength: 40 }),
      fc.array(fc.nat(400), { maxLength: 12 }),
      fc.boolean(),
      (parts, cuts, small) => {
        const input = bytes(parts.join(""));
        const bound = small ? 24 : MAX;
        const whole = readAll([input], bound);
        expect(plain(readAll(split(input, cuts), bound))).toEqual(plain(whole));
        expect(
          plain(
            readAll(
              [...input].map((b) => new Uint8Array([b])),
              bound,
            ),
          ),
        ).toEqual(plain(whole));
        const fine = whole.filter((e) => e.fault !== "too_large");
        if (fine.length === whole.length)
          expect(Buffer.concat(fine.map((e) => e.raw))).toEqual(Buffer.from(input));
      },
    ),
    { numRuns: 2_000 },
  );
});

test("an event of very many lines is too large, and the next one is read", () => {
  const reader = new SseReader({ maxEventBytes: 16_000_000 });
  const [many, next] = reader.push(bytes(`${"data:\n".repeat(30_000)}\ndata: a\n\n`));
  expect(many).toMatchObject({ fault: "too_large", data: null });
  expect(next).toMatchObject({ data: "a" });
  expect(reader.push(bytes(`${"data:\n".repeat(10_000)}\n`))[0]?.data?.length).toBe(9_999);
});

test("a large event in small chunks is gone through a few times, however many chunks there are", () => {
  const chunk = new Uint8Array(1_000).fill(120);
  const touched = (chunks: number): number => {
    const reader = new SseReader({ maxEventBytes: 16_000_000 });
    const { bytes: count } = workOf(() => {
      reader.push(bytes("data: "));
      for (let i = 0; i < chunks; i++) reader.push(chunk);
      expect(reader.push(bytes("\n\n"))[0]?.data?.length).toBe(chunks * 1_000);
    });
    return count / (chunks * 1_000);
  };
  // Looked for its end, put behind what is held, moved when that grows, searched whole and decoded: at most so often.
  for (const chunks of [500, 2_000, 8_000]) expect(touched(chunks)).toBeLessThan(7);
});
