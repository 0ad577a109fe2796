// What an account without traffic forgets: ended requests and charged keys, which its commands otherwise prune
// as they come, and the storage that empty collections keep. It must change no decision: only what has no
// effect any more is dropped.

import { counted } from "../rate-window.ts";
import { forgetCharged } from "./idempotency.ts";
import { type Account, freshVolatile } from "./state.ts";

/**
 * Drops ended requests and charged Idempotency-Keys that are too old at `now` (wall-clock ms). When nothing
 * volatile is left, the volatile state is made anew, because what has been emptied keeps its storage.
 */
export function forgetOld(state: Account, now: number): void {
  const { volatile } = state;
  volatile.ended?.forget(now);
  forgetCharged(state, now);
  const isUnused = volatile.nextExpiry === Number.POSITIVE_INFINITY && volatile.holdsExpired === 0;
  if (!isUnused && isBare(state, now)) state.volatile = freshVolatile();
}

/**
 * Whether the volatile state holds nothing that a decision or a document still depends on. `aborts` counts
 * within a minute, so that an old count is nothing.
 */
function isBare({ volatile }: Account, now: number): boolean {
  const { holds, ended, abandoned, charged, aborts, profileDirty, daysDirty, alertsDirty } = volatile;
  const isRemembering =
    (ended !== null && ended.size > 0) || charged !== null || (abandoned !== null && abandoned.size > 0);
  const isDirty = profileDirty || daysDirty.length > 0 || alertsDirty.length > 0;
  const isAborting = aborts !== null && counted(aborts, "minute", now).requests > 0;
  return holds.size === 0 && !isRemembering && !isDirty && !isAborting;
}
