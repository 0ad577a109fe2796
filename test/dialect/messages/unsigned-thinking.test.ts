// Thinking that nobody signed is taken out of a messages request before a provider of its own style reads it: exactly those
// blocks, every other character as it came; and the cutting of JSON texts that this rests on.

import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { messages } from "../../../src/dialect/messages/messages.ts";
import { unsignedThoughts } from "../../../src/dialect/messages/messages-request.ts";
import { withoutPlaces } from "../../../src/dialect/payload/json-removal.ts";
import { makeRoom } from "../../../src/dialect/payload/patched-bytes.ts";
import type { JsonPath, Payload } from "../../../src/dialect/payload/payload.ts";
import { jsonPayload } from "../../../src/dialect/payload/payload-json.ts";
import { jsonBytesPayload } from "../../../src/dialect/payload/payload-json-bytes.ts";

function sentOf(payload: Payload): string {
  const parsed = messages.parse(payload);
  if (!parsed.ok) throw new Error(parsed.refusal.message);
  const body = messages.upstreamBody(parsed.request, { model: "there", add: {} });
  return typeof body === "string" ? body : Buffer.from(body).toString();
}

function bytesPayload(text: string): Payload {
  const bytes = Buffer.from(text);
  const room = makeRoom(bytes.length);
  room.buffer.set(bytes, room.from);
  return jsonBytesPayload(room);
}

const UNSIGNED = '{"type":"thinking","thinking":"so","signature":""}';
const SIGNED = '{"type":"thinking","thinking":"so","signature":"c2ln"}';
const CALL = '{"type":"tool_use","id":"t","name":"f","input":{"id":12345678901234567890,"x":1.0}}';
const bodyOf = (content: string) =>
  `{ "model":"m", "max_tokens": 5,\n "messages":[{"role":"user","content":"caf\\u00e9"}, {"role":"assistant","content": [${content}]},{"role":"user","content":[]} ], "odd": 1e3}`;

describe("before a provider of its own style a request loses", () => {
  const ROWS: readonly (readonly [what: string, content: string, left: string])[] = [
    ["an unsigned thought before a call", `${UNSIGNED}, ${CALL}`, CALL],
    ["one behind it", `${CALL} , ${UNSIGNED}`, CALL],
    ["several", `${UNSIGNED},${UNSIGNED} ,${CALL},${UNSIGNED}`, CALL],
    ["one between signed ones", `${SIGNED},\n${UNSIGNED},${SIGNED}`, `${SIGNED},\n${SIGNED}`],
    ["nothing when all is signed", `${SIGNED},${CALL}`, `${SIGNED},${CALL}`],
    [
      "no thought without any signature, for its provider to judge",
      '{"type":"thinking","thinking":"so"}',
      '{"type":"thinking","thinking":"so"}',
    ],
  ];
  test.each(ROWS)("%s", (_, content, left) => {
    const expected = bodyOf(left).replace('"model":"m"', '"model":"there"');
    expect(sentOf(jsonPayload(bodyOf(content)))).toBe(expected);
    expect(sentOf(bytesPayload(bodyOf(content)))).toBe(expected);
  });

  test("a turn that says nothing else", () => {
    const { messages: sent } = JSON.parse(sentOf(jsonPayload(bodyOf(UNSIGNED))));
    expect(sent).toEqual([
      { role: "user", content: "café" },
      { role: "user", content: [] },
    ]);
  });

  test("no thought of anybody but the assistant", () => {
    const body = bodyOf(UNSIGNED).replace('"assistant"', '"user"');
    expect(sentOf(jsonPayload(body))).toBe(body.replace('"model":"m"', '"model":"there"'));
  });
});

test("a large body loses them too, also when it was sent to another provider before", () => {
  const image = `{"type":"image","source":{"type":"base64","media_type":"image/png","data":"${"AAAA".repeat(5_000)}"}}`;
  const payload = bytesPayload(bodyOf(`${UNSIGNED},${image}`));
  const expected = bodyOf(image).replace('"model":"m"', '"model":"there"');
  expect(sentOf(payload)).toBe(expected);
  expect(sentOf(payload)).toBe(expected);
});

test("no body makes the search throw", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(unsignedThoughts(value)).toBeArray();
      expect(unsignedThoughts({ messages: value })).toBeArray();
      expect(unsignedThoughts({ messages: [{ role: "assistant", content: value }] })).toBeArray();
    }),
  );
});

describe("a JSON text without some of its elements", () => {
  test("is what the value is without them, whatever the value and the places", () => {
    const spaced = fc.constantFrom(undefined, 1, "\t");
    fc.assert(
      fc.property(
        fc.array(fc.array(fc.jsonValue(), { maxLength: 4 }), { maxLength: 4 }),
        fc.array(fc.tuple(fc.nat(5), fc.nat(5))),
        spaced,
        (lists, cuts, space) => {
          const value = { a: "x,]", lists, z: null };
          const places: JsonPath[] = [...new Map(cuts.map((cut) => [cut.join(), cut])).values()].map(
            ([i, j]) => ["lists", i, j],
          );
          const left = withoutPlaces(JSON.stringify(value, null, space), places);
          const gone = (i: number, j: number) => cuts.some(([a, b]) => a === i && b === j);
          const kept = lists.map((list, i) => list.filter((_, j) => !gone(i, j)));
          expect(JSON.stringify(JSON.parse(left))).toBe(JSON.stringify({ ...value, lists: kept }));
        },
      ),
    );
  });

  test("takes the last of several fields by one name, as parsing does", () => {
    expect(withoutPlaces('{"l":[1,2],"\\u006c":[3,4]}', [["l", 0]])).toBe('{"l":[1,2],"\\u006c":[4]}');
  });

  test("is the text itself where a place leads nowhere", () => {
    for (const place of [["x", 0], ["l", 9], ["l", 0, "y", 1], []] as JsonPath[])
      expect(withoutPlaces(' {"l":[1]} ', [place])).toBe(' {"l":[1]} ');
    expect(withoutPlaces("7", [["l", 0]])).toBe("7");
  });
});
