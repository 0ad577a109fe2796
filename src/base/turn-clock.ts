// A clock that is read once in a turn of the event loop. A request asks for the time some thirty times, nearly always to
// learn whether what is kept for seconds is still fresh, and the machine's clock costs more than such a look-up does.
//
// What it returns is at most as old as the turn is long. So it is right for business dates, for what is made of them in
// whole milliseconds, and for what expires after seconds. It is wrong for measured times, which may be shorter than a turn,
// and for leases: a process that was suspended in the middle of a turn must not take its lease for valid.

import type { Clock } from "./clock.ts";

/** See the header of this file. Waits and ends of turns are those of the machine's clock. */
export class TurnClock implements Clock {
  readonly #machine: Clock;
  #wallMs = 0;
  #monoMs = 0;
  /** Whether both were read in this turn. */
  #isRead = false;

  constructor(machine: Clock) {
    this.#machine = machine;
  }

  wall(): number {
    if (!this.#isRead) this.#read();
    return this.#wallMs;
  }

  mono(): number {
    if (!this.#isRead) this.#read();
    return this.#monoMs;
  }

  after(ms: number, fn: () => void): () => void {
    return this.#machine.after(ms, fn);
  }

  endOfTurn(fn: () => void): void {
    this.#machine.endOfTurn(fn);
  }

  #read(): void {
    this.#wallMs = this.#machine.wall();
    this.#monoMs = this.#machine.mono();
    this.#isRead = true;
    this.#machine.endOfTurn(this.#forget);
  }

  readonly #forget = (): void => {
    this.#isRead = false;
  };
}
