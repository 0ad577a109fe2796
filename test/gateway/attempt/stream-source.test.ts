// Whose silence it was that ended a stream: the provider's, which is its key's fault, or that of a client who does not
// read on, which is nobody's but the client's.

import { describe, expect, test } from "bun:test";
import { Cancellation } from "../../../src/base/cancellation.ts";
import { chat } from "../../../src/dialect/chat/chat.ts";
import { EventStreamSource } from "../../../src/gateway/attempt/stream-source.ts";
import { PIECE_BYTES_MAX } from "../../../src/gateway/attempt/watched-body.ts";
import { FetchBody } from "../../../src/upstream/fetch-transport.ts";
import { cutBy } from "../../../src/upstream/upstream-failure.ts";
import { manualClock } from "../../runtime/manual-clock.ts";
import { bytesOfParts } from "./stream-parts.ts";

const IDLE_MS = 1_000;
const event = (text: string): string =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: text } }] })}\n\n`;

/** A provider's stream that is written by hand and breaks when its call is aborted, as a fetch does. */
function rig(clock: ReturnType<typeof manualClock> = manualClock()) {
  const abort = new Cancellation();
  let write!: (text: string) => void;
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      write = (text) => controller.enqueue(Buffer.from(text));
      abort.signal.addEventListener("abort", () => controller.error(abort.signal.reason));
    },
  });
  const machine = chat.stream({ includeUsage: false, fingerprint: "fp" } as Parameters<
    typeof chat.stream
  >[0]);
  const source = new EventStreamSource({
    body: new FetchBody(body),
    machine,
    clock,
    idleMs: IDLE_MS,
    abort,
    head: { scrub: (text) => text },
  });
  const ended = (): string => (abort.signal.aborted ? cutBy(abort.signal, null).name : "no");
  return { clock, source, write, ended, abort };
}

/** A clock on which reading a piece takes `workMs`, and which counts the turns that the event loop gets. */
function manualSteps() {
  const manual = manualClock();
  let spentMs = 0;
  const clock = {
    ...manual,
    workMs: 0,
    turns: 0,
    mono() {
      // A read looks when the chunk is there and when it is done.
      spentMs += clock.workMs;
      return manual.mono() + spentMs;
    },
    after(ms: number, run: () => void) {
      if (ms > 0) return manual.after(ms, run);
      clock.turns++;
      queueMicrotask(run);
      return () => undefined;
    },
  };
  return { clock };
}

describe("what has come at once", () => {
  test("is read in pieces, so that what is made of it never lies there whole", async () => {
    const { source, write } = rig();
    const events = Array.from({ length: 8_000 }, (_, i) => event(`word ${i}`)).join("");
    expect(events.length).toBeGreaterThan(4 * PIECE_BYTES_MAX);
    write(events);
    let passed = "";
    while (passed.length < events.length) {
      const { parts } = await source.next();
      const size = parts.reduce((sum, part) => sum + part.length, 0);
      // Each event of some sixty bytes goes out with a fingerprint.
      expect(size).toBeLessThanOrEqual(1.6 * PIECE_BYTES_MAX);
      passed += bytesOfParts(parts).toString().replaceAll('"system_fingerprint":"fp",', "");
    }
    expect(passed).toBe(events);
  });

  test("leaves the event loop a turn after every eight milliseconds of work", async () => {
    const { clock } = manualSteps();
    const { source, write } = rig(clock);
    // Each piece takes three milliseconds: the fourth, seventh and tenth are read after a turn.
    write(": comment\n\n".repeat(PIECE_BYTES_MAX));
    const turns: number[] = [];
    for (let i = 0; i < 10; i++) {
      const before = clock.turns;
      clock.workMs = 3;
      await source.next();
      clock.workMs = 0;
      turns.push(clock.turns - before);
    }
    expect(turns).toEqual([0, 0, 0, 1, 0, 0, 1, 0, 0, 1]);
  });

  test("is not read on when the call was aborted", async () => {
    const { source, write, abort } = rig();
    write(event("a".repeat(3 * PIECE_BYTES_MAX)));
    await source.next();
    abort.abort(new DOMException("gone", "AbortError"));
    expect((await source.next()).end).toMatchObject({ kind: "cut", signal: { name: "client_gone" } });
  });
});

describe("the idle limit", () => {
  test("ends a stream whose provider is silent while somebody waits for it", async () => {
    const { clock, source, ended } = rig();
    const next = source.next();
    await clock.advance(IDLE_MS - 1);
    expect(ended()).toBe("no");
    await clock.advance(1);
    expect(ended()).toBe("timeout");
    expect((await next).end).toMatchObject({ kind: "cut", signal: { name: "timeout" } });
  });

  test("begins anew with every event", async () => {
    const { clock, source, write, ended } = rig();
    for (let i = 0; i < 5; i++) {
      const next = source.next();
      await clock.advance(IDLE_MS - 1);
      write(event("a"));
      expect((await next).content).toBe(true);
    }
    expect(ended()).toBe("no");
  });

  test("is the client's doing when nobody reads on", async () => {
    const { clock, source, write, ended } = rig();
    write(event("a"));
    write(event("b"));
    await source.next();
    await clock.advance(IDLE_MS);
    expect(ended()).toBe("client_gone");
    expect((await source.next()).end).toMatchObject({ kind: "cut", signal: { name: "client_gone" } });
  });

  test("gives the provider its whole time after the client has read on late", async () => {
    const { clock, source, write, ended } = rig();
    write(event("a"));
    await source.next();
    await clock.advance(IDLE_MS - 1);
    void source.next();
    await clock.advance(IDLE_MS - 1);
    expect(ended()).toBe("no");
    await clock.advance(1);
    expect(ended()).toBe("timeout");
  });

  test("waits for nothing once stopped", async () => {
    const { clock, source, ended } = rig();
    source.stop();
    await clock.advance(10 * IDLE_MS);
    expect([ended(), clock.waiting]).toEqual(["no", 0]);
  });
});
