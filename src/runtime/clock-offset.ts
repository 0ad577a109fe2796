// How far business time is ahead of the machine's: for tests of expiry, days and deadlines. A start sets it, and while the
// service runs it may be moved forward. All nodes on one store have the same: the registry keeps it, and the bus says that
// it has changed. Time never goes back, since the ledger's does not.

import { UnavailableError } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import type { Bus } from "../bus/bus.ts";
import type { Registry } from "../store/store.ts";

const KEY = "clock_offset";
const TOPIC = "clock_offset";

/** What the nodes on one store share. */
export interface SharedBy {
  readonly registry: Registry;
  readonly bus: Pick<Bus, "publish" | "subscribe" | "onGap">;
  readonly log: Log;
}

export class ClockOffset {
  readonly #startMs: () => number;
  #movedMs = 0;

  constructor(startMs: () => number) {
    this.#startMs = startMs;
  }

  /** Beyond what the start has set. */
  movedMs(): number {
    return this.#movedMs;
  }

  totalMs(): number {
    return this.#startMs() + this.#movedMs;
  }

  /** Takes over what the store's nodes have, now and whenever one of them moves it. The answer ends that. */
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

  /** Moves it forward on all nodes; false: it is further already. Throws Unavailable when the store does not say. */
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
    bus.publish(TOPIC, new Uint8Array());
    return true;
  }

  #advance(totalMs: number): void {
    this.#movedMs = Math.max(this.#movedMs, totalMs - this.#startMs());
  }
}

const storedMs = (found: { readonly value: string } | null): number =>
  found === null ? 0 : Number(found.value);
