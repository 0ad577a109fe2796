// A streamed answer. The head is held back until the first content: until then a failure is an ordinary error answer.
//
//   content came                 what happens at the end
//   and the answer completed     charged by its usage; durable; then the closing event
//   and it broke, or erred       charged as partial; durable; then the dialect's error event, never the closing one
//   and the client went          upstream aborted; charged as partial
//   nothing came                 nothing charged; an error answer (nobody hears it when the client went)
//
// While it runs the hold is renewed every minute, and grown as soon as the answer passes it.

import { formatUsd } from "../../actors/money.ts";
import { chatStreamError, createChatStream } from "../dialect/chat-stream.ts";
import { classify, cutBy, type Signal } from "../upstream/signal.ts";
import { readErrorText } from "../upstream/standard.ts";
import type { Outcome } from "./call.ts";
import { factsOf } from "./facts.ts";
import { fingerprintOf } from "./fingerprint.ts";
import { failure, rowOf, type Sent } from "./forward.ts";
import { keepHold } from "./hold-keeper.ts";
import { type Metered, meter } from "./meter.ts";
import type { GatewayParts, Running } from "./running.ts";
import { type Batch, type End, type StreamSource, streamSource } from "./stream-source.ts";
import { undelivered } from "./undelivered.ts";

/** Bytes held back before the first content (role chunks, comments); more than this and the head goes out. */
const HEAD_MOST_BYTES = 256 * 1024;
const DONE = new TextEncoder().encode("data: [DONE]\n\n");

export async function answerStream(
  parts: GatewayParts,
  running: Running,
  sent: Sent,
  /** `begun`: content came, so the time limit of the attempts is over and only silence ends the stream. */
  { begun, release }: { readonly begun: () => void; readonly release: () => void },
): Promise<Outcome> {
  const { admission } = running;
  const { model } = admission.route;
  // Asked for a stream, the provider says something else: an error with the status 200, as some do.
  if (/^application\/json/i.test(sent.head.headers.get("content-type") ?? "")) {
    const bodyText = sent.scrub(await readErrorText(sent.head.response, parts.clock));
    sent.done();
    release();
    const nowMs = parts.clock.wall();
    return undelivered(parts, running, classify({ status: sent.head.status, bodyText, model, nowMs }));
  }

  const fingerprint = fingerprintOf(admission, sent.key);
  const body = sent.head.response.body ?? new ReadableStream<Uint8Array>({ start: (c) => c.close() });
  const source = streamSource({
    body,
    machine: createChatStream({ includeUsage: running.includeUsage, fingerprint }),
    clock: parts.clock,
    idleMs: parts.limits.upstreamIdleMs,
    abort: running.abort,
    scrub: sent.scrub,
  });
  const close = () => {
    source.stop();
    sent.done();
    release();
  };

  const opening = await untilContent(source);
  const nowMs = parts.clock.wall();
  const failed = opening.end === null ? null : failedBefore(source, opening.end, model, nowMs);
  if (failed !== null) {
    close();
    return undelivered(parts, running, failed);
  }
  begun();
  return {
    kind: "stream",
    body: pump(parts, running, sent, source, opening, close),
    headers: running.headers,
  };
}

async function untilContent(source: StreamSource): Promise<Batch> {
  const bytes: Uint8Array[] = [];
  let size = 0;
  for (;;) {
    const batch = await source.next();
    for (const part of batch.bytes) {
      bytes.push(part);
      size += part.byteLength;
    }
    if (batch.content || batch.end !== null || size > HEAD_MOST_BYTES) return { ...batch, bytes };
  }
}

/** The signal of a stream that ended without content, unless the provider ended it normally. */
function failedBefore(source: StreamSource, end: End, model: string, nowMs: number): Signal | null {
  if (source.machine.delivered) return null;
  if (end.kind === "cut") return end.signal;
  if (end.kind === "error")
    return classify({ status: 200, bodyText: end.text.slice(0, 65_536), model, nowMs });
  if (source.machine.outcome(true) === "complete") return null;
  return { name: "empty_stream", status: 200, note: "the stream ended before it began" };
}

function pump(
  parts: GatewayParts,
  running: Running,
  sent: Sent,
  source: StreamSource,
  opening: Batch,
  close: () => void,
): ReadableStream<Uint8Array> {
  const { admission } = running;
  const { model } = admission.route;
  const hold = keepHold(parts, running, source.machine);
  let batch: Batch | null = opening;

  async function end(end: End): Promise<Uint8Array[]> {
    hold.stop();
    close();
    const clean = end.kind === "done" || end.kind === "eof";
    const complete = source.machine.outcome(clean) === "complete" && clean;
    if (!complete && !source.machine.delivered) {
      // The head went out with comments alone: nothing was delivered, so nothing is charged.
      parts.settle.cancel(admission.caller.account, running.id, gone(running));
      return [errorEvent(parts, endSignal(end, false, model, parts.clock.wall()), model)];
    }
    const metered = await meter(
      admission,
      {
        dialect: "chat",
        usage: source.machine.usage,
        serviceTier: source.machine.serviceTier,
        texts: source.machine.texts(),
        complete,
        prompt: running.prompt,
      },
      parts.counter,
    );
    const signal = endSignal(end, complete, admission.route.model, parts.clock.wall());
    const rows = [rowOf(sent.key, admission.route.model, signal, parts.clock.mono() - sent.startedAt)];
    await parts.settle.charge(admission.caller.account, factsOf(running, metered, rows, true));
    return complete ? closing(running, metered, end) : [errorEvent(parts, signal, admission.route.model)];
  }

  // The client may go before, between or during pulls; whichever sees the end first settles, once.
  let pulling = false;
  let ending: Promise<Uint8Array[]> | null = null;
  const endOnce = (reason: End) =>
    (ending ??= end(reason).catch((error) => unsettled(parts, running, error)));
  running.abort.signal.addEventListener("abort", () => {
    if (!pulling) void endOnce({ kind: "cut", signal: cutBy(running.abort.signal, null) });
  });

  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      pulling = true;
      batch ??= await source.next();
      // A pull that hands nothing over is not followed by another: half an event, or a withheld one, must not end it.
      while (batch.bytes.length === 0 && batch.end === null) {
        hold.grow();
        batch = await source.next();
      }
      pulling = false;
      const { bytes, end: reason } = batch;
      batch = null;
      if (gone(running))
        return void endOnce(reason ?? { kind: "cut", signal: cutBy(running.abort.signal, null) });
      if (bytes.length > 0) controller.enqueue(bytes.length === 1 ? bytes[0]! : Buffer.concat(bytes));
      if (reason === null) return hold.grow();
      const last = await endOnce(reason);
      if (gone(running)) return;
      controller.enqueue(Buffer.concat(last));
      controller.close();
    },
    cancel: () => running.abort.abort(CLIENT_GONE),
  });
}

const CLIENT_GONE = new DOMException("the client has gone", "AbortError");

const gone = (running: Running): boolean => running.abort.signal.reason?.name === "AbortError";

/** The answer is out but its charge is not: the client must not take it for whole. */
function unsettled(parts: GatewayParts, running: Running, error: unknown): Uint8Array[] {
  parts.log("error", "settle_failed", { requestId: running.requestId, id: running.id, error: String(error) });
  return [errorEvent(parts, null, running.admission.route.model)];
}

const endSignal = (end: End, complete: boolean, model: string, nowMs: number): Signal | null => {
  if (complete) return null;
  if (end.kind === "cut") return end.signal;
  if (end.kind === "error")
    return classify({ status: 200, bodyText: end.text.slice(0, 65_536), model, nowMs });
  return { name: "server_error", status: 200, note: "the stream ended without its closing event" };
};

function closing(running: Running, metered: Metered, end: End): Uint8Array[] {
  const done = end.kind === "done" ? end.bytes : DONE;
  if (running.call.headers.get("x-arbor-cost") !== "stream") return [done];
  return [Buffer.from(`: cost=${formatUsd(metered.charge.amount)}\n\n`), done];
}

function errorEvent(parts: GatewayParts, signal: Signal | null, model: string): Uint8Array {
  const failed = failure(signal, model);
  if ("rejection" in failed) return chatStreamError(failed.rejection);
  const refusal =
    signal === null ? { code: "internal_error", message: "The charge could not be stored." } : failed.refusal;
  return chatStreamError(parts.describe(refusal));
}
