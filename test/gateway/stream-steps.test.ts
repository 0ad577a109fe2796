// However a stream's bytes are cut into chunks, the client gets the same bytes and the charge the same figures.

import { expect, test } from "bun:test";
import fc from "fast-check";
import { createChatStream } from "../../src/dialect/chat-stream.ts";
import { createStepper } from "../../src/gateway/stream-steps.ts";

const line = (value: unknown) => `data: ${JSON.stringify(value)}\n\n`;
const say = (content: string) =>
  line({ id: "c", choices: [{ index: 0, delta: { content }, finish_reason: null }] });

const pieces = fc.array(
  fc.oneof(
    { weight: 6, arbitrary: fc.string({ unit: "grapheme", maxLength: 10 }).map(say) },
    { weight: 1, arbitrary: fc.constant(": keep-alive\n\n") },
    { weight: 1, arbitrary: fc.constant("\n\n") },
    { weight: 1, arbitrary: fc.constant("event: note\ndata: {}\n\n") },
    { weight: 1, arbitrary: fc.constant("data: {\ndata: }\n\n") },
    { weight: 1, arbitrary: fc.constant("data: {}\r\n\r\n") },
    {
      weight: 1,
      arbitrary: fc.constant(line({ choices: [], usage: { prompt_tokens: 1, completion_tokens: 2 } })),
    },
  ),
  { maxLength: 25 },
);

function run(chunks: readonly Uint8Array[], options: { includeUsage: boolean; fingerprint: string | null }) {
  const machine = createChatStream(options);
  const stepper = createStepper(machine, (text) => text);
  const sent: Uint8Array[] = [];
  let content = false;
  for (const [i, chunk] of [...chunks, null].entries()) {
    const steps = chunk === null ? stepper.finish() : stepper.read(chunk);
    sent.push(...steps.bytes);
    content ||= steps.content;
    if (steps.end !== null) {
      return {
        sent: Buffer.concat(sent).toString(),
        content,
        end: steps.end,
        machine,
        after: chunks.length - i,
      };
    }
  }
  return { sent: Buffer.concat(sent).toString(), content, end: null, machine, after: 0 };
}

test("any cutting gives the same stream", () => {
  fc.assert(
    fc.property(
      pieces,
      fc.boolean(),
      fc.constantFrom(null, "fp_1"),
      fc.array(fc.nat(2_000), { maxLength: 12 }),
      (parts, includeUsage, fingerprint, cuts) => {
        const bytes = new TextEncoder().encode(`${parts.join("")}data: [DONE]\n\n`);
        const places = [...new Set(cuts.map((cut) => cut % bytes.length))].sort((a, b) => a - b);
        const chunks = [...places, bytes.length].map((to, i) => bytes.slice(places[i - 1] ?? 0, to));
        const whole = run([bytes], { includeUsage, fingerprint });
        const cut = run(chunks, { includeUsage, fingerprint });
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

test("without anything to change the client gets the provider's bytes, up to the closing event", () => {
  const text = `${say("Grüße ")}${say("😀")}: ping\n\n${say("!")}`;
  const { sent, end } = run([new TextEncoder().encode(`${text}data: [DONE]\n\n`)], {
    includeUsage: true,
    fingerprint: null,
  });
  expect(sent).toBe(text);
  expect(end?.kind).toBe("done");
});
