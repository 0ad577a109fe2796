// Patience at a start: what is away for a moment is waited for, visibly, and given up after a while with one clear line,
// so that whoever looks after the process starts it again. It opens nothing itself.

import { AssertionError } from "node:assert";
import { type Clock, sleep } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import { BadSetting } from "../settings/settings.ts";

/** How long a start waits for each thing that it needs. */
export const START_MS = 60_000;
const PAUSE_MS = 1_000;
const TELL_MS = 5_000;

/** The start was called off. */
export class StartCancelledError extends Error {}

export interface StartupRetry {
  readonly clock: Clock;
  readonly log: Log;
  /** How long it lasts, each time. */
  readonly ms: number;
  /** Ends the wait. */
  readonly signal: AbortSignal;
  /** Hears what is waited for; null: nothing any more. */
  readonly tell: (waiting: string | null) => void;
}

/** What `open` opens, tried until it can be. Throws BadSetting with the last reason, and at once what time will not mend. */
export async function opened<T>(patience: StartupRetry, what: string, open: () => Promise<T>): Promise<T> {
  const { clock, log, tell } = patience;
  const until = clock.mono() + patience.ms;
  for (;;) {
    try {
      const result = await orCalledOff(patience.signal, open());
      tell(null);
      return result;
    } catch (error) {
      if (error instanceof StartCancelledError || error instanceof BadSetting) throw error;
      const message = error instanceof Error ? error.message : String(error);
      // It was reached, and is not what it should be.
      if (error instanceof AssertionError) throw new BadSetting(message);
      if (clock.mono() + PAUSE_MS >= until) throw new BadSetting(message);
      tell(`${what} cannot be reached`);
      log("warn", "start_waits", { for: what, error: message });
      await orCalledOff(patience.signal, sleep(clock, PAUSE_MS));
    }
  }
}

/** The end of `work`, told of while it lasts. Throws BadSetting when it takes too long. */
export async function ended<T>(patience: StartupRetry, waiting: string, work: Promise<T>): Promise<T> {
  const { clock, log, tell, signal } = patience;
  tell(waiting);
  const late = Promise.withResolvers<never>();
  const begunMs = clock.mono();
  let cancel = clock.after(TELL_MS, function again() {
    const ms = clock.mono() - begunMs;
    if (ms >= patience.ms)
      return late.reject(new BadSetting(`given up after ${Math.round(ms / 1_000)} s: ${waiting}`));
    log("info", "start_waits", { for: waiting, ms: Math.round(ms) });
    cancel = clock.after(TELL_MS, again);
  });
  try {
    const result = await orCalledOff(signal, Promise.race([work, late.promise]));
    tell(null);
    return result;
  } finally {
    cancel();
  }
}

/** Rejects with StartCancelledError once the signal comes. What `work` does then is nobody's. */
async function orCalledOff<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  const off = Promise.withResolvers<never>();
  const call = () => off.reject(new StartCancelledError("the start was called off"));
  if (signal.aborted) call();
  signal.addEventListener("abort", call, { once: true });
  try {
    return await Promise.race([work, off.promise]);
  } finally {
    signal.removeEventListener("abort", call);
  }
}
