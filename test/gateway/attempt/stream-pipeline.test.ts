// However a stream's bytes are cut into chunks, the client gets the same bytes and the charge the same figures.

import { expect, test } from "bun:test";
import fc from "fast-check";
import { BytePiece } from "../../../src/base/byte-piece.ts";
import { createChatStream } from "../../../src/dialect/chat/chat-stream.ts";
import type { StreamMachine } from "../../../src/dialect/dialect.ts";
import { createMessagesStream } from "../../../src/dialect/messages/messages-stream.ts";
import { StreamPipeline } from "../../../src/gateway/attempt/stream-pipeline.ts";
import type { StreamPart } from "../../../src/gateway/call.ts";
import { bytesOfParts } from "./stream-parts.ts";

const line = (value: unknown) => `data: ${JSON.stringify(value)}\n\n`;
const say = (content: string) =>
  line({ id: "c", choices: [{ index: 0, delta: { content }, finish_reason: null }] });

const named = (value: { readonly type: string; readonly [field: string]: unknown }) =>
  `event: ${value.type}\n${line(value)}`;
const write = (text: string) =>
  named({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text } });

/** What any provider may send between events of its own. */
const ODD = [
  ": keep-alive\n\n",
  "\n\n",
  "event: note\ndata: {}\n\n",
  "data: {\ndata: }\n\n",
  "data: {}\r\n\r\n",
];

const pieces = (say: (text: string) => string, others: readonly string[]) =>
  fc.array(
    fc.oneof(
      { weight: 6, arbitrary: fc.string({ unit: "grapheme", maxLength: 10 }).map(say) },
      { weight: 5, arbitrary: fc.constantFrom(...ODD) },
      { weight: 3, arbitrary: fc.constantFrom(...others) },
    ),
    { maxLength: 25 },
  );

interface Style {
  readonly events: fc.Arbitrary<string[]>;
  readonly closing: string;
  readonly machine: (includeUsage: boolean, fingerprint: string | null) => StreamMachine;
}

const STYLES: readonly (readonly [name: string, style: Style])[] = [
  [
    "chat",
    {
      events: pieces(say, [line({ choices: [], usage: { prompt_tokens: 1, completion_tokens: 2 } })]),
      closing: "data: [DONE]\n\n",
      machine: (includeUsage, fingerprint) => createChatStream({ includeUsage, fingerprint }),
    },
  ],
  [
    "messages",
    {
      events: pieces(write, [
        named({ type: "message_start", message: { usage: { input_tokens: 1, output_tokens: 1 } } }),
        named({ type: "ping" }),
        line({ type: "content_block_start", index: 0, content_block: { type: "tool_use", name: "f" } }),
        named({ type: "content_block_stop", index: 0 }),
        named({ type: "message_delta", delta: { stop_reason: "x" }, usage: { output_tokens: 2 } }),
        `event: error\n${line({ type: "error", error: {} })}`,
        "data: [DONE]\n\n",
      ]),
      closing: named({ type: "message_stop" }),
      machine: () => createMessagesStream(),
    },
  ],
];

function run(chunks: readonly BytePiece[], machine: StreamMachine) {
  const stepper = new StreamPipeline(machine, { scrub: (text) => text });
  const sent: StreamPart[] = [];
  let content = false;
  for (const [i, chunk] of [...chunks, null].entries()) {
    const steps = chunk === null ? stepper.finish() : stepper.read(chunk);
    sent.push(...steps.parts);
    content ||= steps.content;
    if (steps.end !== null) {
      return {
        sent: bytesOfParts(sent).toString(),
        content,
        end: steps.end,
        machine,
        after: chunks.length - i,
      };
    }
  }
  return { sent: bytesOfParts(sent).toString(), content, end: null, machine, after: 0 };
}

test.each(STYLES)("any cutting gives the same stream of %s", (_name, { events, closing, machine }) => {
  fc.assert(
    fc.property(
      events,
      fc.boolean(),
      fc.constantFrom(null, "fp_1"),
      fc.array(fc.nat(2_000), { maxLength: 12 }),
      (parts, includeUsage, fingerprint, cuts) => {
        const bytes = Buffer.from(parts.join("") + closing);
        const places = [...new Set(cuts.map((cut) => cut % bytes.length))].sort((a, b) => a - b);
        // All pieces lie in one buffer, beside what belongs to others.
        const chunks = [...places, bytes.length].map((to, i) => new BytePiece(bytes, places[i - 1] ?? 0, to));
        const whole = run([BytePiece.of(bytes)], machine(includeUsage, fingerprint));
        const cut = run(chunks, machine(includeUsage, fingerprint));
        expect(cut.sent).toBe(whole.sent);
        expect(cut.content).toBe(whole.content);
        expect(cut.end).toEqual(whole.end);
        expect(cut.machine.texts().join("")).toBe(whole.machine.texts().join(""));
        expect(cut.machine.usage).toEqual(whole.machine.usage);
        expect(cut.machine.outcome(true)).toBe(whole.machine.outcome(true));
      },
    ),
    { numRuns: 500 },
  );
});

const UNCHANGED: readonly (readonly [name: string, text: string, closing: string, machine: StreamMachine])[] =
  [
    [
      "chat",
      `${say("Grüße ")}${say("😀")}: ping\n\n${say("!")}`,
      "data: [DONE]\n\n",
      createChatStream({ includeUsage: true, fingerprint: null }),
    ],
    [
      "messages",
      `${write("Grüße ")}${write("😀")}${named({ type: "ping" })}${write("!")}`,
      named({ type: "message_stop" }),
      createMessagesStream(),
    ],
  ];

test.each(UNCHANGED)(
  "without anything to change a client of %s gets the provider's bytes, and the closing event is kept back",
  (_name, text, closing, machine) => {
    const { sent, end } = run([BytePiece.of(Buffer.from(text + closing))], machine);
    expect(sent).toBe(text);
    expect(end).toEqual({ kind: "done", bytes: new TextEncoder().encode(closing) });
  },
);

test("named events of one piece leave together, as the text that they are", () => {
  const text = write("a") + named({ type: "ping" }) + write("b");
  const pipeline = new StreamPipeline(createMessagesStream(), { scrub: (given) => given });
  const { parts, content } = pipeline.read(BytePiece.of(Buffer.from(text)));
  expect(parts).toEqual([text]);
  expect(content).toBe(true);
});

test("what is not of ASCII leaves as bytes, so that a part's length is that of its bytes", () => {
  const text = write("a") + write("é😀");
  const { parts } = new StreamPipeline(createMessagesStream(), { scrub: (given) => given }).read(
    BytePiece.of(Buffer.from(text)),
  );
  expect(parts).toEqual([Buffer.from(text)]);
});
