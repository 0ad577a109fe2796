// The limiter of dashboard and management calls: so many a minute and account, whatever the balance or the gateway's
// limits say. Counted on this node, in a fixed minute; at the bound on accounts the counting starts anew.

import type { AccountId } from "../../actors/ids.ts";
import type { Clock } from "../base/clock.ts";
import { RefusedError } from "../base/errors.ts";

export interface CallLimiter {
  /** Counts one call; throws Refused over the limit. Root is exempt. */
  count(account: AccountId, root: boolean): void;
}

const ACCOUNTS_MAX = 100_000;
const MINUTE_MS = 60_000;

export function callLimiter(parts: { clock: Clock; perMinute: number }): CallLimiter {
  const { clock, perMinute } = parts;
  let minute = 0;
  const calls = new Map<AccountId, number>();
  return {
    count(account, root) {
      if (root) return;
      const now = Math.floor(clock.mono() / MINUTE_MS);
      if (now !== minute || calls.size >= ACCOUNTS_MAX) {
        minute = now;
        calls.clear();
      }
      const count = (calls.get(account) ?? 0) + 1;
      calls.set(account, count);
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
