// The client of the bench, in either style: what it asks, and how it reads what comes back. Streams are read by the SDK's
// own reader, so that what is readable here is readable there. It judges nothing.

import { Stream as MessagesStream } from "@anthropic-ai/sdk/streaming";
import { Stream as ChatStream } from "openai/streaming";
import { type Json, MODEL } from "../e2e/harness.ts";
import type { How, StyleName } from "./rows.ts";

/** What a good answer says: the stand-in echoes the first twelve words. Each is one token. */
export const SAID = "time year people way day man thing woman life child world school".split(" ");
/** Long enough that the few tokens which frame a message are within five per cent of it. */
const PROMPT = Array.from({ length: 40 }, () => SAID.join(" ")).join(" ");

/** What a client made of a stream. */
export interface Heard {
  readonly words: readonly string[];
  /** The code of the error it raised; null: none. */
  readonly error: string | null;
  /** The closing event came, once, as the last one. */
  readonly closed: boolean;
  /** What the reader choked on; null: nothing. */
  readonly unreadable: string | null;
  /** The cost that a comment told, in US dollars. */
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
  hear(text: string, headers: Headers): Promise<Heard>;
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
  hear: (text, headers) =>
    heard(text, {
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
  hear: (text, headers) =>
    heard(text, {
      events: MessagesStream.fromSSEResponse(new Response(text, { headers }), new AbortController()),
      said: (event) => event.delta?.text ?? "",
      codeOf: (error) => error.error?.error?.code,
      closing: 'event: message_stop\ndata: {"type":"message_stop"}',
    }),
};

export const CLIENTS: Readonly<Record<StyleName, Client>> = { chat, messages };

/** What is sent for a case, whole or streamed. */
export const bodyOf = (client: Client, how: How, tag: string): Record<string, unknown> =>
  how === "streamed" ? { ...client.body(tag), stream: true } : client.body(tag);

interface Reader {
  readonly events: AsyncIterable<Json>;
  readonly said: (event: Json) => string;
  /** The code inside what the SDK threw. */
  readonly codeOf: (error: Json) => unknown;
  readonly closing: string;
}

async function heard(text: string, { events, said, codeOf, closing }: Reader): Promise<Heard> {
  let content = "";
  let error: string | null = null;
  let unreadable: string | null = null;
  try {
    for await (const event of events) content += said(event);
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
    closed: parts.length === 2 && parts[1] === "\n\n",
    unreadable,
    cost: /^: cost=(\S+)$/m.exec(lines)?.[1] ?? null,
  };
}

function errorShape(body: Json, fields: readonly string[]): string | null {
  const has = (given: unknown, wanted: readonly string[]) =>
    typeof given === "object" && given !== null && Object.keys(given).sort().join() === wanted.join();
  if (!has(body, fields)) return `its fields are not ${fields.join(", ")}`;
  if (!has(body.error, ["code", "message", "type"])) return "its error has not just code, message and type";
  return body.error.message === "" ? "its message is empty" : null;
}
