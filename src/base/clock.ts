// Time and chance, injected everywhere. The only file that may touch the real clock, timers and the CSPRNG.

import { createDeadlines } from "./deadlines.ts";

export interface Clock {
  /** Milliseconds since 1970: business dates only. May step. */
  wall(): number;
  /** Milliseconds that never step: leases, budgets, lag. */
  mono(): number;
  /** Calls `fn` once after `ms`; the answer cancels it. */
  after(ms: number, fn: () => void): () => void;
}

export interface Random {
  /** A fresh, time-ordered id: 26 characters of Crockford base32. */
  id(): string;
  /** A uniform integer in [0, n). */
  below(n: number): number;
}

/** From here on a wait may end up to two ticks late. */
const COARSE_MS = 1_000;

/** The machine's clock; `offset()` shifts business time only (tests of expiry, days and months). */
export function realClock(offset: () => number = () => 0): Clock {
  const mono = () => performance.now();
  const deadlines = createDeadlines(mono);
  return {
    wall: () => Date.now() + offset(),
    mono,
    after(ms, fn) {
      if (ms >= COARSE_MS) return deadlines.after(ms, fn);
      const timer = setTimeout(fn, ms);
      return () => clearTimeout(timer);
    },
  };
}

/** Business time may be so far ahead of the machine's. */
export const CLOCK_OFFSET_MS_MAX = 10 * 365 * 86_400_000;

/** Business time as nodes may move it while they run: `aheadMs()` before the machine's. */
export const movedClock = (machine: Clock, aheadMs: () => number): Clock => ({
  ...machine,
  wall: () => machine.wall() + aheadMs(),
});

const ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/** Ids as ULIDs: 48 bits of milliseconds, then 80 random bits, drawn from the CSPRNG in blocks. */
export function realRandom(clock: Clock): Random {
  const pool = new Uint8Array(4096);
  let used = pool.length;
  const byte = () => {
    if (used === pool.length) {
      crypto.getRandomValues(pool);
      used = 0;
    }
    return pool[used++]!;
  };
  return {
    id() {
      let text = ulidTime(clock.wall());
      for (let i = 0; i < 16; i++) text += ALPHABET[byte() & 31];
      return text;
    },
    below(n) {
      // Rejection keeps it uniform: a multiple of n fits below the limit.
      const limit = Math.floor(2 ** 32 / n) * n;
      for (;;) {
        const value = ((byte() << 24) | (byte() << 16) | (byte() << 8) | byte()) >>> 0;
        if (value < limit) return value % n;
      }
    },
  };
}

/** The first ten characters of a ULID: its milliseconds. */
export function ulidTime(ms: number): string {
  let text = "";
  for (let rest = ms, i = 0; i < 10; i++) {
    text = ALPHABET[rest % 32] + text;
    rest = Math.floor(rest / 32);
  }
  return text;
}

/** Resolves after `ms` on the given clock. */
export const sleep = (clock: Clock, ms: number): Promise<void> =>
  new Promise((resolve) => {
    clock.after(ms, resolve);
  });

/** Waits for `work`, but no longer than `ms`. Leaves no timer that would keep a finished process alive. */
export async function atMost(clock: Clock, ms: number, work: Promise<unknown>): Promise<void> {
  const late = Promise.withResolvers<void>();
  const cancel = clock.after(ms, late.resolve);
  try {
    await Promise.race([work, late.promise]);
  } finally {
    cancel();
  }
}

/** The outcome of `work`, or a rejection once `ms` have passed: then nobody knows what becomes of it. */
export async function inTime<T>(clock: Clock, ms: number, work: Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>();
  const cancel = clock.after(ms, () => late.reject(new Error(`no answer within ${ms} ms`)));
  try {
    return await Promise.race([work, late.promise]);
  } finally {
    cancel();
  }
}
