// The charges that wait for the ledger, in the order of their deadlines, with one timer for all of them. Each has one
// promise, which its request awaits. This file sends and stores nothing.

import type { ChargeFacts } from "../../../actors/account/state.ts";
import type { AccountId } from "../../../actors/ids.ts";
import type { Clock } from "../../base/clock.ts";

/** A charge that waits. */
export class ChargeWait {
  /** Settles when the charge is stored, in the ledger or in the spool, or will not be. */
  readonly settled: Promise<void>;
  resolve!: () => void;
  reject!: (error: unknown) => void;
  /** It is waited for no longer. */
  isOver = false;
  previous: ChargeWait | null = null;
  next: ChargeWait | null = null;

  /** `bornAt` is wall-clock ms, `until` the monotonic ms of its deadline. */
  constructor(
    readonly account: AccountId,
    readonly facts: ChargeFacts,
    readonly bornAt: number,
    readonly until: number,
  ) {
    this.settled = new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
  }
}

/** The waiting charges of a node. */
export class ChargeWaits {
  private first: ChargeWait | null = null;
  private last: ChargeWait | null = null;
  private cancelTimer: (() => void) | null = null;

  /** Each charge may wait for `waitMs`. `onLate` is called with one that has waited for that long; its wait is over. */
  constructor(
    private readonly clock: Clock,
    private waitMs: number,
    private readonly onLate: (wait: ChargeWait, error: Error) => void,
  ) {}

  /** Begins the wait of a charge. It ends with `end`, or is late. */
  add(account: AccountId, facts: ChargeFacts): ChargeWait {
    const { clock, waitMs } = this;
    const wait = new ChargeWait(account, facts, clock.wall(), clock.mono() + waitMs);
    wait.previous = this.last;
    if (this.last === null) this.first = wait;
    else this.last.next = wait;
    this.last = wait;
    this.cancelTimer ??= clock.after(waitMs, this.sweep);
    return wait;
  }

  /** Ends a wait. Returns false when it was over before. */
  end(wait: ChargeWait): boolean {
    if (wait.isOver) return false;
    const { previous, next } = wait;
    wait.isOver = true;
    if (previous === null) this.first = next;
    else previous.next = next;
    if (next === null) this.last = previous;
    else next.previous = previous;
    wait.previous = null;
    wait.next = null;
    return true;
  }

  /** Makes all waiting charges late at once; a later one may wait for `waitMs`. */
  endAll(waitMs: number, error: Error): void {
    this.waitMs = waitMs;
    this.cancelTimer?.();
    this.cancelTimer = null;
    while (this.first !== null) this.late(this.first, error);
  }

  /** Ends the waits whose deadline has come, and waits for the next one. */
  private readonly sweep = (): void => {
    const { clock } = this;
    this.cancelTimer = null;
    const now = clock.mono();
    while (this.first !== null && this.first.until <= now) {
      this.late(this.first, new Error(`not stored within ${this.waitMs} ms`));
    }
    if (this.first !== null) this.cancelTimer = clock.after(this.first.until - now, this.sweep);
  };

  private late(wait: ChargeWait, error: Error): void {
    this.end(wait);
    this.onLate(wait, error);
  }
}
