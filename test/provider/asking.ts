// Asking the stand-in from a test, in either style: one request, its JSON, its events, the bytes as they came.

import { connect } from "node:net";
import type { Provider } from "./provider.ts";

/** A parsed answer; tests look at it freely. */
// biome-ignore lint/suspicious/noExplicitAny: a test reads any field of any answer
export type Json = any;

/** What tests of both dialects must know of each. */
export interface Style {
  readonly name: "chat" | "messages";
  readonly path: string;
  readonly headers: (secret: string) => Record<string, string>;
  readonly body: (text: string, extra?: object) => object;
  /** Events before the first word of a plain stream, and after the last. */
  readonly eventsBefore: number;
  readonly eventsAfter: number;
  /** The word or nothing that an event of a plain stream adds. */
  readonly wordOf: (event: Json) => string;
  readonly textOf: (whole: Json) => string;
  /** What only a stream that was said to its end holds. */
  readonly end: string;
  readonly outputOf: (whole: Json) => number;
}

const CHAT: Style = {
  name: "chat",
  path: "/v1/chat/completions",
  headers: (secret) => ({ authorization: `Bearer ${secret}` }),
  body: (text, extra = {}) => ({ model: "gpt-4o", messages: [{ role: "user", content: text }], ...extra }),
  eventsBefore: 1,
  eventsAfter: 2,
  wordOf: (event) => event.choices?.[0]?.delta?.content ?? "",
  textOf: (whole) => whole.choices[0].message.content,
  end: "[DONE]",
  outputOf: (whole) => whole.usage.completion_tokens,
};

const MESSAGES: Style = {
  name: "messages",
  path: "/v1/messages",
  headers: (secret) => ({ "x-api-key": secret, "anthropic-version": "2023-06-01" }),
  body: (text, extra = {}) => ({
    model: "claude-sonnet-4-5",
    max_tokens: 1000,
    messages: [{ role: "user", content: `Say. ${text}` }],
    ...extra,
  }),
  eventsBefore: 2,
  eventsAfter: 3,
  wordOf: (event) => event.delta?.text ?? "",
  textOf: (whole) => whole.content[0].text,
  end: "message_stop",
  outputOf: (whole) => whole.usage.output_tokens,
};

export const STYLES = { chat: CHAT, messages: MESSAGES } as const;
export const BOTH: readonly Style[] = [CHAT, MESSAGES];

export const chatBody = CHAT.body;

type Asking = (
  provider: Provider,
  text: string,
  extra?: object,
  secret?: string,
  signal?: AbortSignal,
) => Promise<Response>;

export const askIn =
  (style: Style): Asking =>
  (provider, text, extra = {}, secret = "sk-test-0000", signal) =>
    fetch(`${provider.url}${style.path}`, {
      method: "POST",
      headers: { "content-type": "application/json", ...style.headers(secret) },
      body: JSON.stringify(style.body(text, extra)),
      redirect: "manual",
      ...(signal !== undefined && { signal }),
    });

export const ask: Asking = askIn(CHAT);
export const askMessages: Asking = askIn(MESSAGES);

export const jsonOf = (response: Response): Promise<Json> => response.json();

/** The JSON of each event but [DONE]. */
export async function eventsOf(response: Response): Promise<Json[]> {
  const lines = (await response.text()).split(/\r?\n/);
  const data = lines.filter((line) => line.startsWith("data: ") && line !== "data: [DONE]");
  return data.map((line) => JSON.parse(line.slice(6)));
}

/** How many events a piece of a stream holds. */
export const eventsIn = (text: string): number => text.match(/data: /g)?.length ?? 0;

/** A connection that is still open by then has no end. */
const OPEN_MS = 20_000;

/** The bytes of an answer as they came, segment by segment, and how the connection ended, which is the last of its requests. */
export function rawly(provider: Provider, style: Style, text: string, extra: object = {}) {
  const body = JSON.stringify(style.body(text, extra));
  const { promise, resolve } = Promise.withResolvers<{ segments: Buffer[]; ending: string }>();
  const segments: Buffer[] = [];
  const socket = connect(Number(new URL(provider.url).port), "127.0.0.1");
  const ended = (ending: string) => {
    clearTimeout(quiet);
    socket.destroy();
    resolve({ segments, ending });
  };
  const quiet = setTimeout(() => ended("open"), OPEN_MS);
  socket.on("data", (bytes: Buffer) => segments.push(bytes));
  socket.on("end", () => ended("fin"));
  socket.on("error", (error: Error & { code?: string }) =>
    ended(error.code === "ECONNRESET" ? "rst" : "error"),
  );
  const head = Object.entries({
    host: "x",
    connection: "close",
    ...style.headers("sk-raw"),
    "content-length": Buffer.byteLength(body),
  });
  const lines = head.map(([name, value]) => `${name}: ${value}\r\n`).join("");
  socket.write(`POST ${style.path} HTTP/1.1\r\n${lines}\r\n${body}`);
  return promise;
}

export async function failure(work: Promise<unknown>): Promise<Error> {
  const outcome = await work.then(
    () => null,
    (error: Error) => error,
  );
  if (outcome === null) throw new Error("Expected a failure, got a clean end");
  return outcome;
}

/** Waits until something has come true; a test's timeout ends the wait. */
export async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await Bun.sleep(2);
}

/** A POST of JSON or of a form to any path, with a bearer token. */
export function post(provider: Provider, path: string, body: object | FormData, secret = "sk-test-0000") {
  const form = body instanceof FormData;
  return fetch(`${provider.url}${path}`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${secret}`,
      ...(!form && { "content-type": "application/json" }),
    },
    body: form ? body : JSON.stringify(body),
  });
}

/** A form of text fields and files. */
export function formOf(fields: Readonly<Record<string, string | File>>): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  return form;
}

/** A sound of so many seconds of silence, 8,000 samples of 16 bits each. */
export function wavFile(seconds: number, name = "speech.wav"): File {
  const head = Buffer.alloc(44);
  const dataBytes = Math.round(seconds * 16_000);
  head.write("RIFF\0\0\0\0WAVEfmt ", 0, "latin1");
  head.writeUInt32LE(16, 16);
  // Plain samples of one channel.
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(1, 22);
  head.writeUInt32LE(8_000, 24);
  head.writeUInt32LE(16_000, 28);
  head.writeUInt16LE(2, 32);
  head.writeUInt16LE(16, 34);
  head.write("data", 36, "latin1");
  head.writeUInt32LE(dataBytes, 40);
  return new File([head, Buffer.alloc(dataBytes)], name, { type: "audio/wav" });
}
