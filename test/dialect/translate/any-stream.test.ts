// Whatever a provider sends, in whatever pieces: the client's events keep the rules of its dialect, say what the provider
// said, no more and no less, and end once.

import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { StreamMachine } from "../../../src/dialect/dialect.ts";
import {
  chatStreamOf,
  messagesStreamOf,
  responsesStreamOfChat,
  responsesStreamOfMessages,
} from "../../../src/dialect/translate/answer-translations.ts";
import { chatProvider, messagesProvider, odd, type Provided } from "./provider-streams.ts";
import { properResponses } from "./responses-grammar.ts";
import { type Checked, properChat, properMessages } from "./stream-grammar.ts";
import { CONTEXT, chatWire, feed, messagesWire, type Row, run } from "./streams.ts";

interface Direction {
  readonly machine: () => StreamMachine;
  readonly proper: (out: string) => Checked;
  readonly provider: fc.Arbitrary<Provided>;
  readonly wireOf: (event: object) => string;
  /** Events of the provider's dialect with nothing sensible in them. */
  readonly odd: fc.Arbitrary<object>;
}

const options = { includeUsage: true, fingerprint: null };
const value = <T>(one: T) => fc.constant(one);
/** The two kinds of provider. */
const CHAT = {
  provider: chatProvider,
  wireOf: (event: object) => chatWire(event),
  odd: fc.record({
    choices: fc.oneof(
      odd,
      fc.array(
        fc.record(
          {
            index: fc.oneof(value(0), odd),
            delta: fc.oneof(
              odd,
              fc.record({ content: odd, reasoning: odd, tool_calls: odd, refusal: odd }),
              fc.record({
                tool_calls: fc.array(
                  fc.record({ index: odd, id: odd, function: fc.record({ name: odd, arguments: odd }) }),
                ),
              }),
            ),
            finish_reason: odd,
          },
          { requiredKeys: ["delta"] },
        ),
      ),
    ),
    usage: odd,
  }),
};
const MESSAGES = {
  provider: messagesProvider,
  wireOf: (event: object) => messagesWire(event as Row),
  odd: fc.record(
    {
      type: fc.constantFrom(
        ...[
          "message_start",
          "content_block_start",
          "content_block_delta",
          "content_block_stop",
          "message_delta",
        ],
        ...["message_stop", "ping", "news"],
      ),
      index: odd,
      message: odd,
      content_block: fc.oneof(
        odd,
        fc.record({
          type: fc.constantFrom("text", "thinking", "tool_use"),
          id: odd,
          name: odd,
          input: odd,
          text: odd,
        }),
      ),
      delta: fc.oneof(
        odd,
        fc.record({
          type: fc.constantFrom("text_delta", "thinking_delta", "input_json_delta"),
          ...{ text: odd, thinking: odd, partial_json: odd, stop_reason: odd },
        }),
      ),
      usage: odd,
    },
    { requiredKeys: ["type"] },
  ),
};
const DIRECTIONS: readonly (readonly [name: string, direction: Direction])[] = [
  [
    "chat to messages",
    {
      machine: () => messagesStreamOf(CONTEXT, options),
      proper: properMessages,
      ...CHAT,
    },
  ],
  [
    "messages to chat",
    {
      machine: () => chatStreamOf(CONTEXT, options),
      proper: properChat,
      ...MESSAGES,
    },
  ],
  [
    "chat to responses",
    {
      machine: () => responsesStreamOfChat(CONTEXT, options),
      proper: properResponses,
      ...CHAT,
    },
  ],
  [
    "messages to responses",
    {
      machine: () => responsesStreamOfMessages(CONTEXT, options),
      proper: properResponses,
      ...MESSAGES,
    },
  ],
];

describe.each(DIRECTIONS)("%s", (_name, { machine, proper, provider, wireOf, odd }) => {
  test("the rules are kept, and the content is the provider's", () =>
    fc.assert(
      fc.property(provider, (given) => {
        const { out, complete, machine: fed } = run(machine(), given.wire);
        const found = proper(out);
        expect(complete).toBe(given.whole);
        expect(found.endings).toBe(given.whole ? 1 : 0);
        if (!given.whole) return;
        const { text, thinking } = given;
        expect(found).toMatchObject({ text, thinking });
        expect([...found.calls].sort(byId)).toEqual([...given.calls]);
        expect(fed.chars).toBeGreaterThanOrEqual(text.length + thinking.length);
      }),
      { numRuns: 200 },
    ));

  test("what is said while it runs is a beginning of what the provider said", () =>
    fc.assert(
      fc.property(provider, (given) => {
        const { early } = run(machine(), given.wire);
        const { text, thinking } = proper(early);
        expect(given.text.startsWith(text)).toBe(true);
        expect(given.thinking.startsWith(thinking)).toBe(true);
      }),
    ));

  test("the bytes are the same however they arrive", () =>
    fc.assert(
      fc.property(provider, fc.array(fc.nat({ max: 5_000 }), { maxLength: 12 }), (given, places) => {
        const bytes = Buffer.from(given.wire);
        const at = [...new Set([0, ...places.map((place) => place % (bytes.length + 1)), bytes.length])].sort(
          (a, b) => a - b,
        );
        const chunks = at.slice(1).map((end, i) => new Uint8Array(bytes.subarray(at[i], end)));
        const whole = run(machine(), given.wire);
        const split = feed(machine(), chunks);
        expect(split.out).toBe(whole.out);
        expect(split).toMatchObject({ complete: whole.complete, content: whole.content });
        expect(split.machine.usage).toEqual(whole.machine.usage);
      }),
    ));

  test("one byte at a time, too", () =>
    fc.assert(
      fc.property(provider, (given) => {
        const bytes = [...Buffer.from(given.wire)].map((byte) => Uint8Array.of(byte));
        expect(feed(machine(), bytes).out).toBe(run(machine(), given.wire).out);
      }),
      { numRuns: 30 },
    ));

  test("an end by error is the only end", () =>
    fc.assert(
      fc.property(provider, fc.nat(), (given, place) => {
        const events = given.wire.split("\n\n");
        events.splice(place % events.length, 0, 'data: {"error":{"message":"m"}}');
        const { out, end, machine: fed } = run(machine(), events.join("\n\n"));
        const { endings } = proper(out);
        // It may stand after the end, where nobody hears it.
        if (end?.kind !== "error") return;
        expect(endings).toBe(0);
        expect(fed.outcome(true)).toBe("broken");
      }),
    ));

  test("nonsense breaks nothing, and the rules are kept all the same", () =>
    fc.assert(
      fc.property(fc.array(odd, { maxLength: 12 }), (events) => {
        proper(run(machine(), events.map(wireOf).join("")).out);
      }),
      { numRuns: 200 },
    ));
});

describe.each(DIRECTIONS.filter(([name]) => name.endsWith("responses")))("%s, failed", (_name, direction) => {
  const { machine, provider, wireOf, odd } = direction;
  const failed = (wire: string) => {
    const { early, complete, machine: fed } = run(machine(), wire);
    const last = Buffer.from(fed.streamError!({ message: "m", type: "api_error", code: "upstream_error" }));
    return { complete, checked: properResponses(early + last.toString()) };
  };
  test("wherever it is cut, the rules are kept, and the last event has what was said", () =>
    fc.assert(
      fc.property(provider, fc.nat(), (given, place) => {
        const { checked } = failed(given.wire.slice(0, place % (given.wire.length + 1)));
        expect(checked).toMatchObject({ endings: 0, failures: 1 });
        expect(given.text.startsWith(checked.text)).toBe(true);
        expect(given.thinking.startsWith(checked.thinking)).toBe(true);
      }),
      { numRuns: 200 },
    ));
  test("a stream that ended well and whose charge failed, too, and nothing of it is lost", () =>
    fc.assert(
      fc.property(provider, (given) => {
        const { complete, checked } = failed(given.wire);
        expect(checked).toMatchObject({ endings: 0, failures: 1 });
        if (complete && given.wire.includes("[DONE]")) expect(checked).toMatchObject({ text: given.text });
      }),
    ));
  test("nonsense, too", () =>
    fc.assert(
      fc.property(fc.array(odd, { maxLength: 12 }), (events) => {
        expect(failed(events.map(wireOf).join("")).checked.failures).toBe(1);
      }),
    ));
});

const byId = (a: { id: string }, b: { id: string }): number => (a.id < b.id ? -1 : 1);
