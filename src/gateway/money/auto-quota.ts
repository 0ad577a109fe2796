// AutoQuota where admission is refused for lack of balance: asks the account to ask its parent (actors/account/quota.ts)
// and waits a moment for the end of it, so that the request can be decided once more. Requests of one account wait
// together. It moves nothing and decides nothing.

import type { AccountId } from "../../../actors/ids.ts";
import { type Protocol, to } from "../../../actors/index.ts";
import type { Nano } from "../../../actors/money.ts";
import { type Clock, sleep } from "../../runtime/clock.ts";
import { type ActorSystem, Refused } from "../../runtime/system.ts";
import type { Lineage } from "../replicas.ts";

export interface AutoQuota {
  /** Is this refusal one that AutoQuota may lift, and was the parent asked? True: it has answered, or takes too long. */
  lifts(lineage: Lineage, error: unknown): Promise<boolean>;
}

const WAIT_MS = 1_000;
const PAUSE_MS = 20;

export function createAutoQuota(parts: { system: ActorSystem<Protocol>; clock: Clock }): AutoQuota {
  const { system, clock } = parts;
  const asking = new Map<AccountId, Promise<boolean>>();

  /** Until the request to the parent is over: the credit is here, or refused. False: none was made. */
  async function topUp(account: AccountId, keep: Nano): Promise<boolean> {
    const { asked } = await system.ask(to.account(account), "topUp", { keep });
    if (!asked) return false;
    for (const until = clock.mono() + WAIT_MS; clock.mono() < until; await sleep(clock, PAUSE_MS)) {
      const { asksForQuota } = await system.ask(to.account(account), "affairs", {});
      if (!asksForQuota) break;
    }
    return true;
  }

  return {
    async lifts({ account: { profile }, config: { config } }, error) {
      if (!(error instanceof Refused) || error.refusal.code !== "insufficient_balance") return false;
      if (profile.autoQuota === 0) return false;
      const under = asking.get(profile.id);
      if (under !== undefined) return under;
      const asked = topUp(profile.id, config.userMinBalance)
        .catch((failed) => {
          // Closed meanwhile, or not to be reached: the refusal stands.
          if (failed instanceof Refused) return false;
          throw failed;
        })
        .finally(() => asking.delete(profile.id));
      asking.set(profile.id, asked);
      return asked;
    },
  };
}
