// Bodies of responses of every size: the bytes arrive as they are, also at a client that reads slowly, and one that leaves
// harms nobody.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { connect } from "node:net";
import {
  PIECE_BYTES,
  responseBody,
  TOGETHER_BYTES_MAX,
  UNCUT_BYTES_MAX,
} from "../../../src/http/gateway/response-body.ts";
import type { ResponseHead } from "../../../src/upstream/http1/response-head.ts";
import { ResponseParser } from "../../../src/upstream/http1/response-parser.ts";

/** Text of so many bytes, in which no two places are alike and some characters have several bytes. */
function textOf(bytes: number): string {
  const numbered = Array.from(
    { length: Math.ceil(bytes / 8) },
    (_, nth) => `é${String(nth).padStart(6, "0")}`,
  ).join("");
  const text = new TextDecoder().decode(Buffer.from(numbered).subarray(0, bytes - 1));
  return text.endsWith("\ufffd") ? `${text.slice(0, -1)}xx` : `${text}x`;
}

const SIZES = [
  ...[1, 700, TOGETHER_BYTES_MAX, TOGETHER_BYTES_MAX + 1, 20_000],
  ...[PIECE_BYTES, PIECE_BYTES + 1, UNCUT_BYTES_MAX, UNCUT_BYTES_MAX + 1],
];

let server: Bun.Server<undefined>;

beforeAll(() => {
  server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    // Later than the request's turn, as answers of providers are.
    async fetch(request) {
      const url = new URL(request.url);
      const text = textOf(Number(url.pathname.slice(1)));
      await Bun.sleep(1);
      const bytes = new Uint8Array(Buffer.from(text));
      const cut = Math.floor(0.7 * bytes.length);
      const bodies = {
        "?bytes": bytes,
        "?parts": [bytes.subarray(0, cut), bytes.subarray(cut)],
        "?text": text,
      };
      const body = bodies[(url.search || "?text") as keyof typeof bodies];
      return new Response(responseBody(body), { headers: { "x-of": "a test" } });
    },
  });
});
afterAll(() => server.stop(true));

test.each(SIZES.flatMap((size) => ["bytes", "parts", "text"].map((kind) => [size, kind] as const)))(
  "%d bytes as %s arrive as they are",
  async (size, kind) => {
    const response = await fetch(`${server.url}${size}?${kind}`);
    expect(response.headers.get("x-of")).toBe("a test");
    const text = await response.text();
    expect(Buffer.byteLength(text)).toBe(size);
    expect(text === textOf(size)).toBe(true);
  },
);

test("a body that would not leave together with its head is a stream, up to the size of a piece", () => {
  const isStream = (size: number) => [
    responseBody(new Uint8Array(size)) instanceof ReadableStream,
    responseBody([new Uint8Array(1), new Uint8Array(size - 1)]) instanceof ReadableStream,
    responseBody("x".repeat(size)) instanceof ReadableStream,
  ];
  expect(isStream(TOGETHER_BYTES_MAX)).toEqual([false, false, false]);
  expect(isStream(TOGETHER_BYTES_MAX + 1)).toEqual([true, true, true]);
  expect(isStream(PIECE_BYTES)).toEqual([true, true, true]);
  expect(isStream(PIECE_BYTES + 1)).toEqual([false, false, false]);
  // It is counted in bytes, not in characters.
  expect(responseBody("é".repeat(TOGETHER_BYTES_MAX / 2 + 1))).toBeInstanceOf(ReadableStream);
});

test("a client that reads slowly gets all of it", async () => {
  const ended = Promise.withResolvers<void>();
  const pieces: Buffer[] = [];
  let framing: ResponseHead["framing"] | null = null;
  const parser = new ResponseParser({
    onHead: (head) => {
      framing = head.framing;
    },
    onBody: (piece) => void pieces.push(Buffer.from(piece.bytes())),
    onEnd: ended.resolve,
  });
  parser.begin();
  const socket = connect({ port: server.port!, host: "127.0.0.1" });
  socket.on("error", ended.reject);
  socket.on("data", (bytes: Buffer) => {
    socket.pause();
    parser.push(bytes);
  });
  const reading = setInterval(() => socket.resume(), 2);
  socket.write(`GET /${PIECE_BYTES}?bytes HTTP/1.1\r\nhost: x\r\n\r\n`);
  await ended.promise.finally(() => clearInterval(reading));
  socket.destroy();
  expect(framing as ResponseHead["framing"] | null).toEqual({ kind: "chunked" });
  expect(Buffer.concat(pieces).toString() === textOf(PIECE_BYTES)).toBe(true);
});

test("a client that leaves in the middle harms nobody", async () => {
  for (let nth = 0; nth < 20; nth++) {
    const socket = connect({ port: server.port!, host: "127.0.0.1" });
    socket.on("error", () => {});
    socket.write(`GET /${PIECE_BYTES}?bytes HTTP/1.1\r\nhost: x\r\n\r\n`);
    await new Promise((resolve) => socket.once("data", resolve));
    socket.destroy();
  }
  expect(await (await fetch(`${server.url}700`)).text()).toBe(textOf(700));
});
