// Reads what parents can give, for requests of their children. Each parent is read by one reading at a time
// for all waiters. A waiter that arrives while it runs waits for the next one, since a reading must not be
// older than the request. After a reading that found too little for a waiter, the next begins PARENT_PAUSE_MS
// after its start at the earliest. Nothing is cached.

import { affords, type Margins } from "../../../actors/account/capacity.ts";
import type { AccountId } from "../../../actors/ids.ts";
import { actorRef, type Protocol } from "../../../actors/index.ts";
import type { Nano } from "../../../actors/money.ts";
import { type Clock, sleep } from "../../base/clock.ts";
import { RefusedError } from "../../base/errors.ts";
import type { ActorSystem } from "../../runtime/system.ts";

const PARENT_PAUSE_MS = 250;
const READING_MS = 1_000;

/** A deleted parent gives nothing; a parent that does not answer might give. */
const NOTHING: Pick<Margins, "free"> = { free: Number.NEGATIVE_INFINITY as Nano };
const UNKNOWN: Pick<Margins, "free"> = { free: null };

interface Waiter {
  readonly amount: Nano;
  /** The balance that the parent must keep. */
  readonly keep: Nano;
  resolve(isAfforded: boolean): void;
}

interface Parts {
  readonly system: Pick<ActorSystem<Protocol>, "ask">;
  readonly clock: Clock;
}

/** The readings of this node. */
export class ParentReadings {
  readonly #parts: Parts;
  /** Waiters for the next reading, by parent; an entry exists while the parent is read. */
  readonly #waiting = new Map<AccountId, Waiter[]>();

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /**
   * Returns whether the parent can give `amount`, by a reading that begins after the call. Never rejects;
   * returns true when the parent does not answer.
   */
  affords(parent: AccountId, amount: Nano, keep: Nano): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const waiter = { amount, keep, resolve };
    const waiting = this.#waiting.get(parent);
    if (waiting !== undefined) waiting.push(waiter);
    else void this.#serve(parent, [waiter]);
    return promise;
  }

  async #serve(parent: AccountId, waiting: Waiter[]): Promise<void> {
    const { clock } = this.#parts;
    this.#waiting.set(parent, waiting);
    while (waiting.length > 0) {
      const began = clock.mono();
      const group = waiting.splice(0);
      const found = await this.#read(parent);
      const isAfforded = group.map(({ amount, keep }) => affords(found, amount, keep));
      for (const [i, { resolve }] of group.entries()) resolve(isAfforded[i]!);
      if (isAfforded.includes(false)) {
        await sleep(clock, began + PARENT_PAUSE_MS - clock.mono());
      }
    }
    this.#waiting.delete(parent);
  }

  #read(parent: AccountId): Promise<Pick<Margins, "free">> {
    const read = this.#parts.system.ask(actorRef.account(parent), "margins", {}, { budgetMs: READING_MS });
    return read.catch((error) => (error instanceof RefusedError ? NOTHING : UNKNOWN));
  }
}
