// How connections end: a client gets all of its response, however slowly it reads, and one that takes nothing is not kept.

import { describe, expect, test } from "bun:test";
import { until } from "../../e2e/harness.ts";
import { RawClient, type ServerRig, serverRig } from "./rig.ts";

const GET = "GET / HTTP/1.1\r\nhost: x\r\n\r\n";
/** What the kernel takes at once of a response that nobody reads. */
const KERNEL_BYTES = 1_000_000;

/** A client that has sent these bytes, and does not read. */
function unreadClient(rig: ServerRig, sent: string): RawClient {
  const client = new RawClient(rig.server);
  client.socket.pause();
  return client.send(sent);
}

const bytesOf = (size: number, headers: Record<string, string> = {}) => ({
  status: 200,
  headers,
  body: new Uint8Array(size),
});

describe("a response that was written", () => {
  test("is not lost when its client reads after the connection has ended", async () => {
    await using rig = serverRig(() => bytesOf(KERNEL_BYTES, { connection: "close" }));
    const client = unreadClient(rig, GET);
    await until("the request is answered", () => rig.seen.length === 1);
    await Bun.sleep(50);
    rig.pass(10_000);
    await Bun.sleep(50);
    client.socket.resume();
    expect((await client.answered(1))[0]!.body.length).toBe(KERNEL_BYTES);
    await client.closed();
  });

  test("is not lost when the server stops behind it", async () => {
    await using rig = serverRig(async () => {
      await Bun.sleep(20);
      return bytesOf(KERNEL_BYTES);
    });
    const client = unreadClient(rig, GET);
    await until("the request has reached the handler", () => rig.seen.length === 1);
    await rig.server.stop();
    rig.server.terminate();
    await Bun.sleep(50);
    client.socket.resume();
    expect((await client.answered(1))[0]!.body.length).toBe(KERNEL_BYTES);
    await client.closed();
  });
});
