// Bodies outside the gateway are read on the event loop, so that they are bounded by what the largest of them needs.

import { expect, test } from "bun:test";
import { RefusedError } from "../../src/base/errors.ts";
import { parseBoundedBody } from "../../src/gateway/json-body.ts";

const refusalOf = (text: string): unknown => {
  try {
    return parseBoundedBody(text);
  } catch (error) {
    return error instanceof RefusedError ? error.refusal : error;
  }
};

test("a body of very many fields or lists is refused before any of them is made", () => {
  const message = "The body has more than 100000 arrays, objects and fields.";
  const fields = Array.from({ length: 100_001 }, (_, i) => `"${i}":1`).join(",");
  expect(refusalOf(`{${fields}}`)).toEqual({ code: "invalid_json", message });
  expect(refusalOf(`{"a":[${"[],".repeat(100_001)}[]]}`)).toEqual({ code: "invalid_json", message });
});

test("what stands in texts does not count", () => {
  const text = `a=b,:{[\\"`.repeat(50_000);
  expect(refusalOf(JSON.stringify({ ModelMapper: text }))).toEqual({ ModelMapper: text });
});

test("a long body that is no JSON is refused like every other", () => {
  expect(refusalOf(`{"a":"${"b".repeat(300_000)}`)).toMatchObject({ code: "invalid_json" });
});
