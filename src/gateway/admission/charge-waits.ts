// The charges that wait for the ledger. Each has one promise, which its request awaits. This file sends and stores nothing.

import type { ChargeFacts } from "../../../actors/account/state.ts";
import type { AccountId } from "../../../actors/ids.ts";
import type { Clock } from "../../base/clock.ts";
import { Timeout, TimeoutQueue } from "../../base/timeout-queue.ts";

/** A charge that waits, or has waited. */
export class ChargeWait extends Timeout {
  /** Settles when the charge is stored, in the ledger or in the spool, or will not be. */
  readonly settled: Promise<void>;
  resolve!: () => void;
  reject!: (error: unknown) => void;

  /** `bornAt` is wall-clock ms. */
  constructor(
    readonly account: AccountId,
    readonly facts: ChargeFacts,
    readonly bornAt: number,
  ) {
    super();
    this.settled = new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
  }
}

/** The waiting charges of a node. */
export class ChargeWaits {
  private queue: TimeoutQueue<ChargeWait>;

  /** Each charge may wait for `waitMs`. `onLate` is called with one that has waited for that long; its wait is over. */
  constructor(
    private readonly clock: Clock,
    waitMs: number,
    private readonly onLate: (wait: ChargeWait, error: Error) => void,
  ) {
    this.queue = this.queueOf(waitMs);
  }

  /** Begins the wait of a charge. It ends with `end`, or is late. */
  add(account: AccountId, facts: ChargeFacts): ChargeWait {
    const wait = new ChargeWait(account, facts, this.clock.wall());
    this.queue.add(wait);
    return wait;
  }

  /** Ends a wait. Returns false when it was over before. */
  end(wait: ChargeWait): boolean {
    return this.queue.remove(wait);
  }

  /** Makes all waiting charges late at once; a later one may wait for `waitMs`. */
  endAll(waitMs: number, error: Error): void {
    const waiting = this.queue.removeAll();
    this.queue = this.queueOf(waitMs);
    for (const wait of waiting) this.onLate(wait, error);
  }

  private queueOf(waitMs: number): TimeoutQueue<ChargeWait> {
    return new TimeoutQueue(this.clock, waitMs, (wait) =>
      this.onLate(wait, new Error(`not stored within ${waitMs} ms`)),
    );
  }
}
