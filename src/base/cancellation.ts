// Ends work from outside: what the runtime's AbortController and AbortSignal do, as one object of our own. Every attempt
// at a provider has one, and nearly none is used, so that making it must cost nothing. It starts and stops no work.

/** A listener for the end. */
export type CancelListener = (() => void) | { handleEvent(): void };

/** The part of an AbortSignal that our own work reads. The runtime's signals fit too. */
export interface CancelSignal {
  readonly aborted: boolean;
  readonly reason: unknown;
  throwIfAborted(): void;
  addEventListener(type: "abort", listener: CancelListener, options?: { readonly once?: boolean }): void;
  removeEventListener(type: "abort", listener: CancelListener): void;
}

/** A cancellation and its signal. Listeners are called once, in the order in which they were added. */
export class Cancellation implements CancelSignal {
  aborted = false;
  reason: unknown = undefined;
  /** The listeners; one alone stands without a list. */
  private listeners: CancelListener | CancelListener[] | null = null;

  /** The signal to hand on: the same object, by the interface that cannot end it. */
  get signal(): CancelSignal {
    return this;
  }

  /** Ends the work. Further calls do nothing. */
  abort(reason: unknown): void {
    if (this.aborted) return;
    this.aborted = true;
    this.reason = reason;
    const { listeners } = this;
    this.listeners = null;
    if (listeners === null) return;
    for (const listener of Array.isArray(listeners) ? listeners : [listeners]) {
      if (typeof listener === "function") listener();
      else listener.handleEvent();
    }
  }

  throwIfAborted(): void {
    if (this.aborted) throw this.reason;
  }

  addEventListener(_type: "abort", listener: CancelListener): void {
    const { listeners } = this;
    if (listeners === null) this.listeners = listener;
    else if (Array.isArray(listeners)) listeners.push(listener);
    else this.listeners = [listeners, listener];
  }

  removeEventListener(_type: "abort", listener: CancelListener): void {
    const { listeners } = this;
    if (listeners === listener) this.listeners = null;
    if (!Array.isArray(listeners)) return;
    const at = listeners.indexOf(listener);
    if (at !== -1) listeners.splice(at, 1);
  }
}

/** Returns a signal of the runtime that ends with `signal`, for its functions that take no other. */
export function runtimeSignal(signal: CancelSignal): AbortSignal {
  if (signal instanceof AbortSignal) return signal;
  const controller = new AbortController();
  if (signal.aborted) controller.abort(signal.reason);
  else signal.addEventListener("abort", () => controller.abort(signal.reason), { once: true });
  return controller.signal;
}

/**
 * Returns the result of `work`, or rejects with the signal's reason when it aborts. It does not stop the
 * work.
 */
export async function unlessAborted<T>(work: Promise<T>, signal: CancelSignal): Promise<T> {
  signal.throwIfAborted();
  const gone = Promise.withResolvers<never>();
  const onAbort = () => gone.reject(signal.reason);
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    return await Promise.race([work, gone.promise]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}
