// Which tools of a translated request are held to their schemas: as many and as complex ones as a messages provider takes.

import { expect, test } from "bun:test";
import type { Json } from "../../../src/dialect/json.ts";
import {
  messagesRequestOf,
  messagesRequestOfResponses,
} from "../../../src/dialect/translate/request-translations.ts";
import { bodyOf, PLAIN } from "./request-samples.ts";

const numbers = (count: number): number[] => Array.from({ length: count }, (_, nth) => nth);
const tool = (parameters: Json, strict = true): Json => ({
  type: "function",
  name: "look",
  parameters,
  strict,
});
const tools = (count: number, parameters: Json = {}): Json[] => numbers(count).map(() => tool(parameters));
/** A schema with so many parameters of the schema, all of them required unless `required` names fewer. */
const object = (count: number, each: Json, required = numbers(count).map((nth) => `p${nth}`)): Json => ({
  type: "object",
  properties: Object.fromEntries(numbers(count).map((nth) => [`p${nth}`, each])),
  required,
});

const TEXT = { type: "string" };
const TEXT_OR_NULL = { type: ["string", "null"] };
const EITHER = { anyOf: [TEXT, { type: "null" }] };

/** How many tools are sent with `strict`. */
const strictOf = (sent: Json): number =>
  (sent.tools as Json[]).filter(({ strict }) => strict === true).length;
const sent = (given: readonly Json[], facts = PLAIN): number =>
  strictOf(bodyOf(messagesRequestOfResponses({ model: "asked", input: "hi", tools: given }, facts)));

// biome-ignore format: a table
test.each<[what: string, tools: readonly Json[], strict: number]>([
  ["20 tools are", tools(20), 20],
  ["21 tools are not", tools(21), 0],
  ["20 tools beside others that ask for nothing are", [...tools(20), tool({}, false)], 20],
  ["24 optional parameters are", [tool(object(20, TEXT, [])), tool(object(5, TEXT, ["p0"]))], 2],
  ["25 optional parameters are not", [tool(object(20, TEXT, [])), tool(object(6, TEXT, ["p0"]))], 0],
  ["16 parameters of several types are", [tool(object(8, TEXT_OR_NULL)), tool(object(8, EITHER))], 2],
  ["17 parameters of several types are not", [tool(object(8, TEXT_OR_NULL)), tool(object(9, EITHER))], 0],
  ["17 of them deep inside are not", [tool({ type: "object", properties: { list: { type: "array", items: object(17, EITHER) } }, required: ["list"] })], 0],
  ["17 of them by reference are not", [tool({ type: "object", $defs: { one: object(17, EITHER) } })], 0],
  ["parameters of tools that ask for nothing are not counted", [tool(object(30, TEXT, []), false), tool(object(1, TEXT))], 1],
])("strict: %s", (_, given, strict) => expect(sent(given)).toBe(strict));

test("a model without structured outputs has no strict tools", () =>
  expect(sent(tools(1), { ...PLAIN, structured: false })).toBe(0));

test("a chat client's tools are counted the same", () => {
  const given = tools(21).map(({ type, ...called }) => ({ type, function: called }));
  const messages = [{ role: "user", content: "hi" }];
  const request = (tools: readonly Json[]) =>
    bodyOf(messagesRequestOf({ model: "asked", messages, tools }, PLAIN));
  expect(strictOf(request(given))).toBe(0);
  expect(strictOf(request(given.slice(1)))).toBe(20);
});
