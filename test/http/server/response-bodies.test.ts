// Bodies of responses of every kind and size: the bytes arrive as they are, also at a client that reads slowly, and one that
// leaves harms nobody.

import { describe, expect, test } from "bun:test";
import type { BodySink, BodySource } from "../../../src/gateway/call.ts";
import type { ServerBody } from "../../../src/http/server/server-response.ts";
import { until } from "../../e2e/harness.ts";
import { RawClient, type ServerRig, serverRig } from "./rig.ts";

const GET = "GET / HTTP/1.1\r\nhost: x\r\n\r\n";

/** Text of so many bytes, in which no two places are alike and some characters have several bytes. */
function textOf(bytes: number): string {
  const numbered = Array.from(
    { length: Math.ceil(bytes / 8) },
    (_, nth) => `é${String(nth).padStart(6, "0")}`,
  ).join("");
  const text = new TextDecoder().decode(Buffer.from(numbered).subarray(0, bytes - 1));
  return text.endsWith("\ufffd") ? `${text.slice(0, -1)}xx` : `${text}x`;
}

/** A source that writes these parts, each as soon as it may. */
function sourceOf(
  parts: readonly (string | Uint8Array)[],
  failure?: Error,
): BodySource & { written: number; isGone: boolean } {
  return {
    written: 0,
    isGone: false,
    async fill(client: BodySink) {
      for (const part of parts) {
        if (this.isGone) return;
        const written = client.write(part);
        this.written += part.length;
        if (typeof written !== "number") await written;
      }
      client.close(failure);
    },
    gone() {
      this.isGone = true;
    },
  };
}

const bodyRig = (body: () => ServerBody): ServerRig =>
  serverRig(async () => {
    // Later than the request's turn, as answers of providers are.
    await Bun.sleep(1);
    return { status: 200, headers: {}, body: body() };
  });

const cutAt = (bytes: Buffer, at: number) => [bytes.subarray(0, at), bytes.subarray(at)];

/** A body of each kind of so many bytes. */
const KINDS: Readonly<Record<string, (bytes: Buffer) => ServerBody>> = {
  text: (bytes) => bytes.toString(),
  bytes: (bytes) => bytes,
  parts: (bytes) => cutAt(bytes, Math.floor(0.7 * bytes.length)),
  source: (bytes) => sourceOf(cutAt(bytes, Math.floor(0.3 * bytes.length))),
};

const SIZES = [1, 700, 20_000, 65_536, 65_537, 262_144, 262_145, 5_000_000];

describe.each(Object.keys(KINDS))("a body as %s", (kind) => {
  test.each(SIZES)("of %d bytes arrives as it is, and so does the next", async (size) => {
    const bytes = Buffer.from(textOf(size));
    await using rig = bodyRig(() => KINDS[kind]!(bytes));
    const client = new RawClient(rig.server).send(GET + GET);
    for (const { body, headers } of await client.answered(2)) {
      expect(headers.has("content-length")).toBe(kind !== "source");
      expect(Bun.hash(body)).toBe(Bun.hash(bytes.toString()));
    }
  });

  test("arrives at a client that reads slowly", async () => {
    const bytes = Buffer.from(textOf(6_000_000));
    await using rig = bodyRig(() => KINDS[kind]!(bytes));
    const client = new RawClient(rig.server).send(GET);
    const reading = setInterval(() => {
      client.socket.pause();
      setTimeout(() => client.socket.resume(), 1);
    }, 2);
    const [answer] = await client.answered(1).finally(() => clearInterval(reading));
    expect(Bun.hash(answer!.body)).toBe(Bun.hash(bytes.toString()));
  });

  test("harms nobody when its client leaves in the middle", async () => {
    const bytes = Buffer.from(textOf(3_000_000));
    await using rig = bodyRig(() => KINDS[kind]!(bytes));
    for (let nth = 0; nth < 10; nth++) {
      const leaving = new RawClient(rig.server, false).send(GET);
      await leaving.until(() => leaving.received.length > 0);
      leaving.socket.destroy();
    }
    expect((await new RawClient(rig.server).send(GET).answered(1))[0]!.body.length).toBe(
      bytes.toString().length,
    );
    expect(rig.bugs).toEqual([]);
  });
});

describe("a source", () => {
  test("of HTTP/1.0 ends with the connection, in no chunks", async () => {
    await using rig = bodyRig(() => sourceOf(["ab", Buffer.from("cd")]));
    const client = new RawClient(rig.server, false).send("GET / HTTP/1.0\r\n\r\n");
    await client.closed();
    expect(client.received.toString()).toEndWith("GMT\r\n\r\nabcd");
  });

  test("leaves as it is written: parts of a turn together, the first with the head", async () => {
    const goOn = Promise.withResolvers<void>();
    await using rig = bodyRig(() => ({
      async fill(client: BodySink) {
        client.write("a");
        client.write("");
        client.write(Buffer.from("b"));
        await goOn.promise;
        client.write("c");
        client.close();
      },
      gone() {},
    }));
    const client = new RawClient(rig.server, false).send(GET);
    await client.until(() => client.received.includes("\r\n2\r\nab\r\n"));
    goOn.resolve();
    await client.until(() => client.received.toString().endsWith("\r\n1\r\nc\r\n0\r\n\r\n"));
  });

  test("sends its head before it has anything to say", async () => {
    await using rig = bodyRig(() => ({ fill: () => new Promise<void>(() => {}), gone() {} }));
    const client = new RawClient(rig.server, false).send(GET);
    await client.until(() => client.received.toString().endsWith("\r\n\r\n"));
  });

  test("may be empty", async () => {
    await using rig = bodyRig(() => sourceOf([]));
    const answers = await new RawClient(rig.server).send(GET + GET).answered(2);
    expect(answers.map(({ body }) => body)).toEqual(["", ""]);
  });

  test.each([
    ["that fails", () => sourceOf(["abc"], new Error("broken"))],
    ["that ends without its end", () => ({ fill: async (to: BodySink) => void to.write("abc"), gone() {} })],
    [
      "that throws",
      () => ({
        async fill(to: BodySink) {
          to.write("abc");
          throw new Error("a bug");
        },
        gone() {},
      }),
    ],
  ])("%s cuts the connection behind what it wrote, without the end of a body", async (_, source) => {
    await using rig = bodyRig(source);
    const client = new RawClient(rig.server, false).send(GET + GET);
    await client.closed();
    expect(client.received.toString()).toEndWith("\r\n3\r\nabc\r\n");
    expect(rig.seen.length).toBe(1);
  });

  test("that fails resets the connection of HTTP/1.0, to whose client it would be complete otherwise", async () => {
    await using rig = bodyRig(() => sourceOf(["abc"], new Error("broken")));
    const client = new RawClient(rig.server, false);
    let failure: unknown = null;
    client.socket.on("error", (error) => {
      failure = error;
    });
    client.send("GET / HTTP/1.0\r\n\r\n");
    await client.closed();
    expect(String(failure)).toContain("ECONNRESET");
  });

  test("learns that its client has left", async () => {
    const source = sourceOf([]);
    source.fill = () => new Promise<void>(() => {});
    await using rig = bodyRig(() => source);
    const client = new RawClient(rig.server, false).send(GET);
    await client.until(() => client.received.length > 0);
    client.socket.destroy();
    await until("the source is gone", () => source.isGone);
  });

  test("waits for a client that does not read, and ends when it leaves", async () => {
    const piece = new Uint8Array(50_000);
    const source = sourceOf(Array.from({ length: 1_000 }, () => piece));
    await using rig = bodyRig(() => source);
    const client = new RawClient(rig.server, false);
    client.socket.pause();
    client.send(GET);
    await until("something is written", () => source.written > 0);
    await Bun.sleep(100);
    const { written } = source;
    expect(written).toBeLessThan(30_000_000);
    await Bun.sleep(50);
    expect(source.written).toBe(written);
    client.socket.destroy();
    await until("the source is gone", () => source.isGone);
  });

  test("that is cut while its client does not read lets nobody wait", async () => {
    const cutting = Promise.withResolvers<BodySink>();
    await using rig = bodyRig(() => ({
      async fill(client: BodySink) {
        const waiting = client.write(new Uint8Array(20_000_000));
        cutting.resolve(client);
        await waiting;
      },
      gone() {},
    }));
    const client = new RawClient(rig.server, false);
    client.socket.pause();
    client.send(GET);
    (await cutting.promise).close(new Error("the client does not read"));
    await rig.server.stop();
    client.socket.resume();
    await client.closed();
  });
});
