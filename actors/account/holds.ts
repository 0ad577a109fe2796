// Holds reserve what requests in flight may still cost. They are volatile by design: they bound spending
// while requests run, and the ledger records what was spent. A hold ends with the first of charge,
// cancellation, the death of its node (orphaned-holds.ts) and expiry. Nothing here writes events.

import { SmallMap } from "../../src/base/small-map.ts";
import { MAIN_API_KEY } from "../ids.ts";
import { minus, NANO_MAX, type Nano, plusCapped, ZERO } from "../money.ts";
import { addToMinute, emptyWindows } from "../rate-window.ts";
import { EndedRequests } from "./ended-requests.ts";
import { countedRequests, shiftHeld } from "./held-windows.ts";
import type { Account, Hold, KeyHolds } from "./state.ts";

/** Open holds of one account; further requests are refused. */
export const HOLDS_MAX = 2_000;
/** A hold that is not renewed for this long (ms) expires: its request, or the node that ran it, has ended. */
export const HOLD_TTL_MS = 150_000;

/** Opens a hold: adds its cost to the held cost, and its request and tokens to what holds count in the windows. */
export function openHold(state: Account, hold: Hold, now: number): void {
  const { volatile } = state;
  volatile.holds.set(hold.id, hold);
  volatile.nextExpiry = Math.min(volatile.nextExpiry, hold.expiresAt);
  volatile.heldCost = plusCapped(volatile.heldCost, hold.cost);
  const ofKey = keyHoldsOf(state, hold);
  if (ofKey !== null) {
    ofKey.count++;
    ofKey.cost = plusCapped(ofKey.cost, hold.cost);
  }
  shift(state, hold, now, 1, hold.tokens);
}

/**
 * Raises a hold to `cost` and `tokens` where these are higher, so that no other request is admitted against
 * them.
 */
export function growHold(state: Account, hold: Hold, cost: Nano, tokens: number, now: number): void {
  const more = minus(cost, hold.cost);
  if (more > 0) {
    state.volatile.heldCost = plusCapped(state.volatile.heldCost, more);
    const ofKey = keyHoldsOf(state, hold);
    if (ofKey !== null) ofKey.cost = plusCapped(ofKey.cost, more);
    hold.cost = cost;
  }
  const moreTokens = tokens - hold.tokens;
  if (moreTokens > 0) {
    shift(state, hold, now, 0, moreTokens);
    hold.tokens = tokens;
  }
}

/**
 * Removes a hold and all that it counts; the event that follows counts the request durably. Returns the hold,
 * or null if none is open under this id.
 */
export function closeHold(state: Account, id: string, now: number): Hold | null {
  const hold = state.volatile.holds.get(id);
  if (hold === undefined) return null;
  const { volatile } = state;
  volatile.holds.delete(id);
  volatile.heldCost = lessHold(volatile.heldCost, hold, volatile.holds, false);
  if (volatile.holds.size === 0) {
    volatile.heldWindows = null;
    volatile.keyHolds = null;
    return hold;
  }
  shift(state, hold, now, -1, -hold.tokens);
  const ofKey = keyHoldsOf(state, hold);
  if (ofKey === null) return hold;
  ofKey.count--;
  ofKey.cost = lessHold(ofKey.cost, hold, volatile.holds, true);
  if (ofKey.count === 0) volatile.keyHolds?.delete(hold.apiKey);
  return hold;
}

/**
 * Returns a sum of held costs without that of a hold that has ended. The sum counts the holds that are left, or those of the
 * same API key alone.
 */
function lessHold(sum: Nano, ended: Hold, left: SmallMap<string, Hold>, ofKeyOnly: boolean): Nano {
  if (sum < NANO_MAX) return minus(sum, ended.cost);
  // A sum that has reached its cap may stand for more.
  let rest = ZERO;
  for (const hold of left.values()) {
    if (!ofKeyOnly || hold.apiKey === ended.apiKey) rest = plusCapped(rest, hold.cost);
  }
  return rest;
}

/** Returns the sums of the hold's named key, which are made with its first hold; null for the main key. */
function keyHoldsOf({ volatile }: Account, { apiKey }: Hold): KeyHolds | null {
  if (apiKey === MAIN_API_KEY) return null;
  volatile.keyHolds ??= new SmallMap();
  let found = volatile.keyHolds.get(apiKey);
  if (found === undefined) {
    found = { count: 0, cost: ZERO, windows: emptyWindows() };
    volatile.keyHolds.set(apiKey, found);
  }
  return found;
}

/**
 * Closes holds that expired by `now` (wall-clock ms). It scans them only once the earliest expiry has passed.
 */
export function expireHolds(state: Account, now: number): void {
  const { volatile } = state;
  if (now < volatile.nextExpiry) return;
  let next = Number.POSITIVE_INFINITY;
  for (const hold of volatile.holds.values()) {
    if (hold.expiresAt <= now) {
      closeHold(state, hold.id, now);
      volatile.holdsExpired++;
    } else next = Math.min(next, hold.expiresAt);
  }
  volatile.nextExpiry = next;
}

/**
 * Remembers that a request has ended, so that late messages cannot open its hold. The oldest ids are dropped.
 */
export function rememberEnded(state: Account, id: string, now: number): void {
  state.volatile.ended ??= new EndedRequests();
  state.volatile.ended.add(id, now);
}

/** Returns whether the request is remembered as ended. */
export const hasEnded = (state: Account, id: string): boolean => state.volatile.ended?.has(id) ?? false;

function shift(state: Account, hold: Hold, now: number, requests: number, tokens: number): void {
  shiftHeld(state, hold, now, requests, tokens);
  const ofKey = keyHoldsOf(state, hold);
  if (ofKey === null) return;
  addToMinute(ofKey.windows, hold.admittedAt, now, countedRequests(hold, requests), tokens);
}
