// Finds the account of an API key by the key's SHA-256 in the claims, cached for a minute. The result is a
// hint: the account compares the hash in `admit`, so a rotated key stops working at once whatever is cached
// here.
//
// Guessing is slowed down: unknown keys are cached for a second and delayed per address, longer with every
// guess. A valid key never waits, and a new key is accepted on every node within that second.

import { INVALID_KEY } from "../../../actors/account/authenticate.ts";
import type { AccountId } from "../../../actors/ids.ts";
import { type Clock, sleep } from "../../base/clock.ts";
import { type Refusal, RefusedError } from "../../base/errors.ts";
import { LruCache } from "../../base/lru-cache.ts";
import type { Store } from "../../store/store.ts";

/** An account and the hash of the API key that identified it. */
export interface Caller {
  readonly account: AccountId;
  readonly keyHash: string;
}

/** Finds the account of an API key. */
export interface Identify {
  /**
   * Returns the caller, at once when the key is cached; null for an unknown key, after a delay. The address of
   * `from` is read only then.
   */
  (key: string, from: { ip(): string }): Caller | null | Promise<Caller | null>;
  /** Drops a hash that the account no longer accepts. */
  forget(keyHash: string): void;
  /** Counts a guess from this address, and delays it as that of an unknown key. */
  slowDown(ip: string): Promise<void>;
}

const KNOWN_MAX = 100_000;
const KNOWN_MS = 60_000;
const UNKNOWN_MAX = 10_000;
/** A lookup reads one indexed row, which is what another guess would cost anyway. */
const UNKNOWN_MS = 1_000;
const GUESS_WINDOW_MS = 60_000;
const FREE_GUESSES = 5;
const DELAY_MS = 50;
const DELAY_MS_MAX = 2_000;
/** The number of concurrent delays; further guesses are answered at once and not queued. */
const WAITING_MAX = 1_000;

/** The refusal of a request without an API key. */
export const MISSING_KEY: Refusal = {
  code: "missing_api_key",
  message: "No API key was sent. Send it as the header: Authorization: Bearer <key>.",
};

/** Returns the SHA-256 of an API key in hex, the only form in which keys are stored. */
export const hashKey = (key: string): string => Bun.SHA256.hash(key, "hex");

/**
 * Returns the error that a caller gets: when the account no longer exists, that is `invalid_api_key`. The cached hash is
 * dropped then, and when the account refuses the key. Other errors are returned unchanged.
 */
export function wrongKey(identify: Pick<Identify, "forget">, { keyHash }: Caller, error: unknown): unknown {
  const code = error instanceof RefusedError ? error.refusal.code : "";
  if (code !== INVALID_KEY.code && code !== "user_not_found") return error;
  identify.forget(keyHash);
  // The account's own refusal says why a key is not valid any more.
  return code === INVALID_KEY.code ? error : new RefusedError(INVALID_KEY);
}

/** Creates the lookup with its caches. */
export function createIdentify(parts: { store: Store; clock: Clock }): Identify {
  const { store, clock } = parts;
  const known = new LruCache<string, AccountId>({ clock, most: KNOWN_MAX, ttlMs: KNOWN_MS });
  const unknown = new LruCache<string, true>({ clock, most: UNKNOWN_MAX, ttlMs: UNKNOWN_MS });
  const guesses = new LruCache<string, number>({ clock, most: UNKNOWN_MAX, ttlMs: GUESS_WINDOW_MS });
  let waiting = 0;

  function identify(key: string, from: { ip(): string }): Caller | Promise<Caller | null> {
    const keyHash = hashKey(key);
    const account = known.get(keyHash);
    return account === undefined ? lookUp(keyHash, from) : { account, keyHash };
  }

  async function lookUp(keyHash: string, from: { ip(): string }): Promise<Caller | null> {
    if (unknown.get(keyHash) === undefined) {
      const claim = await store.findClaim(`key:${keyHash}`);
      if (claim !== null) {
        known.set(keyHash, claim.account as AccountId);
        return { account: claim.account as AccountId, keyHash };
      }
      unknown.set(keyHash, true);
    }
    await slowDown(from.ip());
    return null;
  }

  async function slowDown(ip: string): Promise<void> {
    const count = (guesses.get(ip) ?? 0) + 1;
    guesses.set(ip, count);
    if (count <= FREE_GUESSES || waiting >= WAITING_MAX) return;
    waiting++;
    await sleep(clock, Math.min(DELAY_MS_MAX, DELAY_MS * 2 ** Math.min(count - FREE_GUESSES, 10)));
    waiting--;
  }

  return Object.assign(identify, {
    forget(keyHash: string) {
      known.delete(keyHash);
      unknown.delete(keyHash);
    },
    slowDown,
  });
}
