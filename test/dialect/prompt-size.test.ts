// What a large body weighs whose long base64 was left out of its value: all of it, and all of it is counted when it must be.

import { expect, test } from "bun:test";
import { makeRoom } from "../../src/dialect/payload/patched-bytes.ts";
import { jsonBytesPayload } from "../../src/dialect/payload/payload-json-bytes.ts";
import { promptSizeOf, promptTextsOf } from "../../src/dialect/prompt-size.ts";

function large(body: unknown) {
  const bytes = Buffer.from(JSON.stringify(body));
  const room = makeRoom(bytes.length);
  room.buffer.set(bytes, room.from);
  return jsonBytesPayload(room);
}

const LONG = "QUJD".repeat(5_000);
const READ = { withParts: ["messages"], asText: ["tools"] };

test("base64 that is said as text weighs what it is, and is counted whole", () => {
  const payload = large({ messages: [{ content: LONG }], tools: ["b"] });
  expect((payload.value as { messages: { content: string }[] }).messages[0]!.content.length).toBeLessThan(
    2_000,
  );
  expect(promptSizeOf(payload, READ).bytes).toBe(LONG.length + "content".length + 4 + 1);
  expect(promptTextsOf(payload, READ)).toEqual([LONG, "b"]);
});

test("of a picture nothing is read: the body is not parsed once more", () => {
  const payload = large({ messages: [{ type: "image_url", image_url: { url: LONG } }, "a"] });
  const texts = promptTextsOf(Object.assign(payload, { whole: () => expect.unreachable() }), READ);
  expect(texts).toEqual(["a"]);
  expect(promptSizeOf(payload, READ)).toMatchObject({ bytes: 1, images: 1, files: 0 });
});

const WORDS = "many words ".repeat(100);
test.each<[what: string, message: object]>([
  ["a message", { role: "user", type: "image", content: WORDS }],
  [
    "a call",
    { role: "assistant", tool_calls: [{ type: "file", function: { name: "f", arguments: WORDS } }] },
  ],
  ["what is said of a document", { content: [{ type: "document", source: { data: "x" }, context: WORDS }] }],
])("%s that calls itself a piece is read all the same", (_, message) => {
  const payload = large({ messages: [message] });
  expect(promptSizeOf(payload, READ).bytes).toBeGreaterThan(WORDS.length);
  expect(promptTextsOf(payload, READ)).toContain(WORDS);
});

test.each([
  ["base64", LONG],
  ["other letters", "\u6f22".repeat(9)],
])("names of fields weigh all their bytes: %s", (_, name) => {
  const payload = large({ messages: [{ [name]: "" }], tools: [{ [name]: "" }] });
  expect(promptSizeOf(payload, READ).bytes).toBe(2 * (Buffer.byteLength(name) + 4));
});
