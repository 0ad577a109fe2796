// SSE_KEEPALIVE_MS: a stream that is silent for that long sends a keepalive, so that no proxy between client
// and service closes the connection. Before the first content the response head is sent early for it. A
// keepalive is no content: until content arrives other keys may still be tried, and a failure is then an
// error event inside the stream, free of charge.
//
// It wraps the ordinary answer and writes between whole events only. It writes nothing while the client has
// not read the last write, so that a client that stops reading finds one keepalive and not a pile.

import { type Clock, withTimeout } from "../../base/clock.ts";
import { type Refusal, RefusedError } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import type { StreamError } from "../../dialect/dialect.ts";
import {
  type BodySink,
  type BodySource,
  type GatewayLimits,
  isWhole,
  type Outcome,
  type StreamedBody,
  type StreamPart,
} from "../call.ts";
import type { ApiStyle } from "../codec/key-formats.ts";
import type { AdmittedContext } from "../context.ts";
import { CLIENT_GONE } from "../request-lifetime.ts";
import { earlyHeaders } from "./headers.ts";

/** The services of keepalives. */
export interface KeepaliveParts {
  readonly clock: Clock;
  readonly log: Log;
  readonly limits: Pick<GatewayLimits, "sseKeepaliveMs">;
  /** Returns a refusal in the form of an error event of a stream. */
  describe(refusal: Refusal): StreamError;
}

/** The part of a request's context that keepalives read. */
type Open = Pick<AdmittedContext, "id" | "requestId" | "endpoint" | "admission" | "startedAtMs" | "lifetime">;

const comment = new TextEncoder().encode(": keep-alive\n\n");
/** The SDKs of the messages style know this event; those of the chat style ignore comments. */
const ping = new TextEncoder().encode('event: ping\ndata: {"type": "ping"}\n\n');
const KEEPALIVES: Readonly<Record<ApiStyle, Uint8Array>> = { chat: comment, messages: ping };

/** Returns whether the answer is a stream of events that gets keepalives. */
export const hasSseKeepalive = (
  { limits }: Pick<KeepaliveParts, "limits">,
  { endpoint, request }: Pick<AdmittedContext, "endpoint" | "request">,
): boolean =>
  limits.sseKeepaliveMs > 0 && request.stream && endpoint.answers === "json" && !endpoint.meter.free;

/**
 * Returns the outcome of `work`, or, if that takes longer than SSE_KEEPALIVE_MS, a stream that sends
 * keepalives until the outcome is known and then its body, or its failure as an event.
 */
export async function withSseKeepalive(
  parts: KeepaliveParts,
  context: Open,
  work: Promise<Outcome>,
): Promise<Outcome> {
  // Read now: another candidate may have other limits by the time that the head is sent.
  const { admitted } = context.admission;
  const outcome = await withTimeout(parts.clock, parts.limits.sseKeepaliveMs, work, () => null);
  if (outcome !== null) {
    if (outcome.kind !== "stream" || isWhole(outcome.body)) return outcome;
    return { ...outcome, body: new KeptAliveBody(parts, context, Promise.resolve(outcome.body), false) };
  }
  const { requestId, endpoint, startedAtMs } = context;
  const headers = earlyHeaders(requestId, endpoint.dialect.name, admitted, startedAtMs);
  // Attached at once, so that a rejection is handled even if the body is never read.
  const body = work.then(
    (late) => bodyOf(parts, context, late),
    (error) => broken(parts, context, error),
  );
  return { kind: "stream", headers, body: new KeptAliveBody(parts, context, body, true) };
}

/** A body with keepalives. */
class KeptAliveBody implements BodySource {
  private sink: WatchedSink | null = null;

  /** With `isLate` the first keepalive is sent at once. */
  constructor(
    private readonly parts: KeepaliveParts,
    private readonly context: Open,
    private readonly coming: Promise<StreamedBody>,
    private readonly isLate: boolean,
  ) {}

  async fill(client: BodySink): Promise<void> {
    const { clock, limits } = this.parts;
    const keepalive = KEEPALIVES[this.context.endpoint.dialect.name];
    const sink = new WatchedSink(clock, limits.sseKeepaliveMs, keepalive, client);
    this.sink = sink;
    if (this.isLate) sink.sendKeepalive();
    const body = await this.coming;
    if (isWhole(body)) {
      for (const part of body) sink.write(part);
      sink.close();
    } else await body.fill(sink).finally(() => sink.stop());
  }

  gone(): void {
    this.sink?.stop();
    this.context.lifetime.abort(CLIENT_GONE);
    void this.coming.then((body) => isWhole(body) || body.gone());
  }
}

/** The client's sink, watched for silence. */
class WatchedSink implements BodySink {
  /** Monotonic ms of the last write. */
  private lastAt: number;
  /** The client has read the last write. */
  private isTaken = true;
  /** The last write ended with a whole event. */
  private isBetween = true;
  private readonly watch = (): void => this.look();
  private cancelTimer: () => void;

  constructor(
    private readonly clock: Clock,
    private readonly silenceMs: number,
    private readonly keepalive: Uint8Array,
    private readonly client: BodySink,
  ) {
    this.lastAt = clock.mono();
    this.cancelTimer = clock.after(silenceMs, this.watch);
  }

  write(part: StreamPart): number | Promise<number> {
    this.isBetween = endsEvent(part);
    return this.pass(part);
  }

  close(error?: Error): void {
    this.stop();
    this.client.close(error);
  }

  stop(): void {
    this.cancelTimer();
  }

  sendKeepalive(): void {
    const written = this.pass(this.keepalive);
    // A client that disconnects is handled by `gone`.
    if (typeof written !== "number") written.catch(() => undefined);
  }

  private pass(part: StreamPart): number | Promise<number> {
    this.lastAt = this.clock.mono();
    const written = this.client.write(part);
    if (typeof written === "number") return written;
    this.isTaken = false;
    return written.finally(() => {
      this.isTaken = true;
    });
  }

  private look(): void {
    const silentMs = this.clock.mono() - this.lastAt;
    if (silentMs >= this.silenceMs && this.isTaken && this.isBetween) this.sendKeepalive();
    const waitMs = silentMs < this.silenceMs ? this.silenceMs - silentMs : this.silenceMs;
    this.cancelTimer = this.clock.after(waitMs, this.watch);
  }
}

/** Returns the body of an outcome for a stream that is already open. */
function bodyOf(parts: KeepaliveParts, context: Open, outcome: Outcome): StreamedBody {
  if (outcome.kind === "stream") return outcome.body;
  if (outcome.kind === "rejected") return lastWord(context, outcome.rejection);
  if (outcome.kind === "refused") return lastWord(context, parts.describe(outcome.refusal));
  return broken(parts, context, new Error("a stream was asked for, and a whole answer came"));
}

function broken(parts: KeepaliveParts, context: Open, error: unknown): StreamedBody {
  if (error instanceof RefusedError) return lastWord(context, parts.describe(error.refusal));
  const { requestId, id } = context;
  parts.log("error", "request_failed", { requestId, id, error: String(error) });
  const message = "Something broke inside the service. The request id helps to find it in the log.";
  return lastWord(context, parts.describe({ code: "internal_error", message }));
}

/** Returns the error event that ends the stream. */
function lastWord(
  { endpoint, requestId, lifetime }: Open,
  error: ReturnType<KeepaliveParts["describe"]>,
): StreamedBody {
  lifetime.close();
  return [endpoint.dialect.streamError(error, requestId)];
}

const LF = 10;
const CR = 13;

/** Returns whether a part ends with a blank line, after which another event may begin. */
function endsEvent(part: StreamPart): boolean {
  // Text has no carriage return: see `isPlain`.
  if (typeof part === "string") return part.endsWith("\n\n");
  const [third, second, last] = [part.at(-3), part.at(-2), part.at(-1)];
  return last === LF ? second === LF || (second === CR && third === LF) : last === CR && second === CR;
}
