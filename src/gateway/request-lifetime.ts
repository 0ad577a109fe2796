// What ends a request from outside: its client leaves, its time is over, or its account is no more. Whatever attempt is
// under way then ends with it. It decides nothing; who waits on an attempt learns from the reason why it ended.

import type { Clock } from "../base/clock.ts";

export interface RequestLifetime {
  /** A controller for the next attempt; aborted from the start when the request has ended already. */
  newAttempt(): AbortController;
  /** Why the request ended; null: it lives. */
  readonly ended: DOMException | null;
  /** Waits; answers early when the request ends. */
  sleep(ms: number): Promise<void>;
  /** Content has reached the client: from here on only silence and the client end the answer, not the clock. */
  clearDeadline(): void;
  /** Ends the request for a reason that this process has. */
  abort(reason: DOMException): void;
  /** Tells, once, when the request is over. */
  onRelease(tell: () => void): void;
  /** The request is over: nothing is listened to any more. */
  close(): void;
}

export const CLIENT_GONE = new DOMException("the client has gone", "AbortError");
const TOO_LONG = new DOMException("the request took too long", "TimeoutError");
/** Neither the client's doing nor the provider's: the client hears of it, and no key is blamed. */
export const ACCOUNT_CLOSED = new DOMException("the account was deleted", "AccountClosed");

/** `ms`: the time that all attempts together may take. */
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
