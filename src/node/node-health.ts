// Is this node of use to the others? It has a line to them, the store answers it, and its wall clock says what the
// store's says. Measured now and then; who is unfit is given no shards and is not ready. It decides nothing about
// requests but whether any can be served at all.

import { type Clock, inTime } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import type { Store } from "../store/store.ts";

export interface NodeHealth {
  /** Of no use otherwise: asked by whoever places shards. */
  fit(): boolean;
  /** How far the wall clock certainly is from the store's, ms; more than `CLOCK_SKEW_MS_MAX` is too far. */
  skewMs(): number;
  /**
   * The store answers what this node's lease hangs on, and not what it serves with: it would keep its shards and serve
   * none of them. A store that answers nothing is away, perhaps for all; then the lease decides.
   */
  isStoreUnresponsive(): boolean;
  /** Neither the store nor another node has been heard for a while: nobody can be served. */
  isIsolated(): boolean;
  /** Measures at once. Rejects when the store does not answer. */
  measure(): Promise<void>;
  stop(): void;
}

/** Business time is the owner's: nodes may differ by no more than a client could notice. */
export const CLOCK_SKEW_MS_MAX = 2_000;
const MEASURE_MS = 1_000;
const STORE_MS = 2_000;
/** The store was silent for so long: longer than a slow answer takes, sooner than the lease is over. */
const SILENT_MS = 3_500;
/** Any row of those that are read as the rows of leases are. */
const BESIDE = "cluster";

export function createNodeHealth(parts: {
  readonly store: Pick<Store, "now" | "read">;
  /** Is there a line to the other nodes? */
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
    // The store looked at its clock somewhere on the way: half of the way there and back is allowed for.
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

  /** Is it silent to this node's requests alone? */
  async function askAside(): Promise<void> {
    // A store that says nothing is told of by all that wait for it.
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

  let cancel = clock.after(MEASURE_MS, function again() {
    lookAtLine();
    measure()
      .catch(askAside)
      .finally(() => {
        if (!stopped) cancel = clock.after(MEASURE_MS, again);
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
