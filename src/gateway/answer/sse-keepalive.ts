// SSE_KEEPALIVE_MS: a stream that is silent so long says that it lives, so that nobody between client and service gives the
// connection up: before its first content, when its head goes out early, and inside. What is said is no content: until that
// comes other keys may still be tried, and a failure is then an event inside the stream, free of charge.
//
// It stands around the ordinary answer, whole events in, whole events out, and keeps quiet while the client has not taken what
// was written last: whoever stops reading finds one such word, and not a pile of them.

import type { Clock } from "../../base/clock.ts";
import { RefusedError } from "../../base/errors.ts";
import type { BodySink, BodySource, Outcome, ResponseBody } from "../call.ts";
import type { ApiStyle } from "../codec/key-formats.ts";
import type { GatewayParts, RunningRequest } from "../context.ts";
import { CLIENT_GONE } from "../request-lifetime.ts";
import { earlyHeaders } from "./headers.ts";

type Parts = Pick<GatewayParts, "clock" | "describe" | "log" | "limits">;
type Open = Pick<
  RunningRequest,
  "id" | "requestId" | "surface" | "request" | "admission" | "startedAt" | "leash"
>;

const comment = new TextEncoder().encode(": keep-alive\n\n");
/** SDKs of the messages style know this event; those of the chat style pass over any comment. */
const ping = new TextEncoder().encode('event: ping\ndata: {"type": "ping"}\n\n');
const ALIVE: Readonly<Record<ApiStyle, Uint8Array>> = { chat: comment, messages: ping };

/** Whether the answer can only be events, and is to be kept open. */
export const hasSseKeepalive = (
  { limits }: Pick<Parts, "limits">,
  { surface, request }: Pick<Open, "surface" | "request">,
): boolean =>
  limits.sseKeepaliveMs > 0 && request.stream && surface.answers === "json" && !surface.meter.free;

/** The answer that `work` comes to; a stream that has not begun yet, when it does not come in time. */
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
  const { admission, requestId, surface, startedAt } = running;
  const headers = earlyHeaders(requestId, surface.dialect.name, admission.admitted, startedAt);
  // At once: nobody may be there to hear of it when it breaks.
  const body = work.then(
    (outcome) => bodyOf(parts, running, outcome),
    (error) => broken(parts, running, error),
  );
  return { kind: "stream", headers, body: flow(parts, running, body, true) };
}

/** `late`: silence has lasted long enough already. */
function flow(
  { clock, limits }: Parts,
  running: Open,
  coming: Promise<ResponseBody>,
  late: boolean,
): BodySource {
  const alive = ALIVE[running.surface.dialect.name];
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
      running.leash.abort(CLIENT_GONE);
      void coming.then((body) => body instanceof Uint8Array || body.gone());
    },
  };
}

interface Watch {
  /** The client's, with an eye on how long nothing goes through it. */
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
    // A client that has left is told of by `gone`.
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

/** What an answer that comes late is in a stream that is open already. */
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

/** The event that tells of a failure. */
function lastWord({ surface, requestId, leash }: Open, error: ReturnType<Parts["describe"]>): ResponseBody {
  leash.close();
  return Buffer.from(surface.dialect.streamError(error, requestId));
}

/** Null: it takes longer. */
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

/** Whether the bytes end with a blank line, behind which another event may stand. */
function endsEvent(bytes: Uint8Array): boolean {
  const [third, second, last] = [bytes.at(-3), bytes.at(-2), bytes.at(-1)];
  return last === LF ? second === LF || (second === CR && third === LF) : last === CR && second === CR;
}
