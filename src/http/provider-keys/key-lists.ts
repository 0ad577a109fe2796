// Lists of an Owner's provider keys: all, one, or those of a Level or a provider, by pages.

import type { Static } from "@sinclair/typebox";
import { actorRef } from "../../../actors/index.ts";
import type { ProviderKey } from "../../../actors/key-pool/key-pool.ts";
import type { ManagementCall, ManagementParts } from "../management.ts";
import { pageHeaders, pageOf } from "../schemas.ts";
import { keyIdOf, keyShape } from "./key-view.ts";
import type { KeyListSchema, KeyOrKeysSchema, KeyQuerySchema, KeysQuerySchema } from "./schemas.ts";

type Paging = Static<typeof KeyQuerySchema>;
type Headers = { headers: object };

/** Returns one key, or those of a Level or a provider. */
export async function findKeys(
  { system }: ManagementParts,
  { caller }: ManagementCall,
  which: string,
  query: Paging,
  set: Headers,
): Promise<Static<typeof KeyOrKeysSchema>> {
  const pool = actorRef.keyPool(caller.profile.id);
  if (/^[0-9]+$/.test(which)) {
    const key = await system.ask(pool, "read", { id: keyIdOf(which) });
    return { success: true, key: keyShape(key) };
  }
  const filter = /^L-?[0-9]{1,7}$/.test(which) ? { level: which } : { provider: which };
  return listKeys(await system.ask(pool, "list", {}), { ...query, ...filter }, set);
}

/** Returns the keys that a query matches, by pages; page or size 0 means all at once. */
export function listKeys(
  keys: readonly ProviderKey[],
  query: Static<typeof KeysQuerySchema>,
  set: Headers,
): Static<typeof KeyListSchema> {
  const level = query.level === undefined ? null : Number(query.level.replace("L", ""));
  const found = keys.filter(
    (key) =>
      (query.id === undefined || key.id === Number(query.id)) &&
      (level === null || key.level === level) &&
      (query.provider === undefined || sameProvider(key.provider, query.provider)),
  );
  const { page, size } = pageOf(query, { size: 100, most: 1_000 });
  const paged = page !== 0 && size !== 0;
  const shown = paged ? found.slice((page - 1) * size, page * size) : found;
  Object.assign(set.headers, pageHeaders(found.length, paged ? { page, size } : null));
  return { success: true, keys: shown.map(keyShape) };
}

/** Compares by the whole URL in any spelling, by the host with its port, or by the host alone, without regard to case. */
function sameProvider(provider: string, asked: string): boolean {
  const { href, host, hostname } = new URL(provider);
  const wanted = asked.toLowerCase();
  return provider === asked || URL.parse(asked)?.href === href || wanted === host || wanted === hostname;
}
