// Deadline and abort of one request: it ends from outside when its client disconnects, its time is over, or
// its account is deleted, and the current attempt is aborted with it. It decides nothing; callers read the
// reason from `ended`.

import type { Clock } from "../base/clock.ts";

/** The lifetime of one request. */
export interface RequestLifetime {
  /** Returns the abort controller of the next attempt, which is already aborted if the request has ended. */
  newAttempt(): AbortController;
  /** Why the request ended; null while it has not. */
  readonly ended: DOMException | null;
  /** Waits; resolves early when the request ends. */
  sleep(ms: number): Promise<void>;
  /**
   * Clears the deadline when content has reached the client: from then on only silence and the client end the
   * answer.
   */
  clearDeadline(): void;
  /** Ends the request for a reason of this process. */
  abort(reason: DOMException): void;
  /** Registers the one callback that `close` calls. */
  onRelease(tell: () => void): void;
  /** Ends the lifetime: removes the deadline and the listener on the client's signal. */
  close(): void;
}

/** The abort reason when the client has disconnected. */
export const CLIENT_GONE = new DOMException("the client has gone", "AbortError");
const TOO_LONG = new DOMException("the request took too long", "TimeoutError");
/** The abort reason when the account is deleted: the client gets an error and no provider key is blamed. */
export const ACCOUNT_CLOSED = new DOMException("the account was deleted", "AccountClosed");

/** Creates a lifetime. `ms` is the time that all attempts together may take. */
export function createRequestLifetime(client: AbortSignal, clock: Clock, ms: number): RequestLifetime {
  let ended: DOMException | null = null;
  let current: AbortController | null = null;
  let wake: (() => void) | null = null;
  let released: (() => void) | null = null;

  function end(reason: DOMException): void {
    ended ??= reason;
    current?.abort(ended);
    wake?.();
  }
  const onGone = () => end(CLIENT_GONE);
  const clearDeadline = clock.after(ms, () => end(TOO_LONG));
  if (client.aborted) onGone();
  else client.addEventListener("abort", onGone, { once: true });

  return {
    get ended() {
      return ended;
    },
    newAttempt() {
      current = new AbortController();
      if (ended !== null) current.abort(ended);
      return current;
    },
    sleep: (pauseMs) =>
      new Promise((resolve) => {
        if (ended !== null) return resolve();
        const cancel = clock.after(pauseMs, resolve);
        wake = () => {
          cancel();
          resolve();
        };
      }),
    clearDeadline,
    abort: end,
    onRelease(tell) {
      released = tell;
    },
    close() {
      released?.();
      released = null;
      clearDeadline();
      client.removeEventListener("abort", onGone);
    },
  };
}
