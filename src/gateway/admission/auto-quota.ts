// AutoQuota at admission: when a request is refused for lack of balance, checks whether the parent can give,
// lets the account request credit from it (actors/account/auto-quota.ts) and waits briefly for the result, so
// that admission can be retried. It moves no money and decides nothing.
//
// A parent that cannot give is only read, at a bounded rate however many accounts and requests wait
// (parent-funds.ts). A reading or transfer that began before a request arrived cannot refuse that request,
// because the parent may have received credit since.

import type { Profile } from "../../../actors/account/state.ts";
import type { AccountId } from "../../../actors/ids.ts";
import { actorRef, type Protocol } from "../../../actors/index.ts";
import type { Nano } from "../../../actors/money.ts";
import { atMost, type Clock, sleep } from "../../base/clock.ts";
import { RefusedError } from "../../base/errors.ts";
import type { ActorSystem } from "../../runtime/system.ts";
import type { AccountContext } from "../account/account-context.ts";
import { ParentReadings } from "./parent-funds.ts";

/** AutoQuota for requests that were refused. */
export interface AutoQuota {
  /**
   * Returns whether admission should be retried after this refusal: true when the parent was asked and has
   * answered, or takes longer than a second.
   */
  topUpAfter(accountContext: AccountContext, error: unknown): Promise<boolean>;
}

interface Parts {
  readonly system: ActorSystem<Protocol>;
  readonly clock: Clock;
}

const WAIT_MS = 1_000;
const PAUSE_MS = 20;

/** Creates the AutoQuota of this node. */
export const createAutoQuota = (parts: Parts): AutoQuota => new TopUps(parts);

class TopUps implements AutoQuota {
  readonly #parts: Parts;
  readonly #parents: ParentReadings;
  readonly #running = new Map<AccountId, Promise<boolean>>();

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#parents = new ParentReadings(parts);
  }

  async topUpAfter(
    { account: { profile }, config: { config } }: AccountContext,
    error: unknown,
  ): Promise<boolean> {
    if (!(error instanceof RefusedError) || error.refusal.code !== "insufficient_balance") return false;
    if (profile.autoQuota === 0 || profile.parent === null) return false;
    let lifted = true;
    const decided = this.#decided(profile, profile.parent, config.userMinBalance).then((is) => {
      lifted = is;
    });
    await atMost(this.#parts.clock, WAIT_MS, decided);
    return lifted;
  }

  /** Waits for the running top-up; if that does not lift the refusal, for one that begins after this call. */
  async #decided(profile: Profile, parent: AccountId, keep: Nano): Promise<boolean> {
    const before = this.#running.get(profile.id);
    if (before !== undefined && (await before)) return true;
    return this.#running.get(profile.id) ?? this.#run(profile, parent, keep);
  }

  #run(profile: Profile, parent: AccountId, keep: Nano): Promise<boolean> {
    const work = this.#topUp(profile, parent, keep)
      .catch((failed) => {
        // The account was closed in the meantime, so the refusal stands.
        if (failed instanceof RefusedError) return false;
        throw failed;
      })
      .finally(() => this.#running.delete(profile.id));
    this.#running.set(profile.id, work);
    return work;
  }

  /**
   * Runs until the request to the parent has ended, granted or refused. Returns false when no request was
   * made.
   */
  async #topUp({ id, autoQuota }: Profile, parent: AccountId, keep: Nano): Promise<boolean> {
    const { system, clock } = this.#parts;
    if (!(await this.#asks(id))) {
      if (!(await this.#parents.affords(parent, autoQuota, keep))) return false;
      const { asked } = await system.ask(actorRef.account(id), "topUp", { keep });
      if (!asked) return false;
    }
    const until = clock.mono() + WAIT_MS;
    while (clock.mono() < until && (await this.#asks(id))) await sleep(clock, PAUSE_MS);
    return true;
  }

  async #asks(id: AccountId): Promise<boolean> {
    return (await this.#parts.system.ask(actorRef.account(id), "unfinishedWork", {})).asksForQuota;
  }
}
