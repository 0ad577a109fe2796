// This node's copy of the holds of its running requests, from which it re-asserts them to an account that has
// moved or lost them: the account keeps holds only in memory (actors/account/reassert-holds.ts). An entry
// lives from admission until the charge is stored or the hold cancelled, also while the charge waits in the
// spool.
//
// A request may end while its hold is being re-asserted, and that message may arrive last. So every hold that
// was ever re-asserted is also reported as ended. An admission that was sent may arrive last too, so the account
// remembers ended requests; not one whose hold was taken on the caller's stack and never re-asserted, as almost all
// are where the account is (`isTakenAtOnce`). A failed report is retried until it succeeds, until the
// request ends, or until the account could not hold anything for it any more; and at once when the account is
// known to be reachable again. It sends accounts nothing else and decides nothing.

import { HOLD_TTL_MS } from "../../../actors/account/holds.ts";
import type { Hold } from "../../../actors/account/state.ts";
import type { AccountId } from "../../../actors/ids.ts";
import { actorRef, type Protocol } from "../../../actors/index.ts";
import type { Nano } from "../../../actors/money.ts";
import { type Clock, sleep } from "../../base/clock.ts";
import { RefusedError } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import { Semaphore } from "../../base/semaphore.ts";
import type { ActorSystem } from "../../runtime/system.ts";

/** A hold as this node knows it. Expiry and holder are added when it is re-asserted. */
export type RegisteredHold = Omit<Hold, "expiresAt" | "holder" | "counted">;

/** The registry of one node. */
export interface HoldRegistry {
  /**
   * Adds a hold that the account has taken, or replaces it. `isAtOnce` means that it was taken on the caller's stack, so that
   * no copy of the admission is under way.
   */
  add(account: AccountId, hold: RegisteredHold, isAtOnce?: boolean): void;
  /** Called when an admission of request `id` was sent, and may arrive at any time from now on. */
  sent(id: string): void;
  /**
   * Returns whether the hold of request `id` is registered, and nothing that was sent so far can open it after its end. What
   * re-asserts it later also reports its end.
   */
  isTakenAtOnce(id: string): boolean;
  /** Raises a hold to at least these amounts. */
  grow(id: string, need: { readonly cost: Nano; readonly tokens: number }): void;
  /** Re-asserts the hold of request `id` in the background, if it has not ended. */
  reassert(id: string): void;
  /** Removes a hold that was charged or cancelled. */
  remove(id: string): void;
  /**
   * Removes a hold like `remove`, when it is unknown whether the account has processed the end; the end is
   * then reported.
   */
  removeUnconfirmed(account: AccountId, id: string): void;
  /** Returns whether the hold of request `id` is registered. */
  has(id: string): boolean;
  /** Returns the number of registered holds. */
  size(): number;
  /** Returns what the registered holds of each account reserve, in nano-dollars. */
  heldCosts(): readonly (readonly [account: AccountId, cost: number])[];
  /**
   * Incremented at every re-assertion after a move or loss: a hold that was granted in the meantime was not
   * part of it.
   */
  generation(): number;
}

/** Accounts to which holds are re-asserted concurrently. */
const AT_ONCE = 32;
/** Bytes of one command: the bus carries more, but a larger one would occupy the account for too long. */
const CHUNK_BYTES = 256 * 1024;
/** Bytes of a hold without its model's name. */
const HOLD_BYTES = 400;
const BUDGET_MS = 1_000;
const PAUSE_MS = 100;
const PAUSE_MS_MAX = 5_000;

/** A registered hold, in the list of its account. */
class Entry {
  /** The hold was re-asserted, or is being so. */
  isReasserted = false;
  newer: Entry | null = null;
  older: Entry | null = null;

  constructor(
    readonly account: AccountId,
    public hold: RegisteredHold,
    /** Each of its admissions was decided on the caller's stack. */
    public isAtOnce: boolean,
  ) {}
}

/** Returns the ids of an account's registered holds, oldest first. */
function idsUntil(newest: Entry): string[] {
  const ids: string[] = [];
  for (let entry: Entry | null = newest; entry !== null; entry = entry.older) ids.push(entry.hold.id);
  return ids.reverse();
}

/** What must be reported to one account. */
interface Report {
  /** Requests whose holds are to be re-asserted. */
  readonly due: Set<string>;
  /** Requests that have ended, with the time (monotonic ms). */
  readonly ended: Map<string, number>;
  /** Resolves when nothing is left to report; null when no report runs. */
  done: Promise<void> | null;
  /** Resolves when the next try should start at once. */
  hurry: PromiseWithResolvers<void>;
}

/** As much as one command may contain. */
interface ReportChunk {
  readonly holds: readonly RegisteredHold[];
  readonly ended: readonly (readonly [id: string, since: number])[];
}

/** The services of the registry. */
export interface HoldRegistryParts {
  readonly system: ActorSystem<Protocol>;
  readonly clock: Clock;
  readonly log: Log;
}

/** Creates the registry and subscribes it to moves and losses of accounts. */
export function createHoldRegistry(parts: HoldRegistryParts): HoldRegistry {
  const registry = new NodeHoldRegistry(parts);
  registry.subscribe();
  return registry;
}

class NodeHoldRegistry implements HoldRegistry {
  private readonly byId = new Map<string, Entry>();
  /** The newest hold of each account, which the older ones follow. */
  private readonly newest = new Map<AccountId, Entry>();
  private readonly reports = new Map<AccountId, Report>();
  private readonly asks = new Semaphore(AT_ONCE);
  private round = 0;

  constructor(private readonly parts: HoldRegistryParts) {}

  subscribe(): void {
    const { system } = this.parts;
    system.onMoved(async (concerns) => {
      this.round++;
      const moved = [...this.newest].filter(([account]) => concerns(actorRef.account(account)));
      await Promise.all(moved.map(([account, newest]) => this.report(account, { due: idsUntil(newest) })));
    });
    system.onResync(async ({ kind, id }) => {
      if (kind !== "account") return;
      this.round++;
      const account = Number(id) as AccountId;
      const newest = this.newest.get(account);
      if (newest === undefined) return;
      const reported = this.report(account, { due: idsUntil(newest) });
      this.reports.get(account)?.hurry.resolve();
      await reported;
    });
  }

  add(account: AccountId, hold: RegisteredHold, isAtOnce = false): void {
    const known = this.byId.get(hold.id);
    if (known !== undefined) {
      known.hold = hold;
      known.isAtOnce &&= isAtOnce;
      return;
    }
    const entry = new Entry(account, hold, isAtOnce);
    this.byId.set(hold.id, entry);
    const older = this.newest.get(account);
    if (older !== undefined) {
      entry.older = older;
      older.newer = entry;
    }
    this.newest.set(account, entry);
  }

  sent(id: string): void {
    const entry = this.byId.get(id);
    if (entry !== undefined) entry.isAtOnce = false;
  }

  isTakenAtOnce(id: string): boolean {
    const entry = this.byId.get(id);
    return entry?.isAtOnce === true && !entry.isReasserted;
  }

  grow(id: string, { cost, tokens }: { readonly cost: Nano; readonly tokens: number }): void {
    const entry = this.byId.get(id);
    if (entry === undefined) return;
    const { hold } = entry;
    if (cost > hold.cost || tokens > hold.tokens) {
      const more = { cost: Math.max(cost, hold.cost) as Nano, tokens: Math.max(tokens, hold.tokens) };
      entry.hold = { ...hold, ...more };
    }
  }

  reassert(id: string): void {
    const entry = this.byId.get(id);
    if (entry !== undefined) void this.report(entry.account, { due: [id] });
  }

  remove(id: string): void {
    const entry = this.forget(id);
    if (entry?.isReasserted) this.removeUnconfirmed(entry.account, id);
  }

  removeUnconfirmed(account: AccountId, id: string): void {
    this.forget(id);
    void this.report(account, { ended: id });
  }

  has(id: string): boolean {
    return this.byId.has(id);
  }

  size(): number {
    return this.byId.size;
  }

  heldCosts(): readonly (readonly [account: AccountId, cost: number])[] {
    return [...this.newest].map(([account, newest]) => {
      let cost = 0;
      for (let entry: Entry | null = newest; entry !== null; entry = entry.older) cost += entry.hold.cost;
      return [account, cost] as const;
    });
  }

  generation(): number {
    return this.round;
  }

  /** Resolves when everything is reported or need not be any more. */
  private report(account: AccountId, what: { due?: Iterable<string>; ended?: string }): Promise<void> {
    let report = this.reports.get(account);
    if (report === undefined) {
      report = { due: new Set(), ended: new Map(), done: null, hurry: Promise.withResolvers() };
      this.reports.set(account, report);
    }
    for (const id of what.due ?? []) report.due.add(id);
    if (what.ended !== undefined) report.ended.set(what.ended, this.parts.clock.mono());
    report.done ??= this.untilReported(account, report);
    return report.done;
  }

  private async untilReported(account: AccountId, report: Report): Promise<void> {
    const { clock, log } = this.parts;
    const { due, ended } = report;
    for (let pauseMs = PAUSE_MS; due.size + ended.size > 0; ) {
      const chunk = this.take(report);
      if (chunk.holds.length + chunk.ended.length === 0) continue;
      report.hurry = Promise.withResolvers();
      try {
        await this.asks.run(() => this.send(account, chunk));
        pauseMs = PAUSE_MS;
      } catch (error) {
        log("warn", "holds_untold", { account, error: String(error) });
        // The account does not exist, so it holds nothing.
        if (error instanceof RefusedError) break;
        for (const { id } of chunk.holds) due.add(id);
        for (const [id, since] of chunk.ended) ended.set(id, since);
        await Promise.race([sleep(clock, pauseMs), report.hurry.promise]);
        pauseMs = Math.min(2 * pauseMs, PAUSE_MS_MAX);
      }
    }
    // Deleted synchronously after the last check, so that a later report starts a new loop.
    this.reports.delete(account);
  }

  /** Takes out as much as one command may contain; what becomes due in the meantime is reported again. */
  private take({ due, ended }: Report): ReportChunk {
    const expired = this.parts.clock.mono() - HOLD_TTL_MS;
    const fresh = [...ended].filter(([, since]) => since > expired);
    ended.clear();
    const holds: RegisteredHold[] = [];
    let room = CHUNK_BYTES;
    for (const id of due) {
      if (room <= 0) break;
      due.delete(id);
      const entry = this.byId.get(id);
      if (entry === undefined) continue;
      entry.isReasserted = true;
      holds.push(entry.hold);
      room -= HOLD_BYTES + 4 * entry.hold.model.length;
    }
    return { holds, ended: fresh };
  }

  private async send(account: AccountId, { holds, ended }: ReportChunk): Promise<void> {
    const { system, clock, log } = this.parts;
    const expiresAt = clock.wall() + HOLD_TTL_MS;
    const input = {
      holds: holds.map((hold) => ({ ...hold, expiresAt })),
      ended: ended.map(([id]) => id),
    };
    const { dropped } = await system.ask(actorRef.account(account), "reassertHolds", input, {
      budgetMs: BUDGET_MS,
    });
    if (dropped > 0) log("error", "holds_dropped", { account, dropped });
  }

  private forget(id: string): Entry | undefined {
    const entry = this.byId.get(id);
    if (entry === undefined) return undefined;
    this.byId.delete(id);
    const { account, newer, older } = entry;
    if (older !== null) older.newer = newer;
    if (newer !== null) newer.older = older;
    else if (older !== null) this.newest.set(account, older);
    else this.newest.delete(account);
    return entry;
  }
}
