// A JSON body passed on: as text and as bytes it means what it meant, but for what was set; everything else is the client's.

import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { FIELDS_MAX } from "../../../src/dialect/payload/json-fields.ts";
import { makeRoom } from "../../../src/dialect/payload/patched-bytes.ts";
import type { FieldEdits, Payload } from "../../../src/dialect/payload/payload.ts";
import { jsonPayload } from "../../../src/dialect/payload/payload-json.ts";
import { jsonBytesPayload, readableBytes } from "../../../src/dialect/payload/payload-json-bytes.ts";
import { bodies, edits, namesOf } from "./bodies.ts";

const bytesOf = (text: string) => {
  const bytes = Buffer.from(text);
  const body = makeRoom(bytes.length);
  body.buffer.set(bytes, body.from);
  return body;
};
const KINDS: readonly (readonly [string, (text: string) => Payload])[] = [
  ["as text", (text) => jsonPayload(text)],
  ["as bytes", (text) => jsonBytesPayload(bytesOf(text))],
];
const textOf = (sent: string | Uint8Array): string =>
  typeof sent === "string" ? sent : Buffer.from(sent).toString("utf8");

/** What the edits mean. */
function applied(value: unknown, given: FieldEdits): unknown {
  const merged: Record<string, unknown> = { ...(value as object), ...given };
  for (const [name, one] of Object.entries(given)) if (one === null) delete merged[name];
  return merged;
}

/** Without the order of fields, and without the sign of a zero, which writing anew loses. */
const meant = (value: unknown): string =>
  JSON.stringify(value, (_key, one) =>
    typeof one === "object" && one !== null && !Array.isArray(one)
      ? Object.entries(one).sort(([a], [b]) => (a < b ? -1 : 1))
      : one,
  );

describe.each(KINDS)("a body %s", (_kind, payloadOf) => {
  const edited = (text: string, given: FieldEdits) => textOf(payloadOf(text).edited(given));

  // biome-ignore format: a table
  const CASES: readonly (readonly [rule: string, text: string, edits: FieldEdits, sent: string])[] = [
    ["nothing set is what came", ' {"a" :1 }\n', {}, ' {"a" :1 }\n'],
    ["a value is replaced where it stands", '{"model" : "a" , "x":1.0}', { model: "é" }, '{"model" : "é" , "x":1.0}'],
    ["a name spelt with escapes is found", '{"mod\\u0065l":"a"}', { model: "b" }, '{"mod\\u0065l":"b"}'],
    ["a new field comes last", '{"a":[1, 2]\n}', { model: "m" }, '{"a":[1, 2],"model":"m"\n}'],
    ["a new field comes into an empty object", "{ }", { model: "m" }, '{"model":"m" }'],
    ["the first field goes with its comma", '{ "a":1, "b":2 }', { a: null }, '{ "b":2 }'],
    ["the last field goes with its comma", '{ "a":1 , "b":2 }', { b: null }, '{ "a":1 }'],
    ["the middle field goes with its comma", '{"a":1,"b":{"c":","},"d":2}', { b: null }, '{"a":1,"d":2}'],
    ["the only field goes", '{ "a":1 }', { a: null }, "{  }"],
    ["all fields go and one comes", '{"a":1,"b":2}', { a: null, b: null, c: true }, '{"c":true}'],
    ["what is not there does not go", '{"a":1}', { b: null }, '{"a":1}'],
    ["an inner field of the same name stays", '{"x":{"model":"i"},"model":"o"}', { model: "n" }, '{"x":{"model":"i"},"model":"n"}'],
    ["braces in strings are text", '{"x":"}{]\\"[","model":"o"}', { model: "n" }, '{"x":"}{]\\"[","model":"n"}'],
    ["a string that ends in a backslash ends", '{"x":"\\\\","model":"o"}', { model: "n" }, '{"x":"\\\\","model":"n"}'],
    ["an object is set", '{"stream_options":null}', { stream_options: { include_usage: true } }, '{"stream_options":{"include_usage":true}}'],
    ["a field named twice: the body is written anew", '{"model":"a", "model":"b"}', { model: "c" }, '{"model":"c"}'],
    ["named twice, nothing set", '{"n":1, "\\u006e":2}', {}, '{"n":2}'],
  ];
  test.each(CASES)("%s", (_rule, text, given, sent) => {
    expect(edited(text, given)).toBe(sent);
  });

  test("means the same but for the edits, one set of edits after another", () => {
    fc.assert(
      fc.property(bodies, fc.array(edits, { minLength: 1, maxLength: 4 }), (text, sets) => {
        const payload = payloadOf(text);
        const hash = payload.hash("p");
        for (const set of sets) {
          const sent = textOf(payload.edited(set));
          expect(meant(JSON.parse(sent))).toBe(meant(applied(JSON.parse(text), set)));
          expect(payload.whole()).toEqual(JSON.parse(text));
          expect(payload.hash("p")).toBe(hash);
        }
      }),
      { numRuns: 200 },
    );
  });

  test("every byte outside what is set is the client's", () => {
    fc.assert(
      fc.property(bodies, (text) => {
        const names = namesOf(text);
        fc.pre(new Set(names).size === names.length);
        const mark = "\u0001mark\u0001";
        const sent = edited(text, Object.fromEntries(names.map((name) => [name, mark])));
        const pieces = sent.split(JSON.stringify(mark));
        expect(pieces.length).toBe(names.length + 1);
        let at = 0;
        for (const piece of pieces) {
          at = text.indexOf(piece, at);
          expect(at).not.toBe(-1);
          at += piece.length;
        }
        expect(text.startsWith(pieces[0]!)).toBe(true);
        expect(text.endsWith(pieces.at(-1)!)).toBe(true);
        expect(edited(text, {})).toBe(text);
      }),
      { numRuns: 200 },
    );
  });

  test("a body of too many fields is written anew", () => {
    const many = Object.fromEntries(Array.from({ length: FIELDS_MAX + 1 }, (_, i) => [`f${i}`, i]));
    const text = JSON.stringify(many, null, 1);
    expect(edited(text, { f0: "x" })).toBe(JSON.stringify({ ...many, f0: "x" }));
  });

  test("a body that is no object is sent as it came", () => {
    for (const text of ["[1, 2]", '"x"', " null", "12"]) expect(edited(text, { model: "m" })).toBe(text);
  });

  test("mentions what it says, however it is spelt", () => {
    expect(payloadOf('{"ttl":"1h"}').mentions('"1h"')).toBe(true);
    expect(payloadOf('{"ttl":"\\u0031h"}').mentions('"1h"')).toBe(true);
    expect(payloadOf('{"ttl":"1\\u0068"}').mentions('"1h"')).toBe(true);
    expect(payloadOf('{"ttl":"5m","x":"1h ago, \\u003cb\\u003e"}').mentions('"1h"')).toBe(false);
  });

  test("its hash is of the bytes as they came", () => {
    const text = '{"model": "é"}';
    expect(payloadOf(text).hash("/v1/x\n")).toBe(
      new Bun.CryptoHasher("sha256").update(`/v1/x\n${text}`).digest("hex"),
    );
  });

  test("what does not parse is thrown", () => {
    expect(() => payloadOf('{"a":')).toThrow(SyntaxError);
    expect(() => payloadOf('{"a":"')).toThrow(SyntaxError);
  });
});

describe("long strings of a body as bytes", () => {
  const HEAD = "data:image/png;base64,";
  const one = (string: string) => {
    const payload = jsonBytesPayload(bytesOf(`{"é":"${string}","model":"m"}`));
    return { payload, read: (payload.value as Record<string, string>).é! };
  };

  test.each([
    ["a data URL", HEAD + "A".repeat(5_000), true],
    ["a data URL with escaped slashes", `data:image\\/png;base64,${"\\/".repeat(3_000)}`, true],
    ["base64 alone", "Ab+/".repeat(2_000), true],
    ["base64 in lines", `${"A".repeat(76)}\\r\\n`.repeat(80), true],
    ["base64 of 4,095 characters", "A".repeat(4_095), false],
    ["text", "some words ".repeat(600), false],
    ["text behind the head of a data URL", HEAD + "some words ".repeat(600), false],
    ["text without spaces", "漢".repeat(6_000), false],
    ["letters spelt as escapes", "\\u0041".repeat(2_000), false],
  ])("%s", (_what, string, isShortened) => {
    const { payload, read } = one(string);
    const full: string = JSON.parse(`"${string}"`);
    expect(read.length < full.length).toBe(isShortened);
    expect(full.startsWith(read)).toBe(true);
    expect(payload.lengthOf(read)).toBe(Buffer.byteLength(full));
    expect(payload.whole()).toEqual({ é: full, model: "m" });
  });

  test("each has a length of its own, though they begin alike", () => {
    const strings = Array.from({ length: 300 }, (_, i) => HEAD + "A".repeat(5_000 + i));
    const payload = jsonBytesPayload(bytesOf(JSON.stringify(strings)));
    const read = payload.value as string[];
    expect(read.map((string) => payload.lengthOf(string))).toEqual(strings.map((string) => string.length));
    expect(new Set(read).size).toBe(300);
  });

  test("a field behind many of them is edited where it stands", () => {
    const text = JSON.stringify({ é: ["A".repeat(6_000), "漢字", "B".repeat(7_000)], model: "m", z: "ü" });
    const sent = Buffer.from(jsonBytesPayload(bytesOf(text)).edited({ model: "n", z: null }) as Uint8Array);
    expect(sent.toString("utf8")).toBe(text.replace('"model":"m","z":"ü"', '"model":"n"'));
  });

  test("bytes that are no UTF-8 are sent as they were read", () => {
    const body = bytesOf('{"model":"m","x":"?"}');
    body.buffer[body.buffer.indexOf(63)] = 0xff;
    expect(textOf(jsonBytesPayload(readableBytes(body)).edited({}))).toBe('{"model":"m","x":"\ufffd"}');
  });

  test("a byte order mark is no part of them", () => {
    const body = readableBytes(bytesOf('\ufeff{"model":"m"}'));
    expect(textOf(jsonBytesPayload(body).edited({}))).toBe('{"model":"m"}');
  });

  test("an edit without room for it takes a larger buffer", () => {
    const bytes = Buffer.from('{"model":"m"}');
    const payload = jsonBytesPayload({ buffer: new Uint8Array(bytes), from: 0, to: bytes.length });
    const name = "n".repeat(9_000);
    expect(textOf(payload.edited({ model: name }))).toBe(`{"model":"${name}"}`);
    expect(textOf(payload.edited({ model: "x" }))).toBe('{"model":"x"}');
    expect(textOf(payload.edited({}))).toBe('{"model":"m"}');
  });
});
