// Collects what comes up within one turn of the event loop and goes on with it at the turn's end, one item after another. The
// same code then runs for all of them in a row, with nothing between that would push it out of the processor's caches.
// The order is that in which they came, and none waits longer than the turn.

import type { Clock } from "./clock.ts";

/** The items of the current turn. What adds them bounds how many there are. */
export class TurnQueue<Item> {
  readonly #clock: Pick<Clock, "endOfTurn">;
  readonly #handle: (item: Item) => void;
  #waiting: Item[] = [];

  /** `handle` must not throw. What it adds itself is handled at the end of the next turn. */
  constructor(clock: Pick<Clock, "endOfTurn">, handle: (item: Item) => void) {
    this.#clock = clock;
    this.#handle = handle;
  }

  add(item: Item): void {
    this.#waiting.push(item);
    // Not a microtask: each event of a socket is a task of its own, and would be handled by itself.
    if (this.#waiting.length === 1) this.#clock.endOfTurn(this.#handleAll);
  }

  readonly #handleAll = (): void => {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const item of waiting) this.#handle(item);
  };
}

/** The end of the current turn as a promise. All that await it in one turn share it. */
export class TurnEnd {
  readonly #clock: Pick<Clock, "endOfTurn">;
  /** Resolves at the end of the current turn; null while nothing awaits that. */
  #reached: PromiseWithResolvers<void> | null = null;

  constructor(clock: Pick<Clock, "endOfTurn">) {
    this.#clock = clock;
  }

  /** Resolves at the end of the turn in which it is called. */
  reached(): Promise<void> {
    if (this.#reached === null) {
      this.#reached = Promise.withResolvers<void>();
      this.#clock.endOfTurn(this.#end);
    }
    return this.#reached.promise;
  }

  readonly #end = (): void => {
    const reached = this.#reached;
    this.#reached = null;
    reached?.resolve();
  };
}
