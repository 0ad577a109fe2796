// Function calls of a chat request to a model that refuses them without a signature: the first call of each step gets what
// Google documents for calls of others, and every other byte stays.

import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { withSignedCalls } from "../../../src/dialect/chat/call-signatures.ts";
import { withInsertions } from "../../../src/dialect/payload/json-insertion.ts";
import { makeRoom } from "../../../src/dialect/payload/patched-bytes.ts";
import type { Payload } from "../../../src/dialect/payload/payload.ts";
import { jsonPayload } from "../../../src/dialect/payload/payload-json.ts";
import { jsonBytesPayload } from "../../../src/dialect/payload/payload-json-bytes.ts";

const textOf = (sent: string | Uint8Array): string =>
  typeof sent === "string" ? sent : Buffer.from(sent).toString("utf8");

function bytesPayload(text: string): Payload {
  const bytes = Buffer.from(text);
  const room = makeRoom(bytes.length);
  room.buffer.set(bytes, room.from);
  return jsonBytesPayload(room);
}

const INSTEAD = '{"google":{"thought_signature":"skip_thought_signature_validator"}}';
const call = (more = "", id = "1") =>
  `{ ${more}"id": "${id}", "type":"function", "function" : {"name":"look","arguments":"{\\"n\\": 1.0}"}}`;
const filled = (text: string) => text.replace("{ ", `{"extra_content":${INSTEAD}, `);
const step = (...calls: readonly string[]) =>
  `{"role":"assistant", "content":null,"tool_calls" : [ ${calls.join(" , ")} ] }`;
const RESULT = '{"role":"tool","tool_call_id":"1","content":"5.0"}';
const bodyOf = (...messages: readonly string[]) =>
  ` {"model":"m","seed":12345678901234567890, "messages" :[{"role":"user","content":"hi"}, ${messages.join(", ")}]}\n`;
const sentOf = (text: string) => textOf(withSignedCalls(jsonPayload(text)).edited({}));

describe("a call without a signature", () => {
  // biome-ignore format: a table
  const CASES: readonly (readonly [rule: string, given: string, sent: string])[] = [
    ["gets one", bodyOf(step(call()), RESULT), bodyOf(step(filled(call())), RESULT)],
    ["gets one in each step", bodyOf(step(call()), RESULT, step(call())), bodyOf(step(filled(call())), RESULT, step(filled(call())))],
    ["gets none behind the first of its step", bodyOf(step(call(), call("", "2"))), bodyOf(step(filled(call()), call("", "2")))],
    ["gets one in place of null", bodyOf(step(call('"extra_content": null, '))), bodyOf(step(call(`"extra_content": ${INSTEAD}, `)))],
    ["gets one in place of an empty one", bodyOf(step(call('"extra_content":{"google":{"thought_signature":""}},'))), bodyOf(step(call(`"extra_content":${INSTEAD},`)))],
    ["keeps what else is attached", bodyOf(step(call('"extra_content":{"x":{"a":1},"google":{"b":2}},'))), bodyOf(step(call('"extra_content":{"x":{"a":1},"google":{"b":2,"thought_signature":"skip_thought_signature_validator"}},')))],
    ["gets one where it is empty", bodyOf(step("{}")), bodyOf(step(`{"extra_content":${INSTEAD}}`))],
  ];
  test.each(CASES)("%s", (_, given, sent) => expect(sentOf(given)).toBe(sent));

  test("gets one in a large body, whose image stays", () => {
    const image = `{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,${"AAAA".repeat(5_000)}"}}]}`;
    const sent = withSignedCalls(bytesPayload(bodyOf(image, step(call())))).edited({});
    expect(textOf(sent)).toBe(bodyOf(image, step(filled(call()))));
  });
});

describe("a request passes as it is", () => {
  const signed = (by: string) => call(`"extra_content":{"${by}":{"thought_signature":"a+b/c="}},`);
  // biome-ignore format: a table
  const CASES: readonly (readonly [rule: string, body: string])[] = [
    ["with signed calls", bodyOf(step(signed("google")), RESULT)],
    ["with a call that another of the maker's products signed", bodyOf(step(signed("vertex")))],
    ["with a second call that has no signature", bodyOf(step(signed("google"), call()))],
    ["without calls", bodyOf('{"role":"assistant","content":"a"}', step())],
    ["with calls of anybody but the assistant", bodyOf(step(call()).replace("assistant", "user"))],
    ["with calls that are none", bodyOf(step("7"), '{"role":"assistant","tool_calls":{"0":{}}}', "null")],
  ];
  test.each(CASES)("%s", (_, body) => {
    const payload = jsonPayload(body);
    expect(withSignedCalls(payload)).toBe(payload);
  });

  test("whatever its messages are, or it has the first calls signed", () =>
    fc.assert(
      fc.property(fc.jsonValue(), fc.array(fc.jsonValue()), (messages, calls) => {
        for (const value of [messages, [{ role: "assistant", tool_calls: calls }]]) {
          const payload = withSignedCalls(jsonPayload(JSON.stringify({ messages: value })));
          expect(withSignedCalls(payload)).toBe(payload);
        }
      }),
    ));
});

describe("a JSON text with fields set in some of its objects", () => {
  test("is what the value is with them", () => {
    const field = fc.constantFrom("a", "b", "__x");
    const object = fc.dictionary(field, fc.jsonValue());
    fc.assert(
      fc.property(
        fc.array(object, { maxLength: 5 }),
        fc.uniqueArray(fc.nat(6)),
        field,
        fc.jsonValue(),
        fc.constantFrom(undefined, 1, "\t"),
        (list, meant, name, value, space) => {
          const insertions = meant.map((i) => ({ at: ["list", i], field: name, value }));
          const text = withInsertions(JSON.stringify({ z: "x,]", list, y: null }, null, space), insertions);
          const expected = list.map((one, i) => (meant.includes(i) ? { ...one, [name]: value } : one));
          expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify({ z: "x,]", list: expected, y: null })));
        },
      ),
    );
  });

  test("is the text itself where a path leads to no object", () => {
    const text = ' {"l":[1,{"a":2}]} ';
    for (const at of [["x"], ["l"], ["l", 0], ["l", 7], ["l", 1, "a", "b"]])
      expect(withInsertions(text, [{ at, field: "f", value: 1 }])).toBe(text);
    expect(withInsertions("7", [{ at: [], field: "f", value: 1 }])).toBe("7");
  });
});
