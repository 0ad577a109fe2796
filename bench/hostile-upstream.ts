// The provider for hostile bodies, a process of its own: reads what it is sent without keeping it, and answers as the secret of
// the key says, with answers that are as unpleasant as an answer may be. `bun bench/hostile-upstream.ts` prints its address.

const MB = 1024 * 1024;
const USAGE = { prompt_tokens: 800, completion_tokens: 3, total_tokens: 803 };

const whole = (content: string, more: object = {}): string =>
  JSON.stringify({
    ...{ id: "chatcmpl-1", object: "chat.completion", created: 1, model: "gpt-4o-mini", ...more },
    choices: [{ index: 0, message: { role: "assistant", content }, finish_reason: "stop" }],
    usage: USAGE,
  });
const event = (delta: object): string =>
  `data: ${JSON.stringify({ id: "chatcmpl-1", object: "chat.completion.chunk", created: 1, model: "gpt-4o-mini", choices: [{ index: 0, delta, finish_reason: null }] })}\n\n`;
const END = `${event({}).replace('"finish_reason":null', '"finish_reason":"stop"')}data: ${JSON.stringify({ choices: [], usage: USAGE })}\n\ndata: [DONE]\n\n`;
const stream = (events: string): string => event({ role: "assistant", content: "" }) + events + END;

const message = (text: string): string =>
  JSON.stringify({
    ...{
      id: "msg_1",
      type: "message",
      role: "assistant",
      model: "m",
      stop_reason: "end_turn",
      stop_sequence: null,
    },
    content: [{ type: "text", text }],
    usage: { input_tokens: 800, output_tokens: 3 },
  });

/** Answers by a word in the secret. */
const ANSWERS: Readonly<Record<string, () => string>> = {
  plain: () => whole("A tree."),
  message: () => message("A tree."),
  "whole-text": () => whole("word ".repeat(12 * MB)),
  "whole-lists": () => whole("a", { lists: Array.from({ length: 900_000 }, () => []) }),
  "whole-message": () => message("word ".repeat(6 * MB)),
  "event-text": () => stream(event({ content: "word ".repeat(2 * MB) })),
  "event-lists": () => stream(event({ content: "a", lists: Array.from({ length: 390_000 }, () => []) })),
  "event-flood": () => stream(event({ content: "a", lists: Array.from({ length: 5_000_000 }, () => []) })),
  "events-many": () => stream(event({ content: "a" }).repeat(200_000)),
  "events-tiny": () => stream("data: {}\n\n".repeat(1_000_000)),
};
const made = new Map<string, Uint8Array>();

function answerFor(authorization: string): Uint8Array {
  const name = /sk-provider-(.+)-\d+$/.exec(authorization)![1]!;
  const bytes = made.get(name) ?? Buffer.from(ANSWERS[name]!());
  made.set(name, bytes);
  return bytes;
}

const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  maxRequestBodySize: 256 * MB,
  async fetch(request) {
    let begin = "";
    for await (const chunk of request.body ?? []) begin ||= Buffer.from(chunk).toString("latin1", 0, 1_000);
    const { headers } = request;
    const bytes = answerFor(headers.get("authorization") ?? headers.get("x-api-key") ?? "");
    const isStream = begin.includes('"stream":true');
    return new Response(bytes as Uint8Array<ArrayBuffer>, {
      headers: { "content-type": isStream ? "text/event-stream" : "application/json" },
    });
  },
});
console.log(`http://127.0.0.1:${server.port}`);
