// Repeats an operation until it is answered or its deadline has passed. It reports to the client whether the
// server answered, so that a client that receives nothing is replaced. It decides nothing about the operation:
// only the caller knows whether a second attempt can do harm.

import { type Clock, sleep, withTimeout } from "../../base/clock.ts";
import { StoreTimeoutError } from "../store-errors.ts";
import { isAnswer, isPassing } from "./errors.ts";
import type { FailoverClient } from "./failover-client.ts";

const [FIRST_PAUSE_MS, PAUSE_MS_MAX] = [20, 500];

/** The ways to run an operation of a client against a clock. Deadlines are in milliseconds. */
export function mongoRetry(clock: Clock) {
  /** Rejects with `StoreTimeoutError` after `ms` milliseconds; what was sent may still be applied. */
  const within = <T>(ms: number, work: Promise<T>): Promise<T> =>
    withTimeout(clock, ms, work, (): never => {
      throw new StoreTimeoutError("the store did not answer in time");
    });

  /** Makes one attempt. */
  async function once<T>(client: FailoverClient, ms: number, work: () => Promise<T>): Promise<T> {
    try {
      const result = await within(ms, work());
      client.answered();
      return result;
    } catch (error) {
      if (isAnswer(error)) client.answered();
      else if (isPassing(error)) client.unanswered();
      throw error;
    }
  }

  /** Repeats what fails with a passing error for `ms` milliseconds; one attempt takes `attemptMs` at most. */
  async function repeat<T>(
    client: FailoverClient,
    ms: number,
    work: () => Promise<T>,
    attemptMs = ms,
  ): Promise<T> {
    const until = clock.mono() + ms;
    let reason: unknown;
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, PAUSE_MS_MAX)) {
      try {
        return await once(client, Math.min(attemptMs, until - clock.mono()), work);
      } catch (error) {
        if (!isPassing(error)) throw error;
        // When the deadline cut the last attempt short, the error before it says more.
        const why = (error instanceof StoreTimeoutError ? reason : undefined) ?? error;
        if (clock.mono() + pauseMs >= until) throw timeoutError(why);
        reason = error;
        await sleep(clock, pauseMs);
      }
    }
  }

  return { once, repeat };
}

/** The error of a missed deadline; its cause is the last failure before it. */
const timeoutError = (why: unknown): StoreTimeoutError =>
  why instanceof StoreTimeoutError
    ? why
    : new StoreTimeoutError(why instanceof Error ? why.message : String(why), { cause: why });
