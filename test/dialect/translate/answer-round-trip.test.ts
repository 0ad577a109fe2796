// An answer and the request after it: the items that a responses client got of an answer, sent back with the results of its
// calls, give the provider the message that it generated, whether the answer came whole or as a stream.

import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { Json } from "../../../src/dialect/json.ts";
import {
  responsesAnswerOfChat,
  responsesAnswerOfMessages,
  responsesStreamOfChat,
  responsesStreamOfMessages,
} from "../../../src/dialect/translate/answer-translations.ts";
import {
  chatRequestOfResponses,
  messagesRequestOfResponses,
} from "../../../src/dialect/translate/request-translations.ts";
import type { ModelFacts } from "../../../src/dialect/translate/translation.ts";
import { bodyOf, PLAIN } from "./request-samples.ts";
import {
  block,
  CONTEXT,
  call,
  chatWire,
  DONE,
  delta,
  ended,
  eventsOf,
  finish,
  messagesWire,
  type Row,
  role,
  run,
  START,
  STOP,
  stop,
  text,
  thought,
} from "./streams.ts";

const RUNS = { numRuns: 300 };
const OPTIONS = { includeUsage: false, fingerprint: null };
const TOOLS = [
  { type: "function", name: "look" },
  { type: "custom", name: "patch" },
];
const MODEL: ModelFacts = { ...PLAIN, readsReasoning: true, provider: "maker" };
const ANSWER = { ...CONTEXT, provider: MODEL.provider, repeatedFields: { tools: TOOLS } };

const words = fc.string({ minLength: 1, maxLength: 12 }).map((some) => `w${some}`);
const halves = (whole: string): readonly string[] => [whole.slice(0, 2), whole.slice(2)];

/** The request that follows an answer: its items, and a result for each call. */
function requestAfter(output: readonly Row[]): Json {
  const results = output.flatMap(({ type, call_id }): Row[] => {
    if (type === "function_call") return [{ type: "function_call_output", call_id, output: "x" }];
    return type === "custom_tool_call" ? [{ type: "custom_tool_call_output", call_id, output: "x" }] : [];
  });
  const again = { role: "user", content: "and?" };
  return { model: "m", tools: TOOLS, input: [{ role: "user", content: "hi" }, ...output, ...results, again] };
}

/** The items of a streamed answer, as its last event has them. */
const itemsIn = (out: string): readonly Row[] =>
  (eventsOf(out).at(-1)!.response as { readonly output: readonly Row[] }).output;

describe("a messages provider gets its own blocks back", () => {
  const input = fc.dictionary(fc.stringMatching(/^[a-z]{1,6}$/), fc.oneof(words, fc.integer()));
  const thinking = fc.oneof(
    fc.record({
      type: fc.constant("thinking"),
      thinking: fc.oneof(words, fc.constant("")),
      signature: words,
    }),
    fc.record({ type: fc.constant("redacted_thinking"), data: words }),
  );
  const said = fc.oneof(
    fc.record({ type: fc.constant("text"), text: words }),
    fc.record({ type: fc.constant("tool_use"), name: fc.constant("look"), input }),
    fc.record({
      type: fc.constant("tool_use"),
      name: fc.constant("patch"),
      input: fc.record({ input: words }),
    }),
  );
  /** Texts that follow each other are one text; thinking at the end does not go back. */
  const message = fc
    .tuple(fc.array(fc.oneof(thinking, said), { maxLength: 8 }), said)
    .map(([some, last]) =>
      [...some, last]
        .filter((one, nth, all) => one.type !== "text" || all[nth + 1]?.type !== "text")
        .map((one, nth): Row => (one.type === "tool_use" ? { ...one, id: `toolu_${nth}` } : one)),
    );

  const streamed = (content: readonly Row[]): Row[] =>
    content.flatMap((one, index): Row[] => {
      const pieces = (whole: unknown, type: string, field: string) =>
        halves(String(whole)).map((piece) => delta(index, { type, [field]: piece }));
      const { type, input: given, thinking: why, signature, text: whole } = one;
      if (type === "tool_use") {
        const json = pieces(JSON.stringify(given), "input_json_delta", "partial_json");
        return [block(index, { ...one, input: {} }), ...json, stop(index)];
      }
      if (type === "text")
        return [block(index, { type, text: "" }), ...pieces(whole, "text_delta", "text"), stop(index)];
      if (type === "redacted_thinking") return [block(index, one), stop(index)];
      return [
        block(index, { type, thinking: "", signature: "" }),
        ...pieces(why, "thinking_delta", "thinking"),
        delta(index, { type: "signature_delta", signature }),
        stop(index),
      ];
    });

  /** The blocks of the assistant's message in the next request. */
  function sentBack(output: readonly Row[]): unknown {
    const { messages } = bodyOf(messagesRequestOfResponses(requestAfter(output), MODEL));
    const { content } = (messages as Json[])[1]!;
    return typeof content === "string" ? [{ type: "text", text: content }] : content;
  }

  test("of a whole answer", () =>
    fc.assert(
      fc.property(message, (content) => {
        const answer = responsesAnswerOfMessages({ content, stop_reason: "end_turn" }, ANSWER);
        expect(sentBack(answer.output as Row[])).toEqual(content);
      }),
      RUNS,
    ));
  test("of a stream", () =>
    fc.assert(
      fc.property(message, (content) => {
        const wire = messagesWire(START, ...streamed(content), ended("end_turn"), STOP);
        const { out } = run(responsesStreamOfMessages(ANSWER, OPTIONS), wire);
        expect(sentBack(itemsIn(out))).toEqual(content);
      }),
      RUNS,
    ));
});

describe("a chat provider gets its own message back", () => {
  /** Calls with the JSON of an object, which goes back as it was written. */
  const made = fc.oneof(
    fc.record({
      name: fc.constant("look"),
      arguments: fc.oneof(
        words.map((text) => JSON.stringify({ text })),
        fc.constantFrom("{}", '{ "id": 9007199254740993 }'),
      ),
    }),
    words.map((given) => ({ name: "patch", arguments: JSON.stringify({ input: given }) })),
  );
  const message = fc
    .record({
      content: fc.option(words),
      reasoning_content: fc.option(words, { nil: undefined }),
      calls: fc.array(made, { maxLength: 3 }),
    })
    .filter(({ content, calls }) => content !== null || calls.length > 0)
    .map(({ content, reasoning_content, calls }) => ({
      role: "assistant",
      content,
      ...(reasoning_content === undefined ? {} : { reasoning_content }),
      ...(calls.length === 0
        ? {}
        : {
            tool_calls: calls.map((one, nth) => ({
              id: `functions.${one.name}:${nth}`,
              type: "function",
              function: one,
            })),
          }),
    }));

  const sentBack = (output: readonly Row[]): unknown =>
    (bodyOf(chatRequestOfResponses(requestAfter(output), MODEL)).messages as Json[])[1];

  test("of a whole answer", () =>
    fc.assert(
      fc.property(message, (given) => {
        const answer = responsesAnswerOfChat({ choices: [{ index: 0, message: given }] }, ANSWER);
        expect(sentBack(answer.output as Row[])).toEqual(given);
      }),
      RUNS,
    ));
  test("of a stream", () =>
    fc.assert(
      fc.property(message, (given) => {
        const calls = (given.tool_calls ?? []).flatMap(({ id, type, function: made }, index) => {
          const [first, rest] = halves(made.arguments);
          return [
            call({ index, id, type, function: { name: made.name, arguments: first } }),
            call({ index, function: { arguments: rest } }),
          ];
        });
        const wire = chatWire(
          role(),
          ...halves(given.reasoning_content ?? "").map(thought),
          ...halves(given.content ?? "").map(text),
          ...calls,
          finish(calls.length > 0 ? "tool_calls" : "stop"),
          DONE,
        );
        const { out } = run(responsesStreamOfChat(ANSWER, OPTIONS), wire);
        expect(sentBack(itemsIn(out))).toEqual(given);
      }),
      RUNS,
    ));
});
