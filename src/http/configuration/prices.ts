// `/x-prices`: an Owner's prices beside the list prices, with what was used of each model. Sums of usage take long over a large
// tree, so they are made apart from the event loop and kept for a minute; prices are as they are now.

import type { Static } from "@sinclair/typebox";
import type { Profile } from "../../../actors/account/state.ts";
import { type AccountId, dnaBelow, ROOT } from "../../../actors/ids.ts";
import { actorRef } from "../../../actors/index.ts";
import { type PriceTable, priceTable } from "../../../actors/pricing/price-table.ts";
import { DAY_MS, dayOf, MINUTE_MS } from "../../../actors/time.ts";
import { SingleFlight } from "../../base/coalesce.ts";
import { LruCache } from "../../base/lru-cache.ts";
import { PriceList, type PriceRow } from "../../report/price-list.ts";
import type { ManagementCall } from "../management.ts";
import { positivePageOf } from "../schemas.ts";
import type { ConfigurationParts } from "./config-changes.ts";
import type { PricesQuerySchema, PricesSchema } from "./schemas.ts";

const PAGE = { size: 100, most: 1_000 };
/** Days of `requests_30d`, today included. */
const DAYS = 30;
/** Owners whose usage is kept, and for how long. */
const USED = { most: 100, ttlMs: MINUTE_MS };
/** Models of a tree whose requests are known: those with the most. */
const MODELS_MAX = 5_000;
const TABLES = { most: 100, ttlMs: 60 * MINUTE_MS };
/** Rows that are looked up in one turn of the event loop. */
const SLICE = 100;

type Used = ReadonlyMap<string, number>;

/** Returns a function that lists the prices of an Owner. It rejects with `StoreBusyError` while too much is summed. */
export function createPriceLists({ system, store, clock }: ConfigurationParts) {
  const used = new LruCache<AccountId, Used>({ clock, ...USED });
  const summing = new SingleFlight<AccountId, Used>();
  const tables = new LruCache<AccountId, { readonly version: number; readonly prices: PriceTable }>({
    clock,
    ...TABLES,
  });

  async function sum({ id, dna }: Pick<Profile, "id" | "dna">): Promise<Used> {
    const now = clock.wall();
    const days = { from: dayOf(now - (DAYS - 1) * DAY_MS), to: dayOf(now), by: ["model"] } as const;
    const requests = new Map<string, number>();
    // Root's prices serve Root alone.
    const whose = id === ROOT ? [{ ids: [id] }] : [{ ids: [id] }, { dna: dnaBelow(dna, id) }];
    for (const accounts of whose) {
      for (const row of await store.usageTotals({ ...days, accounts })) {
        requests.set(row.model!, (requests.get(row.model!) ?? 0) + row.requests);
      }
    }
    const most = [...requests].sort((a, b) => b[1] - a[1]).slice(0, MODELS_MAX);
    const kept = new Map(most);
    used.set(id, kept);
    return kept;
  }

  return async (
    { caller }: ManagementCall,
    query: Static<typeof PricesQuerySchema>,
  ): Promise<Static<typeof PricesSchema>> => {
    const { page, size } = positivePageOf(query, PAGE);
    const { id } = caller.profile;
    const counted = used.get(id) ?? (await summing.run(id, () => sum(caller.profile)));
    const { version, pricing } = await system.ask(actorRef.owner(id), "read", {});
    let table = tables.get(id);
    if (table?.version !== version) {
      table = { version, prices: priceTable(pricing) };
      tables.set(id, table);
    }
    const list = new PriceList({ pricing, prices: table.prices, used: counted }, query.q ?? "");
    const [first, last] = [(page - 1) * size, Math.min(page * size, list.size)];
    const prices: ReturnType<typeof rowShape>[] = [];
    for (let from = first; from < last; from += SLICE) {
      if (from > first) await new Promise(setImmediate);
      prices.push(...list.slice(from, Math.min(from + SLICE, last)).map(rowShape));
    }
    return { prices, total: list.size, page, size, has_more: page * size < list.size };
  };
}

const rowShape = ({ pricedBy, requests, ...row }: PriceRow) => ({
  ...row,
  priced_by: pricedBy,
  requests_30d: requests,
});
