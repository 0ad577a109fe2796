// The running requests of this process by account. When an account is deleted, its requests have `CLOSING_MS`
// to end and are then aborted, so that they are charged before its credit is removed
// (actors/account/closing.ts). If the publication of a deletion may have been missed, the account is asked.
// It admits and charges nothing.

import { CLOSING_MS } from "../../../actors/account/closing.ts";
import { type AccountChanged, accountTopic } from "../../../actors/account/views.ts";
import type { AccountId } from "../../../actors/ids.ts";
import { actorRef, type Protocol } from "../../../actors/index.ts";
import type { Clock } from "../../base/clock.ts";
import { RefusedError } from "../../base/errors.ts";
import { Semaphore } from "../../base/semaphore.ts";
import type { ActorSystem } from "../../runtime/system.ts";
import { ACCOUNT_CLOSED, type LifetimeListener, type RequestLifetime } from "../request-lifetime.ts";

/** Accounts that are asked concurrently. */
const AT_ONCE = 16;

/** The running requests of this process. */
export interface InFlight {
  /** Adds a request of the account; its lifetime removes it when it closes. */
  add(account: AccountId, lifetime: Pick<RequestLifetime, "abort" | "onClose">): void;
}

/** The running requests of one account. */
class AccountRequests implements LifetimeListener {
  readonly lifetimes = new Set<Pick<RequestLifetime, "abort">>();
  /** Cancels the pending abort; null when the account is open. */
  cancelAbort: (() => void) | null = null;

  constructor(
    private readonly account: AccountId,
    private readonly byAccount: Map<AccountId, AccountRequests>,
  ) {}

  closed(lifetime: Pick<RequestLifetime, "abort">): void {
    this.lifetimes.delete(lifetime);
    if (this.lifetimes.size > 0) return;
    this.cancelAbort?.();
    this.byAccount.delete(this.account);
  }
}

/** Creates the table and subscribes it to the publications of accounts. */
export function createInFlight(parts: { system: ActorSystem<Protocol>; clock: Clock }): InFlight {
  const { system, clock } = parts;
  const byAccount = new Map<AccountId, AccountRequests>();

  const asks = new Semaphore(AT_ONCE);

  system.subscribe(
    accountTopic(">"),
    (_topic, body) => {
      const { profile, closing } = body as AccountChanged;
      if (closing) abortInTime(profile.id);
    },
    (topic) => void asks.run(() => look(Number(topic.slice(topic.indexOf(".") + 1)) as AccountId)),
  );
  system.onStale((concerns) => {
    const concerned = [...byAccount.keys()].filter((account) => concerns(actorRef.account(account)));
    for (const account of concerned) void asks.run(() => look(account));
  });

  async function look(account: AccountId): Promise<void> {
    if (!byAccount.has(account)) return;
    const closing = await system.ask(actorRef.account(account), "profile", {}).then(
      (found) => found.closing,
      // A refusal means that the account does not exist. If it is unreachable, its requests are charged late
      // or end by their own deadlines.
      (error) => error instanceof RefusedError,
    );
    if (closing) abortInTime(account);
  }

  function abortInTime(account: AccountId): void {
    const requests = byAccount.get(account);
    if (requests === undefined || requests.cancelAbort !== null) return;
    requests.cancelAbort = clock.after(CLOSING_MS, () => {
      for (const lifetime of [...requests.lifetimes]) lifetime.abort(ACCOUNT_CLOSED);
    });
  }

  return {
    add(account, lifetime) {
      let requests = byAccount.get(account);
      if (requests === undefined) {
        requests = new AccountRequests(account, byAccount);
        byAccount.set(account, requests);
      }
      requests.lifetimes.add(lifetime);
      lifetime.onClose(requests);
    },
  };
}
