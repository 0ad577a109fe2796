// Clock and randomness, which are injected everywhere. With deadlines.ts this is the only file that uses the
// machine's clock, timers and CSPRNG.

import { createDeadlines } from "./deadlines.ts";

/** The injected source of time and timers. */
export interface Clock {
  /** Returns milliseconds since 1970. They may step, so they serve business dates only. */
  wall(): number;
  /** Returns monotonic milliseconds, for leases, budgets and lag. */
  mono(): number;
  /**
   * Calls `fn` once after `ms` milliseconds, and soon where that is less than zero, as for a time that has passed. Returns a
   * function that cancels it.
   */
  after(ms: number, fn: () => void): () => void;
  /** Calls `fn` at the end of the event loop's current turn, when the events that are due in it have been handled. */
  endOfTurn(fn: () => void): void;
}

/** The injected source of randomness. */
export interface Random {
  /** Returns a fresh, time-ordered id of 26 characters of Crockford base32. */
  id(): string;
  /** Returns a uniform integer in [0, n). */
  below(n: number): number;
}

/**
 * Waits of this length and longer share a coarse tick and may end up to two ticks late; see
 * `createDeadlines`.
 */
const COARSE_MS = 1_000;

/**
 * Creates the machine's clock. `offset()` (ms) shifts business time only, for tests of expiry, days and
 * months.
 */
export function realClock(offset: () => number = () => 0): Clock {
  const mono = () => performance.now();
  const deadlines = createDeadlines(mono);
  return {
    wall: () => Date.now() + offset(),
    mono,
    after(ms, fn) {
      if (ms >= COARSE_MS) return deadlines.after(ms, fn);
      // The runtime warns of a negative time on the standard error, among the lines of the log.
      const timer = setTimeout(fn, Math.max(0, ms));
      return () => clearTimeout(timer);
    },
    endOfTurn: (fn) => void setImmediate(fn),
  };
}

/** How far business time may be ahead of the machine's time. */
export const CLOCK_OFFSET_MS_MAX = 10 * 365 * 86_400_000;

/**
 * Returns the clock with business time `aheadMs()` milliseconds ahead, which may change while the node runs.
 */
export const movedClock = (machine: Clock, aheadMs: () => number): Clock => ({
  ...machine,
  wall: () => machine.wall() + aheadMs(),
});

const ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const CHARACTER_CODES: readonly number[] = Array.from(ALPHABET, (character) => character.charCodeAt(0));
/** Characters of a ULID, and how many of them are its time. */
const ID_LENGTH = 26;
const TIME_LENGTH = 10;

/**
 * Creates ids as ULIDs (48 bits of milliseconds, then 80 random bits). All randomness is drawn from the
 * CSPRNG in blocks.
 */
export function realRandom(clock: Clock): Random {
  const pool = new Uint16Array(2048);
  let used = pool.length;
  /** The millisecond of the last id, and its characters. */
  let lastMs = -1;
  const characters = Buffer.alloc(ID_LENGTH);
  /** Returns the place of `count` fresh numbers in the pool. */
  const draw = (count: number): number => {
    if (used + count > pool.length) {
      crypto.getRandomValues(pool);
      used = 0;
    }
    used += count;
    return used - count;
  };
  return {
    id() {
      const now = clock.wall();
      if (now !== lastMs) {
        lastMs = now;
        characters.write(ulidTime(now), "latin1");
      }
      let drawn = draw((ID_LENGTH - TIME_LENGTH) / 2);
      for (let i = TIME_LENGTH; i < ID_LENGTH; i += 2) {
        const bits = pool[drawn++]!;
        characters[i] = CHARACTER_CODES[(bits >> 5) & 31]!;
        characters[i + 1] = CHARACTER_CODES[bits & 31]!;
      }
      // A text that is joined from pieces would be put together at its first look-up, which costs more than this.
      return characters.toString("latin1");
    },
    below(n) {
      // `limit` is a multiple of n, so rejecting values from it on keeps the result uniform.
      const limit = Math.floor(2 ** 32 / n) * n;
      for (;;) {
        const i = draw(2);
        const value = ((pool[i]! << 16) | pool[i + 1]!) >>> 0;
        if (value < limit) return value % n;
      }
    },
  };
}

/** Returns the first ten characters of a ULID, which encode `ms`, wall-clock milliseconds. */
export function ulidTime(ms: number): string {
  let text = "";
  for (let rest = ms, i = 0; i < 10; i++) {
    text = ALPHABET[rest % 32] + text;
    rest = Math.floor(rest / 32);
  }
  return text;
}

/** Resolves after `ms` milliseconds on the given clock. */
export const sleep = (clock: Clock, ms: number): Promise<void> =>
  new Promise((resolve) => {
    clock.after(ms, resolve);
  });

/**
 * Returns the outcome of `work`, or of `onLate` after `ms` milliseconds; the outcome of `work` is then unknown. All
 * other timeouts of promises are made of it, but for that of the bus, which imports nothing. Leaves no timer that would keep
 * a finished process alive.
 */
export async function withTimeout<T, L>(
  clock: Pick<Clock, "after">,
  ms: number,
  work: Promise<T>,
  onLate: () => L,
): Promise<T | L> {
  const late = Promise.withResolvers<typeof LATE>();
  const cancel = clock.after(ms, () => late.resolve(LATE));
  try {
    const first = await Promise.race([work, late.promise]);
    return first === LATE ? onLate() : (first as T);
  } finally {
    cancel();
  }
}

const LATE = Symbol("late");

/** Waits for `work`, for at most `ms` milliseconds. Throws what `work` throws within that time. */
export async function atMost(clock: Clock, ms: number, work: Promise<unknown>): Promise<void> {
  await withTimeout(clock, ms, work, () => undefined);
}

/** Returns the outcome of `work`, or rejects after `ms` milliseconds. */
export const inTime = <T>(clock: Clock, ms: number, work: Promise<T>): Promise<T> =>
  withTimeout(clock, ms, work, (): never => {
    throw new Error(`no answer within ${ms} ms`);
  });
