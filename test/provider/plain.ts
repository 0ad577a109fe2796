// The stand-in as upstream of the load benchmark: one whole answer and one stream of a hundred events, ready as bytes.
// No parsing, no keys, no memory: what it costs is as near to nothing as a server gets.

import { answerTo } from "./answer.ts";
import { chat } from "./chat.ts";
import type { Serving } from "./dialect.ts";

export interface PlainAnswers {
  readonly whole: Uint8Array;
  readonly stream: Uint8Array;
  /** Tokens of either. */
  readonly promptTokens: number;
  readonly completionTokens: number;
}

/** Opening, 96 words, finish, usage and [DONE]: a hundred events. */
const WORDS = 96;

export function plainAnswers(): PlainAnswers {
  const reading = chat.read({
    model: "gpt-4o-mini",
    messages: [{ role: "user", content: `Say something. [[output=${WORDS}]]` }],
    stream: true,
    stream_options: { include_usage: true },
  });
  if (!reading.ok) throw new Error("The plain request must be readable");
  const script = reading.scripts[0]!;
  const answer = answerTo(reading.ask, script);
  const serving: Serving = {
    id: "chatcmpl-plain",
    createdS: 1_790_000_000,
    ask: reading.ask,
    answer,
    script,
  };
  return {
    whole: wholeBytes(chat.whole(serving)),
    stream: streamBytes(chat.stream(serving).map((piece) => String(piece.data))),
    promptTokens: answer.usage.prompt,
    completionTokens: answer.usage.completion,
  };
}

const wholeBytes = (body: string): Uint8Array =>
  Buffer.from(
    `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nx-request-id: req_plain\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );

function streamBytes(events: readonly string[]): Uint8Array {
  const chunks = events.map((event) => `${Buffer.byteLength(event).toString(16)}\r\n${event}\r\n`).join("");
  return Buffer.from(
    `HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\nx-request-id: req_plain\r\ntransfer-encoding: chunked\r\n\r\n${chunks}0\r\n\r\n`,
  );
}
