// Clients that ask for streams and do not read: the provider is read only as far as the buffers of the sockets go, and little
// of what it said lies in the process. The provider here has as much to say as anybody would take, and counts what it could.

import { heapStats } from "bun:jsc";
import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { accountFactory, asking, type Bench, startBench, until } from "./harness.ts";

const STREAMS = 8;
/** What the provider has for each of them. */
const OFFERED_BYTES = 96_000_000;
/** What the kernel's buffers on both sides take, with room to spare: megabytes, of which none is ours. */
const TAKEN_BYTES_MAX = 40_000_000;
/**
 * What the process may hold for each, the sockets of its client and of its provider included, which live in it too: 1.4 MB at first,
 * 1 MB after a quarter of a minute. A stream that is read ahead holds all that is offered.
 */
const HELD_BYTES_MAX = 2_000_000;

/** One HTTP/1.1 chunk. */
const chunkOf = (body: string | Uint8Array): Buffer =>
  Buffer.concat([Buffer.from(`${body.length.toString(16)}\r\n`), Buffer.from(body), Buffer.from("\r\n")]);

const delta = (content: string): string =>
  `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: "m", choices: [{ index: 0, delta: { content }, finish_reason: null }] })}\n\n`;

/** The same events again and again; quotes keep half of them from the short way. */
const WORDS = chunkOf([delta("x".repeat(200)), delta('he said "yes"')].join("").repeat(40));
const SOUND = chunkOf(new Uint8Array(16_384).fill(7));

const sockets = new Set<Socket>();
const clients: Socket[] = [];
let taken: Map<Socket, number>;
const provider = createServer((socket) => {
  sockets.add(socket);
  socket.on("error", () => undefined);
  socket.on("close", () => sockets.delete(socket));
  socket.once("data", (request) => {
    const speaks = request.toString("latin1").startsWith("POST /v1/audio/speech");
    const piece = speaks ? SOUND : WORDS;
    const type = speaks ? "audio/mpeg" : "text/event-stream";
    socket.write(`HTTP/1.1 200 OK\r\ncontent-type: ${type}\r\ntransfer-encoding: chunked\r\n\r\n`);
    const pump = () => {
      while ((taken.get(socket) ?? 0) < OFFERED_BYTES) {
        taken.set(socket, (taken.get(socket) ?? 0) + piece.length);
        if (!socket.write(piece)) return void socket.once("drain", pump);
      }
    };
    pump();
  });
});

let bench: Bench;
beforeAll(async () => {
  await new Promise<void>((resolve) => provider.listen(0, "127.0.0.1", resolve));
  bench = await startBench({ settings: { SSE_KEEPALIVE_MS: "1000" } });
});
afterEach(() => {
  for (const client of clients.splice(0)) client.destroy();
});
afterAll(async () => {
  for (const socket of sockets) socket.destroy();
  provider.close();
  await bench.close();
});

/** Resolves when the provider could send nothing for a while. */
async function stalled(): Promise<void> {
  let before = -1;
  let looks = 0;
  await until(
    "the provider is held up",
    async () => {
      const now = [...taken.values()].reduce((sum, one) => sum + one, 0);
      looks = now === before && taken.size === STREAMS ? looks + 1 : 0;
      before = now;
      return looks >= 10;
    },
    20_000,
  );
}

test.each([
  ["as they come", "/v1/chat/completions", { ...asking("hi"), stream: true }, ""],
  ["translated", "/v1/messages", { ...asking("hi"), stream: true, max_tokens: 100 }, ""],
  [
    "in another shape",
    "/v1/chat/completions",
    { ...asking("hi"), stream: true },
    "x-stream-shape: message\r\n",
  ],
  ["of sound", "/v1/audio/speech", { model: "tts-1", input: "hi", voice: "alloy" }, ""],
])(
  "streams %s wait for their clients",
  async (_, path, asked, header) => {
    const { port } = provider.address() as AddressInfo;
    const { owner, subaccount } = accountFactory(bench.call, bench.rootKey, `http://127.0.0.1:${port}/v1`);
    const user = await subaccount(await owner());
    taken = new Map();
    Bun.gc(true);
    const before = heapStats().extraMemorySize;
    const body = JSON.stringify(asked);
    const { hostname, port: gate } = new URL(bench.url);
    for (let i = 0; i < STREAMS; i++) {
      const client = connect(Number(gate), hostname);
      client.pause();
      client.on("error", () => undefined);
      client.write(
        `POST ${path} HTTP/1.1\r\nhost: bench\r\nauthorization: Bearer ${user.key}\r\ncontent-type: application/json\r\n${header}content-length: ${body.length}\r\n\r\n${body}`,
      );
      clients.push(client);
    }
    await stalled();
    for (const bytes of taken.values()) expect(bytes).toBeWithin(1, TAKEN_BYTES_MAX);
    // The sockets of both ends live here too, and what they have sent goes with a later collection.
    await until("little of what came lies in the process", () => {
      Bun.gc(true);
      return (heapStats().extraMemorySize - before) / STREAMS < HELD_BYTES_MAX;
    });
    for (const client of clients) client.destroy();
    await until("the provider is let go", () => sockets.size === 0);
  },
  30_000,
);
