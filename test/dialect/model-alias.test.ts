// A body under the provider's name for the model, in every dialect of text: what is set is set, and all else is the client's
// to the byte. And answers that repeat that name.

import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { chat } from "../../src/dialect/chat/chat.ts";
import type { Dialect } from "../../src/dialect/dialect.ts";
import { countTokens, messages } from "../../src/dialect/messages/messages.ts";
import { aliasOf, repeats } from "../../src/dialect/model-alias.ts";
import { responses } from "../../src/dialect/responses/responses.ts";
import { completions } from "../../src/dialect/text/completions.ts";
import { embeddings } from "../../src/dialect/text/embeddings.ts";
import { moderations } from "../../src/dialect/text/moderations.ts";
import { rerank } from "../../src/dialect/text/rerank.ts";
import { ask, named, sent } from "./asking.ts";
import { space, string, value } from "./payload/bodies.ts";

const MESSAGES = '[ {"role":"user", "content":"\\u0068i"} ]';
/** What each needs beside the model, as a client may write it; and whether a stream of it must be asked for its usage. */
const DIALECTS: readonly (readonly [
  name: string,
  dialect: Dialect,
  needs: Record<string, string>,
  asks: boolean,
])[] = [
  ["chat", chat, { messages: MESSAGES }, true],
  ["completions", completions, { prompt: "[1, 2]" }, true],
  ["messages", messages, { messages: MESSAGES, max_tokens: "1e2" }, false],
  ["countTokens", countTokens, { messages: MESSAGES }, false],
  ["responses", responses, { input: '"\\u0068i"' }, false],
  ["embeddings", embeddings, { input: '[ "a" ]' }, false],
  ["rerank", rerank, { query: '"q"', documents: '["a" , {"text":"b"}]' }, false],
  ["moderations", moderations, { input: '"a"' }, false],
];

/** A field as it stands in a body: white space, name, value, in their own spelling. */
type Pair = readonly [before: string, name: string, between: string, value: string, after: string];

const bodyOf = (pairs: readonly Pair[], added = ""): string =>
  `{${pairs
    .map(([a, name, b, one, c], i) => `${a}${name}${b}:${b}${one}${i === pairs.length - 1 ? added : ""}${c}`)
    .join(",")}}`;

const pair = (name: fc.Arbitrary<string>, one: fc.Arbitrary<string>): fc.Arbitrary<Pair> =>
  fc.tuple(space, name, space, one, space);

describe.each(DIALECTS)("a body for the provider (%s)", (_name, dialect, needs, asks) => {
  const rest = Object.entries(needs)
    .map(([name, one]) => `"${name}":${one}`)
    .join(", ");
  const edited = (text: string, naming: Parameters<typeof sent>[2]) => sent(dialect, text, naming);

  test("names the model in the place where the client did", () => {
    expect(edited(`{"a":1,"model":"m",${rest}, "b":2}`, named("n"))).toBe(
      `{"a":1,"model":"n",${rest}, "b":2}`,
    );
  });
  test("has no model where the address says it", () => {
    expect(edited(`{"a":1,"model":"m",${rest}}`, { model: null, add: {} })).toBe(`{"a":1,${rest}}`);
  });
  test("carries what the provider wants beside", () => {
    expect(edited(`{"model":"m",${rest}}`, { model: "n", add: { version: "v" } })).toBe(
      `{"model":"n",${rest},"version":"v"}`,
    );
  });
  test("carries that in place of the client's own", () => {
    expect(edited(`{"model":"m","version":"mine",${rest}}`, { model: "n", add: { version: "v" } })).toBe(
      `{"model":"n","version":"v",${rest}}`,
    );
  });
  test("lacks what the provider does not know, even where it is to be added", () => {
    const naming = { model: "n", add: { y: "z" }, without: ["x", "y"] };
    expect(edited(`{"x":1,"model":"m","y":2,${rest}}`, naming)).toBe(`{"model":"n",${rest}}`);
  });
  test("means to the provider what it means here, where a field is named twice", () => {
    const read = JSON.parse(edited(`{"model":"x","model":"m","a":1,"a":2,${rest}}`, named("n")));
    expect(read).toEqual({ ...JSON.parse(`{${rest}}`), model: "n", a: 2 });
  });
  test("can be made again for another provider", () => {
    const request = ask(dialect, `{"model":"m","a":1.0,${rest}}`);
    dialect.upstreamBody(request, { model: null, add: { b: "2" }, without: ["a"] });
    expect(dialect.upstreamBody(request, named("n"))).toBe(`{"model":"n","a":1.0,${rest}}`);
  });

  test("is the client's to the byte, but for what is set", () => {
    const extra = fc.uniqueArray(pair(string, value), {
      selector: ([, name]) => JSON.parse(name),
      maxLength: 5,
    });
    const needed = Object.entries(needs).map(([name, one]) =>
      pair(fc.constant(`"${name}"`), fc.constant(one)),
    );
    const model = pair(fc.constantFrom('"model"', '"mod\\u0065l"'), fc.constantFrom('"m"', '"\\u006d"'));
    const options = pair(
      fc.constant('"stream_options"'),
      fc.constantFrom("null", "{ }", '{"x": 1e3, "include_usage":false}'),
    );
    fc.assert(
      fc.property(
        fc.tuple(extra, fc.tuple(model, ...needed), fc.option(options, { nil: null }), fc.boolean()),
        fc.array(fc.nat(), { minLength: 12, maxLength: 12 }),
        fc.boolean(),
        ([others, required, opts, stream], order, adds) => {
          const streams = asks && stream;
          const flag: Pair = ["", '"stream"', " ", streams ? "true" : "false", "\n"];
          const all = [...others, ...required, ...(opts !== null && asks ? [opts] : []), flag];
          const pairs = all
            .map((one, i) => ({ one, at: order[i % order.length]! }))
            .sort((a, b) => a.at - b.at)
            .map(({ one }) => one);
          const asking = (given: string) => JSON.stringify({ ...JSON.parse(given), include_usage: true });
          const set = (one: Pair): Pair => {
            const [a, name, b, given, c] = one;
            if (JSON.parse(name) === "model") return [a, name, b, '"n"', c];
            return name === '"stream_options"' && streams ? [a, name, b, asking(given), c] : one;
          };
          const added = [
            ...(streams && (opts === null || !asks) ? ['"stream_options":{"include_usage":true}'] : []),
            ...(adds ? ['"version":"v"'] : []),
          ];
          const wanted = bodyOf(pairs.map(set), added.map((one) => `,${one}`).join(""));
          expect(edited(bodyOf(pairs), { model: "n", add: adds ? { version: "v" } : {} })).toBe(wanted);
          // Said once more as values, in case both texts were wrong alike.
          const { stream_options: before, ...client } = JSON.parse(bodyOf(pairs));
          const { stream_options: after, ...given } = JSON.parse(wanted);
          expect(given).toEqual({ ...client, model: "n", ...(adds ? { version: "v" } : {}) });
          expect(after).toEqual(streams ? { ...before, include_usage: true } : before);
        },
      ),
      { numRuns: 150 },
    );
  });
});

describe("an answer", () => {
  const alias = { upstreamModel: "n", model: "m" };
  test("may repeat a name that is not the model's own", () =>
    expect(aliasOf({ model: "n", add: {} }, "m")).toEqual(alias));
  test.each(["m", null])("of a provider that was sent %j repeats none", (model) =>
    expect(aliasOf({ model, add: {} }, "m")).toBeNull(),
  );
  test.each<[object, boolean]>([
    [{ model: "n" }, true],
    [{ model: "n-2024" }, false],
    [{}, false],
  ])("%j: %p", (answer, is) => expect(repeats({ ...answer }, alias)).toBe(is));
  test("repeats nothing where there is no other name", () => expect(repeats({}, null)).toBe(false));
});
