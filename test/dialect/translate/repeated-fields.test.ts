// What a response repeats of its request, and that whatever the request is, it is little.

import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { Json } from "../../../src/dialect/json.ts";
import {
  REPEATED_BYTES_MAX,
  repeatedFieldsOf,
  statedFields,
} from "../../../src/dialect/translate/repeated-fields.ts";

const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));
/** Bytes of the defaults, the names of the fields and commas. */
const DEFAULTS_BYTES = 1_000;
/** Bytes that an attempt holds back before the first content. Two events have them. */
const HELD_BACK_BYTES = 256 * 1_024;

const tool = (name: string, more: Json = {}): Json => ({ type: "function", name, ...more });
const LONG = "é".repeat(REPEATED_BYTES_MAX);

test("is the request without its input and without what no response has", () => {
  const request = { model: "m", input: "secret", instructions: "be brief", metadata: { a: "b" }, other: 1 };
  expect(repeatedFieldsOf(request)).toEqual({ instructions: "be brief", metadata: { a: "b" } });
});

describe("is bounded", () => {
  test("a field that is too long is left out, the others stay", () =>
    expect(repeatedFieldsOf({ instructions: LONG, tools: [tool("f")], user: "u" })).toEqual({
      ...{ tools: [tool("f")], user: "u" },
    }));

  test("of tools that are too long the names stay", () => {
    const tools = [tool("f", { description: LONG }), { type: "custom", name: "c", format: {} }];
    const kept = { type: "custom", name: "c" };
    expect(repeatedFieldsOf({ instructions: "be brief", tools })).toEqual({
      ...{ instructions: "be brief", tools: [tool("f"), kept] },
    });
  });

  test.each<[what: string, request: Json]>([
    ["names of any length", { tools: Array.from({ length: 9 }, (_, i) => tool(LONG + i)) }],
    ["any number of tools", { tools: Array.from({ length: 50_000 }, (_, i) => tool(`f${i}`)) }],
    ["tools that get fields", { tools: Array.from({ length: 2_500 }, () => ({ type: "function" })) }],
    ["any number of fields", Object.fromEntries(Array.from({ length: 50_000 }, (_, i) => [`f${i}`, 1]))],
    [
      "two fields",
      { instructions: LONG.slice(0, REPEATED_BYTES_MAX / 3), user: LONG.slice(0, REPEATED_BYTES_MAX / 3) },
    ],
  ])("with %s", (_, request) => {
    const repeated = bytesOf(statedFields(repeatedFieldsOf(request)));
    expect(repeated).toBeLessThan(REPEATED_BYTES_MAX + DEFAULTS_BYTES);
    expect(2 * (repeated + DEFAULTS_BYTES)).toBeLessThan(HELD_BACK_BYTES);
  });
});

test("is made of any request, and what was kept is repeated as all of it would be", () => {
  const field = fc.constantFrom(
    "tools",
    "text",
    "reasoning",
    "metadata",
    "instructions",
    "tool_choice",
    "top_p",
  );
  fc.assert(
    fc.property(fc.dictionary(field, fc.jsonValue({ maxDepth: 3 })), (request) => {
      expect(statedFields(repeatedFieldsOf(request as Json))).toEqual(statedFields(request as Json));
    }),
  );
});
