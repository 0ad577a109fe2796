// How long each step of a stop may take. What kills a process that does not end by itself waits for their sum first: the
// parent of several processes, and the files of deploy. It must import nothing that a parent would have to load.

import type { Settings } from "../settings/settings.ts";

/** Milliseconds for the handover of all shards, which takes 0.1 s, and 2 s more for each shard that does not drain. */
export const HAND_OVER_MS = 10_000;
/** Milliseconds that aborted requests get to be charged, and that their charges then get to be stored or spooled. */
export const CHARGE_MS = 5_000;
/** Milliseconds that actors get to store what they decided. */
export const ACTORS_MS = 5_000;
/** Milliseconds that the last spans get to be exported. */
export const TRACES_MS = 2_000;
/** Milliseconds that the last lines of the access log get. */
export const ACCESS_LOG_MS = 1_000;
/** Milliseconds to give the lease back and to close NATS, two seconds each, and then for what the store has under way. */
const CONNECTIONS_MS = 7_000;

/** Milliseconds of a stop besides LB_WAIT_MS and DRAIN_MS: 35 seconds. */
const STOP_MS = HAND_OVER_MS + 2 * CHARGE_MS + ACTORS_MS + TRACES_MS + ACCESS_LOG_MS + CONNECTIONS_MS;

/** Returns how many milliseconds a node may take from its signal to its end. */
export const stopMs = ({ lbWaitMs, drainMs }: Pick<Settings, "lbWaitMs" | "drainMs">): number =>
  lbWaitMs + drainMs + STOP_MS;
