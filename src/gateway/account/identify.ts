// Whose key is this? By its SHA-256 through the claims, remembered for a minute. A hint only: the account itself
// compares the hash in `admit`, so a rotated key dies at once whatever is remembered here.
//
// Guessing is slowed down: unknown keys are remembered for a second and delayed by address, more with every guess.
// A valid key never waits, and one that somebody gets is known within that second, on whichever node it was made.

import { INVALID_KEY } from "../../../actors/account/admit.ts";
import type { AccountId } from "../../../actors/ids.ts";
import { type Clock, sleep } from "../../base/clock.ts";
import { type Refusal, RefusedError } from "../../base/errors.ts";
import { lruCache } from "../../base/lru-cache.ts";
import type { Store } from "../../store/store.ts";

export interface ManagementCaller {
  readonly account: AccountId;
  readonly keyHash: string;
}

export interface Identify {
  /** Null: nobody's key. `ip` is asked for only then. */
  (key: string, ip: () => string): Promise<ManagementCaller | null>;
  /** The account said that this hash is not its own any more. */
  forget(keyHash: string): void;
}

const KNOWN_MOST = 100_000;
const KNOWN_MS = 60_000;
const UNKNOWN_MOST = 10_000;
/** A look-up reads one indexed row, and is what another guess would cost anyway. */
const UNKNOWN_MS = 1_000;
const GUESS_WINDOW_MS = 60_000;
const FREE_GUESSES = 5;
const DELAY_MS = 50;
const DELAY_MOST_MS = 2_000;
/** Delays under way at once; further guesses are answered at once rather than kept. */
const WAITING_MOST = 1_000;

export const MISSING_KEY: Refusal = {
  code: "missing_api_key",
  message: "No API key was sent. Send it as the header: Authorization: Bearer <key>.",
};

/** SHA-256 in hex: all that is ever stored of an API key. */
export const hashKey = (key: string): string => new Bun.CryptoHasher("sha256").update(key).digest("hex");

/** What a caller is told by an error: a key whose account is not there (any more) is a wrong key to whoever sends it. */
export function wrongKey(
  identify: Pick<Identify, "forget">,
  { keyHash }: ManagementCaller,
  error: unknown,
): unknown {
  const code = error instanceof RefusedError ? error.refusal.code : "";
  if (code !== INVALID_KEY.code && code !== "user_not_found") return error;
  identify.forget(keyHash);
  return new RefusedError(INVALID_KEY);
}

export function createIdentify(parts: { store: Store; clock: Clock }): Identify {
  const { store, clock } = parts;
  const known = lruCache<string, AccountId>({ clock, most: KNOWN_MOST, ttlMs: KNOWN_MS });
  const unknown = lruCache<string, true>({ clock, most: UNKNOWN_MOST, ttlMs: UNKNOWN_MS });
  const guesses = lruCache<string, number>({ clock, most: UNKNOWN_MOST, ttlMs: GUESS_WINDOW_MS });
  let waiting = 0;

  async function identify(key: string, ip: () => string): Promise<ManagementCaller | null> {
    const keyHash = hashKey(key);
    const account = known.get(keyHash);
    if (account !== undefined) return { account, keyHash };
    if (unknown.get(keyHash) === undefined) {
      const claim = await store.findClaim(`key:${keyHash}`);
      if (claim !== null) {
        known.set(keyHash, claim.account as AccountId);
        return { account: claim.account as AccountId, keyHash };
      }
      unknown.set(keyHash, true);
    }
    await slowDown(ip());
    return null;
  }

  async function slowDown(ip: string): Promise<void> {
    const count = (guesses.get(ip) ?? 0) + 1;
    guesses.set(ip, count);
    if (count <= FREE_GUESSES || waiting >= WAITING_MOST) return;
    waiting++;
    await sleep(clock, Math.min(DELAY_MOST_MS, DELAY_MS * 2 ** Math.min(count - FREE_GUESSES, 10)));
    waiting--;
  }

  return Object.assign(identify, {
    forget(keyHash: string) {
      known.delete(keyHash);
      unknown.delete(keyHash);
    },
  });
}
