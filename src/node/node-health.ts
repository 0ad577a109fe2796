// Decides whether this node is a useful member of its cluster: it is connected to the bus, the store answers,
// and its wall clock agrees with the store's. It measures periodically; an unfit node gets no shards and is
// not ready. It must not decide about requests, except whether any can be served at all.

import { type Clock, inTime } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import type { Store } from "../store/store.ts";

/** The health of a node, as last measured. */
export interface NodeHealth {
  /** Whether the node may own shards. */
  fit(): boolean;
  /**
   * Certain distance of the wall clock from the store's clock, ms; more than `CLOCK_SKEW_MS_MAX` is too far.
   */
  skewMs(): number;
  /**
   * Whether the store answers the reads on which the node's lease depends, but not those that requests need:
   * the node would keep its shards and serve none. A store that answers nothing is away, perhaps for all
   * nodes; then the lease decides.
   */
  isStoreUnresponsive(): boolean;
  /** Whether neither the store nor the bus has been reachable for a while, so that nothing can be served. */
  isIsolated(): boolean;
  /** Measures at once. Rejects when the store does not answer. */
  measure(): Promise<void>;
  stop(): void;
}

/**
 * Largest accepted clock skew, ms. Business time is that of the shard's owner, so nodes may differ by no more
 * than a client could notice.
 */
export const CLOCK_SKEW_MS_MAX = 2_000;
const MEASURE_MS = 1_000;
const STORE_MS = 2_000;
/**
 * Silence of the store, ms, after which it counts as unresponsive: longer than a slow answer, shorter than
 * the lease.
 */
const SILENT_MS = 3_500;
/** A registry row that is read in the same way as the rows of leases. */
const BESIDE = "cluster";

/** Creates the health check of a node and starts its periodic measurements; logs changes. */
export function createNodeHealth(parts: {
  readonly store: Pick<Store, "now" | "read">;
  /** Whether the bus is connected. */
  readonly connected: () => boolean;
  readonly clock: Clock;
  readonly log: Log;
}): NodeHealth {
  const { store, connected, clock, log } = parts;
  let skewMs = 0;
  let heardMs = clock.mono();
  let deafFrom: number | null = null;
  let stopped = false;

  const isRight = (): boolean => Math.abs(skewMs) <= CLOCK_SKEW_MS_MAX;

  async function measure(): Promise<void> {
    const sent = { mono: clock.mono(), wall: clock.wall() };
    const now = await inTime(clock, STORE_MS, store.now());
    heardMs = clock.mono();
    deafFrom = null;
    // The store read its clock at some moment of the round trip, so half of the round trip is tolerated.
    const halfMs = (heardMs - sent.mono) / 2;
    const apartMs = sent.wall + halfMs - now;
    const was = isRight();
    skewMs = Math.sign(apartMs) * Math.max(0, Math.abs(apartMs) - halfMs);
    if (isRight() === was) return;
    const fields = { skewMs: Math.round(skewMs), mostMs: CLOCK_SKEW_MS_MAX };
    if (was) log("error", "clock_wrong", fields);
    else log("info", "clock_right", fields);
  }

  const isStoreUnresponsive = (): boolean => deafFrom !== null && clock.mono() - deafFrom > SILENT_MS;

  /** Checks by another read whether the store fails only for the reads that requests need. */
  async function askAside(): Promise<void> {
    // Logged at debug level only, because everything that waits for the store logs it too.
    log("debug", "store_silent", { ms: Math.round(clock.mono() - heardMs) });
    const was = isStoreUnresponsive();
    const aside = inTime(clock, STORE_MS, store.read(BESIDE));
    const isHeard = await aside.then(
      () => true,
      () => false,
    );
    deafFrom = isHeard ? (deafFrom ?? clock.mono()) : null;
    if (isStoreUnresponsive() && !was) log("error", "store_deaf", { ms: Math.round(clock.mono() - heardMs) });
  }

  let line = true;
  function lookAtLine(): void {
    if (connected() === line) return;
    line = !line;
    log(line ? "info" : "error", line ? "line_back" : "line_lost");
  }

  let cancel = clock.after(MEASURE_MS, function repeat() {
    lookAtLine();
    measure()
      .catch(askAside)
      .finally(() => {
        if (!stopped) cancel = clock.after(MEASURE_MS, repeat);
      });
  });

  return {
    fit: () => connected() && isRight() && !isStoreUnresponsive(),
    skewMs: () => skewMs,
    isStoreUnresponsive,
    isIsolated: () => !connected() && clock.mono() - heardMs > SILENT_MS,
    measure,
    stop() {
      stopped = true;
      cancel();
    },
  };
}
