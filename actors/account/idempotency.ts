// Idempotency of gateway requests, as far as the account knows it: one request of a key at a time.
//
// An open hold carries its key. A charge closes the hold before it is durable, and only then can the ledger be asked for
// it; what lies between is remembered here, and for as long as a front end may be taken for dead and live. Volatile: the
// ledger's mark is what keeps the promise.

import type { Refusal } from "../../src/base/errors.ts";
import type { AccountId } from "../ids.ts";
import type { Account, Idempotency } from "./state.ts";

/** The refusal of a repeat whose first request is under way: not for clients, the gateway waits and asks again. */
export const REPEAT_RUNNING = "repeat_running";

/** One key, two requests. */
export const IDEMPOTENCY_MISMATCH: Refusal = {
  code: "idempotency_mismatch",
  message: "This Idempotency-Key was used with another path or body. Send a new key with every new request.",
};

/** A charge is durable, or its activation broken, long before this is over. */
const CHARGED_MS = 600_000;
const CHARGED_MAX = 1_000;

/** The mark by which a charge is found for its key. `key`: SHA-256 of the client's, in hex. */
export const idempotencyDedupId = (account: AccountId, key: string): string => `repeat:${account}:${key}`;

/** Why request `id` may not run under its key; null: it is the first, or has no key. */
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

/** The charge of a request with a key was decided. At the bound the oldest is forgotten. */
export function rememberCharged(state: Account, id: string, { key, body }: Idempotency, now: number): void {
  const { charged } = state.volatile;
  charged.delete(key);
  charged.set(key, { id, body, at: now });
  for (const [oldest, { at }] of charged) {
    if (charged.size <= CHARGED_MAX && at > now - CHARGED_MS) break;
    charged.delete(oldest);
  }
}

/**
 * Another request of this key was charged lately. It runs twice when its front end was taken for dead, or its account had
 * moved, and it was sent again: whichever is charged first is the answer, and the other one must not become whole.
 */
export function isCharged(state: Account, id: string, { key }: Idempotency, now: number): boolean {
  const found = state.volatile.charged.get(key);
  return found !== undefined && found.id !== id && found.at > now - CHARGED_MS;
}

/** The body of another open hold with this key. */
function runningWith(state: Account, id: string | null, key: string): string | null {
  for (const hold of state.volatile.holds.values()) {
    if (hold.id !== id && hold.idempotency?.key === key) return hold.idempotency.body;
  }
  return null;
}

function chargedWith(state: Account, key: string, now: number): string | null {
  const found = state.volatile.charged.get(key);
  return found === undefined || found.at <= now - CHARGED_MS ? null : found.body;
}
