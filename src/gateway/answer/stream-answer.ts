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
//   the client does not read         the same; with an error event if it reads on within UNREAD_GRACE_MS, else
//                                    its connection is closed
//   the account was deleted          the same, and an error event at the end
//
// Without content nothing is charged, and the outcome is an error response.
//
// While it runs the hold is renewed every minute, and grown as soon as the answer exceeds it.

import { INVALID_KEY } from "../../../actors/account/authenticate.ts";
import { formatUsd } from "../../../actors/money.ts";
import type { Cancellation } from "../../base/cancellation.ts";
import type { Clock } from "../../base/clock.ts";
import { type Refusal, RefusedError } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import type { StreamError } from "../../dialect/dialect.ts";
import { cutBy, type UpstreamFailure } from "../../upstream/upstream-failure.ts";
import { cancelHold, chargeHold } from "../admission/hold-duty.ts";
import { type HoldRenewals, StreamHold } from "../admission/hold-heartbeat.ts";
import type { Settlement } from "../admission/settlement.ts";
import { rowOf } from "../attempt/attempt.ts";
import { misread } from "../attempt/attempt-reader.ts";
import { clientErrorFor, type LastFailure, NO_KEY_AVAILABILITY } from "../attempt/client-error.ts";
import type { LevelReporter } from "../attempt/level-reports.ts";
import type { BodySink, BodySource, Outcome, StreamPart } from "../call.ts";
import type { StreamEnd, StreamedProviderBody } from "../codec/provider-answer.ts";
import type { AnsweredContext } from "../context.ts";
import type { ObservedContext, RequestEnd } from "../ended-context.ts";
import type { TokenCounter } from "../metering/token-counter.ts";
import { isChargeKnownUpfront, type Metered, meterUsage } from "../metering/usage-meter.ts";
import { CLIENT_LEFT, endOf, type ReportEndedParts, reportEnded } from "../request-history/report-ended.ts";
import { ACCOUNT_CLOSED, CLIENT_GONE } from "../request-lifetime.ts";
import type { StoredObjectIndex } from "../stored-objects/object-index.ts";
import { CreatedObjects, factsOf, noteAnsweredModel, readingOf } from "./charge.ts";
import { headersOf, soundType } from "./headers.ts";

/** The services that a streamed answer is charged with. */
export interface StreamAnswerParts extends ReportEndedParts {
  readonly settlement: Pick<Settlement, "charge" | "cancel" | "renew">;
  readonly levelReporter: Pick<LevelReporter, "failed" | "succeeded">;
  readonly renewals: HoldRenewals;
  readonly storedObjects: Pick<StoredObjectIndex, "keep">;
  readonly counter: TokenCounter;
  readonly clock: Clock;
  readonly log: Log;
  /** Returns a refusal in the form of an error event of a stream. */
  describe(refusal: Refusal): StreamError;
  /** Called once when the answer has ended and all its bytes are known. */
  ended(context: ObservedContext): void;
}

/**
 * Returns the outcome of a stream. Its body charges the answer, or cancels the hold, before its last byte. If
 * the whole answer has already arrived, it is charged first, and the body is its bytes.
 */
export async function answerStream(
  parts: StreamAnswerParts,
  context: AnsweredContext,
  body: StreamedProviderBody,
): Promise<Outcome> {
  // From here on only silence and the client end it, not the deadline of the attempts.
  context.lifetime.clearDeadline();
  const { contentType } = body;
  const headers = headersOf(context, context.attempts.length + 1);
  if (contentType !== null) {
    headers["content-type"] = soundType(contentType);
    Object.assign(headers, await costAhead(parts, context));
  }
  const stream = new StreamAnswer(parts, context, body);
  const whole = body.opening.end === null ? null : await stream.finishWhole(body.opening.end);
  context.passHold();
  return { kind: "stream", body: whole ?? stream, headers };
}

/** Returns the cost header of an answer whose charge does not depend on how it ends. */
async function costAhead(
  { counter }: Pick<StreamAnswerParts, "counter">,
  context: AnsweredContext,
): Promise<Record<string, string>> {
  const { meter } = context.endpoint;
  if (!isChargeKnownUpfront(meter, context.admission)) return {};
  const nothing = { usage: null, serviceTier: null, texts: [], measured: {}, complete: true };
  const { charge } = await meterUsage(meter, context.admission, readingOf(context, nothing), counter);
  return { "x-arbor-cost": formatUsd(charge.amount) };
}

/** How long (ms) a client whose answer has ended may still leave what was sent unread. */
const UNREAD_GRACE_MS = 60_000;

/** The last bytes, after the charge; or `BROKEN`, which cuts the connection. */
type Last = readonly StreamPart[] | typeof BROKEN;
const BROKEN = "broken";

/** The body of one streamed answer, which ends its hold. */
class StreamAnswer implements BodySource {
  private readonly hold: StreamHold;
  private readonly created: CreatedObjects;
  /** A read of the provider is in progress: it will see the abort itself. */
  private isPulling = false;
  /** The client may disconnect before, between or during reads; the first to see the end charges, once. */
  private ending: Promise<Last> | null = null;
  /** The client's connection while its body is filled; null before and after. */
  private client: BodySink | null = null;
  private isCutOff = false;
  /** Ends the wait for a client that does not read; null while there is none. */
  private stopGrace: (() => void) | null = null;

  constructor(
    private readonly parts: StreamAnswerParts,
    private readonly context: AnsweredContext,
    private readonly body: StreamedProviderBody,
  ) {
    const { machine } = body.source;
    this.hold = new StreamHold(parts, context, machine);
    this.created = new CreatedObjects(parts.storedObjects, context);
    // Before the first content is sent, so that a response that is cut off can be read later.
    this.created.first(machine.made);
    this.abort.signal.addEventListener("abort", this);
  }

  /** The attempt was aborted. A client that does not read keeps the body from noticing, but not for ever. */
  handleEvent(): void {
    if (this.isPulling) return;
    void this.endOnce(this.cut());
    if (this.client === null || this.isClientGone) return;
    this.stopGrace = this.parts.clock.after(UNREAD_GRACE_MS, () => {
      this.isCutOff = true;
      this.client?.close(new Error("the client does not read"));
    });
  }

  /** Ends an answer that has arrived whole. Returns its parts, or null when it broke and must be cut. */
  async finishWhole(end: StreamEnd): Promise<readonly StreamPart[] | null> {
    const { parts } = this.body.opening;
    for (const part of parts) this.context.bytesSent += part.length;
    const last = await this.endOnce(end);
    return last === BROKEN ? null : [...parts, ...last];
  }

  async fill(client: BodySink): Promise<void> {
    this.client = client;
    try {
      await this.pass(client);
    } finally {
      this.client = null;
      this.stopGrace?.();
    }
  }

  private async pass(client: BodySink): Promise<void> {
    const { source, opening } = this.body;
    let { end } = opening;
    let parts: readonly StreamPart[] = opening.parts.splice(0);
    while (!this.isClientGone) {
      for (const part of parts) {
        this.context.bytesSent += part.length;
        const written = client.write(part);
        if (typeof written !== "number") await written;
      }
      if (end !== null || this.isClientGone) break;
      this.hold.grow();
      this.isPulling = true;
      const next = source.next();
      ({ parts, end } = next instanceof Promise ? await next : next);
      this.isPulling = false;
    }
    const last = await this.endOnce(end ?? this.cut());
    if (this.isClientGone) return;
    if (last === BROKEN) return client.close(new Error("the answer broke off"));
    for (const part of last) client.write(part);
    client.close();
  }

  gone(): void {
    this.abort.abort(CLIENT_GONE);
  }

  private get abort(): Cancellation {
    return this.context.answer.abort;
  }

  private get isClientGone(): boolean {
    const { reason } = this.abort;
    return this.isCutOff || (reason instanceof Error && reason.name === "AbortError");
  }

  private cut(): StreamEnd {
    return { kind: "cut", signal: cutBy(this.abort.signal, null) };
  }

  private endOnce(end: StreamEnd): Promise<Last> {
    this.ending ??= this.endAndNote(end);
    return this.ending;
  }

  private async endAndNote(end: StreamEnd): Promise<Last> {
    const last = await this.end(end).catch((error) => {
      const { requestId, id } = this.context;
      // The answer was sent but its charge is not stored: the client must not take the answer for complete.
      const refusal = error instanceof RefusedError ? error.refusal : undefined;
      this.parts.log(refusal ? "warn" : "error", "settle_failed", { requestId, id, error: String(error) });
      this.reportEnd(endOf({ refusal: refusal ?? NOT_STORED }));
      return this.failing(null, refusal);
    });
    const { context } = this;
    if (last !== BROKEN) for (const part of last) context.bytesSent += part.length;
    this.parts.ended(context);
    return last;
  }

  private async end(end: StreamEnd): Promise<Last> {
    const { context, body } = this;
    const { machine } = body.source;
    const clean = end.kind === "done" || end.kind === "eof";
    this.hold.stop();
    if (clean) body.source.finish();
    else body.source.stop();
    context.answer.release();
    context.lifetime.close();
    const complete = machine.outcome(clean) === "complete" && clean;
    const failure = complete ? null : context.answer.exchange.translateFailure(this.failureOf(end));
    this.report(failure);
    if (!complete && !machine.delivered) {
      // The response head was sent with comments alone: nothing was delivered, so nothing is charged.
      await cancelHold(this.parts, context, this.isClientGone);
      this.reportEnd(this.isClientGone ? CLIENT_LEFT : endOf(this.lastFailure(failure, NOT_STORED)));
      return this.failing(failure);
    }
    const metered = await this.charge(failure, complete);
    if (!complete) return this.failing(failure);
    const last = end.kind === "done" ? end.bytes : (machine.closing?.() ?? context.answer.exchange.closing);
    return body.contentType === null ? closing(context, metered, last) : [last];
  }

  private report(failure: UpstreamFailure | null): void {
    const { attempted } = this.context.answer;
    const { levelReporter } = this.parts;
    if (failure === null || failure.name === "client_gone") levelReporter.succeeded(attempted);
    else void levelReporter.failed(attempted, failure);
  }

  private reportEnd(end: RequestEnd): void {
    const { context } = this;
    reportEnded(this.parts, context, end, context.attempts.length + 1);
  }

  /** Charges what was read of the answer. Resolves when the charge is durable. */
  private async charge(failure: UpstreamFailure | null, complete: boolean): Promise<Metered> {
    const { context, parts } = this;
    const { attempted, sinceMs, status } = context.answer;
    const { machine } = this.body.source;
    const { usage, serviceTier, chars, measured = {}, model } = machine;
    const shown = { usage, serviceTier, texts: machine.texts(), chars, measured, complete, model };
    const reading = readingOf(context, shown);
    const metered = await meterUsage(context.endpoint.meter, context.admission, reading, parts.counter);
    noteAnsweredModel(parts, context, metered);
    const row = rowOf(attempted, failure, parts.clock.mono() - sinceMs, status);
    await Promise.all([
      chargeHold(parts, context, factsOf(context, metered, row)),
      this.created.all(machine.made, metered.usage),
    ]);
    return metered;
  }

  /** Returns the failure of a stream after its first content. */
  private failureOf(end: StreamEnd): UpstreamFailure {
    if (end.kind === "cut") return end.signal;
    const { model } = this.context.answer.attempted;
    if (end.kind === "error") return misread(end.text, 200, model, this.parts.clock);
    return { name: "server_error", status: 200, note: "the stream ended without its closing event" };
  }

  /**
   * Returns the error event that ends the stream, or `BROKEN` for audio. `failure` is null when the provider did
   * not fail; `refusal` then says why there is no charge.
   */
  private failing(failure: UpstreamFailure | null, refusal = NOT_STORED): Last {
    if (this.body.contentType !== null) return BROKEN;
    const { endpoint, requestId } = this.context;
    const error = this.errorOf(failure, refusal);
    const { machine } = this.body.source;
    return [machine.streamError?.(error) ?? endpoint.dialect.streamError(error, requestId)];
  }

  private errorOf(failure: UpstreamFailure | null, refusal: Refusal): StreamError {
    const error = this.lastFailure(failure, refusal);
    return "rejection" in error ? error.rejection : this.parts.describe(error.refusal);
  }

  private lastFailure(failure: UpstreamFailure | null, refusal: Refusal): LastFailure {
    const { answer, endpoint, lifetime } = this.context;
    if (failure === null) return { refusal };
    if (lifetime.ended === ACCOUNT_CLOSED) return { refusal: INVALID_KEY };
    const request = { model: answer.attempted.model, path: endpoint.path };
    return clientErrorFor([failure], request, NO_KEY_AVAILABILITY);
  }
}

/**
 * Returns the closing bytes. If the client asked for it, the cost stands as a comment before the last event.
 */
function closing({ call }: AnsweredContext, metered: Metered, done: Uint8Array): Uint8Array[] {
  if (call.headers.get("x-arbor-cost") !== "stream") return [done];
  const before = Buffer.from(done.buffer, done.byteOffset, done.byteLength).lastIndexOf("\n\n", -3);
  const last = before === -1 ? 0 : before + 2;
  const cost = Buffer.from(`: cost=${formatUsd(metered.charge.amount)}\n\n`);
  return [done.subarray(0, last), cost, done.subarray(last)];
}

const NOT_STORED: Refusal = { code: "internal_error", message: "The charge could not be stored." };
