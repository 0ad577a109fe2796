// Holds: what requests in flight may still cost. Volatile by design: they bound spending while it happens, the ledger
// says what happened. A hold ends with its charge, its cancellation, its front end (orphaned-holds.ts) or its expiry, whichever
// comes first.

import { minus, type Nano, plus } from "../money.ts";
import { addTo, emptyWindows } from "../rate-window.ts";
import { modelWindows } from "./evolve.ts";
import type { Account, Hold } from "./state.ts";

/** Open holds of one account; more are refused until some end. */
export const HOLDS_MAX = 2_000;
/** A hold that nobody renews is over: its request, or the node that took it, is gone. */
export const HOLD_TTL_MS = 150_000;
/** Whatever was sent for a request before its end is here, or never comes, long before this is over. */
const ENDED_MS = 60_000;
const ENDED_MAX = 10_000;

export function openHold(state: Account, hold: Hold, now: number): void {
  const { volatile } = state;
  volatile.holds.set(hold.id, hold);
  volatile.nextExpiry = Math.min(volatile.nextExpiry, hold.expiresAt);
  volatile.heldCost = plus(volatile.heldCost, hold.cost);
  shift(state, hold, now, 1, hold.tokens);
}

/** A running request needs more than it reserved: counted at once, so that nobody is admitted against it. */
export function growHold(state: Account, hold: Hold, cost: Nano, tokens: number, now: number): void {
  const more = minus(cost, hold.cost);
  if (more > 0) {
    state.volatile.heldCost = plus(state.volatile.heldCost, more);
    hold.cost = cost;
  }
  const moreTokens = tokens - hold.tokens;
  if (moreTokens > 0) {
    shift(state, hold, now, 0, moreTokens);
    hold.tokens = tokens;
  }
}

/** Takes the hold away as if it had never been; the event that follows counts the request for good. */
export function closeHold(state: Account, id: string, now: number): Hold | null {
  const hold = state.volatile.holds.get(id);
  if (hold === undefined) return null;
  state.volatile.holds.delete(id);
  state.volatile.heldCost = minus(state.volatile.heldCost, hold.cost);
  if (state.volatile.holds.size > 0) shift(state, hold, now, -1, -hold.tokens);
  else {
    state.volatile.windows = emptyWindows();
    state.volatile.modelWindows.clear();
  }
  return hold;
}

/** Ends the holds that nobody renewed. Looks at all of them only when the earliest expiry has come. */
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

/** The request is over for this account: what comes late opens nothing for it. At the bound the oldest is forgotten. */
export function rememberEnded(state: Account, id: string, now: number): void {
  const { ended } = state.volatile;
  ended.delete(id);
  ended.set(id, now);
  for (const [oldest, at] of ended) {
    if (ended.size <= ENDED_MAX && at > now - ENDED_MS) break;
    ended.delete(oldest);
  }
}

export const hasEnded = (state: Account, id: string): boolean => state.volatile.ended.has(id);

function shift(state: Account, hold: Hold, now: number, request: number, tokens: number): void {
  const requests = hold.counted ? 0 : request;
  addTo(state.volatile.windows, hold.admittedAt, now, requests, tokens);
  addTo(modelWindows(state.volatile.modelWindows, hold.model, now), hold.takenAt, now, requests, tokens);
}
