// A streamed answer. The head is held back until the first content: until then a failure is an ordinary error answer.
//
//   content came                 what happens at the end
//   and the answer completed     charged by its usage; durable; then the closing event
//   and it broke, or erred       charged as partial; durable; then the dialect's error event, never the closing one
//   and the client went          upstream aborted; charged as partial
//   and the account was deleted  the same, and an error event at the end
//   nothing came                 nothing charged; an error answer (nobody hears it when the client went)
//
// While it runs the hold is renewed every minute, and grown as soon as the answer passes it.

import { WRONG_KEY } from "../../actors/account/admit.ts";
import { formatUsd } from "../../actors/money.ts";
import type { Signal } from "../upstream/signal.ts";
import { cutBy } from "../upstream/signal.ts";
import { misread, rowOf } from "./attempt.ts";
import type { Outcome } from "./call.ts";
import { factsOf } from "./facts.ts";
import { failure, outlook } from "./failure.ts";
import type { Sent } from "./forward.ts";
import { headersOf } from "./headers.ts";
import { keepHold } from "./hold-keeper.ts";
import { ACCOUNT_CLOSED } from "./leash.ts";
import { type Metered, meter } from "./meter.ts";
import type { GatewayParts, Running } from "./running.ts";
import type { Batch, End, StreamSource } from "./stream-source.ts";

/** A stream whose first content has come. */
interface Streaming {
  readonly source: StreamSource;
  readonly opening: Batch;
}

export function answerStream(
  parts: GatewayParts,
  running: Running,
  sent: Sent,
  streaming: Streaming,
): Outcome {
  // Only silence and the client end it from here on, not the time limit of the attempts.
  running.leash.untime();
  return {
    kind: "stream",
    body: pump(parts, running, sent, streaming),
    headers: headersOf(running, sent.admission, sent.rows.length + 1),
  };
}

function pump(
  parts: GatewayParts,
  running: Running,
  sent: Sent,
  { source, opening }: Streaming,
): ReadableStream<Uint8Array> {
  const { admission, attempted } = sent;
  const { model } = attempted;
  const { dialect } = running.surface;
  const hold = keepHold(parts, admission, running.id, source.machine);
  let batch: Batch | null = opening;

  function close(): void {
    source.stop();
    sent.done();
    running.leash.release();
  }

  async function end(end: End): Promise<Uint8Array[]> {
    hold.stop();
    close();
    const clean = end.kind === "done" || end.kind === "eof";
    const complete = source.machine.outcome(clean) === "complete" && clean;
    const signal = complete ? null : signalOf(parts, end, model);
    if (signal === null || signal.name === "client_gone") parts.reports.succeeded(attempted);
    else void parts.reports.failed(attempted, signal);
    if (!complete && !source.machine.delivered) {
      // The head went out with comments alone: nothing was delivered, so nothing is charged.
      parts.settle.cancel(admission.caller.account, running.id, gone(sent));
      return [errorEvent(parts, running, signal, model)];
    }
    const reading = {
      dialect: dialect.usage,
      usage: source.machine.usage,
      serviceTier: source.machine.serviceTier,
      texts: source.machine.texts(),
      complete,
      prompt: () => dialect.promptTexts(running.request.body),
    };
    const metered = await meter(admission, reading, parts.counter);
    const row = rowOf(attempted.key, model, signal, parts.clock.mono() - sent.sinceMs, sent.status);
    await parts.settle.charge(admission.caller.account, factsOf(running, sent, metered, row));
    return complete ? closing(running, metered, end) : [errorEvent(parts, running, signal, model)];
  }

  // The client may go before, between or during pulls; whichever sees the end first settles, once.
  let pulling = false;
  let ending: Promise<Uint8Array[]> | null = null;
  const endOnce = (reason: End) =>
    (ending ??= end(reason).catch((error) => unsettled(parts, running, model, error)));
  sent.abort.signal.addEventListener("abort", () => {
    if (!pulling) void endOnce({ kind: "cut", signal: cutBy(sent.abort.signal, null) });
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
      if (gone(sent)) return void endOnce(reason ?? { kind: "cut", signal: cutBy(sent.abort.signal, null) });
      if (bytes.length > 0) controller.enqueue(bytes.length === 1 ? bytes[0]! : Buffer.concat(bytes));
      if (reason === null) return hold.grow();
      const last = await endOnce(reason);
      if (gone(sent)) return;
      controller.enqueue(Buffer.concat(last));
      controller.close();
    },
    cancel: () => sent.abort.abort(CLIENT_GONE),
  });
}

const CLIENT_GONE = new DOMException("the client has gone", "AbortError");

const gone = (sent: Sent): boolean => sent.abort.signal.reason?.name === "AbortError";

/** The answer is out but its charge is not: the client must not take it for whole. */
function unsettled(parts: GatewayParts, running: Running, model: string, error: unknown): Uint8Array[] {
  parts.log("error", "settle_failed", { requestId: running.requestId, id: running.id, error: String(error) });
  return [errorEvent(parts, running, null, model)];
}

/** What broke a stream after its first content. */
function signalOf({ clock }: GatewayParts, end: End, model: string): Signal {
  if (end.kind === "cut") return end.signal;
  if (end.kind === "error") return misread(end.text, 200, model, clock);
  return { name: "server_error", status: 200, note: "the stream ended without its closing event" };
}

function closing({ surface, call }: Running, metered: Metered, end: End): Uint8Array[] {
  const done = end.kind === "done" ? end.bytes : surface.dialect.closing;
  if (call.headers.get("x-arbor-cost") !== "stream") return [done];
  return [Buffer.from(`: cost=${formatUsd(metered.charge.amount)}\n\n`), done];
}

/** `signal` null: the provider did its part, and the charge could not be stored. */
function errorEvent(
  parts: GatewayParts,
  { surface, requestId, leash }: Running,
  signal: Signal | null,
  model: string,
): Uint8Array {
  const { dialect } = surface;
  if (signal === null) {
    const refusal = { code: "internal_error", message: "The charge could not be stored." };
    return dialect.streamError(parts.describe(refusal), requestId);
  }
  if (leash.ended === ACCOUNT_CLOSED) return dialect.streamError(parts.describe(WRONG_KEY), requestId);
  const told = failure([signal], model, outlook([], dialect.name, 0), dialect.name);
  return dialect.streamError("rejection" in told ? told.rejection : parts.describe(told.refusal), requestId);
}
