// This node's copy of the holds of its running requests, from which it re-asserts them to an account that has
// moved or lost them: the account keeps holds only in memory (actors/account/reassert-holds.ts). An entry
// lives from admission until the charge is stored or the hold cancelled, also while the charge waits in the
// spool.
//
// A request may end while its hold is being re-asserted, and that message may arrive last. So every hold that
// was ever re-asserted is also reported as ended. A failed report is retried until it succeeds, until the
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
  /** Adds a hold that the account has taken, or replaces it. */
  add(account: AccountId, hold: RegisteredHold): void;
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

interface Entry {
  readonly account: AccountId;
  hold: RegisteredHold;
  /** The hold was re-asserted, or is being so. */
  told: boolean;
}

/** What must be reported to one account. */
interface Telling {
  /** Requests whose holds are to be re-asserted. */
  readonly due: Set<string>;
  /** Requests that have ended, with the time (monotonic ms). */
  readonly over: Map<string, number>;
  /** Resolves when nothing is left to report; null when no report runs. */
  done: Promise<void> | null;
  /** Resolves when the next try should start at once. */
  hurry: PromiseWithResolvers<void>;
}

/** Creates the registry and subscribes it to moves and losses of accounts. */
export function createHoldRegistry(parts: {
  system: ActorSystem<Protocol>;
  clock: Clock;
  log: Log;
}): HoldRegistry {
  const { system, clock, log } = parts;
  const byId = new Map<string, Entry>();
  const byAccount = new Map<AccountId, Map<string, Entry>>();
  const tellings = new Map<AccountId, Telling>();
  const asks = new Semaphore(AT_ONCE);
  let round = 0;

  system.onMoved(async (concerns) => {
    round++;
    const moved = [...byAccount].filter(([account]) => concerns(actorRef.account(account)));
    await Promise.all(moved.map(([account, entries]) => tell(account, { due: entries.keys() })));
  });
  system.onResync(async ({ kind, id }) => {
    if (kind !== "account") return;
    round++;
    const account = Number(id) as AccountId;
    const entries = byAccount.get(account);
    if (entries === undefined) return;
    const told = tell(account, { due: entries.keys() });
    tellings.get(account)?.hurry.resolve();
    await told;
  });

  /** Resolves when everything is reported or need not be any more. */
  function tell(account: AccountId, what: { due?: Iterable<string>; over?: string }): Promise<void> {
    let telling = tellings.get(account);
    if (telling === undefined) {
      telling = { due: new Set(), over: new Map(), done: null, hurry: Promise.withResolvers() };
      tellings.set(account, telling);
    }
    for (const id of what.due ?? []) telling.due.add(id);
    if (what.over !== undefined) telling.over.set(what.over, clock.mono());
    telling.done ??= untilTold(account, telling);
    return telling.done;
  }

  async function untilTold(account: AccountId, telling: Telling): Promise<void> {
    const { due, over } = telling;
    for (let pauseMs = PAUSE_MS; due.size + over.size > 0; ) {
      const chunk = take(telling);
      if (chunk.holds.length + chunk.ended.length === 0) continue;
      telling.hurry = Promise.withResolvers();
      try {
        await asks.run(() => send(account, chunk));
        pauseMs = PAUSE_MS;
      } catch (error) {
        log("warn", "holds_untold", { account, error: String(error) });
        // The account does not exist, so it holds nothing.
        if (error instanceof RefusedError) break;
        for (const { id } of chunk.holds) due.add(id);
        for (const [id, since] of chunk.ended) over.set(id, since);
        await Promise.race([sleep(clock, pauseMs), telling.hurry.promise]);
        pauseMs = Math.min(2 * pauseMs, PAUSE_MS_MAX);
      }
    }
    // Deleted synchronously after the last check, so that a later report starts a new loop.
    tellings.delete(account);
  }

  /** Takes out as much as one command may contain; what becomes due in the meantime is reported again. */
  function take({ due, over }: Telling) {
    const expired = clock.mono() - HOLD_TTL_MS;
    const ended = [...over].filter(([, since]) => since > expired);
    over.clear();
    const holds: RegisteredHold[] = [];
    let room = CHUNK_BYTES;
    for (const id of due) {
      if (room <= 0) break;
      due.delete(id);
      const entry = byId.get(id);
      if (entry === undefined) continue;
      entry.told = true;
      holds.push(entry.hold);
      room -= HOLD_BYTES + 4 * entry.hold.model.length;
    }
    return { holds, ended };
  }

  async function send(account: AccountId, { holds, ended }: ReturnType<typeof take>): Promise<void> {
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

  function forget(id: string): Entry | undefined {
    const entry = byId.get(id);
    if (entry === undefined) return undefined;
    byId.delete(id);
    const beside = byAccount.get(entry.account);
    beside?.delete(id);
    if (beside?.size === 0) byAccount.delete(entry.account);
    return entry;
  }

  function removeUnconfirmed(account: AccountId, id: string): void {
    forget(id);
    void tell(account, { over: id });
  }

  return {
    add(account, hold) {
      const known = byId.get(hold.id);
      if (known !== undefined) {
        known.hold = hold;
        return;
      }
      const entry = { account, hold, told: false };
      byId.set(hold.id, entry);
      const beside = byAccount.get(account);
      if (beside === undefined) byAccount.set(account, new Map([[hold.id, entry]]));
      else beside.set(hold.id, entry);
    },
    grow(id, { cost, tokens }) {
      const entry = byId.get(id);
      if (entry === undefined) return;
      const { hold } = entry;
      if (cost > hold.cost || tokens > hold.tokens) {
        const more = { cost: Math.max(cost, hold.cost) as Nano, tokens: Math.max(tokens, hold.tokens) };
        entry.hold = { ...hold, ...more };
      }
    },
    reassert(id) {
      const entry = byId.get(id);
      if (entry !== undefined) void tell(entry.account, { due: [id] });
    },
    remove(id) {
      const entry = forget(id);
      if (entry?.told) removeUnconfirmed(entry.account, id);
    },
    removeUnconfirmed,
    has: (id) => byId.has(id),
    generation: () => round,
  };
}
