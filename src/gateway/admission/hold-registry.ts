// What the requests of this node hold, so that it can be told again to an account that has moved or has forgotten: the
// account keeps holds in memory alone (actors/account/reassert-holds.ts). One entry for each request from its admission until
// its charge is stored or its hold given back, also while the charge waits in the spool.
//
// A request may end while it is being told, and what was told may arrive last: whoever was told of it once is told of its
// end as well. What cannot be told is tried again until it is, until the request ends, or until nobody would hold anything
// for it any more; and at once when the account is known to be there again. It asks accounts for nothing else and decides
// nothing.

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

/** When a hold expires, and whose it is, is the account's business, and of whoever tells of it. */
export type RegisteredHold = Omit<Hold, "expiresAt" | "holder" | "counted">;

export interface HoldRegistry {
  /** The account has taken it, or taken it anew. */
  add(account: AccountId, hold: RegisteredHold): void;
  /** The request needs so much at least. */
  grow(id: string, need: { readonly cost: Nano; readonly tokens: number }): void;
  /** Tells the account once more what request `id` holds, if it is not over. Nobody waits for it. */
  reassert(id: string): void;
  /** Charged, or given back. */
  remove(id: string): void;
  /** As `ended`, where nobody knows whether the account has heard of it. */
  removeUnconfirmed(account: AccountId, id: string): void;
  has(id: string): boolean;
  /** Grows whenever accounts are told again: whoever was given a hold meanwhile was not among what was told. */
  generation(): number;
}

/** Accounts told at once. */
const AT_ONCE = 32;
/** Of one frame: the bus carries more, but an account should not think of nothing else. */
const CHUNK_BYTES = 256 * 1024;
/** A hold without its model's name. */
const HOLD_BYTES = 400;
const BUDGET_MS = 1_000;
const PAUSE_MS = 100;
const PAUSE_MOST_MS = 5_000;

interface Entry {
  readonly account: AccountId;
  hold: RegisteredHold;
  /** It was told again, or is being told. */
  told: boolean;
}

/** What an account is to be told. */
interface Telling {
  /** Requests whose holds it is told of. */
  readonly due: Set<string>;
  /** Those that are over, and since when (mono ms). */
  readonly over: Map<string, number>;
  /** Resolves when nothing is left to tell. */
  done: Promise<void> | null;
  /** Resolves when the next try need not wait. */
  hurry: PromiseWithResolvers<void>;
}

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
  system.onForgot(async ({ kind, id }) => {
    if (kind !== "account") return;
    round++;
    const account = Number(id) as AccountId;
    const entries = byAccount.get(account);
    if (entries === undefined) return;
    const told = tell(account, { due: entries.keys() });
    tellings.get(account)?.hurry.resolve();
    await told;
  });

  /** Resolves when it is told, or nothing is left of it. */
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
        // Nobody is there to hold anything.
        if (error instanceof RefusedError) break;
        for (const { id } of chunk.holds) due.add(id);
        for (const [id, since] of chunk.ended) over.set(id, since);
        await Promise.race([sleep(clock, pauseMs), telling.hurry.promise]);
        pauseMs = Math.min(2 * pauseMs, PAUSE_MOST_MS);
      }
    }
    // In the same breath as the last look: what becomes due from here on begins anew.
    tellings.delete(account);
  }

  /** As much as goes into a frame: taken out, so that what becomes due meanwhile is told once more. */
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
      over: ended.map(([id]) => id),
    };
    const { dropped } = await system.ask(actorRef.account(account), "holdAgain", input, {
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
