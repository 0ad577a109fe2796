// The requests of this process that are under way, by account: when an account is deleted they have their time to end by
// themselves, and then are cut, so that they are charged before its credit goes (actors/account/closing.ts).
// Where word of a deletion may have been missed, the account is asked. As many are known as there are requests; it admits
// and settles nothing.

import { CLOSING_MS } from "../../../actors/account/closing.ts";
import { type AccountChanged, accountTopic } from "../../../actors/account/views.ts";
import type { AccountId } from "../../../actors/ids.ts";
import { actorRef, type Protocol } from "../../../actors/index.ts";
import type { Clock } from "../../base/clock.ts";
import { RefusedError } from "../../base/errors.ts";
import { Semaphore } from "../../base/semaphore.ts";
import type { ActorSystem } from "../../runtime/system.ts";
import { ACCOUNT_CLOSED, type RequestLifetime } from "../request-lifetime.ts";

/** Accounts asked at once. */
const AT_ONCE = 16;

export interface InFlight {
  /** The account's request is under way until its leash is released. */
  add(account: AccountId, leash: Pick<RequestLifetime, "abort" | "onRelease">): void;
}

interface Requests {
  readonly leashes: Set<Pick<RequestLifetime, "abort">>;
  /** Forgets the cut that is due; null: the account is open. */
  spare: (() => void) | null;
}

export function createInFlight(parts: { system: ActorSystem<Protocol>; clock: Clock }): InFlight {
  const { system, clock } = parts;
  const byAccount = new Map<AccountId, Requests>();

  const asks = new Semaphore(AT_ONCE);

  system.subscribe(
    accountTopic(">"),
    (_topic, body) => {
      const { profile, closing } = body as AccountChanged;
      if (closing) cutInTime(profile.id);
    },
    (topic) => void asks.run(() => look(Number(topic.slice(topic.indexOf(".") + 1)) as AccountId)),
  );
  system.onMissed((concerns) => {
    const concerned = [...byAccount.keys()].filter((account) => concerns(actorRef.account(account)));
    for (const account of concerned) void asks.run(() => look(account));
  });

  async function look(account: AccountId): Promise<void> {
    if (!byAccount.has(account)) return;
    const closing = await system.ask(actorRef.account(account), "profile", {}).then(
      (found) => found.closing,
      // Gone; or out of reach: its requests will be charged late, or their own time ends them.
      (error) => error instanceof RefusedError,
    );
    if (closing) cutInTime(account);
  }

  function cutInTime(account: AccountId): void {
    const requests = byAccount.get(account);
    if (requests === undefined || requests.spare !== null) return;
    requests.spare = clock.after(CLOSING_MS, () => {
      for (const leash of [...requests.leashes]) leash.abort(ACCOUNT_CLOSED);
    });
  }

  return {
    add(account, leash) {
      const requests = byAccount.get(account) ?? { leashes: new Set(), spare: null };
      byAccount.set(account, requests);
      requests.leashes.add(leash);
      leash.onRelease(() => {
        requests.leashes.delete(leash);
        if (requests.leashes.size > 0) return;
        requests.spare?.();
        byAccount.delete(account);
      });
    },
  };
}
