// A small body becomes the payload that its content type asks for.

import { expect, test } from "bun:test";
import { payloadOf } from "../../../src/dialect/payload/parse-payload.ts";
import { makeRoom } from "../../../src/dialect/payload/patched-bytes.ts";

function made(text: string, contentType = "application/json") {
  const bytes = Buffer.from(text);
  const body = makeRoom(bytes.length);
  body.buffer.set(bytes, body.from);
  const read = payloadOf(body, contentType, JSON.parse);
  if (!read.ok) throw new Error(read.fault);
  return read.payload.edited({ model: "n" });
}

test("small JSON is edited as text, whatever its content type says", () => {
  expect(made('{"model":"m"}')).toBe('{"model":"n"}');
  expect(made('{"model":"m"}', "text/plain")).toBe('{"model":"n"}');
});
test("a form is edited as a form", () => {
  const form = (model: string) =>
    `--B\r\nContent-Disposition: form-data; name="model"\r\n\r\n${model}\r\n--B--\r\n`;
  const sent = made(form("m"), "multipart/form-data; boundary=B") as Uint8Array;
  expect(Buffer.from(sent).toString()).toBe(form("n"));
});
