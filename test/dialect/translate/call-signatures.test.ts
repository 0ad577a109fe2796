// What a chat provider attaches to its calls and requires back: clients of the other styles carry it where they carry
// thinking, in whole answers and in streams, and only its provider receives it again.

import { describe, expect, test } from "bun:test";
import type { Json } from "../../../src/dialect/json.ts";
import { unsignedThoughts } from "../../../src/dialect/messages/messages-request.ts";
import {
  messagesAnswerOf,
  messagesStreamOf,
  responsesAnswerOfChat,
  responsesStreamOfChat,
} from "../../../src/dialect/translate/answer-translations.ts";
import { carriedCall } from "../../../src/dialect/translate/reasoning-item.ts";
import {
  chatRequestOf,
  chatRequestOfResponses,
  messagesRequestOfResponses,
} from "../../../src/dialect/translate/request-translations.ts";
import { bodyOf, PLAIN } from "./request-samples.ts";
import {
  CONTEXT,
  COUNTED,
  call,
  chatWire,
  DONE,
  eventsOf,
  finish,
  type Row,
  role,
  run,
  thought,
} from "./streams.ts";

const EXTRA = { google: { thought_signature: "a+b/c=" } };
const OPTIONS = { includeUsage: false, fingerprint: null };
const AT_MAKER = { ...CONTEXT, provider: PLAIN.provider };
const CARRIED = carriedCall(PLAIN.provider, { id: "1", extra: EXTRA });

const fragment = (index: number, id: string, beside: Row = {}) => ({
  ...{ index, id, type: "function", function: { name: "look", arguments: "{}" } },
  ...beside,
});
const SIGNED = fragment(0, "1", { extra_content: EXTRA });
const PLAIN_CALL = fragment(1, "2");
const BODY = {
  choices: [
    { index: 0, message: { content: null, tool_calls: [SIGNED, PLAIN_CALL] }, finish_reason: "tool_calls" },
  ],
};
const WIRE = chatWire(role(), call(SIGNED), call(PLAIN_CALL), finish("tool_calls"), COUNTED, DONE);

const output = ({ output }: Json): Row[] => output as Row[];
const streamed = (wire: string): Row[] => {
  const { out } = run(responsesStreamOfChat(AT_MAKER, OPTIONS), wire);
  return output((eventsOf(out).at(-1) as Row).response as Row);
};

describe("a responses client receives a reasoning item before the call", () => {
  const items = [
    { type: "reasoning", id: "rs_A1_0", summary: [], encrypted_content: CARRIED },
    { type: "function_call", id: "fc_A1_1", call_id: "1" },
    { type: "function_call", id: "fc_A1_2", call_id: "2" },
  ];

  test("in a whole answer", () => expect(output(responsesAnswerOfChat(BODY, AT_MAKER))).toMatchObject(items));

  test("in a stream, whose items are numbered without gaps", () => {
    expect(streamed(WIRE)).toMatchObject(items);
    const events = eventsOf(run(responsesStreamOfChat(AT_MAKER, OPTIONS), WIRE).out) as Row[];
    const added = events.filter(({ type }) => type === "response.output_item.added");
    expect(added.map(({ output_index }) => output_index)).toEqual([0, 1, 2]);
    expect(added[0]!.item).toEqual({ type: "reasoning", id: "rs_A1_0", summary: [] });
  });

  test("after the reasoning before it, which keeps an item of its own", () =>
    expect(streamed(chatWire(role(), thought("hm"), call(SIGNED), finish("tool_calls"), DONE))).toMatchObject(
      [
        { type: "reasoning", summary: [{ text: "hm" }] },
        { type: "reasoning", encrypted_content: CARRIED },
        { type: "function_call", call_id: "1" },
      ],
    ));

  test("with the id that a call without one gets", () => {
    const message = { tool_calls: [{ ...SIGNED, id: "" }] };
    const [item, made] = output(responsesAnswerOfChat({ choices: [{ index: 0, message }] }, AT_MAKER));
    const id = String(made!.call_id);
    expect(item).toMatchObject({ encrypted_content: carriedCall(PLAIN.provider, { id, extra: EXTRA }) });
  });
});

describe("a messages client receives a signed thinking block before the call", () => {
  const content = [
    { type: "thinking", thinking: "", signature: CARRIED },
    { type: "tool_use", id: "1" },
    { type: "tool_use", id: "2" },
  ];

  test("in a whole answer", () => expect(messagesAnswerOf(BODY, AT_MAKER).content).toMatchObject(content));

  test("in a stream", () => {
    const events = eventsOf(run(messagesStreamOf(AT_MAKER, OPTIONS), WIRE).out) as Row[];
    const blocks = events
      .filter(({ type }) => type === "content_block_start")
      .map(({ content_block }) => content_block);
    expect(blocks).toMatchObject([{ ...content[0], signature: "" }, ...content.slice(1)]);
    const signatures = events.flatMap(({ delta, index }) =>
      (delta as Row | undefined)?.type === "signature_delta" ? [[index, (delta as Row).signature]] : [],
    );
    expect(signatures).toEqual([[0, CARRIED]]);
  });

  test("which no provider of this style receives", () => {
    const messages = [{ role: "assistant", content }];
    expect(unsignedThoughts({ messages })).toEqual([["messages", 0, "content", 0]]);
    const signed = [{ ...content[0], signature: "EqQB" }, content[1]];
    expect(unsignedThoughts({ messages: [{ role: "assistant", content: signed }] })).toEqual([]);
  });
});

const input = [
  { role: "user", content: "hi" },
  { type: "reasoning", id: "rs_1", summary: [], encrypted_content: CARRIED },
  { type: "function_call", call_id: "1", name: "look", arguments: "{}" },
  { type: "function_call", call_id: "2", name: "look", arguments: "{}" },
  { type: "function_call_output", call_id: "1", output: "x" },
  { type: "function_call_output", call_id: "2", output: "y" },
];
const messages = [
  { role: "user", content: "hi" },
  {
    role: "assistant",
    content: [
      { type: "thinking", thinking: "", signature: CARRIED },
      { type: "tool_use", id: "1", name: "look", input: {} },
      { type: "tool_use", id: "2", name: "look", input: {} },
    ],
  },
  {
    role: "user",
    content: [
      { type: "tool_result", tool_use_id: "1", content: "x" },
      { type: "tool_result", tool_use_id: "2", content: "y" },
    ],
  },
];

describe.each([
  ["responses", (facts: typeof PLAIN) => bodyOf(chatRequestOfResponses({ model: "m", input }, facts))],
  [
    "messages",
    (facts: typeof PLAIN) => bodyOf(chatRequestOf({ model: "m", max_tokens: 9, messages }, facts)),
  ],
] as const)("a %s client returns it", (_, sent) => {
  const callsOf = (facts: typeof PLAIN) => (sent(facts).messages as Row[])[1]!.tool_calls as Row[];

  test("to the call that it belongs to", () =>
    expect(callsOf(PLAIN).map(({ extra_content }) => extra_content)).toEqual([EXTRA, undefined]));

  test("and nothing to the others, also at a model that demands signatures", () =>
    expect(callsOf({ ...PLAIN, signsCalls: true }).map(({ extra_content }) => extra_content)).toEqual([
      EXTRA,
      undefined,
    ]));

  test("or what Google takes instead, where another provider signed and the model demands it", () =>
    expect(
      callsOf({ ...PLAIN, provider: "other", signsCalls: true }).map(({ extra_content }) => extra_content),
    ).toEqual([{ google: { thought_signature: "skip_thought_signature_validator" } }, undefined]));

  test("but not to another provider", () =>
    expect(callsOf({ ...PLAIN, provider: "other" }).map(({ extra_content }) => extra_content)).toEqual([
      undefined,
      undefined,
    ]));

  test("without a trace in the reasoning", () => {
    const [, answer] = sent({ ...PLAIN, readsReasoning: true }).messages as Row[];
    expect(answer).not.toHaveProperty("reasoning_content");
  });
});

test("a messages provider receives nothing of it", () =>
  expect(JSON.stringify(bodyOf(messagesRequestOfResponses({ model: "m", input }, PLAIN)))).not.toMatch(
    /thinking|extra_content|arborgate/,
  ));

test("what was damaged is dropped", () => {
  const damaged = input.map((item) =>
    "encrypted_content" in item ? { ...item, encrypted_content: `${CARRIED.slice(0, 30)}!` } : item,
  );
  const { messages } = bodyOf(chatRequestOfResponses({ model: "m", input: damaged }, PLAIN));
  expect(JSON.stringify(messages)).not.toContain("extra_content");
});
