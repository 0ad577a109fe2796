// SSE_KEEPALIVE_MS: a stream that is silent for that long sends a keepalive, so that no proxy between client
// and service closes the connection. Before the first content the response head is sent early for it. A
// keepalive is no content: until content arrives other keys may still be tried, and a failure is then an
// error event inside the stream, free of charge.
//
// It wraps the ordinary answer and writes between whole events only. It writes nothing while the client has
// not read the last write, so that a client that stops reading finds one keepalive and not a pile.

import type { Clock } from "../../base/clock.ts";
import { type Refusal, RefusedError } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import type { StreamError } from "../../dialect/dialect.ts";
import type { BodySink, BodySource, GatewayLimits, Outcome, ResponseBody } from "../call.ts";
import type { ApiStyle } from "../codec/key-formats.ts";
import type { RunningRequest } from "../context.ts";
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

type Parts = KeepaliveParts;
type Open = Pick<
  RunningRequest,
  "id" | "requestId" | "endpoint" | "request" | "admission" | "startedAt" | "lifetime"
>;

const comment = new TextEncoder().encode(": keep-alive\n\n");
/** The SDKs of the messages style know this event; those of the chat style ignore comments. */
const ping = new TextEncoder().encode('event: ping\ndata: {"type": "ping"}\n\n');
const ALIVE: Readonly<Record<ApiStyle, Uint8Array>> = { chat: comment, messages: ping };

/** Returns whether the answer is a stream of events that gets keepalives. */
export const hasSseKeepalive = (
  { limits }: Pick<Parts, "limits">,
  { endpoint, request }: Pick<Open, "endpoint" | "request">,
): boolean =>
  limits.sseKeepaliveMs > 0 && request.stream && endpoint.answers === "json" && !endpoint.meter.free;

/**
 * Returns the outcome of `work`, or, if that takes longer than SSE_KEEPALIVE_MS, a stream that sends
 * keepalives until the outcome is known and then its body, or its failure as an event.
 */
export async function withSseKeepalive(
  parts: Parts,
  running: Open,
  work: Promise<Outcome>,
): Promise<Outcome> {
  const inTime = await within(parts.clock, parts.limits.sseKeepaliveMs, work);
  if (inTime !== null) {
    if (inTime.kind !== "stream" || inTime.body instanceof Uint8Array) return inTime;
    return { ...inTime, body: flow(parts, running, Promise.resolve(inTime.body), false) };
  }
  const { admission, requestId, endpoint, startedAt } = running;
  const headers = earlyHeaders(requestId, endpoint.dialect.name, admission.admitted, startedAt);
  // Attached at once, so that a rejection is handled even if the body is never read.
  const body = work.then(
    (outcome) => bodyOf(parts, running, outcome),
    (error) => broken(parts, running, error),
  );
  return { kind: "stream", headers, body: flow(parts, running, body, true) };
}

/** Wraps a body with keepalives; `late` sends the first one at once. */
function flow(
  { clock, limits }: Parts,
  running: Open,
  coming: Promise<ResponseBody>,
  late: boolean,
): BodySource {
  const alive = ALIVE[running.endpoint.dialect.name];
  let watch: Watch | null = null;
  return {
    async fill(outlet) {
      watch = watched(clock, limits.sseKeepaliveMs, alive, outlet);
      if (late) watch.say();
      const body = await coming;
      if (body instanceof Uint8Array) {
        watch.outlet.write(body);
        watch.outlet.close();
      } else await body.fill(watch.outlet).finally(watch.stop);
    },
    gone() {
      watch?.stop();
      running.lifetime.abort(CLIENT_GONE);
      void coming.then((body) => body instanceof Uint8Array || body.gone());
    },
  };
}

interface Watch {
  /** The client's sink, observed for silence. */
  readonly outlet: BodySink;
  say(): void;
  stop(): void;
}

function watched(clock: Clock, ms: number, alive: Uint8Array, outlet: BodySink): Watch {
  let lastAt = clock.mono();
  let taken = true;
  let between = true;
  let cancel = clock.after(ms, look);

  function write(bytes: Uint8Array): number | Promise<number> {
    lastAt = clock.mono();
    const written = outlet.write(bytes);
    if (typeof written === "number") return written;
    taken = false;
    return written.finally(() => {
      taken = true;
    });
  }

  function say(): void {
    const written = write(alive);
    // A client that disconnects is handled by `gone`.
    if (typeof written !== "number") written.catch(() => undefined);
  }

  function look(): void {
    const silentMs = clock.mono() - lastAt;
    if (silentMs >= ms && taken && between) say();
    cancel = clock.after(silentMs < ms ? ms - silentMs : ms, look);
  }

  return {
    outlet: {
      write(bytes) {
        between = endsEvent(bytes);
        return write(bytes);
      },
      close(error) {
        cancel();
        outlet.close(error);
      },
    },
    say,
    stop: () => cancel(),
  };
}

/** Returns the body of an outcome for a stream that is already open. */
function bodyOf(parts: Parts, running: Open, outcome: Outcome): ResponseBody {
  if (outcome.kind === "stream") return outcome.body;
  if (outcome.kind === "rejected") return lastWord(running, outcome.rejection);
  if (outcome.kind === "refused") return lastWord(running, parts.describe(outcome.refusal));
  return broken(parts, running, new Error("a stream was asked for, and a whole answer came"));
}

function broken(parts: Parts, running: Open, error: unknown): ResponseBody {
  if (error instanceof RefusedError) return lastWord(running, parts.describe(error.refusal));
  const { requestId, id } = running;
  parts.log("error", "request_failed", { requestId, id, error: String(error) });
  const message = "Something broke inside the service. The request id helps to find it in the log.";
  return lastWord(running, parts.describe({ code: "internal_error", message }));
}

/** Returns the error event that ends the stream. */
function lastWord(
  { endpoint, requestId, lifetime }: Open,
  error: ReturnType<Parts["describe"]>,
): ResponseBody {
  lifetime.close();
  return Buffer.from(endpoint.dialect.streamError(error, requestId));
}

/** Returns the result of `work`, or null when it takes longer than `ms`. */
async function within<T>(clock: Clock, ms: number, work: Promise<T>): Promise<T | null> {
  const late = Promise.withResolvers<null>();
  const cancel = clock.after(ms, () => late.resolve(null));
  try {
    return await Promise.race([work, late.promise]);
  } finally {
    cancel();
  }
}

const LF = 10;
const CR = 13;

/** Returns whether the bytes end with a blank line, after which another event may begin. */
function endsEvent(bytes: Uint8Array): boolean {
  const [third, second, last] = [bytes.at(-3), bytes.at(-2), bytes.at(-1)];
  return last === LF ? second === LF || (second === CR && third === LF) : last === CR && second === CR;
}
