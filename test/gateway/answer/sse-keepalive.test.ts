// SSE_KEEPALIVE_MS: when a silent stream says that it lives, and when it keeps quiet.

import { describe, expect, test } from "bun:test";
import { RefusedError } from "../../../src/base/errors.ts";
import { chat } from "../../../src/dialect/chat/chat.ts";
import { messages } from "../../../src/dialect/messages/messages.ts";
import { hasSseKeepalive, withSseKeepalive } from "../../../src/gateway/answer/sse-keepalive.ts";
import type { BodySink, BodySource, Outcome } from "../../../src/gateway/call.ts";
import { GATEWAY_ENDPOINTS } from "../../../src/gateway/endpoints.ts";
import { manualClock } from "../../runtime/manual-clock.ts";
import { textOfPart } from "../attempt/stream-parts.ts";

const MS = 1_000;
const COMMENT = ": keep-alive\n\n";
const bytes = (text: string) => new TextEncoder().encode(text);

function rig(dialect: typeof chat | typeof messages = chat) {
  const clock = manualClock();
  const logged: string[] = [];
  const lifetime = {
    cuts: 0,
    released: 0,
    abort: () => void lifetime.cuts++,
    close: () => void lifetime.released++,
  };
  const parts = {
    clock,
    describe: ({ code, message }: { code: string; message: string }) => ({ code, message, type: "t" }),
    log: (_level: string, event: string) => void logged.push(event),
    limits: { sseKeepaliveMs: MS },
  } as unknown as Parameters<typeof withSseKeepalive>[0];
  const running = {
    id: "id",
    requestId: "id",
    endpoint: { dialect },
    admission: { admitted: { requests: null, tokensLeft: null, apiKey: null } },
    startedAtMs: 0,
    lifetime,
  } as unknown as Parameters<typeof withSseKeepalive>[1];
  const work = Promise.withResolvers<Outcome>();
  return { clock, lifetime, logged, work, opened: withSseKeepalive(parts, running, work.promise) };
}

describe("what may be kept open is a stream that can only come as events", () => {
  const isOpen = (path: string, stream: boolean, sseKeepaliveMs: number): boolean =>
    hasSseKeepalive({ limits: { sseKeepaliveMs } } as unknown as Parameters<typeof hasSseKeepalive>[0], {
      endpoint: GATEWAY_ENDPOINTS.find((one) => one.path === path)!,
      request: { stream } as Parameters<typeof hasSseKeepalive>[1]["request"],
    });
  test.each([
    ["a stream", "/v1/responses", true, MS, true],
    ["not a whole answer", "/v1/responses", false, MS, false],
    ["nothing where the setting says so", "/v1/responses", true, 0, false],
    [
      "not a transcript, which comes whole of models without streams",
      "/v1/audio/transcriptions",
      true,
      MS,
      false,
    ],
    ["not speech, which they answer with sound", "/v1/audio/speech", true, MS, false],
  ])("%s", (_, path, stream, everyMs, open) => expect(isOpen(path, stream, everyMs)).toBe(open));
});

/** Reads a body as a connection does; while `slow`, what is written waits. */
function reader(flow: BodySource) {
  let slow: PromiseWithResolvers<number> | null = null;
  const seen = { text: "", closed: false };
  const outlet: BodySink = {
    write(given) {
      seen.text += textOfPart(given);
      return slow?.promise ?? given.length;
    },
    close: () => {
      seen.closed = true;
    },
  };
  const filled = flow.fill(outlet);
  return {
    seen,
    filled,
    stop: () => {
      slow = Promise.withResolvers();
    },
    goOn: () => {
      slow?.resolve(0);
      slow = null;
    },
  };
}

/** An answer that is written by hand. */
function answer() {
  let outlet!: BodySink;
  const end = Promise.withResolvers<void>();
  const notified = { gone: 0 };
  const flow: BodySource = {
    fill(given) {
      outlet = given;
      return end.promise;
    },
    gone: () => void notified.gone++,
  };
  const outcome: Outcome = { kind: "stream", headers: { "x-arbor-attempts": "1" }, body: flow };
  return {
    outcome,
    notified,
    write: (text: string) => outlet.write(bytes(text)),
    close: () => {
      outlet.close();
      end.resolve();
    },
  };
}

const flowOf = (outcome: Outcome): BodySource => {
  if (outcome.kind !== "stream" || !("gone" in outcome.body)) throw new Error(outcome.kind);
  return outcome.body;
};

describe("before the first content", () => {
  test("an answer in time is as it is, whatever it is", async () => {
    const { work, opened, clock } = rig();
    const refused: Outcome = { kind: "refused", refusal: { code: "not_found", message: "m" }, headers: {} };
    await clock.advance(MS - 1);
    work.resolve(refused);
    expect(await opened).toBe(refused);
    expect(clock.waiting).toBe(0);
  });

  test("the head goes out after the silence, and a comment with it and after each further one", async () => {
    const { clock, opened, work } = rig();
    await clock.advance(MS);
    const early = await opened;
    expect(early).toMatchObject({ kind: "stream", headers: { "x-request-id": "id" } });
    const { seen } = reader(flowOf(early));
    expect(seen.text).toBe(COMMENT);
    await clock.advance(MS - 1);
    expect(seen.text).toBe(COMMENT);
    await clock.advance(1 + MS);
    expect(seen.text).toBe(COMMENT.repeat(3));
    const late = answer();
    work.resolve(late.outcome);
    await clock.advance(0);
    late.write("data: a\n\n");
    late.close();
    await clock.advance(0);
    expect(seen).toEqual({ text: `${COMMENT.repeat(3)}data: a\n\n`, closed: true });
    expect(clock.waiting).toBe(0);
  });

  test("an answer that was all at hand is written whole", async () => {
    const { clock, opened, work } = rig();
    await clock.advance(MS);
    const { seen } = reader(flowOf(await opened));
    work.resolve({ kind: "stream", headers: {}, body: [Buffer.from("data: all\n\n")] });
    await clock.advance(0);
    expect(seen).toEqual({ text: `${COMMENT}data: all\n\n`, closed: true });
    expect(clock.waiting).toBe(0);
  });

  test("messages clients get the event that their SDKs know", async () => {
    const { clock, opened } = rig(messages);
    await clock.advance(MS);
    expect(reader(flowOf(await opened)).seen.text).toBe('event: ping\ndata: {"type": "ping"}\n\n');
  });

  test.each([
    [
      "a refusal",
      { kind: "refused", refusal: { code: "no_available_key", message: "m" }, headers: {} },
      "no_available_key",
    ],
    [
      "the provider's own",
      { kind: "rejected", rejection: { status: 400, code: "own", type: "t", message: "m" }, headers: {} },
      "own",
    ],
    ["what cannot be", { kind: "whole", body: "{}", headers: {} }, "internal_error"],
  ] as const)("a failure is then an event inside: %s", async (_, outcome, code) => {
    const { clock, opened, work, lifetime } = rig();
    await clock.advance(MS);
    const { seen } = reader(flowOf(await opened));
    work.resolve(outcome);
    await clock.advance(0);
    const [, event] = seen.text.split(COMMENT);
    expect(JSON.parse(event!.slice("data: ".length)).error.code).toBe(code);
    expect([seen.closed, lifetime.released, clock.waiting]).toEqual([true, 1, 0]);
  });

  test.each([
    ["a refusal that is thrown", new RefusedError({ code: "not_found", message: "m" }), "not_found", []],
    ["a bug", new TypeError("secret"), "internal_error", ["request_failed"]],
  ])("%s too", async (_, error, code, log) => {
    const { clock, opened, work, logged, lifetime } = rig();
    await clock.advance(MS);
    const { seen } = reader(flowOf(await opened));
    work.reject(error);
    await clock.advance(0);
    expect(seen.text).toContain(`"code":"${code}"`);
    expect(seen.text).not.toContain("secret");
    expect([logged, seen.closed, lifetime.released]).toEqual([log, true, 1]);
  });

  test("a client that leaves ends the request, and whatever comes of it", async () => {
    const { clock, opened, work, lifetime } = rig();
    await clock.advance(MS);
    const flow = flowOf(await opened);
    const { seen } = reader(flow);
    flow.gone();
    await clock.advance(5 * MS);
    expect([lifetime.cuts, seen.text, clock.waiting]).toEqual([1, COMMENT, 0]);
    const late = answer();
    work.resolve(late.outcome);
    await clock.advance(0);
    expect(late.notified.gone).toBe(1);
  });
});

describe("inside a stream", () => {
  async function streaming() {
    const found = rig();
    const given = answer();
    found.work.resolve(given.outcome);
    const outcome = await found.opened;
    expect(outcome.headers).toEqual({ "x-arbor-attempts": "1" });
    const flow = flowOf(outcome);
    return { ...found, ...given, flow, ...reader(flow) };
  }

  test("silence is broken after its time, and begins anew with every event", async () => {
    const { clock, write, seen, close } = await streaming();
    await clock.advance(0);
    write("data: a\n\n");
    await clock.advance(MS - 1);
    write("data: b\n\n");
    await clock.advance(MS - 1);
    expect(seen.text).toBe("data: a\n\ndata: b\n\n");
    await clock.advance(1);
    expect(seen.text).toBe(`data: a\n\ndata: b\n\n${COMMENT}`);
    close();
    await clock.advance(5 * MS);
    expect(seen.text).toBe(`data: a\n\ndata: b\n\n${COMMENT}`);
    expect(clock.waiting).toBe(0);
  });

  test.each([
    ["half an event", "data: a\n", 0],
    ["the first half of its blank line", "data: a\r\n", 0],
    ["an event of other line ends", "data: a\r\n\r\n", 1],
  ])("nothing is said inside an event: %s", async (_, text, comments) => {
    const { clock, write, seen } = await streaming();
    await clock.advance(0);
    write(text);
    await clock.advance(MS);
    expect(seen.text).toBe(text + COMMENT.repeat(comments));
  });

  test("a client that does not read on finds no pile of comments", async () => {
    const { clock, write, seen, stop, goOn } = await streaming();
    await clock.advance(0);
    stop();
    void write("data: a\n\n");
    await clock.advance(50 * MS);
    expect(seen.text).toBe("data: a\n\n");
    goOn();
    await clock.advance(2 * MS);
    expect(seen.text).toBe(`data: a\n\n${COMMENT.repeat(2)}`);
    stop();
    await clock.advance(50 * MS);
    expect(seen.text).toBe(`data: a\n\n${COMMENT.repeat(3)}`);
  });

  test("the answer learns that its client left", async () => {
    const { clock, flow, notified, lifetime } = await streaming();
    flow.gone();
    await clock.advance(5 * MS);
    expect([notified.gone, lifetime.cuts, clock.waiting]).toEqual([1, 1, 0]);
  });
});
