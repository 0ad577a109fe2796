// An answer whose charge is not taken: its client must not take it for whole, and hears why in the refusal's own words, in
// a stream as in a whole answer.

import { describe, expect, test } from "bun:test";
import { priceTable } from "../../../actors/pricing/price-table.ts";
import { Cancellation } from "../../../src/base/cancellation.ts";
import { RefusedError } from "../../../src/base/errors.ts";
import type { LogLevel } from "../../../src/base/log.ts";
import { chat } from "../../../src/dialect/chat/chat.ts";
import { messages } from "../../../src/dialect/messages/messages.ts";
import { createHoldRenewals } from "../../../src/gateway/admission/hold-heartbeat.ts";
import { answerStream } from "../../../src/gateway/answer/stream-answer.ts";
import { answerWhole } from "../../../src/gateway/answer/whole-answer.ts";
import type { BodySource } from "../../../src/gateway/call.ts";
import { METERS } from "../../../src/gateway/metering/meter-kinds.ts";
import { errorOf, httpError } from "../../../src/http/errors.ts";
import { manualClock } from "../../runtime/manual-clock.ts";
import { textOfPart } from "../attempt/stream-parts.ts";
import { sizeOf } from "../request-samples.ts";

const TWIN = new RefusedError({
  code: "service_unavailable",
  message: "Another request was answered meanwhile. Send it again.",
  retryAfterS: 1,
});
const CONTENT = new TextEncoder().encode("data: {}\n\n");

/** What the provider said is complete; the charge fails with `error`. */
function rig(error: Error, dialect: typeof chat | typeof messages = chat) {
  const logged: [LogLevel, string][] = [];
  const admission = {
    caller: { account: 7 },
    admitted: { tokens: 10, cost: 0, requests: null, tokensLeft: null, apiKey: null },
    estimate: { promptTokens: 5 },
    accountContext: { config: { config: { userMinBalance: 0 } } },
    route: {
      model: "gpt-4o",
      priced: priceTable(null).find("gpt-4o", ["ChatPricing"])!,
      pricedByTokens: null,
      prices: priceTable(null),
      multipliers: { rates: 1, factor: 1 },
    },
    size: sizeOf({ promptTokens: 5, maxOutput: 500 }),
  };
  const answer = { usage: { prompt_tokens: 4, completion_tokens: 2 }, serviceTier: null, texts: ["hi"] };
  const clock = manualClock();
  const parts = {
    clock,
    renewals: createHoldRenewals(clock),
    settlement: { charge: () => Promise.reject(error), renew: () => {} },
    levelReporter: { succeeded: () => {} },
    counter: { count: async () => 1 },
    describe: (refusal: Parameters<typeof httpError>[0]) => errorOf(httpError(refusal)),
    log: (level: LogLevel, event: string) => void logged.push([level, event]),
    limits: { holdOutputTokens: 0 },
    ended: () => {},
  } as unknown as Parameters<typeof answerStream>[0] & Parameters<typeof answerWhole>[0];
  let isHeld = true;
  const context = {
    ...{ id: "id", requestId: "id", startedAtMs: 0, idempotency: null, admission, attempts: [] },
    ...{ caller: admission.caller, identifiedAs: null },
    call: { headers: new Headers(), path: "/", signal: new AbortController().signal },
    endpoint: { path: "/", dialect, meter: METERS.tokens, answers: "json" },
    request: { stream: true, model: "m", measured: {}, payload: { value: {} } },
    lifetime: { clearDeadline: () => {}, close: () => {}, ended: null },
    answer: {
      attempted: { key: { id: 1 }, model: "gpt-4o" },
      exchange: { usage: "chat", closing: CONTENT, clientText: (text: string) => text },
      ...{ status: 200, sinceMs: 0, abort: new Cancellation(), release: () => {} },
    },
    endHold() {
      expect(isHeld).toBe(true);
      isHeld = false;
    },
    passHold: () => {},
  } as unknown as Parameters<typeof answerStream>[1];
  const machine = {
    ...answer,
    texts: () => answer.texts,
    ...{ chars: 2, delivered: true, measured: {}, made: undefined, outcome: () => "complete" },
  };

  async function streamed(): Promise<string> {
    const outcome = await answerStream(parts, context, {
      kind: "stream",
      contentType: null,
      opening: { parts: [CONTENT], end: null },
      source: {
        machine,
        stop: () => {},
        finish: () => {},
        next: async () => ({ parts: [], end: { kind: "eof" } }),
      },
    } as unknown as Parameters<typeof answerStream>[2]);
    let text = "";
    if (outcome.kind !== "stream") throw new Error("it is a stream");
    await (outcome.body as BodySource).fill({
      write(part) {
        text += textOfPart(part);
        return part.length;
      },
      close: () => {},
    });
    return text;
  }
  /** A client that takes nothing, until its connection is closed. */
  async function unread() {
    const outcome = await answerStream(parts, context, {
      kind: "stream",
      contentType: null,
      opening: { parts: [CONTENT], end: null },
      source: { machine, stop: () => {}, finish: () => {}, next: () => Promise.withResolvers().promise },
    } as unknown as Parameters<typeof answerStream>[2]);
    if (outcome.kind !== "stream") throw new Error("it is a stream");
    const taken = Promise.withResolvers<number>();
    const closed: (string | undefined)[] = [];
    const filled = (outcome.body as BodySource).fill({
      write: () => taken.promise,
      close(error) {
        closed.push(error?.message);
        taken.resolve(0);
      },
    });
    const abort = (reason: Error) => context.answer.abort.abort(reason);
    return { clock, closed, filled, abort, taken: () => taken.resolve(0) };
  }
  const whole = async () =>
    answerWhole(parts, context, {
      ...{ kind: "whole", text: "{}", contentType: "application/json" },
      answer: { ...answer, body: {}, measured: {} },
      large: null,
    } as unknown as Parameters<typeof answerWhole>[2]);
  return { streamed, unread, whole, logged };
}

describe("a charge that the account refuses", () => {
  test("is written at the end of the stream, in the refusal's own words", async () => {
    const { streamed, logged } = rig(TWIN);
    const events = (await streamed()).split("\n\n").filter((event) => event !== "");
    expect(events).toHaveLength(2);
    expect(JSON.parse(events[1]!.replace("data: ", "")).error).toEqual({
      code: "service_unavailable",
      type: "upstream_error",
      message: TWIN.message,
    });
    expect(logged).toEqual([["warn", "settle_failed"]]);
  });

  test("is written in the words of the other style too", async () => {
    const text = await rig(TWIN, messages).streamed();
    expect(text).toContain("event: error");
    expect(text).toContain(TWIN.message);
  });

  test("is what a whole answer is refused with", async () => {
    expect(
      await rig(TWIN)
        .whole()
        .catch((error) => error),
    ).toBe(TWIN);
  });
});

test("a charge that fails by a mistake of ours is our mistake, and none of its words go out", async () => {
  const { streamed, logged } = rig(new Error("the disk /var/spool is full"));
  const text = await streamed();
  expect(text).toContain("internal_error");
  expect(text).not.toContain("/var/spool");
  expect(logged).toEqual([["error", "settle_failed"]]);
});

test("a client that leaves its answer unread for a minute after its end is cut off", async () => {
  const { unread } = rig(TWIN);
  const { clock, closed, filled, abort } = await unread();
  abort(new Error("the client stopped reading"));
  await clock.advance(59_999);
  expect(closed).toEqual([]);
  await clock.advance(1);
  expect(closed).toEqual(["the client does not read"]);
  await filled;
  await clock.advance(120_000);
  expect(closed).toHaveLength(1);
});

test("a client that has gone leaves no timer behind", async () => {
  const { clock, closed, filled, abort, taken } = await rig(TWIN).unread();
  abort(new DOMException("the client has gone", "AbortError"));
  taken();
  await filled;
  expect([clock.waiting, closed]).toEqual([0, []]);
});
