// How connections end: a client gets all of its response, however slowly it reads, and one that takes nothing is not kept.

import { describe, expect, test } from "bun:test";
import type { BodySink } from "../../../src/gateway/call.ts";
import { until } from "../../e2e/harness.ts";
import { RawClient, type ServerRig, serverRig } from "./rig.ts";

const GET = "GET / HTTP/1.1\r\nhost: x\r\n\r\n";
/** What the kernel takes at once of a response that nobody reads. */
const KERNEL_BYTES = 1_000_000;

/** More than that. */
const MANY_BYTES = 30_000_000;

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

describe("a response that is being sent", () => {
  test("arrives whole at a client that has ended its side", async () => {
    await using rig = serverRig(() => bytesOf(MANY_BYTES));
    const client = unreadClient(rig, GET);
    client.socket.end();
    await until("the request has reached the handler", () => rig.seen.length === 1);
    await Bun.sleep(50);
    client.socket.resume();
    expect((await client.answered(1))[0]!.body.length).toBe(MANY_BYTES);
    await client.closed();
  });

  test("arrives whole although the rest of its request is malformed", async () => {
    await using rig = serverRig(() => bytesOf(MANY_BYTES));
    const client = unreadClient(
      rig,
      "POST / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n2\r\nab\r\n",
    );
    await until("the request has reached the handler", () => rig.seen.length === 1);
    client.send("zz\r\n");
    await Bun.sleep(50);
    client.socket.resume();
    expect((await client.answered(1))[0]!.body.length).toBe(MANY_BYTES);
    await client.closed();
  });
});

describe("a client that takes nothing for ten minutes is closed", () => {
  /** Lets more than ten minutes pass, and the client read again. Returns whether it got less than one response. */
  async function isCut(rig: ServerRig, client: RawClient): Promise<boolean> {
    await Bun.sleep(50);
    rig.pass(610_000);
    client.socket.resume();
    await client.until(() => client.isClosed || client.answers.length > 0);
    return client.answers.length === 0;
  }

  test("in the middle of a body that is still produced", async () => {
    const gone = Promise.withResolvers<void>();
    await using rig = serverRig(() => ({
      status: 200,
      headers: {},
      body: {
        async fill(to: BodySink) {
          for (let nth = 0; nth < MANY_BYTES / 50_000; nth++) await to.write(new Uint8Array(50_000));
          to.close();
        },
        gone: gone.resolve,
      },
    }));
    const client = unreadClient(rig, GET);
    await until("the request has reached the handler", () => rig.seen.length === 1);
    expect(await isCut(rig, client)).toBe(true);
    await gone.promise;
  });

  test("also when the rest of its request comes meanwhile", async () => {
    await using rig = serverRig(() => bytesOf(MANY_BYTES));
    const client = unreadClient(rig, "POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 4\r\n\r\nab");
    await until("the request has reached the handler", () => rig.seen.length === 1);
    client.send("cd");
    expect(await isCut(rig, client)).toBe(true);
  });
});
