// The money side of a request: it is admitted, and then either charged, durably before the last byte, or
// cancelled without cost.
//
//   situation   what happens
//   admit       The account takes a hold. It is also registered in `HoldRegistry`, in case the account loses
//               it.
//   charge      Sent to the account under the request's own id until it is stored; the caller waits for that.
//   too slow    After CHARGE_WAIT_MS the charge is written to the spool (fsynced), the response ends, the
//               hold stays, and the charge is retried until it is stored: `late_charges` counts these. The
//               hold is re-asserted to an account that has lost it. When the process ends, charges are
//               spooled at once.
//   cancelled   The request still counts in the account's windows: the cancel is retried until it is stored,
//               and the hold stays until then. With an Idempotency-Key, which the hold occupies, the error
//               waits.
//   refused     There is no such account (a charge after its deletion is a late charge, which it takes), or
//               the key was charged with another request while this one's node was declared dead, and the
//               answer must not be completed. Never retried.
//   crash       Before the charge is durable the client has no complete answer. A spooled charge is sent at
//               the next start.

import type { AdmitInput, Admitted, StaleProfile } from "../../../actors/account/admit.ts";
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

/** Client of the account's admit, renew, charge and cancel, with retry and spool. */
export interface Settlement {
  /**
   * Takes a request's hold, or takes it again. The request then counts as running until it is charged or
   * cancelled. Nothing is held when the account answers with a newer profile. Throws as `ask` does; when it is
   * unknown whether the hold exists, the caller must cancel it.
   */
  admit(account: AccountId, input: AdmitInput, options?: AskOptions): Promise<Admitted | StaleProfile>;
  /** Resolves when no request is running: each is in the ledger, in the spool, or cancelled. */
  idle(): Promise<void>;
  /**
   * Called when the process ends: charges that wait for the ledger are spooled at once, later ones after
   * `HASTY_MS`.
   */
  flushNow(): void;
  /**
   * Resolves when the charge is durable, in the ledger or in the spool. `before` is something that must be
   * stored first; it is waited for within the same time. Throws `RefusedError` when the account refuses the
   * charge.
   */
  charge(account: AccountId, facts: ChargeFacts, before?: Promise<void>): Promise<void>;
  /**
   * Frees the hold, and its Idempotency-Key, of a request that delivered nothing. Resolves with true when the
   * account has done so, with false after CHARGE_WAIT_MS or when the account never confirms it; the retries
   * go on.
   */
  cancel(account: AccountId, id: string, aborted: boolean): Promise<boolean>;
  /** Returns whether a `cancel` of this request is in progress. */
  isCancelling(id: string): boolean;
  /** Renews a hold in the background and raises it to at least `need`. */
  renew(account: AccountId, id: string, need: { readonly cost: Nano; readonly tokens: number }): void;
  /** Sends the charges that an earlier process left in the spool. */
  replay(): Promise<void>;
  /** Registers a callback for each request whose charge is stored or refused, or whose hold was cancelled. */
  onSettled(tell: (id: string) => void): void;
  /** Returns the charges that wait for the ledger. */
  pendingLateCharges(): readonly SpooledCharge[];
  /** Returns the number of charges that were spooled since the start of the process. */
  lateCharges(): number;
}

const RETRY_MS = 5_000;
/** When the process ends, a charge waits for the ledger at most this long (ms). */
const HASTY_MS = 1_000;
/** Longer than a shard is without an owner. */
const CANCEL_MS = 15_000;

/** Creates the settlement of this node with its hold registry. */
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

  /** Sends the charge when `before` has settled or its time is over. */
  async function sendAfter(before: Promise<void>, send: (ms: number) => Promise<unknown>): Promise<void> {
    const until = clock.mono() + waitMs;
    await atMost(clock, waitMs, before);
    await send(Math.max(1, until - clock.mono()));
  }

  /** Cancels the waits for the ledger when the process ends. */
  const waiters = new Set<() => void>();
  let waitMs = chargeWaitMs;

  /** Settles like `stored`, or rejects when the process ends first. */
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

  /** Retries without end: a charge is given up only when the account refuses it. */
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

  /**
   * Retries until the cancel is stored or is too old for its dedup id to be known. Without a registered hold
   * it tries once.
   */
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
      const reply = system.askNow(actorRef.account(account), "admit", input, options);
      const admitted = reply instanceof Promise ? await reply : reply;
      if ("stale" in admitted) return admitted;
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
          // Also when the disk is full: the answer was delivered, and only this process still knows of its
          // charge.
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

/** Returns the hold of a request of which only the charge is known. */
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
