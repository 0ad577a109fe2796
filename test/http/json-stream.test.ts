// Bodies made while they are sent: the same text in one piece or many, nothing read that nobody wants, and other work in
// between.

import { expect, test } from "bun:test";
import { jsonArray, streamed } from "../../src/http/json-stream.ts";

const rows = (count: number) => Array.from({ length: count }, (_, id) => ({ id, text: "é".repeat(10_000) }));
const bodyOf = async (made: readonly object[], around?: readonly [string, string]) =>
  streamed(jsonArray(made, (row) => row, around));

test.each([0, 1, 3, 50])("a list of %d is one JSON text, in whatever pieces", async (count) => {
  const body = await bodyOf(rows(count));
  expect(typeof body).toBe(count < 7 ? "string" : "object");
  expect(await new Response(body).json()).toEqual(rows(count));
});

test("what stands around a list is part of the text", async () => {
  for (const count of [0, 50]) {
    const body = await bodyOf(rows(count), ['{"success":true,"list":', "}"]);
    expect(await new Response(body).json()).toEqual({ success: true, list: rows(count) });
  }
});

test("what fails at once is an error, not a body that breaks off", async () => {
  const fails = () => Promise.reject(new Error("no maps"));
  expect(streamed(jsonArray(rows(3), fails))).rejects.toThrow("no maps");
});

test("the reader decides how much is made, and the loop turns meanwhile", async () => {
  let made = 0;
  let turns = 0;
  const shape = (row: object) => {
    made++;
    return row;
  };
  const body = (await streamed(jsonArray(rows(1_000), shape))) as ReadableStream<Uint8Array>;
  const reader = body.getReader();
  await reader.read();
  expect(made).toBeLessThan(50);
  let reading = true;
  const turn = () => {
    turns++;
    if (reading) setImmediate(turn);
  };
  setImmediate(turn);
  for (let i = 0; i < 20; i++) await reader.read();
  reading = false;
  expect(turns).toBeGreaterThanOrEqual(20);
  await reader.cancel();
  const then = made;
  await new Promise(setImmediate);
  expect(made).toBe(then);
});
