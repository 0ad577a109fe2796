// What the open holds of an account count in rate windows. Most accounts have no limit of requests or tokens, and then
// nobody asks: the windows are made of the holds when a limit first asks, and are kept in step from then on until no hold is
// open. They are volatile, like the holds. It opens and closes no hold.

import { SmallMap } from "../../src/base/small-map.ts";
import { addTo, emptyWindows } from "../rate-window.ts";
import { modelWindows } from "./evolve.ts";
import type { Account, HeldWindows, Hold } from "./state.ts";

/** Returns what the open holds count at `now`, wall-clock ms. */
export function heldWindows({ volatile }: Account, now: number): HeldWindows {
  if (volatile.heldWindows !== null) return volatile.heldWindows;
  const made: HeldWindows = { account: emptyWindows(), models: new SmallMap() };
  if (volatile.holds.size === 0) return made;
  for (const hold of volatile.holds.values()) add(made, hold, now, 1, hold.tokens);
  volatile.heldWindows = made;
  return made;
}

/**
 * Adds requests and tokens of an open hold to the windows at the times at which they count, negative numbers to remove them.
 * Windows that are not made yet will have them, so the hold itself changes in the same step, before anything asks.
 */
export function shiftHeld(
  { volatile }: Account,
  hold: Hold,
  now: number,
  requests: number,
  tokens: number,
): void {
  if (volatile.heldWindows !== null) add(volatile.heldWindows, hold, now, requests, tokens);
}

function add(
  { account, models }: HeldWindows,
  hold: Hold,
  now: number,
  requests: number,
  tokens: number,
): void {
  const counted = countedRequests(hold, requests);
  addTo(account, hold.admittedAt, now, counted, tokens);
  addTo(modelWindows(models, hold.model, now), hold.takenAt, now, counted, tokens);
}

/** Returns the requests that a hold counts: none where the ledger's windows count its request already. */
export const countedRequests = (hold: Hold, requests: number): number => (hold.counted ? 0 : requests);
