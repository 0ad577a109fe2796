// Reads a provider's body chunk by chunk under watch: silence beyond the idle limit ends it like a cut; so does nobody
// reading on for as long, but that is no fault of the provider. It does not look at what it reads.

import type { Clock } from "../../runtime/clock.ts";
import { cutBy, type Signal } from "../../upstream/signal.ts";

export interface BodyParts {
  readonly body: ReadableStream<Uint8Array>;
  readonly clock: Clock;
  readonly idleMs: number;
  readonly abort: AbortController;
}

export interface WatchedBody {
  /** The next chunk as `take` reads it, null at an orderly end; or `cut` with what broke the connection. */
  next<T>(take: (chunk: Uint8Array | null) => T, cut: (signal: Signal) => T): Promise<T>;
  /** Gives the connection up. */
  stop(): void;
}

const SILENT = new DOMException("the provider fell silent", "TimeoutError");
/** Not named as a timeout: it counts as the client's doing (see `cutBy`), or slow readers would put keys to sleep. */
const UNREAD = new Error("the client stopped reading");

export function watchedBody({ body, clock, idleMs, abort }: BodyParts): WatchedBody {
  const reader = body.getReader();
  /** When a read began or ended last. */
  let lastAt = clock.mono();
  let reading = false;
  let cancelTimer = clock.after(idleMs, watch);

  function watch(): void {
    const silentMs = clock.mono() - lastAt;
    if (silentMs >= idleMs) abort.abort(reading ? SILENT : UNREAD);
    else cancelTimer = clock.after(idleMs - silentMs, watch);
  }

  return {
    async next(take, cut) {
      lastAt = clock.mono();
      reading = true;
      try {
        const { done, value } = await reader.read();
        return take(done ? null : value);
      } catch (error) {
        return cut(cutBy(abort.signal, error));
      } finally {
        lastAt = clock.mono();
        reading = false;
      }
    },
    stop() {
      cancelTimer();
      // The connection may have gone already; either way nobody reads on.
      reader.cancel().catch(() => undefined);
    },
  };
}
