// How far business time is ahead of the machine's time, for tests of expiry, days and deadlines. A start sets
// it, and it may be moved forward while the service runs. All nodes on one store share it: the registry
// stores it, and the bus announces a change. It never decreases, because time in the ledger never does.

import { UnavailableError } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import type { Bus } from "../bus/bus.ts";
import type { Registry } from "../store/store.ts";

const KEY = "clock_offset";
const TOPIC = "clock_offset";

/** The parts through which the nodes on one store share the offset. */
export interface SharedBy {
  readonly registry: Registry;
  readonly bus: Pick<Bus, "publish" | "subscribe" | "onGap">;
  readonly log: Log;
}

/** The offset of business time on this node; `startMs` returns what the start has set. */
export class ClockOffset {
  readonly #startMs: () => number;
  #movedMs = 0;

  constructor(startMs: () => number) {
    this.#startMs = startMs;
  }

  /** Returns the milliseconds added to what the start has set. */
  movedMs(): number {
    return this.#movedMs;
  }

  /** Returns by how many milliseconds business time is ahead of the machine's time. */
  totalMs(): number {
    return this.#startMs() + this.#movedMs;
  }

  /**
   * Adopts the stored offset, now and whenever a node moves it. Throws when the first read fails. Returns a
   * function that stops following.
   */
  async follow({ registry, bus, log }: SharedBy): Promise<() => void> {
    const look = async (): Promise<void> => this.#advance(storedMs(await registry.read(KEY)));
    const again = (): void =>
      void look().catch((error) => log("warn", "clock_offset_unread", { error: String(error) }));
    const ends = [bus.subscribe(TOPIC, again), bus.onGap(again)];
    await look();
    return () => {
      for (const end of ends) end();
    };
  }

  /**
   * Moves the offset forward on all nodes: writes the registry and publishes the change. Returns false when
   * it is already further ahead. Throws UnavailableError when the store cannot answer.
   */
  async moveTo(totalMs: number, { registry, bus }: Omit<SharedBy, "log">): Promise<boolean> {
    try {
      for (;;) {
        const found = await registry.read(KEY);
        this.#advance(storedMs(found));
        if (totalMs < this.totalMs()) return false;
        if ((await registry.cas(KEY, found?.rev ?? 0, String(totalMs))) !== null) break;
      }
    } catch (error) {
      throw new UnavailableError(KEY, String(error));
    }
    this.#advance(totalMs);
    bus.publish(TOPIC, "");
    return true;
  }

  #advance(totalMs: number): void {
    this.#movedMs = Math.max(this.#movedMs, totalMs - this.#startMs());
  }
}

const storedMs = (found: { readonly value: string } | null): number =>
  found === null ? 0 : Number(found.value);
