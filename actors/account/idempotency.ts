// The account's part in the idempotency of gateway requests: only one request per Idempotency-Key runs at a
// time.
//
// An open hold carries its key. A charge closes the hold before the charge is durable, and the ledger can
// find it only afterwards. This file remembers the key in between, and for as long as a node that was
// declared dead may still run. The memory is volatile: the guarantee itself comes from the dedup id in the
// ledger.

import type { Refusal } from "../../src/base/errors.ts";
import { SmallMap } from "../../src/base/small-map.ts";
import type { AccountId } from "../ids.ts";
import type { Account, Idempotency } from "./state.ts";

/**
 * Code of the refusal of a repeat whose first request is running. Clients never see it: the gateway waits and
 * retries.
 */
export const REPEAT_RUNNING = "repeat_running";

/** The refusal of a second, different request with the same Idempotency-Key. */
export const IDEMPOTENCY_MISMATCH: Refusal = {
  code: "idempotency_mismatch",
  message: "This Idempotency-Key was used with another path or body. Send a new key with every new request.",
};

/** Milliseconds for which a charge is remembered; long before, it is durable or its activation has failed. */
const CHARGED_MS = 600_000;
const CHARGED_MAX = 1_000;

/**
 * Returns the dedup id under which a charge is found by its key. `key` is the SHA-256 of the client's key, in
 * hex.
 */
export const idempotencyDedupId = (account: AccountId, key: string): string => `repeat:${account}:${key}`;

/**
 * Returns why request `id` may not run under its key: IDEMPOTENCY_MISMATCH for another body, or
 * REPEAT_RUNNING. Returns null if it is the first request of the key, or has none.
 */
export function idempotencyRefusal(
  state: Account,
  id: string | null,
  asked: Idempotency | null,
  now: number,
): Refusal | null {
  if (!asked) return null;
  const first = runningWith(state, id, asked.key) ?? chargedWith(state, asked.key, now);
  if (first === null) return null;
  if (first !== asked.body) return IDEMPOTENCY_MISMATCH;
  return {
    code: REPEAT_RUNNING,
    message: "The first request with this Idempotency-Key is under way.",
    details: {},
  };
}

/** Remembers that the charge of a request with a key was decided. The oldest entries are dropped. */
export function rememberCharged(state: Account, id: string, { key, body }: Idempotency, now: number): void {
  const { volatile } = state;
  volatile.charged ??= new SmallMap();
  volatile.charged.delete(key);
  volatile.charged.set(key, { id, body, at: now });
  forgetCharged(state, now);
}

/** Drops the keys that were charged too long before `now`, or are too many. */
export function forgetCharged({ volatile }: Account, now: number): void {
  const { charged } = volatile;
  if (charged === null) return;
  for (const [oldest, { at }] of charged) {
    if (charged.size <= CHARGED_MAX && at > now - CHARGED_MS) break;
    charged.delete(oldest);
  }
  if (charged.size === 0) volatile.charged = null;
}

/**
 * Returns whether another request with this key was charged recently. Two can run if the first one's node was
 * declared dead, or its shard moved, and the client sent it again: the one charged first is the answer, and
 * the other one must not be delivered to its end.
 */
export function isCharged(state: Account, id: string, { key }: Idempotency, now: number): boolean {
  const found = state.volatile.charged?.get(key);
  return found !== undefined && found.id !== id && found.at > now - CHARGED_MS;
}

/** Returns the body hash of another open hold with this key, or null. */
function runningWith(state: Account, id: string | null, key: string): string | null {
  for (const hold of state.volatile.holds.values()) {
    if (hold.id !== id && hold.idempotency?.key === key) return hold.idempotency.body;
  }
  return null;
}

function chargedWith(state: Account, key: string, now: number): string | null {
  const found = state.volatile.charged?.get(key);
  return found === undefined || found.at <= now - CHARGED_MS ? null : found.body;
}
