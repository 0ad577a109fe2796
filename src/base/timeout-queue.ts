// Timeouts of one length. They end in the order in which they began, so a list of them and one timer for the first are
// enough; a timer for each would cost more than all else that begins and ends one, and nearly all end before their time.
// What may time out is itself the link of the list.

import type { Clock } from "./clock.ts";

/** What may time out. It is in one queue at most, to which these fields belong. */
export abstract class Timeout {
  previous: this | null = null;
  next: this | null = null;
  /** Monotonic ms of its end. */
  untilMs = 0;
  isQueued = false;
}

/** See the header of this file. What adds to it bounds how much it has. */
export class TimeoutQueue<Item extends Timeout> {
  readonly #clock: Pick<Clock, "mono" | "after">;
  readonly #ms: number;
  readonly #onTimeout: (item: Item) => void;
  #first: Item | null = null;
  #last: Item | null = null;
  /** Stops the timer; null when none runs, which is so while the queue is empty. */
  #stopTimer: (() => void) | null = null;

  /** `onTimeout` is called with an item that has been in the queue for `ms` milliseconds and is no longer. */
  constructor(clock: Pick<Clock, "mono" | "after">, ms: number, onTimeout: (item: Item) => void) {
    this.#clock = clock;
    this.#ms = ms;
    this.#onTimeout = onTimeout;
  }

  /** Adds an item, which must be in no queue. */
  add(item: Item): void {
    item.isQueued = true;
    item.untilMs = this.#clock.mono() + this.#ms;
    item.previous = this.#last;
    if (this.#last === null) this.#first = item;
    else this.#last.next = item;
    this.#last = item;
    this.#stopTimer ??= this.#clock.after(this.#ms, this.#sweep);
  }

  /** Removes an item. Returns false when it was not in the queue any more. */
  remove(item: Item): boolean {
    if (!item.isQueued) return false;
    const { previous, next } = item;
    item.isQueued = false;
    if (previous === null) this.#first = next;
    else previous.next = next;
    if (next === null) this.#last = previous;
    else next.previous = previous;
    item.previous = null;
    item.next = null;
    if (this.#first === null) this.#stop();
    return true;
  }

  /** Removes all items and returns them, the oldest first. */
  removeAll(): readonly Item[] {
    const items: Item[] = [];
    for (let item = this.#first; item !== null; item = this.#first) {
      this.remove(item);
      items.push(item);
    }
    return items;
  }

  #stop(): void {
    this.#stopTimer?.();
    this.#stopTimer = null;
  }

  /** Ends the items whose time is over, and waits for the next one. */
  readonly #sweep = (): void => {
    this.#stopTimer = null;
    const now = this.#clock.mono();
    try {
      for (let item = this.#first; item !== null && item.untilMs <= now; item = this.#first) {
        this.remove(item);
        this.#onTimeout(item);
      }
    } finally {
      // What was added meanwhile has set the timer for itself, though others are due before it.
      this.#stop();
      if (this.#first !== null) this.#stopTimer = this.#clock.after(this.#first.untilMs - now, this.#sweep);
    }
  };
}
