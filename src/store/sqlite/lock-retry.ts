// Retries from a timer what meets a lock of another program, because the engine itself would block the event
// loop while it waits.

import { type Clock, sleep } from "../../base/clock.ts";
import { isBusy } from "./connection.ts";

const PAUSE_MS = 5;

/**
 * Runs `work` until it meets no lock, and returns its result. After `ms` milliseconds its error is thrown;
 * any other error is thrown at once.
 */
export async function untilFree<T>(clock: Clock, ms: number, work: () => T | Promise<T>): Promise<T> {
  const until = clock.mono() + ms;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!isBusy(error) || clock.mono() >= until) throw error;
    }
    await sleep(clock, PAUSE_MS);
  }
}

type Reads = Readonly<Record<string, (...args: never[]) => Promise<unknown>>>;

/** The same reads, each retried for `ms` milliseconds while it meets a lock. */
export const whileLocked = <R extends Reads>(clock: Clock, ms: number, reads: R): R =>
  Object.fromEntries(
    Object.entries(reads).map(([name, read]) => [
      name,
      (...args: never[]) => {
        const attempt = () => read(...args);
        return attempt().catch((error) => {
          if (!isBusy(error)) throw error;
          return untilFree(clock, ms, attempt);
        });
      },
    ]),
  ) as R;
