// Reads a provider's body chunk by chunk with an idle limit. A provider that is silent for that long is cut
// off. A client that does not read for that long is cut off too, but that is not a failure of the provider.
// It does not look at the content.
//
// Bun delivers everything that has arrived at once, up to a megabyte. It is passed on in pieces, so that what
// is made of it (decoded, split into events, translated) exists for one piece at a time while the client does
// not read.

import type { Clock } from "../../base/clock.ts";
import { cutBy, type UpstreamFailure } from "../../upstream/upstream-failure.ts";

/** A body to be read. `abort` aborts its request. */
export interface BodyParts {
  readonly body: ReadableStream<Uint8Array>;
  readonly clock: Clock;
  readonly idleMs: number;
  readonly abort: AbortController;
}

/** A body with an idle limit. */
export interface WatchedBody {
  /**
   * Reads the next chunk and returns what `take` makes of it; null means a normal end. Returns the result of
   * `cut` with the failure if the connection broke.
   */
  next<T>(take: (chunk: Uint8Array | null) => T, cut: (signal: UpstreamFailure) => T): Promise<T>;
  /** Closes the connection. */
  stop(): void;
}

/** The largest piece in bytes that `next` passes to `take`. */
export const PIECE_BYTES_MAX = 65_536;

const SILENT = new DOMException("the provider fell silent", "TimeoutError");
/** Not a `TimeoutError`: `cutBy` must attribute it to the client, or slow clients would put keys to sleep. */
const UNREAD = new Error("the client stopped reading");

/** Starts to watch a body. On silence it aborts `abort` with the reason. */
export function watchedBody({ body, clock, idleMs, abort }: BodyParts): WatchedBody {
  const reader = body.getReader();
  /** Monotonic ms at which the last read began or ended. */
  let lastAt = clock.mono();
  let reading = false;
  let cancelTimer = clock.after(idleMs, watch);
  /** Bytes that have arrived and were not passed on yet. */
  let rest: Uint8Array | null = null;

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
        // After an abort the buffered rest must not be passed on.
        if (rest !== null) abort.signal.throwIfAborted();
        const chunk = rest ?? (await reader.read()).value ?? null;
        const isLarge = chunk !== null && chunk.length > PIECE_BYTES_MAX;
        rest = isLarge ? chunk.subarray(PIECE_BYTES_MAX) : null;
        return take(isLarge ? chunk.subarray(0, PIECE_BYTES_MAX) : chunk);
      } catch (error) {
        return cut(cutBy(abort.signal, error));
      } finally {
        lastAt = clock.mono();
        reading = false;
      }
    },
    stop() {
      cancelTimer();
      // The connection may have ended already, which makes no difference.
      reader.cancel().catch(() => undefined);
    },
  };
}
