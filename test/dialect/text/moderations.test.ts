// The moderations dialect: the forms of input, the model of a client that names none, and that it is one call.

import { describe, expect, test } from "bun:test";
import { moderations } from "../../../src/dialect/text/moderations.ts";
import { ask, named, type Refused, read, sent, testRefusals } from "../asking.ts";

const LEAST = { model: "m", input: "hi" };
const asked = (extra: Record<string, unknown> = {}) => ask(moderations, { ...LEAST, ...extra });

describe("a request is refused for", () => {
  const REFUSED: Refused = [
    ["not being an object", [], "body"],
    ["missing input", { model: "m" }, "input", "missing_parameter"],
    ["input that is null", { ...LEAST, input: null }, "input"],
    ["no inputs", { ...LEAST, input: [] }, "input"],
    ["inputs of two kinds", { ...LEAST, input: ["a", { type: "text", text: "b" }] }, "input"],
    ["tokens", { ...LEAST, input: [1] }, "input"],
    ["a model that is no string", { ...LEAST, model: 5 }, "model"],
    ["an empty model", { ...LEAST, model: "" }, "model"],
    ["a stream", { ...LEAST, stream: true }, "stream"],
  ];
  testRefusals(moderations, REFUSED);
});

describe("a parsed request has", () => {
  test("that it is one call, without output", () =>
    expect(asked({ stream: false })).toMatchObject({
      model: "m",
      stream: false,
      maxOutput: 0,
      measured: { calls: 1 },
      answerForm: null,
    }));
  test.each([
    ["none", { input: "hi" }],
    ["null", { model: null, input: "hi" }],
  ])("the makers' own model where the client names %s", (_what, body) => {
    expect(ask(moderations, body).model).toBe("omni-moderation-latest");
    expect(JSON.parse(sent(moderations, body, named("n")))).toEqual({ input: "hi", model: "n" });
  });
  const url = `data:image/png;base64,${"A".repeat(100_000)}`;
  const INPUTS: readonly (readonly [
    what: string,
    input: unknown,
    images: number,
    texts: readonly string[],
  ])[] = [
    ["a text", "a b", 0, ["a b"]],
    ["texts", ["a", "b"], 0, ["a", "b"]],
    [
      "parts",
      [
        { type: "text", text: "a" },
        { type: "image_url", image_url: { url } },
      ],
      1,
      ["text", "a"],
    ],
  ];
  test.each(INPUTS)("the weight of %s, a picture by number", (_what, input, images, texts) => {
    const request = asked({ input });
    expect(request.images).toBe(images);
    expect(request.promptBytes).toBeLessThan(50);
    expect(moderations.promptTexts(request)).toEqual(texts);
  });
});

describe("an answer", () => {
  const answered = (body: unknown) => read(moderations, LEAST, body);
  test("is one call and says nothing of tokens", () =>
    expect(answered({ id: "modr-1", model: "m", results: [{ flagged: false }] })).toMatchObject({
      ok: true,
      usage: null,
      texts: [],
      measured: { calls: 1 },
    }));
  test.each([
    ["an error", '{"error":{"message":"m"}}', "error_body"],
    ["without results", '{"data":[]}', "error_body"],
    ["a page", "<html>", "server_error"],
  ])("that is %s is a failure", (_what, text, fault) =>
    expect(answered(text)).toEqual({ ok: false, fault: fault as "error_body" }),
  );
});
