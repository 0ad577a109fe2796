// What a node counts of each attempt with a provider key, for the figures that its Owner sees.

import type { ProviderKeyId } from "../../actors/ids.ts";
import { KeyActivityCounter } from "../../src/gateway/attempt/key-activity.ts";
import { NOON } from "../../test/actors/account-samples.ts";
import type { Call } from "./timing.ts";

/** Keys that take turns, as those of a Level do. */
const KEYS = 16;
/** Attempts per ms, so that minutes pass as they do under load. */
const PER_MS = 2;

/** Counts a successful attempt with one of some keys. */
export function attemptCounted(): Call {
  const counter = new KeyActivityCounter();
  return {
    call(nth) {
      const now = NOON + nth / PER_MS;
      counter.succeeded(((nth % KEYS) + 1) as ProviderKeyId, now - (nth & 1_023), now);
    },
  };
}
