// A streamed answer, of events or of audio. The response head is delayed until the first content: until then
// a failure is an ordinary error response. Audio has no place for an error, so a failure cuts the connection,
// and no client takes the answer for complete. From the moment the body is returned this file owns the duty
// to charge or cancel the hold.
//
//   content was sent, and            what happens at the end
//   the answer completed             charged by its usage; durable; then the closing event
//   it broke or had an error event   charged as partial; durable; then the error event, never the closing one
//   its charge was refused           an error event with the code and message of the refusal
//   the client disconnected          the provider's request is aborted; charged as partial
//   the account was deleted          the same, and an error event at the end
//
// Without content nothing is charged, and the outcome is an error response.
//
// While it runs the hold is renewed every minute, and grown as soon as the answer exceeds it.

import { INVALID_KEY } from "../../../actors/account/admit.ts";
import { formatUsd } from "../../../actors/money.ts";
import type { Clock } from "../../base/clock.ts";
import { type Refusal, RefusedError } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import type { StreamError } from "../../dialect/dialect.ts";
import type { UpstreamFailure } from "../../upstream/upstream-failure.ts";
import { cutBy } from "../../upstream/upstream-failure.ts";
import { trackStreamHold } from "../admission/hold-heartbeat.ts";
import { giveBack } from "../admission/release-hold.ts";
import type { Settlement } from "../admission/settlement.ts";
import { type AttemptAnswer, misread, rowOf } from "../attempt/attempt.ts";
import { clientErrorFor, NO_KEY_AVAILABILITY } from "../attempt/client-error.ts";
import type { SuccessfulAttempt } from "../attempt/failover.ts";
import type { LevelReporter } from "../attempt/level-reports.ts";
import type { End, StreamResult } from "../attempt/stream-source.ts";
import type { BodySink, Outcome, ResponseBody } from "../call.ts";
import type { RunningRequest } from "../context.ts";
import type { TokenCounter } from "../metering/token-counter.ts";
import { isChargeKnownUpfront, type Metered, meterUsage } from "../metering/usage-meter.ts";
import { ACCOUNT_CLOSED, CLIENT_GONE } from "../request-lifetime.ts";
import type { StoredObjectIndex } from "../stored-objects/object-index.ts";
import { factsOf, noteAnsweredModel, readingOf, recordCreatedObjects } from "./charge.ts";
import { soundType } from "./content-types.ts";
import { headersOf } from "./headers.ts";

/** The services that a streamed answer is charged with. */
export interface StreamAnswerParts {
  readonly settlement: Pick<Settlement, "charge" | "cancel" | "renew">;
  readonly levelReporter: Pick<LevelReporter, "failed" | "succeeded">;
  readonly storedObjects: Pick<StoredObjectIndex, "keep">;
  readonly counter: TokenCounter;
  readonly clock: Clock;
  readonly log: Log;
  /** Returns a refusal in the form of an error event of a stream. */
  describe(refusal: Refusal): StreamError;
}

/** A stream whose first content has arrived. */
type Streaming = Extract<AttemptAnswer, { kind: "stream" }>;

/**
 * Returns the outcome of a stream. Its body charges the answer, or cancels the hold, before its last byte.
 */
export async function answerStream(
  parts: StreamAnswerParts,
  running: RunningRequest,
  sent: SuccessfulAttempt,
  streaming: Streaming,
): Promise<Outcome> {
  // From here on only silence and the client end it, not the deadline of the attempts.
  running.lifetime.clearDeadline();
  const headers = headersOf(running, sent.admission, sent.rows.length + 1);
  const { contentType } = streaming;
  if (contentType === null)
    return { kind: "stream", body: await pump(parts, running, sent, streaming), headers };
  return {
    kind: "stream",
    body: await pump(parts, running, sent, streaming),
    headers: {
      ...headers,
      "content-type": soundType(contentType),
      ...(await costAhead(parts, running, sent)),
    },
  };
}

/** Returns the cost header of an answer whose charge does not depend on how it ends. */
async function costAhead(
  parts: StreamAnswerParts,
  running: RunningRequest,
  { admission, exchange }: SuccessfulAttempt,
): Promise<Record<string, string>> {
  const { meter: kind } = running.endpoint;
  if (!isChargeKnownUpfront(kind, admission)) return {};
  const nothing = { usage: null, serviceTier: null, texts: [], measured: {}, complete: true };
  const { charge } = await meterUsage(kind, admission, readingOf(running, exchange, nothing), parts.counter);
  return { "x-arbor-cost": formatUsd(charge.amount) };
}

/**
 * Returns the body. If the whole answer has already arrived, it is charged first and returned as bytes;
 * otherwise it is streamed.
 */
async function pump(
  parts: StreamAnswerParts,
  running: RunningRequest,
  sent: SuccessfulAttempt,
  { source, opening, contentType }: Streaming,
): Promise<ResponseBody> {
  const { admission, attempted, exchange } = sent;
  const { model } = attempted;
  const { machine } = source;
  const hold = trackStreamHold(parts, admission, running, machine);
  const made = recordCreatedObjects(parts, running, sent);
  // Before the first content is sent, so that a response that is cut off can be read later.
  made.first(machine.made);

  function close(): void {
    source.stop();
    sent.done();
    running.lifetime.close();
  }

  /** Returns the error event, or `BROKEN` for audio. `signal` is null when the provider did not fail. */
  const failing = (signal: UpstreamFailure | null, refusal = NOT_STORED): Last =>
    contentType === null ? [errorEvent(parts, running, { machine, signal, refusal, model })] : BROKEN;

  async function end(end: End): Promise<Last> {
    hold.stop();
    close();
    const clean = end.kind === "done" || end.kind === "eof";
    const complete = machine.outcome(clean) === "complete" && clean;
    const signal = complete ? null : exchange.translateFailure(signalOf(parts, end, model));
    if (signal === null || signal.name === "client_gone") parts.levelReporter.succeeded(attempted);
    else void parts.levelReporter.failed(attempted, signal);
    if (!complete && !machine.delivered) {
      // The response head was sent with comments alone: nothing was delivered, so nothing is charged.
      await giveBack(parts, running, gone(sent));
      return failing(signal);
    }
    const { usage, serviceTier, chars, measured = {}, model: named } = machine;
    const shown = { usage, serviceTier, texts: machine.texts(), chars, measured, complete, model: named };
    const reading = readingOf(running, exchange, shown);
    const metered = await meterUsage(running.endpoint.meter, admission, reading, parts.counter);
    noteAnsweredModel(parts, running, sent, metered);
    const row = rowOf(attempted.key, model, signal, parts.clock.mono() - sent.sinceMs, sent.status);
    await Promise.all([
      parts.settlement.charge(admission.caller.account, factsOf(running, sent, metered, row)),
      made.all(machine.made, metered.usage),
    ]);
    if (!complete) return failing(signal);
    const last = end.kind === "done" ? end.bytes : (machine.closing?.() ?? exchange.closing);
    return contentType === null ? closing(running, metered, last) : [last];
  }

  // The client may disconnect before, between or during reads; the first to see the end charges, once.
  let pulling = false;
  let ending: Promise<Last> | null = null;
  const endOnce = (reason: End) =>
    (ending ??= end(reason).catch((error) => {
      const { requestId, id } = running;
      // The answer was sent but its charge is not stored: the client must not take the answer for complete.
      const refusal = error instanceof RefusedError ? error.refusal : undefined;
      parts.log(refusal ? "warn" : "error", "settle_failed", { requestId, id, error: String(error) });
      return failing(null, refusal);
    }));
  sent.abort.signal.addEventListener("abort", () => {
    if (!pulling) void endOnce({ kind: "cut", signal: cutBy(sent.abort.signal, null) });
  });

  if (opening.end !== null) {
    const last = await endOnce(opening.end);
    if (last !== BROKEN) return Buffer.concat([...opening.bytes, ...last]);
  }

  async function fill(outlet: BodySink): Promise<void> {
    let { end: reason } = opening;
    let bytes: readonly Uint8Array[] = opening.bytes.splice(0);
    while (!gone(sent)) {
      for (const part of bytes) {
        const written = outlet.write(part);
        if (typeof written !== "number") await written;
      }
      if (reason !== null) break;
      hold.grow();
      pulling = true;
      ({ bytes, end: reason } = await source.next());
      pulling = false;
    }
    const last = await endOnce(reason ?? { kind: "cut", signal: cutBy(sent.abort.signal, null) });
    if (gone(sent)) return;
    if (last === BROKEN) return outlet.close(new Error("the answer broke off"));
    for (const part of last) outlet.write(part);
    outlet.close();
  }

  return { fill, gone: () => sent.abort.abort(CLIENT_GONE) };
}

/** The last bytes, after the charge; or `BROKEN`, which cuts the connection. */
type Last = readonly Uint8Array[] | typeof BROKEN;
const BROKEN = "broken";

const gone = (sent: SuccessfulAttempt): boolean => sent.abort.signal.reason?.name === "AbortError";

/** Returns the failure of a stream after its first content. */
function signalOf({ clock }: StreamAnswerParts, end: End, model: string): UpstreamFailure {
  if (end.kind === "cut") return end.signal;
  if (end.kind === "error") return misread(end.text, 200, model, clock);
  return { name: "server_error", status: 200, note: "the stream ended without its closing event" };
}

/**
 * Returns the closing bytes. If the client asked for it, the cost stands as a comment before the last event.
 */
function closing({ call }: RunningRequest, metered: Metered, done: Uint8Array): Uint8Array[] {
  if (call.headers.get("x-arbor-cost") !== "stream") return [done];
  const before = Buffer.from(done.buffer, done.byteOffset, done.byteLength).lastIndexOf("\n\n", -3);
  const last = before === -1 ? 0 : before + 2;
  const cost = Buffer.from(`: cost=${formatUsd(metered.charge.amount)}\n\n`);
  return [done.subarray(0, last), cost, done.subarray(last)];
}

const NOT_STORED: Refusal = { code: "internal_error", message: "The charge could not be stored." };

/**
 * Returns the error event that ends a stream. `signal` is null when the provider did not fail; `refusal` then
 * says why there is no charge.
 */
function errorEvent(
  parts: StreamAnswerParts,
  { endpoint: { path, dialect }, requestId, lifetime }: RunningRequest,
  {
    machine,
    signal,
    refusal,
    model,
  }: { machine: StreamResult; signal: UpstreamFailure | null; refusal: Refusal; model: string },
): Uint8Array {
  const say = (error: StreamError) => machine.streamError?.(error) ?? dialect.streamError(error, requestId);
  if (signal === null) return say(parts.describe(refusal));
  if (lifetime.ended === ACCOUNT_CLOSED) return say(parts.describe(INVALID_KEY));
  const told = clientErrorFor([signal], { model, path }, NO_KEY_AVAILABILITY);
  return say("rejection" in told ? told.rejection : parts.describe(told.refusal));
}
