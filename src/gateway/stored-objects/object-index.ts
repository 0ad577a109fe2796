// Which key created each object that providers store for an account (responses, their items, conversations),
// so that an account reaches only its own objects, and through no other key. Entries live 30 days, the least
// time that the makers keep them.
//
// An id is valid only for the account it was created for. Ids of different accounts are independent, so two
// providers that issue the same id do not collide across accounts.

import type { AccountId, ProviderKeyId } from "../../../actors/ids.ts";
import { DAY_MS } from "../../../actors/time.ts";
import { atMost, type Clock } from "../../base/clock.ts";
import { UnavailableError } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import { LruCache } from "../../base/lru-cache.ts";
import type { Store } from "../../store/store.ts";

/** Where a stored object is. */
export interface StoredObject {
  readonly key: ProviderKeyId;
  /** The model it was created with, by which some providers are addressed. */
  readonly model: string;
  /**
   * Tokens of the answer that created it, including the prompt: the least that a request referring to it adds
   * to its own.
   */
  readonly tokens: number;
}

/** The index of this node over the store. */
export interface StoredObjectIndex {
  /**
   * Returns the known ones of these objects by id. Throws `UnavailableError` when the store cannot be read.
   */
  find(account: AccountId, ids: readonly string[]): Promise<ReadonlyMap<string, StoredObject>>;
  /**
   * Stores the ids. Durable when it resolves, except after `waitMs` or an error, which is logged; this node
   * then still knows them for a while. Never rejects.
   */
  keep(account: AccountId, at: StoredObject, ids: readonly string[]): Promise<void>;
  /** Removes an id. Errors are logged. */
  forget(account: AccountId, id: string): Promise<void>;
}

const KEPT_MS = 30 * DAY_MS;
/** The longest id that is stored. */
const ID_MAX = 1_024;
/** The number of ids that are stored of one answer. */
const IDS_MAX = 1_000;
const KNOWN_MAX = 10_000;
const KNOWN_MS = 600_000;

/** Creates the index with its cache. */
export function createStoredObjectIndex(parts: {
  store: Pick<Store, "find" | "putRecords" | "removeRecords">;
  clock: Clock;
  log: Log;
  /** Milliseconds that an answer waits until its ids are stored. */
  waitMs: number;
}): StoredObjectIndex {
  const { store, clock, log, waitMs } = parts;
  const known = new LruCache<string, Known>({ clock, most: KNOWN_MAX, ttlMs: KNOWN_MS });

  async function read(
    account: AccountId,
    ids: readonly string[],
    into: Map<string, StoredObject>,
  ): Promise<void> {
    const names = ids.map((id) => nameOf(account, id));
    const now = clock.wall();
    const where = [{ field: "id", is: "in", value: names }] as const;
    const rows = await store.find({ table: "objects", where, order: "id" }).catch((error) => {
      throw new UnavailableError("objects", String(error));
    });
    for (const row of rows) {
      const { id, key, model, tokens, until } = row as unknown as Row;
      if (until <= now) continue;
      const at = { key, model, tokens, until };
      known.set(id, at);
      into.set(id.slice(nameOf(account, "").length), at);
    }
  }

  return {
    async find(account, ids) {
      const found = new Map<string, StoredObject>();
      const missing: string[] = [];
      for (const id of ids) {
        const at = known.get(nameOf(account, id));
        if (at !== undefined && at.until > clock.wall()) found.set(id, at);
        else if (isFit(id)) missing.push(id);
      }
      if (missing.length > 0) await read(account, missing, found);
      return found;
    },
    async keep(account, at, ids) {
      const until = clock.wall() + KEPT_MS;
      const fit = ids.filter(isFit).slice(0, IDS_MAX);
      const rows = fit.map((id): Row => ({ id: nameOf(account, id), account, until, ...at }));
      for (const { id } of rows) known.set(id, { ...at, until });
      const records = rows.map((row) => ({ table: "objects", id: row.id, body: { ...row } }) as const);
      const put = store
        .putRecords(records)
        .catch((error) => log("error", "objects_not_kept", { account, key: at.key, error: String(error) }));
      await atMost(clock, waitMs, put);
    },
    async forget(account, id) {
      const name = nameOf(account, id);
      known.delete(name);
      await store
        .removeRecords("objects", [name])
        .catch((error) => log("warn", "object_not_forgotten", { account, error: String(error) }));
    },
  };
}

interface Known extends StoredObject {
  /** Wall-clock ms at which the entry expires. */
  readonly until: number;
}

interface Row extends Known {
  readonly id: string;
  readonly account: AccountId;
}

const nameOf = (account: AccountId, id: string): string => `${account}:${id}`;

/**
 * Returns whether the id can be stored. A lone surrogate would be stored as another character, and the entry
 * would be found under a different id.
 */
const isFit = (id: string): boolean => id.length <= ID_MAX && id.isWellFormed();
