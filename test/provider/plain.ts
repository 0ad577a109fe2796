// The stand-in as upstream of the load benchmark: one whole answer and one stream of a hundred events, ready as bytes.
// No parsing, no keys, no memory: what it costs is as near to nothing as a server gets.

import { answerTo } from "./answer.ts";
import { chat } from "./chat.ts";
import type { Dialect, Serving } from "./dialect.ts";

export interface PlainAnswers {
  readonly whole: Uint8Array;
  readonly stream: Uint8Array;
  /** Tokens of either. */
  readonly promptTokens: number;
  readonly completionTokens: number;
}

const EVENTS = 100;

/** The words of an answer take what the other events of the dialect's stream leave. `model` is the one that answers. */
export function plainAnswers(dialect: Dialect = chat, model = "gpt-4o-mini"): PlainAnswers {
  const words = EVENTS - (eventsOf(dialect, plainServing(dialect, model, 1)).length - 1);
  const serving = plainServing(dialect, model, words);
  const { prompt, completion } = serving.answer.usage;
  return {
    whole: wholeBytes(dialect.whole(serving), dialect),
    stream: streamBytes(eventsOf(dialect, serving), dialect),
    promptTokens: dialect.generates ? prompt : 0,
    completionTokens: dialect.generates ? completion : 0,
  };
}

function plainServing(dialect: Dialect, model: string, words: number): Serving {
  const body = {
    model,
    max_tokens: EVENTS,
    messages: [{ role: "user", content: `Say something. [[output=${words}]]` }],
    stream: true,
    ...(dialect.style === "chat" && { stream_options: { include_usage: true } }),
  };
  const reading = dialect.read(body, { "anthropic-version": "2023-06-01" }, []);
  if (!reading.ok) throw new Error("The plain request must be readable");
  const script = reading.scripts[0]!;
  const answer = answerTo(reading.ask, script);
  return {
    id: `${dialect.idPrefix}plain`,
    createdS: 1_790_000_000,
    ask: reading.ask,
    answer,
    script,
    body,
    files: [],
  };
}

const eventsOf = (dialect: Dialect, serving: Serving): string[] =>
  dialect.stream(serving).map((piece) => String(piece.data));

const headOf = (type: string, dialect: Dialect): string =>
  `HTTP/1.1 200 OK\r\ncontent-type: ${type}\r\n${dialect.style === "chat" ? "x-request-id" : "request-id"}: req_plain\r\n`;

const wholeBytes = (body: string | Uint8Array, dialect: Dialect): Uint8Array =>
  Buffer.from(
    `${headOf("application/json", dialect)}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );

function streamBytes(events: readonly string[], dialect: Dialect): Uint8Array {
  const chunks = events.map((event) => `${Buffer.byteLength(event).toString(16)}\r\n${event}\r\n`).join("");
  const head = headOf("text/event-stream; charset=utf-8", dialect);
  return Buffer.from(`${head}transfer-encoding: chunked\r\n\r\n${chunks}0\r\n\r\n`);
}
