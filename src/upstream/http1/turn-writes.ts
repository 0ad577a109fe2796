// Writes the requests that begin in one turn of the event loop together, at its end. A peer on the same machine is
// woken once for all of them instead of once for each, and to wake it is most of what a small write costs. Requests are
// written in the order in which they were added, and none waits longer than the turn.

import type { Clock } from "../../base/clock.ts";

/** A connection with a request to write. */
export interface WaitingWriter {
  /** Writes the request, unless it ended meanwhile. Must not throw. */
  writeRequest(): void;
}

/** The requests of the current turn. Each connection has one at most, so connections are the bound. */
export class TurnWrites {
  readonly #clock: Pick<Clock, "endOfTurn">;
  #waiting: WaitingWriter[] = [];

  constructor(clock: Pick<Clock, "endOfTurn">) {
    this.#clock = clock;
  }

  add(writer: WaitingWriter): void {
    this.#waiting.push(writer);
    // Not a microtask: each message of a client is a task of its own, and would be written by itself.
    if (this.#waiting.length === 1) this.#clock.endOfTurn(this.#flush);
  }

  readonly #flush = (): void => {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const writer of waiting) writer.writeRequest();
  };
}
