// Large bodies on their way to a provider: in pieces, byte for byte, with their length; small ones as they are.

import { afterAll, expect, test } from "bun:test";
import { inPieces } from "../../src/upstream/fetch-transport.ts";

const server = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  maxRequestBodySize: 64 * 1024 * 1024,
  async fetch(request) {
    const hash = new Bun.CryptoHasher("sha256").update(await request.bytes()).digest("hex");
    const { headers } = request;
    return Response.json([hash, headers.get("content-length"), headers.get("transfer-encoding")]);
  },
});
afterAll(() => server.stop(true));

const bodyOf = (bytes: number): Uint8Array => {
  const body = new Uint8Array(bytes + 200).map((_, i) => (i * 7 + (i >> 8)) & 255);
  // As payloads give it: somewhere in a larger buffer.
  return body.subarray(100, 100 + bytes);
};

test.each([1_000_000, 5_000_001])("%d bytes come as they were, with a content-length", async (bytes) => {
  const body = bodyOf(bytes);
  const { init, length } = inPieces(body)!;
  const headers = { "content-length": length };
  const answer = await fetch(server.url, { method: "POST", ...init, headers });
  const hash = new Bun.CryptoHasher("sha256").update(body).digest("hex");
  expect(await answer.json()).toEqual([hash, String(bytes), null]);
});

test("smaller ones, texts and forms go as they are", () => {
  for (const body of [bodyOf(999_999), "x".repeat(2_000_000), new FormData(), null]) {
    expect(inPieces(body)).toBeNull();
  }
});
