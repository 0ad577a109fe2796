// What is taken out of an error's text before anybody reads it: secrets in any spelling that JSON has for them, and names
// where words are said.

import { describe, expect, test } from "bun:test";
import { redacted } from "../../src/upstream/redact.ts";

const SECRET = 'k+/"\\=<0123456789>';

describe("a secret", () => {
  const escaped = (of: (char: string) => string) =>
    `{"error":{"message":"no ${SECRET.replace(/\W/g, of)}!"}}`;
  const unicode = (char: string) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`;
  test.each<[string, string]>([
    ["as JSON must write it", JSON.stringify({ error: { message: `no ${SECRET}!` } })],
    ["as some write it, with numbers for signs", escaped(unicode)],
    [
      "as some write it, with slashes before slashes",
      escaped((char) => (/["\\/]/.test(char) ? `\\${char}` : char)),
    ],
  ])("is taken out of JSON, %s", (_, text) => {
    expect(JSON.parse(redacted(text, [SECRET], []))).toEqual({ error: { message: "no [removed]!" } });
  });
  test("is taken out of a word too", () => {
    expect(redacted(JSON.stringify({ code: SECRET }), [SECRET], [])).toBe('{"code":"[removed]"}');
  });
  test("is taken out of what is no JSON", () => {
    expect(redacted(`<p>${SECRET} ${SECRET}`, [SECRET], ["dep"])).toBe("<p>[removed] [removed]");
  });
  test("is not recognized in what cannot be read", () => {
    const depth = 30_000;
    expect(redacted(`${"[".repeat(depth)}"x"${"]".repeat(depth)}`, [SECRET], [])).not.toContain("x");
  });
  test("that is empty is none", () => expect(redacted('{"a":"b"}', [""], [])).toBe('{"a":"b"}'));
});

describe("a name", () => {
  const scrub = (text: string) => redacted(text, [SECRET], ["my dep"]);
  test.each<[string, object, object]>([
    ["in words", { message: "no 'my dep' here" }, { message: "no '[removed]' here" }],
    ["in another case", { message: "MY DEP" }, { message: "[removed]" }],
    ["as an address has it", { message: "/my%20dep/x" }, { message: "/[removed]/x" }],
    ["as a part of another", { message: "my deps" }, { message: "my deps" }],
    ["as a code", { code: "my dep" }, { code: "my dep" }],
  ])("%s", (_, text, clean) => expect(JSON.parse(scrub(JSON.stringify(text)))).toEqual(clean));
});
