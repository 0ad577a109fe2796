// The limiter of dashboard and management calls: a number of calls per minute, independent of balance and gateway limits. It
// counts on this node, in fixed minutes; at the bound on callers the counting starts anew.

import type { Clock } from "../base/clock.ts";
import { RefusedError } from "../base/errors.ts";

/** Limits the calls of each caller. */
export interface CallLimiter<Caller> {
  /** Counts one call. Throws `RefusedError` `rpm_exceeded` over the limit. */
  count(caller: Caller): void;
}

const CALLERS_MAX = 100_000;
const MINUTE_MS = 60_000;

/** Creates a limiter of `perMinute` calls. */
export function callLimiter<Caller>(parts: { clock: Clock; perMinute: number }): CallLimiter<Caller> {
  const { clock, perMinute } = parts;
  let minute = 0;
  const calls = new Map<Caller, number>();
  return {
    count(caller) {
      const now = Math.floor(clock.mono() / MINUTE_MS);
      if (now !== minute || calls.size >= CALLERS_MAX) {
        minute = now;
        calls.clear();
      }
      const count = (calls.get(caller) ?? 0) + 1;
      calls.set(caller, count);
      if (count <= perMinute) return;
      const retryAfterS = Math.max(1, Math.ceil(((minute + 1) * MINUTE_MS - clock.mono()) / 1000));
      throw new RefusedError({
        code: "rpm_exceeded",
        message: `The API's own limit of ${perMinute} calls a minute is reached. Try again in ${retryAfterS} s.`,
        retryAfterS,
      });
    },
  };
}
