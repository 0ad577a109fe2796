// HTTP as written by hand on a socket: what no well-behaved client would send. Bounded: no answer within 5 s is an error.

import { connect } from "node:net";
import { type Json, jsonOf } from "../e2e/harness.ts";

export interface RawAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly body: Json;
}

const MOST_MS = 25_000;

/** A request as it stands on the wire: its first line, the headers, and a body whose length is stated. */
export const requestText = (first: string, headers: readonly string[] = [], body = ""): string => {
  const stated = ["Host: api.example", "Connection: close", `Content-Length: ${Buffer.byteLength(body)}`];
  return `${[`${first} HTTP/1.1`, ...stated, ...headers].join("\r\n")}\r\n\r\n${body}`;
};

/** Sends the bytes and reads until the server closes, or the answer's stated length has come. */
export async function raw(url: string, sent: string | Uint8Array): Promise<RawAnswer> {
  const { hostname, port } = new URL(url);
  const answered = Promise.withResolvers<string>();
  const socket = connect(Number(port), hostname);
  const timer = setTimeout(() => answered.reject(new Error(`no answer within ${MOST_MS} ms`)), MOST_MS);
  let received = Buffer.alloc(0);
  socket.on("connect", () => socket.write(sent));
  socket.on("data", (chunk: Buffer) => {
    received = Buffer.concat([received, chunk]);
    if (isWhole(received.toString("latin1"))) answered.resolve(received.toString());
  });
  socket.on("end", () => answered.resolve(received.toString()));
  socket.on("error", (error) => {
    if (received.length > 0) answered.resolve(received.toString());
    else answered.reject(error);
  });
  try {
    return readAnswer(await answered.promise);
  } finally {
    clearTimeout(timer);
    socket.destroy();
  }
}

function isWhole(text: string): boolean {
  const head = text.indexOf("\r\n\r\n");
  if (head < 0) return false;
  const length = /\r\ncontent-length: *(\d+)/i.exec(text.slice(0, head));
  return length !== null && text.length >= head + 4 + Number(length[1]);
}

function readAnswer(text: string): RawAnswer {
  const at = text.indexOf("\r\n\r\n");
  const [first = "", ...lines] = text.slice(0, at < 0 ? text.length : at).split("\r\n");
  const headers = new Headers();
  for (const line of lines) {
    const colon = line.indexOf(":");
    headers.append(line.slice(0, colon), line.slice(colon + 1).trim());
  }
  const body = at < 0 ? "" : text.slice(at + 4);
  return {
    status: Number(/^HTTP\/1\.[01] (\d{3})/.exec(first)?.[1] ?? 0),
    headers,
    text: body,
    body: jsonOf(body),
  };
}
