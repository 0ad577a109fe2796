// What providers keep for an account under ids of their own (responses, their items, conversations): which key made each of
// them, so that nobody else's are ever asked for, and no other key is. Kept thirty days, as the makers do at least.
//
// An id counts for the account that it was made for alone: another account's is not there, and two providers that mint the
// same one do not meet.

import type { AccountId, ProviderKeyId } from "../../../actors/ids.ts";
import { DAY_MS } from "../../../actors/time.ts";
import { atMost, type Clock } from "../../base/clock.ts";
import { UnavailableError } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import { lruCache } from "../../base/lru-cache.ts";
import type { Store } from "../../store/store.ts";

export interface StoredObject {
  readonly key: ProviderKeyId;
  /** What it was made with: a provider may be asked by it. */
  readonly model: string;
  /** Tokens of the answer that made it, prompt included: so many a request that refers to it brings along at least. */
  readonly tokens: number;
}

export interface StoredObjectIndex {
  /** Where those of them lie that are known, by id. */
  find(account: AccountId, ids: readonly string[]): Promise<ReadonlyMap<string, StoredObject>>;
  /** Durable when it resolves; what cannot be stored in time is logged, and known here for a while. */
  keep(account: AccountId, at: StoredObject, ids: readonly string[]): Promise<void>;
  /** It is gone. */
  forget(account: AccountId, id: string): Promise<void>;
}

const KEPT_MS = 30 * DAY_MS;
/** No provider's ids are longer. */
const ID_MOST = 1_024;
/** Of one answer. */
const IDS_MOST = 1_000;
const KNOWN_MOST = 10_000;
const KNOWN_MS = 600_000;

export function createStoredObjectIndex(parts: {
  store: Pick<Store, "find" | "putRecords" | "removeRecords">;
  clock: Clock;
  log: Log;
  /** So long an answer waits for its ids. */
  waitMs: number;
}): StoredObjectIndex {
  const { store, clock, log, waitMs } = parts;
  const known = lruCache<string, Known>({ clock, most: KNOWN_MOST, ttlMs: KNOWN_MS });

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
      const asked: string[] = [];
      for (const id of ids) {
        const at = known.get(nameOf(account, id));
        if (at !== undefined && at.until > clock.wall()) found.set(id, at);
        else if (isFit(id)) asked.push(id);
      }
      if (asked.length > 0) await read(account, asked, found);
      return found;
    },
    async keep(account, at, ids) {
      const until = clock.wall() + KEPT_MS;
      const fit = ids.filter(isFit).slice(0, IDS_MOST);
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
  /** Wall ms. */
  readonly until: number;
}

interface Row extends Known {
  readonly id: string;
  readonly account: AccountId;
}

const nameOf = (account: AccountId, id: string): string => `${account}:${id}`;

/** A lone surrogate is stored as another character: such an id would be found by a name that nobody gave it. */
const isFit = (id: string): boolean => id.length <= ID_MOST && id.isWellFormed();
