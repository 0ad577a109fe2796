// Waits during a start for what is unavailable, visibly, and gives up with one clear line after a while, so
// that a supervisor can restart the process. It must not open anything itself.

import { AssertionError } from "node:assert";
import { type Clock, sleep } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import { BadSetting } from "../settings/settings.ts";

/** Milliseconds that a start waits for each thing that it needs. */
export const START_MS = 60_000;
const PAUSE_MS = 1_000;
const REPORT_MS = 5_000;

/** Thrown when the start was cancelled by its signal. */
export class StartCancelledError extends Error {}

/** How a start waits. */
export interface StartupRetry {
  readonly clock: Clock;
  readonly log: Log;
  /** Milliseconds of each wait. */
  readonly ms: number;
  /** Cancels the start. */
  readonly signal: AbortSignal;
  /** Receives what the start waits for; null when the wait is over. */
  readonly report: (waiting: string | null) => void;
}

/**
 * Calls `open` until it succeeds, with pauses, and returns its result. Throws BadSetting with the last reason
 * when the time is over, and at once for errors that waiting cannot resolve; StartCancelledError on the
 * signal.
 */
export async function opened<T>(retry: StartupRetry, what: string, open: () => Promise<T>): Promise<T> {
  const { clock, log, report } = retry;
  const until = clock.mono() + retry.ms;
  for (;;) {
    try {
      const result = await orCalledOff(retry.signal, open());
      report(null);
      return result;
    } catch (error) {
      if (error instanceof StartCancelledError || error instanceof BadSetting) throw error;
      const message = error instanceof Error ? error.message : String(error);
      // The server was reached but is not usable, for example because of its schema version.
      if (error instanceof AssertionError) throw new BadSetting(message);
      if (clock.mono() + PAUSE_MS >= until) throw new BadSetting(message);
      report(`${what} cannot be reached`);
      log("warn", "start_waits", { for: what, error: message });
      await orCalledOff(retry.signal, sleep(clock, PAUSE_MS));
    }
  }
}

/**
 * Awaits `work`, and logs and reports it while it lasts. Throws BadSetting when it takes too long,
 * StartCancelledError on the signal.
 */
export async function ended<T>(retry: StartupRetry, waiting: string, work: Promise<T>): Promise<T> {
  const { clock, log, report, signal } = retry;
  report(waiting);
  const late = Promise.withResolvers<never>();
  const begunMs = clock.mono();
  let cancel = clock.after(REPORT_MS, function repeat() {
    const ms = clock.mono() - begunMs;
    if (ms >= retry.ms)
      return late.reject(new BadSetting(`given up after ${Math.round(ms / 1_000)} s: ${waiting}`));
    log("info", "start_waits", { for: waiting, ms: Math.round(ms) });
    cancel = clock.after(REPORT_MS, repeat);
  });
  try {
    const result = await orCalledOff(signal, Promise.race([work, late.promise]));
    report(null);
    return result;
  } finally {
    cancel();
  }
}

/** Rejects with StartCancelledError when the signal comes; the result of `work` is then ignored. */
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
