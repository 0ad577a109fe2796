// The client of the bench, in each style: what it asks, and how it reads what comes back. Streams are read by the SDK's
// own reader, so that what is readable here is readable there. It judges nothing.

import { Stream as MessagesStream } from "@anthropic-ai/sdk/streaming";
import { Stream as ChatStream } from "openai/streaming";
import { type Json, MODEL } from "../e2e/harness.ts";
import type { ClientStyle, How } from "./rows.ts";

/** What a good answer says: the stand-in echoes the first twelve words. Each is one token. */
export const SAID = "time year people way day man thing woman life child world school".split(" ");
/** Long enough that the few tokens which frame a message are within five per cent of it. */
const PROMPT = Array.from({ length: 40 }, () => SAID.join(" ")).join(" ");

/** What a client made of a stream. */
export interface ReadStream {
  readonly words: readonly string[];
  /** The code of the error it raised; null: none. */
  readonly error: string | null;
  /** The closing event came, once, as the last one. */
  readonly closed: boolean;
  /** What the reader choked on; null: nothing. */
  readonly unreadable: string | null;
  /** The cost of the comment, in US dollars. */
  readonly cost: string | null;
}

export interface Client {
  readonly path: string;
  /** `tag` names the request to the stand-in, whatever key it comes by. */
  body(tag: string): Record<string, unknown>;
  tagOf(body: unknown): string | undefined;
  /** The words of a whole answer; null: it is none. */
  wordsOf(body: Json): readonly string[] | null;
  /** What is wrong with an error answer's shape; null: nothing. */
  misshapen(body: Json): string | null;
  readStream(text: string, headers: Headers): Promise<ReadStream>;
}

const wordsIn = (text: string): string[] => text.split(" ").filter((word) => word !== "");

const MESSAGES = [{ role: "user", content: PROMPT }];

const chat: Client = {
  path: "/v1/chat/completions",
  body: (tag) => ({ model: MODEL, messages: MESSAGES, max_tokens: 50, user: tag }),
  tagOf: (body) => (body as Json)?.user,
  wordsOf(body) {
    const content = body?.choices?.[0]?.message?.content;
    return body?.object === "chat.completion" && typeof content === "string" ? wordsIn(content) : null;
  },
  misshapen: (body) => errorShape(body, ["error"]),
  readStream: (text, headers) =>
    readStreamWith(text, {
      events: ChatStream.fromSSEResponse(new Response(text, { headers }), new AbortController()),
      said: (chunk) => chunk.choices?.[0]?.delta?.content ?? "",
      codeOf: (error) => error.code,
      closing: "data: [DONE]",
    }),
};

const messages: Client = {
  path: "/v1/messages",
  body: (tag) => ({ model: MODEL, messages: MESSAGES, max_tokens: 50, metadata: { user_id: tag } }),
  tagOf: (body) => (body as Json)?.metadata?.user_id,
  wordsOf(body) {
    const text = body?.content?.find((block: Json) => block.type === "text")?.text;
    return body?.type === "message" && typeof text === "string" ? wordsIn(text) : null;
  },
  misshapen: (body) =>
    body?.type === "error" ? errorShape(body, ["error", "request_id", "type"]) : "its type is not error",
  readStream: (text, headers) =>
    readStreamWith(text, {
      events: MessagesStream.fromSSEResponse(new Response(text, { headers }), new AbortController()),
      said: (event) => event.delta?.text ?? "",
      codeOf: (error) => error.error?.error?.code,
      closing: 'event: message_stop\ndata: {"type":"message_stop"}',
    }),
};

const responses: Client = {
  path: "/v1/responses",
  body: (tag) => ({ model: MODEL, input: PROMPT, max_output_tokens: 50, user: tag }),
  tagOf: (body) => (body as Json)?.user,
  wordsOf(body) {
    const message = body?.output?.find((item: Json) => item.type === "message");
    const text = message?.content?.[0]?.text;
    const isWhole = body?.object === "response" && body.status === "completed";
    return isWhole && typeof text === "string" ? wordsIn(text) : null;
  },
  misshapen: (body) => errorShape(body, ["error"]),
  readStream: (text, headers) =>
    readStreamWith(text, {
      events: numbered(ChatStream.fromSSEResponse(new Response(text, { headers }), new AbortController())),
      said: (event) => (event.type === "response.output_text.delta" ? event.delta : ""),
      codeOf: (error) => error.code,
      failed: (event) => (event.type === "response.failed" ? event.response.error.code : null),
      closing: "event: response.completed\n",
    }),
};

/** A later turn of a conversation that a key of another organization has begun, in place of the input. */
export const FOREIGN = {
  input: [
    { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "gAAAAAnorth" },
    { role: "user", content: PROMPT },
  ],
  include: ["reasoning.encrypted_content"],
  store: false,
};

/** Passes events on; throws where one is not numbered after the last one. */
async function* numbered(events: AsyncIterable<Json>): AsyncIterable<Json> {
  let next = 0;
  for await (const event of events) {
    if (event.sequence_number !== next++) throw new Error(`event ${next - 1} has ${event.sequence_number}`);
    yield event;
  }
}

export const CLIENTS: Readonly<Record<ClientStyle, Client>> = { chat, messages, responses };

/** What is sent for a case, whole or streamed. */
export const bodyOf = (client: Client, how: How, tag: string): Record<string, unknown> =>
  how === "streamed" ? { ...client.body(tag), stream: true } : client.body(tag);

interface Reader {
  readonly events: AsyncIterable<Json>;
  readonly said: (event: Json) => string;
  /** The code inside what the SDK threw. */
  readonly codeOf: (error: Json) => unknown;
  /** The code of a failure that is an event like any other; null: it is none. */
  readonly failed?: (event: Json) => string | null;
  /** How the closing event begins, or all of it. */
  readonly closing: string;
}

async function readStreamWith(
  text: string,
  { events, said, codeOf, failed = () => null, closing }: Reader,
): Promise<ReadStream> {
  let content = "";
  let error: string | null = null;
  let unreadable: string | null = null;
  try {
    for await (const event of events) {
      content += said(event);
      error ??= failed(event);
    }
  } catch (thrown) {
    const code = codeOf(thrown);
    if (typeof code === "string") error = code;
    else unreadable = String(thrown);
  }
  const lines = text.replaceAll("\r\n", "\n");
  const parts = lines.split(closing);
  return {
    words: wordsIn(content),
    error,
    closed: parts.length === 2 && /^(?:data: .*)?\n\n$/.test(parts[1]!),
    unreadable,
    cost: /^: cost=(\S+)$/m.exec(lines)?.[1] ?? null,
  };
}

function errorShape(body: Json, fields: readonly string[]): string | null {
  const has = (given: unknown, wanted: readonly string[]) =>
    typeof given === "object" && given !== null && Object.keys(given).sort().join() === wanted.join();
  if (!has(body, fields)) return `its fields are not ${fields.join(", ")}`;
  // A provider's refusal of a field names it.
  const named = ["code", "message", "param", "type"];
  if (!has(body.error, ["code", "message", "type"]) && !has(body.error, named)) {
    return "its error has not just code, message and type, and perhaps param";
  }
  return body.error.message === "" ? "its message is empty" : null;
}
