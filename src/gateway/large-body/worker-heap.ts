// The heap of a worker thread, and when it is collected. A value of a large body is many times larger than what the thread
// needs otherwise, and dead as soon as its job is done. The runtime's collector lets a heap grow by as much as it held after
// the last collection: with a few megabytes it would run, and mark everything, in the middle of nearly every body.

import type { Clock } from "../../base/clock.ts";

/**
 * Memory that is held and never touched, so that no page of it is resident. The heap may grow by as much before it is
 * collected, which is a collection in four bodies of two megabytes.
 */
const RESERVED_BYTES = 32 * 1024 * 1024;
/** The value of a body of this size is collected at once, because it may be hundreds of megabytes. */
const COLLECTED_AT_ONCE_BYTES = 4 * 1024 * 1024;
/** An idle thread collects what is left of its last jobs after this time. */
const IDLE_MS = 1_000;

/** The heap of the thread that makes it. */
export class WorkerHeap {
  readonly reserved = new ArrayBuffer(RESERVED_BYTES);
  /** Cancels the collection of an idle thread; null while none is due. */
  private cancelIdle: (() => void) | null = null;

  constructor(
    private readonly clock: Pick<Clock, "after">,
    private readonly collect = collectNow,
  ) {}

  /** A job begins. */
  begin(): void {
    this.cancelIdle?.();
    this.cancelIdle = null;
  }

  /** A job has ended that read a body of `bytes` bytes. */
  end(bytes: number): void {
    if (bytes >= COLLECTED_AT_ONCE_BYTES) this.collect();
    else this.cancelIdle = this.clock.after(IDLE_MS, this.collect);
  }
}

function collectNow(): void {
  Bun.gc(true);
}
