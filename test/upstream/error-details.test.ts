// What of a provider's `error.details` a client may see: the words its SDK decides by, and nothing of the key, the
// provider's account or its addresses; however large or deep they come.

import { describe, expect, test } from "bun:test";
import { cleanDetails } from "../../src/upstream/error-details.ts";
import { redacted } from "../../src/upstream/redact.ts";
import { classify } from "../../src/upstream/upstream-failure.ts";

/** The details that pass of an answer, as they do on their way from a key with this secret and these hidden names. */
function passed(details: unknown, secrets: readonly string[] = [], names: readonly string[] = []): unknown {
  const body = { type: "error", error: { type: "invalid_request_error", message: "No.", details } };
  const bodyText = redacted(JSON.stringify(body), secrets, names);
  return classify({ status: 400, bodyText, model: "m", nowMs: 0 }).pass?.details;
}

describe("details that pass", () => {
  test.each<[string, unknown]>([
    ["an error code", { error_code: "thread_not_found" }],
    ["a list of words", { error_code: "thread_unsupported_request", unsupported: ["container", "tools"] }],
    ["figures and truths", { limit: 12, over: true, since: null }],
    ["what stands deeper", { at: { message: { index: 3, block: { index: 1, of: { n: 1 } } } } }],
    ["a list of objects", [{ reason: "INVALID", field: "messages" }]],
  ])("%s", (_, details) => expect(passed(details)).toEqual(details));

  test.each<[string, unknown]>([
    ["none", undefined],
    ["null", null],
    ["a text", "words"],
    ["an empty object", {}],
    ["an empty list", []],
  ])("%s: there are none", (_, details) => expect(passed(details)).toBeUndefined());
});

describe("what stays behind", () => {
  test.each<[string, unknown, unknown]>([
    ["an API key", { hint: "use sk-ant-abcdef123456" }, { hint: "use [removed]" }],
    [
      "an address",
      { see: "https://eu.provider.example/v1/x", at: "10.0.0.7:443" },
      { see: "[address]", at: "[address]" },
    ],
    ["a host", { domain: "eu.provider.com" }, { domain: "[address]" }],
    [
      "an organisation",
      { organization_id: "1f0e", ORG: "x" },
      { organization_id: "[removed]", ORG: "[removed]" },
    ],
    ["a project by its number", { project: 4711 }, { project: "[removed]" }],
    ["a deployment", [{ deploymentName: "prod-east" }], [{ deploymentName: "[removed]" }]],
    ["a project's path", { of: "projects/my-project/locations/eu" }, { of: "[removed]" }],
    ["a field that is a key", { "sk-abcdef1234": 1, error_code: "x" }, { error_code: "x" }],
    ["a field that is a host", { "a.provider.com": 1, error_code: "x" }, { error_code: "x" }],
    ["a field that is no word", { "no word": 1, __proto__x: 1, "": 1, error_code: "x" }, { error_code: "x" }],
    ["a line break", { hint: "one\r\ntwo" }, { hint: "one two" }],
  ])("%s", (_, details, left) => expect(passed(details)).toEqual(left));

  test("the key's own secret, in a value or as a field", () => {
    const details = { hint: "not s3cr3t-of-mine", "s3cr3t-of-mine": 1, error_code: "x" };
    expect(passed(details, ["s3cr3t-of-mine"])).toEqual({ hint: "not [removed]", error_code: "x" });
  });

  test("a hidden name, in a value or as a field", () => {
    const details = { hint: "no east-dep here", "east-dep": { a: 1 }, error_code: "x" };
    expect(passed(details, [], ["east-dep"])).toEqual({ hint: "no [removed] here", error_code: "x" });
  });

  test("a name that is a word of errors leaves their fields as they are", () => {
    expect(passed({ reason: "x", code: "y" }, [], ["reason", "code"])).toEqual({ reason: "x", code: "y" });
  });

  test("a prototype", () => {
    expect(cleanDetails(JSON.parse('{"__proto__":{"a":1},"b":1}'))).toEqual({ b: 1 });
  });
});

describe("however they come", () => {
  test("they stay small", () => {
    const long = "word ".repeat(1_000);
    const wide = Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`f${i}`, long]));
    for (const details of [wide, Object.values(wide), { in: wide }, { in: [wide, wide] }]) {
      const text = JSON.stringify(cleanDetails(details));
      expect(text.length).toBeGreaterThan(100);
      expect(text.length).toBeLessThanOrEqual(4_200);
    }
  });

  test("they stay small where they hold nothing but other objects", () => {
    const empty = Array.from({ length: 50 }, () => Array.from({ length: 50 }, () => [[], [], {}]));
    expect(JSON.stringify(cleanDetails(empty)).length).toBeLessThanOrEqual(4_200);
  });

  test("they stay flat", () => {
    const deep = JSON.parse(`${'{"a":'.repeat(40)}1${"}".repeat(40)}`);
    expect(cleanDetails({ error_code: "x", deep })).toEqual({
      error_code: "x",
      deep: { a: { a: { a: {} } } },
    });
  });
});
