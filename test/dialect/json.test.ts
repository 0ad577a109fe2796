// What a provider sends as JSON: none of it throws, and what is nested beyond all measure is no answer, since to write it
// again would hold everybody up for seconds.

import { describe, expect, test } from "bun:test";
import { chat } from "../../src/dialect/chat/chat.ts";
import { parseJson } from "../../src/dialect/json.ts";
import { messages } from "../../src/dialect/messages/messages.ts";
import { ask } from "./asking.ts";

const nested = (levels: number) => "[".repeat(levels) + "]".repeat(levels);

test.each(["", "{", "<html>", "undefined"])("%j is none", (text) => expect(parseJson(text)).toBeUndefined());
test.each([1, 500])("%d levels are read", (levels) => expect(parseJson(nested(levels))).toBeArray());
test.each([501, 100_000])("%d levels are not", (levels) => expect(parseJson(nested(levels))).toBeUndefined());

describe.each([
  { dialect: chat, fields: '"system_fingerprint":null,"choices":[]' },
  { dialect: messages, fields: '"type":"message","content":[]' },
])("$dialect.name:", ({ dialect, fields }) => {
  const answer = (levels: number) => `{${fields},"x":${nested(levels)}}`;
  const request = ask(dialect, '{"model":"m","messages":[{"role":"user","content":"hi"}],"max_tokens":1}');
  const whole = (levels: number) =>
    dialect.readAnswer({ text: answer(levels), contentType: "application/json" }, request);
  test("a whole answer", () => {
    expect(whole(400).ok).toBe(true);
    expect(whole(30_000)).toEqual({ ok: false, fault: "server_error" });
  });
  test("an event", () => {
    const stream = () => dialect.stream({ includeUsage: false, fingerprint: "fp_1" });
    expect(stream().feedData(answer(400), "").kind).not.toBe("error");
    expect(stream().feedData(answer(30_000), "").kind).toBe("error");
  });
});
