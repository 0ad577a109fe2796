// A body under the provider's name for the model, in either dialect, and answers that repeat that name.

import { describe, expect, test } from "bun:test";
import { chat } from "../../src/dialect/chat.ts";
import { countTokens, messages } from "../../src/dialect/messages.ts";
import { aliasOf, repeats } from "../../src/dialect/naming.ts";

describe.each([chat, messages, countTokens])("a body for the provider ($name)", ({ upstreamBody }) => {
  test("names the model in the place where the client did", () => {
    expect(upstreamBody({ a: 1, model: "m", b: 2 }, { model: "n", add: {} })).toBe(
      '{"a":1,"model":"n","b":2}',
    );
  });
  test("has no model where the address says it", () => {
    expect(upstreamBody({ a: 1, model: "m" }, { model: null, add: {} })).toBe('{"a":1}');
  });
  test("carries what the provider wants beside", () => {
    expect(upstreamBody({ model: "m" }, { model: "n", add: { version: "v" } })).toBe(
      '{"model":"n","version":"v"}',
    );
  });
  test("carries that in place of the client's own", () => {
    expect(
      JSON.parse(upstreamBody({ model: "m", version: "mine" }, { model: "n", add: { version: "v" } })),
    ).toEqual({ model: "n", version: "v" });
  });
  test("lacks what the provider does not know", () => {
    const body = { model: "m", stream: true, stream_options: { include_usage: true } };
    expect(JSON.parse(upstreamBody(body, { model: "n", add: {}, without: ["stream_options"] }))).toEqual({
      model: "n",
      stream: true,
    });
  });
  test("leaves the client's body as it was", () => {
    const body = { model: "m", a: 1 };
    upstreamBody(body, { model: null, add: { b: "2" }, without: ["a"] });
    expect(body).toEqual({ model: "m", a: 1 });
  });
});

describe("an answer", () => {
  const alias = { told: "n", model: "m" };
  test("may repeat a name that is not the model's own", () =>
    expect(aliasOf({ model: "n", add: {} }, "m")).toEqual(alias));
  test.each(["m", null])("of a provider that was told %j repeats none", (model) =>
    expect(aliasOf({ model, add: {} }, "m")).toBeNull(),
  );
  test.each<[object, boolean]>([
    [{ model: "n" }, true],
    [{ model: "n-2024" }, false],
    [{}, false],
  ])("%j: %p", (answer, is) => expect(repeats({ ...answer }, alias)).toBe(is));
  test("repeats nothing where there is no other name", () => expect(repeats({}, null)).toBe(false));
});
