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
import { type AccountId, MAIN_API_KEY } from "../../../actors/ids.ts";
import { actorRef, type Protocol } from "../../../actors/index.ts";
import type { Nano } from "../../../actors/money.ts";
import { atMost, type Clock, sleep } from "../../base/clock.ts";
import { RefusedError, UnavailableError } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import type { ActorSystem, AskOptions } from "../../runtime/system.ts";
import type { ChargeSpool, SpooledCharge } from "./charge-spool.ts";
import { type ChargeWait, ChargeWaits } from "./charge-waits.ts";
import { createHoldRegistry, type HoldRegistry, type RegisteredHold } from "./hold-registry.ts";

/** What an account replies to a request. */
export type AdmitReply = Admitted | StaleProfile;

/** Client of the account's admit, renew, charge and cancel, with retry and spool. */
export interface Settlement {
  /**
   * Takes a request's hold, or takes it again. The request then counts as running until it is charged or
   * cancelled. Nothing is held when the account answers with a newer profile. Throws, or rejects, as `ask` does; when it is
   * unknown whether the hold exists, the caller must cancel it.
   */
  admit(account: AccountId, input: AdmitInput, options?: AskOptions): AdmitReply | Promise<AdmitReply>;
  /** Called when an earlier admission of this request was sent and may still arrive, before the one that took its hold. */
  admittedAnew(id: string): void;
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
  onSettled(notify: (id: string) => void): void;
  /** Returns the charges that wait for the ledger. */
  pendingLateCharges(): readonly SpooledCharge[];
  /** Returns the number of charges that were spooled since the start of the process. */
  lateCharges(): number;
  /** Returns the number of requests that run here with a hold, those with a late charge included. */
  holdsOpen(): number;
  /** Returns what the requests that run here reserve, by account, in nano-dollars. */
  heldCosts(): ReturnType<HoldRegistry["heldCosts"]>;
}

const RETRY_MS = 5_000;
/** When the process ends, a charge waits for the ledger at most this long (ms). */
const HASTY_MS = 1_000;
/** Longer than a shard is without an owner. */
const CANCEL_MS = 15_000;

/** The services of the settlement. */
export interface SettlementParts {
  readonly system: ActorSystem<Protocol>;
  readonly spool: ChargeSpool;
  readonly clock: Clock;
  readonly log: Log;
  readonly chargeWaitMs: number;
}

/** Creates the settlement of this node with its hold registry. */
export const createSettlement = (parts: SettlementParts): Settlement => new NodeSettlement(parts);

class NodeSettlement implements Settlement {
  private readonly holds: HoldRegistry;
  private late = 0;
  private readonly waiting = new Map<string, SpooledCharge>();
  private readonly listeners: ((id: string) => void)[] = [];
  private readonly waits: ChargeWaits;
  private waitMs: number;
  private readonly cancelling = new Set<string>();
  /** Resolves when no request is running; null while nothing waits for that. */
  private whenIdle: PromiseWithResolvers<void> | null = null;

  constructor(private readonly parts: SettlementParts) {
    const { system, clock, log, chargeWaitMs } = parts;
    this.holds = createHoldRegistry({ system, clock, log });
    this.waitMs = chargeWaitMs;
    this.waits = new ChargeWaits(clock, chargeWaitMs, (wait, error) => void this.endLate(wait, error));
  }

  heldCosts(): ReturnType<HoldRegistry["heldCosts"]> {
    return this.holds.heldCosts();
  }

  holdsOpen(): number {
    return this.holds.size();
  }

  admit(account: AccountId, input: AdmitInput, options?: AskOptions): AdmitReply | Promise<AdmitReply> {
    const round = this.holds.generation();
    const { system } = this.parts;
    const reply = system.askNow(actorRef.account(account), "admit", input, options);
    if (!(reply instanceof Promise)) return this.register(account, input, reply, round, true);
    this.holds.sent(input.id);
    return reply.then((later) => this.register(account, input, later, round, false));
  }

  admittedAnew(id: string): void {
    this.holds.sent(id);
  }

  idle(): Promise<void> {
    if (this.isIdle()) return Promise.resolve();
    this.whenIdle ??= Promise.withResolvers<void>();
    return this.whenIdle.promise;
  }

  flushNow(): void {
    this.waitMs = Math.min(this.parts.chargeWaitMs, HASTY_MS);
    this.waits.endAll(this.waitMs, new Error("the process ends"));
  }

  charge(account: AccountId, facts: ChargeFacts, before?: Promise<void>): Promise<void> {
    const wait = this.waits.add(account, facts);
    if (before === undefined) this.store(wait);
    else {
      before.then(
        () => this.store(wait),
        (error) => this.notStored(wait, error),
      );
    }
    return wait.settled;
  }

  async cancel(account: AccountId, id: string, aborted: boolean): Promise<boolean> {
    const { clock } = this.parts;
    let isFree = false;
    this.cancelling.add(id);
    const cancelled = this.untilCancelled(account, id, aborted).then((answer) => {
      isFree = answer;
      this.cancelling.delete(id);
      this.settled(id);
      this.noteIdle();
    });
    await atMost(clock, this.waitMs, cancelled);
    return isFree;
  }

  isCancelling(id: string): boolean {
    return this.cancelling.has(id);
  }

  renew(account: AccountId, id: string, need: { readonly cost: Nano; readonly tokens: number }): void {
    const { system, log } = this.parts;
    this.holds.grow(id, need);
    system
      .ask(actorRef.account(account), "renew", { id, ...need })
      .then(({ held }) => {
        if (!held) this.holds.reassert(id);
      })
      .catch((error) => log("warn", "renew_failed", { id, account, error: String(error) }));
  }

  async replay(): Promise<void> {
    for (const one of await this.parts.spool.all()) this.retry(one);
  }

  onSettled(notify: (id: string) => void): void {
    this.listeners.push(notify);
  }

  pendingLateCharges(): readonly SpooledCharge[] {
    return [...this.waiting.values()];
  }

  lateCharges(): number {
    return this.late;
  }

  /**
   * Registers the hold that the account has taken. `round` is the generation before it was asked; `isAtOnce` as for
   * `HoldRegistry`.
   */
  private register(
    account: AccountId,
    input: AdmitInput,
    reply: AdmitReply,
    round: number,
    isAtOnce: boolean,
  ): AdmitReply {
    if ("stale" in reply) return reply;
    const { holds } = this;
    const { id, model, idempotency } = input;
    const { cost, tokens, admittedAt, takenAt } = reply;
    const apiKey = reply.apiKey?.id ?? MAIN_API_KEY;
    holds.add(account, { id, model, apiKey, idempotency, cost, tokens, admittedAt, takenAt }, isAtOnce);
    if (round !== holds.generation()) holds.reassert(id);
    return reply;
  }

  /** Sends a charge, and ends its wait when it is stored or refused. One that is late already is sent from the spool. */
  private store(wait: ChargeWait): void {
    if (!wait.isQueued) return;
    const { account, facts } = wait;
    const input = this.holds.isTakenAtOnce(facts.id) ? { ...facts, isLast: true as const } : facts;
    const options = { id: facts.id, budgetMs: this.waitMs };
    let reply: unknown;
    try {
      reply = this.parts.system.askNow(actorRef.account(account), "charge", input, options);
    } catch (error) {
      this.notStored(wait, error);
      return;
    }
    if (reply instanceof Promise) {
      reply.then(
        () => this.stored(wait),
        (error) => this.notStored(wait, error),
      );
    } else this.stored(wait);
  }

  private stored(wait: ChargeWait): void {
    if (!this.waits.end(wait)) return;
    this.ended(wait.facts.id);
    wait.resolve();
  }

  private notStored(wait: ChargeWait, error: unknown): void {
    if (!this.waits.end(wait)) return;
    if (!(error instanceof RefusedError)) {
      void this.endLate(wait, error);
      return;
    }
    this.ended(wait.facts.id);
    wait.reject(error);
  }

  /** Spools a charge that was not stored in time. */
  private async endLate(
    { account, bornAt, facts, resolve, reject }: ChargeWait,
    error: unknown,
  ): Promise<void> {
    this.late++;
    this.parts.log("error", "late_charge", { id: facts.id, account, error: String(error) });
    await this.spool({ account, bornAt, facts }).then(resolve, reject);
    this.noteIdle();
  }

  private async spool(one: SpooledCharge): Promise<void> {
    try {
      await this.parts.spool.keep(one);
    } finally {
      // Also when the disk is full: the answer was delivered, and only this process still knows of its
      // charge.
      this.retry(one);
    }
  }

  /** Retries without end: a charge is given up only when the account refuses it. */
  private retry(one: SpooledCharge): void {
    const { clock, log } = this.parts;
    const { account, facts } = one;
    const { id } = facts;
    this.waiting.set(id, one);
    if (!this.holds.has(id)) this.holds.add(account, holdOf(facts));
    const options = { id, bornAt: one.bornAt, budgetMs: RETRY_MS };
    this.parts.system
      .ask(actorRef.account(account), "charge", { ...facts, delivered: true }, options)
      .catch((error) => {
        if (!(error instanceof RefusedError)) throw error;
        log("error", "late_charge_refused", { id, account, code: error.refusal.code });
      })
      .then(() => this.forget(id))
      .catch((error) => {
        log("warn", "late_charge_waits", { id, account, error: String(error) });
        this.holds.reassert(id);
        clock.after(RETRY_MS, () => this.retry(one));
      });
  }

  /** Removes a late charge that the ledger has or the account refused. */
  private forget(id: string): Promise<void> {
    this.waiting.delete(id);
    this.holds.remove(id);
    this.settled(id);
    return this.parts.spool.forget(id);
  }

  /**
   * Retries until the cancel is stored or is too old for its dedup id to be known. Without a registered hold
   * it tries once.
   */
  private async untilCancelled(account: AccountId, id: string, aborted: boolean): Promise<boolean> {
    const { system, clock, log } = this.parts;
    const { holds } = this;
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

  /** Records that the charge of a request is stored or refused. */
  private ended(id: string): void {
    this.holds.remove(id);
    this.settled(id);
    this.noteIdle();
  }

  private settled(id: string): void {
    for (const notify of this.listeners) notify(id);
  }

  /** Returns whether no request is running: what is registered are late charges only. */
  private isIdle(): boolean {
    return this.holds.size() === this.waiting.size;
  }

  private noteIdle(): void {
    if (this.whenIdle === null || !this.isIdle()) return;
    this.whenIdle.resolve();
    this.whenIdle = null;
  }
}

/** Returns the hold of a request of which only the charge is known. */
const holdOf = ({
  id,
  model,
  apiKey,
  idempotency,
  cost,
  prompt,
  completion,
  admittedAt,
}: ChargeFacts): RegisteredHold => ({
  ...{ id, model, apiKey: apiKey ?? MAIN_API_KEY, idempotency: idempotency ?? null },
  ...{ cost, tokens: prompt + completion },
  ...{ admittedAt, takenAt: admittedAt },
});
