// Reads a provider's body chunk by chunk under watch: silence beyond the idle limit ends it like a cut; so does nobody
// reading on for as long, but that is no fault of the provider. It does not look at what it reads.
//
// Bun hands over at once whatever has come meanwhile, up to a megabyte. That is given on in pieces, so that what is made of it
// (decoded, cut into events, translated) never lies there for more than one piece while the client does not read.

import type { Clock } from "../../base/clock.ts";
import { cutBy, type UpstreamFailure } from "../../upstream/upstream-failure.ts";

export interface BodyParts {
  readonly body: ReadableStream<Uint8Array>;
  readonly clock: Clock;
  readonly idleMs: number;
  readonly abort: AbortController;
}

export interface WatchedBody {
  /** The next chunk as `take` reads it, null at an orderly end; or `cut` with what broke the connection. */
  next<T>(take: (chunk: Uint8Array | null) => T, cut: (signal: UpstreamFailure) => T): Promise<T>;
  /** Gives the connection up. */
  stop(): void;
}

/** What is read at once at most. */
export const PIECE_BYTES_MAX = 65_536;

const SILENT = new DOMException("the provider fell silent", "TimeoutError");
/** Not named as a timeout: it counts as the client's doing (see `cutBy`), or slow readers would put keys to sleep. */
const UNREAD = new Error("the client stopped reading");

export function watchedBody({ body, clock, idleMs, abort }: BodyParts): WatchedBody {
  const reader = body.getReader();
  /** When a read began or ended last. */
  let lastAt = clock.mono();
  let reading = false;
  let cancelTimer = clock.after(idleMs, watch);
  /** What has come and was not read yet. */
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
        // An aborted call has ended, whatever of its answer has come.
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
      // The connection may have gone already; either way nobody reads on.
      reader.cancel().catch(() => undefined);
    },
  };
}
