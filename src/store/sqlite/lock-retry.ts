// What meets a lock of another program is tried again from a timer: the engine itself would hold the event loop while it
// waits.

import { type Clock, sleep } from "../../base/clock.ts";
import { isBusy } from "./connection.ts";

const PAUSE_MS = 5;

/** What `work` answers, once the lock is free; after `ms` its error is thrown. */
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

type Reads = Readonly<Record<string, (...given: never[]) => Promise<unknown>>>;

/** The same reads, each tried again while it meets a lock. */
export const whileLocked = <R extends Reads>(clock: Clock, ms: number, reads: R): R =>
  Object.fromEntries(
    Object.entries(reads).map(([name, read]) => [
      name,
      (...given: never[]) => {
        const asked = () => read(...given);
        return asked().catch((error) => {
          if (!isBusy(error)) throw error;
          return untilFree(clock, ms, asked);
        });
      },
    ]),
  ) as R;
