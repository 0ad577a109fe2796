// Reads a provider's body chunk by chunk with an idle limit. A provider that is silent for that long is cut
// off. A client that does not read for that long is cut off too, but that is not a failure of the provider.
// It does not look at the content.
//
// A transport delivers everything that has arrived at once, up to a megabyte. It is passed on in pieces, so that what
// is made of it (decoded, split into events, translated) exists for one piece at a time while the client does
// not read. Pieces that are at hand would follow one another without a turn of the event loop, so after some
// milliseconds of them all others get a turn.

import type { BytePiece } from "../../base/byte-piece.ts";
import type { Cancellation } from "../../base/cancellation.ts";
import { type Clock, sleep } from "../../base/clock.ts";
import { cutBy } from "../../upstream/upstream-failure.ts";
import type { UpstreamBody } from "../../upstream/upstream-response.ts";
import type { StreamChunk } from "../codec/provider-answer.ts";

/** A body to be read. `abort` aborts its request. */
export interface BodyParts {
  readonly body: UpstreamBody;
  readonly clock: Clock;
  readonly idleMs: number;
  readonly abort: Cancellation;
}

/** The largest piece in bytes that `take` gets. */
export const PIECE_BYTES_MAX = 32_768;
/** Milliseconds of reading after which the event loop gets a turn. */
const BUSY_MS = 8;

const SILENT = new DOMException("the provider fell silent", "TimeoutError");
/** Not a `TimeoutError`: `cutBy` must attribute it to the client, or slow clients would put keys to sleep. */
const UNREAD = new Error("the client stopped reading");

/** A body with an idle limit. On silence it aborts its request with the reason. */
export abstract class WatchedBody {
  private readonly clock: Clock;
  private readonly idleMs: number;
  private readonly abort: Cancellation;
  private readonly body: UpstreamBody;
  /** Monotonic ms at which the last read began or ended. */
  private lastAt: number;
  private reading = false;
  /** Monotonic ms at which the last chunk was there. */
  private readAt = 0;
  /** Milliseconds of reading since the event loop had a turn, as far as is known here. */
  private busyMs = 0;
  /** Bytes that have arrived and were not passed on yet. */
  private rest: BytePiece | null = null;
  private readonly watch = (): void => this.look();
  private cancelTimer: () => void;

  constructor({ body, clock, idleMs, abort }: BodyParts) {
    this.clock = clock;
    this.idleMs = idleMs;
    this.abort = abort;
    this.body = body;
    this.lastAt = clock.mono();
    this.cancelTimer = clock.after(idleMs, this.watch);
  }

  /** Returns what a piece contains; null means that the body has ended normally. */
  protected abstract take(piece: BytePiece | null): StreamChunk;

  /**
   * Reads the next chunk, at once when it has arrived. A connection that broke is returned as an `end`: this neither throws
   * nor rejects.
   */
  next(): StreamChunk | Promise<StreamChunk> {
    this.lastAt = this.clock.mono();
    this.readAt = this.lastAt;
    this.reading = true;
    if (this.busyMs >= BUSY_MS) return this.nextAfterTurn();
    try {
      // After an abort the buffered rest must not be passed on.
      if (this.rest !== null) this.abort.signal.throwIfAborted();
      const read = this.rest ?? this.body.read();
      return read instanceof Promise ? read.then(this.onRead, this.onBroken) : this.onRead(read);
    } catch (error) {
      return this.onBroken(error);
    }
  }

  private async nextAfterTurn(): Promise<StreamChunk> {
    try {
      await this.giveTurn();
      return this.onRead(this.rest ?? (await this.body.read()));
    } catch (error) {
      return this.onBroken(error);
    }
  }

  /** Returns what a chunk contains, or its first piece. */
  private readonly onRead = (arrived: BytePiece | null): StreamChunk => {
    this.readAt = this.clock.mono();
    const isLarge = arrived !== null && arrived.length > PIECE_BYTES_MAX;
    this.rest = isLarge ? arrived.behind(PIECE_BYTES_MAX) : null;
    try {
      const taken = this.take(isLarge ? arrived.first(PIECE_BYTES_MAX) : arrived);
      this.noteRead();
      return taken;
    } catch (error) {
      return this.onBroken(error);
    }
  };

  private readonly onBroken = (error: unknown): StreamChunk => {
    this.noteRead();
    return { parts: [], content: false, end: { kind: "cut", signal: cutBy(this.abort.signal, error) } };
  };

  private noteRead(): void {
    this.lastAt = this.clock.mono();
    this.busyMs += this.lastAt - this.readAt;
    this.reading = false;
  }

  private async giveTurn(): Promise<void> {
    this.busyMs = 0;
    await sleep(this.clock, 0);
    this.abort.signal.throwIfAborted();
  }

  /** Closes the connection, because the rest is not needed. */
  stop(): void {
    this.cancelTimer();
    this.body.cancel();
  }

  /** Ends the reading of an answer that is complete. The connection can be used again. */
  finish(): void {
    this.cancelTimer();
    this.body.finish();
  }

  private look(): void {
    const silentMs = this.clock.mono() - this.lastAt;
    if (silentMs >= this.idleMs) this.abort.abort(this.reading ? SILENT : UNREAD);
    else this.cancelTimer = this.clock.after(this.idleMs - silentMs, this.watch);
  }
}
