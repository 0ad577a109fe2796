// Byte strings, such as a JSON body has whose bytes are read as Latin-1: which bodies can be read so, and that they become the
// text that the body has.

import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { hasAsciiEscapes, intoTexts, textOfBytes } from "../../../src/dialect/payload/byte-strings.ts";

const asBytes = (text: string): string => Buffer.from(text, "utf8").toString("latin1");

describe("a body can be read so", () => {
  test.each([
    ["without escapes", '{"a":"ü"}', true],
    ["with an escape of ASCII", String.raw`{"a":"\u001b[0m"}`, true],
    ["with an escape of Latin-1", String.raw`{"a":"\u00e9"}`, false],
    ["with an escape of another character behind one of ASCII", String.raw`{"a":"\u0041\u6f22"}`, false],
    ["with many escapes of ASCII", `{"a":"${"\\u001b".repeat(2_048)}"}`, true],
    ["with more than are looked at", `{"a":"${"\\u001b".repeat(2_049)}"}`, false],
    ["with a capital letter in an escape", String.raw`{"a":"\u00E9"}`, false],
    // It is no escape but a backslash and a letter; to read such a body as text is right too.
    ["with an escaped backslash before a letter", String.raw`{"a":"\\u00e9"}`, false],
  ])("%s: %s", (_, body, can) => {
    expect(hasAsciiEscapes(Buffer.from(body))).toBe(can);
  });
});

describe("texts", () => {
  const LONG = "x".repeat(100);
  test.each(["", "a", "ü", "漢字", "😀", "\u0080", "\u00ff", LONG, `${LONG}é`])(
    "%p is what it was",
    (text) => {
      expect(textOfBytes(asBytes(text))).toBe(text);
    },
  );

  test("of any value are those of the body", () => {
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: "grapheme" }), (value) => {
        const json = JSON.stringify(value);
        fc.pre(hasAsciiEscapes(Buffer.from(json)));
        expect(JSON.stringify(intoTexts(JSON.parse(asBytes(json))))).toBe(json);
      }),
    );
  });

  test("stand below their own names, in their order, also below that of the prototype", () => {
    const json = '{"größe":1,"__proto__":"é","b":{"__proto__":{"ß":["ü"]},"ä":"ö"},"a":"漢"}';
    const value = intoTexts(JSON.parse(asBytes(json)));
    expect(JSON.stringify(value)).toBe(json);
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
  });

  test("take the place of byte strings: nothing else is made anew", () => {
    const value = { a: ["b"], c: { d: 1 } };
    const { a } = value;
    expect(intoTexts(value)).toBe(value);
    expect(value.a).toBe(a);
  });
});
