// The official clients read the translated streams as they read their own providers: what they put together is what the
// whole answer of the same content says.

import { describe, expect, test } from "bun:test";
import Anthropic from "@anthropic-ai/sdk";
import fc from "fast-check";
import OpenAI from "openai";
import { chatStreamError } from "../../../src/dialect/chat/chat-stream.ts";
import { messagesStreamError } from "../../../src/dialect/messages/messages-error.ts";
import {
  chatAnswerOf,
  chatStreamOf,
  messagesAnswerOf,
  messagesStreamOf,
  responsesAnswerOfChat,
  responsesAnswerOfMessages,
  responsesStreamOfChat,
  responsesStreamOfMessages,
} from "../../../src/dialect/translate/answer-translations.ts";
import {
  CONTEXT,
  COUNTED,
  call,
  callBlock,
  chatWire,
  DONE,
  ended,
  finish,
  messagesWire,
  type Row,
  role,
  run,
  START,
  STOP,
  text,
  textBlock,
  thinkingBlock,
  thought,
} from "./streams.ts";

/** Answers every request with these bytes, some at a time. */
const serving = (out: string) => async () => {
  const bytes = Buffer.from(out);
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (let at = 0; at < bytes.length; at += 97)
        controller.enqueue(new Uint8Array(bytes.subarray(at, at + 97)));
      controller.close();
    },
  });
  return new Response(body, { headers: { "content-type": "text/event-stream" } });
};

const askResponses = (out: string) =>
  new OpenAI({ apiKey: "k", baseURL: "http://localhost", maxRetries: 0, fetch: serving(out) }).responses
    .stream({ model: "m", input: "Hi" })
    .finalResponse();

const ERROR = { message: "m", type: "server_error", code: "upstream_failed" };

const askMessages = (out: string) =>
  new Anthropic({ apiKey: "k", baseURL: "http://localhost", maxRetries: 0, fetch: serving(out) }).messages
    .stream({ model: "m", max_tokens: 9, messages: [{ role: "user", content: "Hi" }] })
    .finalMessage();

const askChat = (out: string) =>
  new OpenAI({
    apiKey: "k",
    baseURL: "http://localhost",
    maxRetries: 0,
    fetch: serving(out),
  }).chat.completions
    .stream({
      model: "m",
      messages: [{ role: "user", content: "Hi" }],
      stream_options: { include_usage: true },
    })
    .finalChatCompletion();

interface Said {
  readonly thinking: readonly string[];
  readonly text: readonly string[];
  readonly calls: readonly {
    readonly id: string;
    readonly name: string;
    readonly parts: readonly string[];
  }[];
  readonly reason: string;
}

const said = (given: Partial<Said>): Said => ({
  thinking: [],
  text: [],
  calls: [],
  reason: "stop",
  ...given,
});
const SEARCH = { id: "t1", name: "search", parts: ['{"q":', '"a \\"b\\""', "}"] };
const READ = { id: "t2", name: "short", parts: ['{"path"', ':["/",1]}'] };
const CASES: readonly (readonly [what: string, said: Said])[] = [
  ["text", said({ text: ["Hel", "lo \n", "Grüße 😀"] })],
  ["thinking and text", said({ thinking: ["h", "m"], text: ["a"] })],
  ["a call", said({ calls: [SEARCH] })],
  ["text and calls", said({ text: ["a"], calls: [SEARCH, READ] })],
  ["a call that is given nothing", said({ text: ["a"], calls: [{ id: "t1", name: "f", parts: [] }] })],
  ["everything", said({ thinking: ["hm"], text: ["a", "b"], calls: [SEARCH, READ] })],
  ["nothing", said({})],
  ["a cut answer", said({ text: ["a"], reason: "length" })],
  ["a filtered answer", said({ text: ["a"], reason: "content_filter" })],
];

const pieces = fc.array(fc.string({ unit: "grapheme", minLength: 1, maxLength: 8 }), { maxLength: 4 });
const anything: fc.Arbitrary<Said> = fc
  .record({
    thinking: pieces,
    text: pieces,
    inputs: fc.array(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 2 })), { maxLength: 3 }),
  })
  .map(({ thinking, text, inputs }) => ({
    ...{ thinking, text, reason: "stop" },
    calls: inputs.map((input, nth) => {
      const json = JSON.stringify(input);
      return { id: `t${nth}`, name: `f${nth}`, parts: [json.slice(0, 3), json.slice(3)] };
    }),
  }));

const plain = (given: unknown): unknown => JSON.parse(JSON.stringify(given));

/** The stream and the whole answer of a chat provider. */
const chatWireOf = ({ thinking, text: texts, calls, reason }: Said) =>
  chatWire(
    role(),
    ...thinking.map(thought),
    ...texts.map(text),
    ...calls.flatMap(({ id, name, parts }, index) => [
      call({ index, id, type: "function", function: { name, arguments: "" } }),
      ...parts.map((part) => call({ index, function: { arguments: part } })),
    ]),
    finish(reason),
    COUNTED,
    DONE,
  );
const completionOf = ({ thinking, text, calls, reason }: Said) => ({
  choices: [
    {
      index: 0,
      message: {
        content: text.join(""),
        reasoning_content: thinking.join(""),
        tool_calls: calls.map(({ id, name, parts }) => ({
          id,
          function: { name, arguments: parts.join("") },
        })),
      },
      finish_reason: reason,
    },
  ],
  usage: COUNTED.usage,
});

describe("the messages client", () => {
  const streamed = (given: Said) =>
    run(messagesStreamOf(CONTEXT, { includeUsage: false, fingerprint: null }), chatWireOf(given)).out;
  const whole = (given: Said) => messagesAnswerOf(completionOf(given), CONTEXT);

  test.each(CASES)("puts together %s", async (_what, given) =>
    expect(plain(await askMessages(streamed(given)))).toMatchObject(whole(given)),
  );
  test("puts together anything", () =>
    fc.assert(
      fc.asyncProperty(anything, async (given) => {
        expect(plain(await askMessages(streamed(given)))).toMatchObject(whole(given));
      }),
      { numRuns: 50 },
    ));
  test("raises the error at which a stream ends", async () => {
    const { early } = run(
      messagesStreamOf(CONTEXT, { includeUsage: false, fingerprint: null }),
      chatWire(role(), text("a")),
    );
    const out = early + Buffer.from(messagesStreamError(ERROR, "req_1")).toString();
    await expect(askMessages(out)).rejects.toThrow(Anthropic.APIError);
  });
});

describe("the chat client", () => {
  const REASONS: Readonly<Record<string, string>> = { length: "max_tokens", content_filter: "refusal" };
  const reasonOf = ({ reason, calls }: Said) =>
    REASONS[reason] ?? (calls.length > 0 ? "tool_use" : "end_turn");
  const USAGE = { input_tokens: 9, output_tokens: 4 };
  const streamed = (given: Said) => {
    const { thinking, text, calls } = given;
    const blocks: Row[][] = [];
    if (thinking.length > 0) blocks.push(thinkingBlock(blocks.length, ...thinking));
    if (text.length > 0) blocks.push(textBlock(blocks.length, ...text));
    for (const { id, name, parts } of calls) blocks.push(callBlock(blocks.length, id, name, ...parts));
    return run(
      chatStreamOf(CONTEXT, { includeUsage: true, fingerprint: null }),
      messagesWire(START, ...blocks.flat(), ended(reasonOf(given)), STOP),
    ).out;
  };
  const whole = (given: Said) =>
    chatAnswerOf(
      {
        content: [
          { type: "text", text: given.text.join("") },
          ...given.calls.map(({ id, name, parts }) => ({
            type: "tool_use",
            id,
            name,
            input: parts.join(""),
          })),
        ],
        stop_reason: reasonOf(given),
        usage: USAGE,
      },
      CONTEXT,
    );
  /** The client has no word for the type of an answer put together, nor does it add up reasoning. */
  const alike = ({ object, choices, ...rest }: Row) => ({
    ...rest,
    choices: (choices as { message: Row }[]).map(({ message, ...choice }) => {
      const { reasoning_content: _, content, refusal: __, ...said } = message;
      return { ...choice, message: { ...said, content: content ?? "" } };
    }),
  });

  test.each(CASES)("puts together %s", async (_what, given) =>
    expect(alike(plain(await askChat(streamed(given))) as Row)).toMatchObject(alike(whole(given))),
  );
  test("puts together anything", () =>
    fc.assert(
      fc.asyncProperty(anything, async (given) => {
        expect(alike(plain(await askChat(streamed(given))) as Row)).toMatchObject(alike(whole(given)));
      }),
      { numRuns: 50 },
    ));
  test("raises the error at which a stream ends", async () => {
    const { early } = run(
      chatStreamOf(CONTEXT, { includeUsage: true, fingerprint: null }),
      messagesWire(START, ...textBlock(0, "a")),
    );
    await expect(askChat(early + Buffer.from(chatStreamError(ERROR)).toString())).rejects.toThrow(
      OpenAI.APIError,
    );
  });
});

describe("the responses client", () => {
  const options = { includeUsage: false, fingerprint: null };
  const REASONS: Readonly<Record<string, string>> = { length: "max_tokens", content_filter: "refusal" };
  const reasonOf = ({ reason, calls }: Said) =>
    REASONS[reason] ?? (calls.length > 0 ? "tool_use" : "end_turn");
  const PROVIDERS: readonly (readonly [string, (given: Said) => { out: string; whole: Row }])[] = [
    [
      "a chat provider",
      (given) => ({
        out: run(responsesStreamOfChat(CONTEXT, options), chatWireOf(given)).out,
        whole: responsesAnswerOfChat(completionOf(given), CONTEXT),
      }),
    ],
    [
      "a messages provider",
      (given) => {
        const { thinking, text, calls } = given;
        const blocks: Row[][] = [];
        const content: Row[] = [];
        if (thinking.length > 0) {
          blocks.push(thinkingBlock(blocks.length, ...thinking));
          content.push({ type: "thinking", thinking: thinking.join(""), signature: "signed" });
        }
        if (text.length > 0) {
          blocks.push(textBlock(blocks.length, ...text));
          content.push({ type: "text", text: text.join("") });
        }
        for (const { id, name, parts } of calls) {
          blocks.push(callBlock(blocks.length, id, name, ...parts));
          content.push({ type: "tool_use", id, name, input: parts.join("") });
        }
        const usage = { input_tokens: 9, output_tokens: 4 };
        return {
          out: run(
            responsesStreamOfMessages(CONTEXT, options),
            messagesWire(START, ...blocks.flat(), ended(reasonOf(given)), STOP),
          ).out,
          whole: responsesAnswerOfMessages({ content, stop_reason: reasonOf(given), usage }, CONTEXT),
        };
      },
    ],
  ];

  describe.each(PROVIDERS)("of %s", (_provider, answers) => {
    const agree = async (given: Said) => {
      const { out, whole } = answers(given);
      const response = await askResponses(out);
      expect(withoutParsed(response)).toEqual(whole);
      expect(response.output_text).toBe(given.text.join(""));
    };
    test.each(CASES)("puts together %s", (_what, given) => agree(given));
    test("puts together anything", () => fc.assert(fc.asyncProperty(anything, agree), { numRuns: 50 }));
    test("adds up the events to the same", async () => {
      const { out, whole } = answers(CASES[5]![1]);
      const last = out.lastIndexOf("event: ");
      expect(withoutParsed(await askResponses(out.slice(0, last))).output).toEqual(whole.output);
    });
  });
  test("reads the end of a failed stream", async () => {
    const { early, machine } = run(responsesStreamOfChat(CONTEXT, options), chatWire(role(), text("a")));
    const out = early + Buffer.from(machine.streamError!(ERROR)).toString();
    expect(plain(await askResponses(out))).toMatchObject({
      status: "failed",
      error: { code: "server_error", message: "m" },
      output: [{ type: "message", status: "incomplete", content: [{ text: "a" }] }],
      output_text: "a",
    });
  });
  test("a whole answer is a response by its types", () => {
    const whole: Omit<OpenAI.Responses.Response, "output_text"> = responsesAnswerOfChat(
      completionOf(CASES[5]![1]),
      CONTEXT,
    ) as unknown as OpenAI.Responses.Response;
    expect(Object.keys(whole)).toEqual(expect.arrayContaining([...REQUIRED]));
  });
});

/** The fields that the type of a response requires. */
const REQUIRED = [
  ...([
    "id",
    "created_at",
    "error",
    "incomplete_details",
    "instructions",
    "metadata",
    "model",
    "object",
  ] as const),
  ...(["output", "parallel_tool_calls", "temperature", "tool_choice", "tools", "top_p"] as const),
] satisfies readonly (keyof OpenAI.Responses.Response)[];

/** A response without what the client adds to it. */
const withoutParsed = (response: unknown): Row =>
  JSON.parse(JSON.stringify(response), (field, value) =>
    ["output_text", "output_parsed", "parsed", "parsed_arguments"].includes(field) ? undefined : value,
  ) as Row;
