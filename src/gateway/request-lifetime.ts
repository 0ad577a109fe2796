// Deadline and abort of one request: it ends from outside when its client disconnects, its time is over, or
// its account is deleted, and the current attempt is aborted with it. It decides nothing; callers read the
// reason from `ended`.

import { Cancellation, type CancelSignal } from "../base/cancellation.ts";
import type { Clock } from "../base/clock.ts";
import { Timeout, TimeoutQueue } from "../base/timeout-queue.ts";

/** The abort reason when the client has disconnected. */
export const CLIENT_GONE = new DOMException("the client has gone", "AbortError");
const TOO_LONG = new DOMException("the request took too long", "TimeoutError");
/** The abort reason when the account is deleted: the client gets an error and no provider key is blamed. */
export const ACCOUNT_CLOSED = new DOMException("the account was deleted", "AccountClosed");

/** A listener for the end of a lifetime. */
export interface LifetimeListener {
  closed(lifetime: Pick<RequestLifetime, "abort">): void;
}

/** The deadlines of a node's requests. */
export type RequestDeadlines = TimeoutQueue<RequestLifetime>;

/** Creates the deadlines of requests whose attempts may take `ms` milliseconds together. */
export const createRequestDeadlines = (clock: Pick<Clock, "mono" | "after">, ms: number): RequestDeadlines =>
  new TimeoutQueue(clock, ms, (lifetime) => lifetime.abort(TOO_LONG));

/** The lifetime of one request. */
export class RequestLifetime extends Timeout {
  /** Why the request ended; null while it has not. */
  ended: DOMException | null = null;
  private attempt: Cancellation | null = null;
  private wake: (() => void) | null = null;
  private listener: LifetimeListener | null = null;
  private isClosed = false;

  constructor(
    client: CancelSignal,
    private readonly clock: Pick<Clock, "after">,
    private readonly deadlines: RequestDeadlines,
  ) {
    super();
    if (client.aborted) this.abort(CLIENT_GONE);
    else client.addEventListener("abort", this);
  }

  /**
   * Starts the deadline, once the body has been read: no key may be blamed for the time that the client took to send it. From
   * then on the request waits for the account, for an earlier request with its Idempotency-Key, and for its attempts.
   */
  startDeadline(): void {
    if (this.ended === null) this.deadlines.add(this);
  }

  /** The client has disconnected. */
  handleEvent(): void {
    if (!this.isClosed) this.abort(CLIENT_GONE);
  }

  /** Ends the request for a reason of this process. */
  abort(reason: DOMException): void {
    this.ended ??= reason;
    this.attempt?.abort(this.ended);
    this.wake?.();
  }

  /** Returns the cancellation of the next attempt, which is already aborted if the request has ended. */
  newAttempt(): Cancellation {
    this.attempt = new Cancellation();
    if (this.ended !== null) this.attempt.abort(this.ended);
    return this.attempt;
  }

  /** Waits; resolves early when the request ends. */
  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => {
      if (this.ended !== null) return resolve();
      const cancel = this.clock.after(ms, resolve);
      this.wake = () => {
        cancel();
        resolve();
      };
    });
  }

  /**
   * Clears the deadline when content has reached the client: from then on only silence and the client end the
   * answer.
   */
  clearDeadline(): void {
    this.deadlines.remove(this);
  }

  /** Registers the one listener that `close` calls. */
  onClose(listener: LifetimeListener): void {
    this.listener = listener;
  }

  /**
   * Ends the lifetime: the deadline is removed, and the client's signal is not heeded any more. The listener stays on the
   * signal, which ends with the request as well: to remove it costs as much as to add it.
   */
  close(): void {
    this.isClosed = true;
    this.listener?.closed(this);
    this.listener = null;
    this.deadlines.remove(this);
  }
}
