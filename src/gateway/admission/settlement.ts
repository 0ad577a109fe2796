// What a request is for the money: admitted, and then charged, durable before the last byte, or cancelled for free.
//
//   admit      the account takes a hold, which is remembered here too, for an account that forgets it (hold-registry.ts)
//   charge     asked of the account with the request's own id until it is stored; the caller waits for it
//   too slow   after CHARGE_WAIT_MS the charge is written to the spool (fsynced), the response ends, the hold stays,
//              and the same charge is tried again until it is stored: `late_charges` counts it. An account that has
//              forgotten the hold meanwhile is told of it again. Where the process ends it is written at once
//   cancelled  the request counts all the same, in the account's windows: asked until that is stored, and until then its
//              hold stays. An error waits for it where the request has an Idempotency-Key, which the hold occupies
//   refused    there is no such account (what comes after its end is a late charge, which it takes), or its key was
//              charged with another request while this one's node was taken for dead, and the answer may not become
//              whole: never retried
//   crash      before the charge is durable the client has no complete answer; a spooled charge is replayed at start

import type { AdmitInput, Admitted } from "../../../actors/account/admit.ts";
import type { ChargeFacts } from "../../../actors/account/state.ts";
import type { AccountId } from "../../../actors/ids.ts";
import { actorRef, type Protocol } from "../../../actors/index.ts";
import type { Nano } from "../../../actors/money.ts";
import { atMost, type Clock, sleep } from "../../base/clock.ts";
import { RefusedError, UnavailableError } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import type { ActorSystem, AskOptions } from "../../runtime/system.ts";
import type { ChargeSpool, SpooledCharge } from "./charge-spool.ts";
import { createHoldRegistry, type RegisteredHold } from "./hold-registry.ts";

export interface Settlement {
  /**
   * Asks the account for a request's hold, or for its hold anew; with the answer the request is under way until it is
   * charged or cancelled. Throws as `ask` does: where nobody knows whether there is a hold, cancel it.
   */
  admit(account: AccountId, input: AdmitInput, options?: AskOptions): Promise<Admitted>;
  /** Resolves when none is under way: each is in the ledger or in the spool, or was cancelled. */
  idle(): Promise<void>;
  /** The process ends: what waits for the ledger goes to the spool at once, and what is charged from now on after a moment. */
  flushNow(): void;
  /**
   * Resolves when the charge is durable, in the ledger or in the spool. What has to be stored `before` it is waited for
   * first, within the same time.
   */
  charge(account: AccountId, facts: ChargeFacts, before?: Promise<void>): Promise<void>;
  /**
   * Nothing was delivered: frees the hold, and an Idempotency-Key with it. Resolves when the account has done so, with true;
   * with false after CHARGE_WAIT_MS, or where the account never says so. It goes on all the same.
   */
  cancel(account: AccountId, id: string, aborted: boolean): Promise<boolean>;
  /** `cancel` was called for this request and goes on. */
  isCancelling(id: string): boolean;
  /** The request lives on and may need more than it holds. */
  renew(account: AccountId, id: string, need: { readonly cost: Nano; readonly tokens: number }): void;
  /** Sends what an earlier process left in the spool. */
  replay(): Promise<void>;
  /** Tells of each request that is over for the money: its charge is stored or refused, or its hold was given back. */
  onSettled(tell: (id: string) => void): void;
  /** Charges that wait for the ledger. */
  pendingLateCharges(): readonly SpooledCharge[];
  lateCharges(): number;
}

const RETRY_MS = 5_000;
/** Of a process that ends, a charge waits no longer for the ledger. */
const HASTY_MS = 1_000;
/** Longer than an account's shard is without an owner. */
const CANCEL_MS = 15_000;

export function createSettlement(parts: {
  system: ActorSystem<Protocol>;
  spool: ChargeSpool;
  clock: Clock;
  log: Log;
  chargeWaitMs: number;
}): Settlement {
  const { system, spool, clock, log, chargeWaitMs } = parts;
  const holds = createHoldRegistry({ system, clock, log });
  let late = 0;
  const waiting = new Map<string, SpooledCharge>();
  const listeners: ((id: string) => void)[] = [];
  const settled = (id: string): void => {
    for (const tell of listeners) tell(id);
  };

  const send = (account: AccountId, facts: ChargeFacts, bornAt: number, budgetMs: number) =>
    system.ask(actorRef.account(account), "charge", facts, { id: facts.id, bornAt, budgetMs });

  /** The charge sent once `before` has ended, or its time is over. */
  async function sendAfter(before: Promise<void>, send: (ms: number) => Promise<unknown>): Promise<void> {
    const until = clock.mono() + waitMs;
    await atMost(clock, waitMs, before);
    await send(Math.max(1, until - clock.mono()));
  }

  /** How those that wait for the ledger hear that the process ends. */
  const waiters = new Set<() => void>();
  let waitMs = chargeWaitMs;

  /** As `stored`, unless the process ends before. */
  function whileTimeIs(stored: Promise<unknown>): Promise<unknown> {
    const { promise, reject } = Promise.withResolvers<never>();
    const cancelWait = () => reject(new Error("the process ends"));
    waiters.add(cancelWait);
    return Promise.race([stored, promise]).finally(() => waiters.delete(cancelWait));
  }

  const underWay = new Set<string>();
  const cancelling = new Set<string>();
  let awaited = Promise.withResolvers<void>();

  function end(id: string): void {
    underWay.delete(id);
    if (underWay.size > 0) return;
    awaited.resolve();
    awaited = Promise.withResolvers<void>();
  }

  function over(id: string): Promise<void> {
    waiting.delete(id);
    holds.remove(id);
    settled(id);
    return spool.forget(id);
  }

  /** Tries for ever: a charge is given up only when the account's own word is that it will never take it. */
  function retry(one: SpooledCharge): void {
    const { account, facts, bornAt } = one;
    waiting.set(facts.id, one);
    if (!holds.has(facts.id)) holds.add(account, holdOf(facts));
    send(account, { ...facts, delivered: true }, bornAt, RETRY_MS)
      .catch((error) => {
        if (!(error instanceof RefusedError)) throw error;
        log("error", "late_charge_refused", { id: facts.id, account, code: error.refusal.code });
      })
      .then(() => over(facts.id))
      .catch((error) => {
        log("warn", "late_charge_waits", { id: facts.id, account, error: String(error) });
        holds.reassert(facts.id);
        clock.after(RETRY_MS, () => retry(one));
      });
  }

  /** Tried until it is stored, or too old to be told from one that is. Where nobody knows of a hold, it is none's. */
  async function untilCancelled(account: AccountId, id: string, aborted: boolean): Promise<boolean> {
    const message = { id: `${id}:x`, bornAt: clock.wall(), budgetMs: CANCEL_MS };
    for (;;) {
      try {
        await system.ask(actorRef.account(account), "cancel", { id, aborted }, message);
        holds.remove(id);
        return true;
      } catch (error) {
        log("warn", "cancel_failed", { id, account, error: String(error) });
        const isOver = !(error instanceof UnavailableError) || error.reason === "too_old";
        if (isOver || !holds.has(id)) {
          holds.removeUnconfirmed(account, id);
          return false;
        }
      }
      await sleep(clock, RETRY_MS);
    }
  }

  return {
    async admit(account, input, options) {
      const round = holds.generation();
      const admitted = await system.ask(actorRef.account(account), "admit", input, options ?? {});
      const { id, model, idempotency } = input;
      const { cost, tokens, admittedAt, takenAt } = admitted;
      holds.add(account, { id, model, idempotency, cost, tokens, admittedAt, takenAt });
      if (round !== holds.generation()) holds.reassert(id);
      underWay.add(id);
      return admitted;
    },
    idle: () => (underWay.size === 0 ? Promise.resolve() : awaited.promise),
    flushNow() {
      waitMs = Math.min(chargeWaitMs, HASTY_MS);
      for (const hurry of waiters) hurry();
    },
    async charge(account, facts, before) {
      const bornAt = clock.wall();
      const sent = (ms: number) => send(account, facts, bornAt, ms);
      try {
        await whileTimeIs(before === undefined ? sent(waitMs) : sendAfter(before, sent));
        holds.remove(facts.id);
        settled(facts.id);
      } catch (error) {
        if (error instanceof RefusedError) {
          holds.remove(facts.id);
          settled(facts.id);
          throw error;
        }
        late++;
        log("error", "late_charge", { id: facts.id, account, error: String(error) });
        const one = { account, bornAt, facts };
        try {
          await spool.keep(one);
        } finally {
          // Also when the disk is full: the answer was delivered, and only this process still knows of it.
          retry(one);
        }
      } finally {
        end(facts.id);
      }
    },
    async cancel(account, id, aborted) {
      let isFree = false;
      cancelling.add(id);
      const cancelled = untilCancelled(account, id, aborted).then((answer) => {
        isFree = answer;
        cancelling.delete(id);
        settled(id);
        end(id);
      });
      await atMost(clock, waitMs, cancelled);
      return isFree;
    },
    isCancelling: (id) => cancelling.has(id),
    renew(account, id, need) {
      holds.grow(id, need);
      system
        .ask(actorRef.account(account), "renew", { id, ...need })
        .then(({ held }) => {
          if (!held) holds.reassert(id);
        })
        .catch((error) => log("warn", "renew_failed", { id, account, error: String(error) }));
    },
    async replay() {
      for (const one of await spool.all()) retry(one);
    },
    onSettled: (tell) => void listeners.push(tell),
    pendingLateCharges: () => [...waiting.values()],
    lateCharges: () => late,
  };
}

/** What is left to hold of a request when all that is known of it is its charge. */
const holdOf = ({
  id,
  model,
  idempotency,
  cost,
  prompt,
  completion,
  admittedAt,
}: ChargeFacts): RegisteredHold => ({
  ...{ id, model, idempotency: idempotency ?? null, cost, tokens: prompt + completion },
  ...{ admittedAt, takenAt: admittedAt },
});
