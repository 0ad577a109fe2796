// Lists of an Owner's provider keys: all, one, or those of a Level or a provider, by pages.

import type { Static } from "@sinclair/typebox";
import { actorRef } from "../../../actors/index.ts";
import type { ProviderKey } from "../../../actors/key-pool/key-pool.ts";
import { jsonArray, rawAnswer, streamed } from "../json-stream.ts";
import type { ManagementCall } from "../management.ts";
import { pageHeaders, pageOf } from "../schemas.ts";
import type { KeysParts } from "./key-changes.ts";
import { eachKeyRow, keyRows } from "./key-rows.ts";
import { keyIdOf } from "./key-view.ts";
import type { KeyListSchema, KeyOrKeysSchema, KeyQuerySchema, KeysQuerySchema } from "./schemas.ts";

type Paging = Static<typeof KeyQuerySchema>;
type Filter = Static<typeof KeysQuerySchema>;
type Headers = { headers: object };

/** Returns one key, or those of a Level or a provider. */
export async function findKeys(
  parts: KeysParts,
  call: ManagementCall,
  which: string,
  query: Paging,
  set: Headers,
): Promise<Static<typeof KeyOrKeysSchema>> {
  const owner = call.caller.profile.id;
  if (/^[0-9]+$/.test(which)) {
    const key = await parts.system.ask(actorRef.keyPool(owner), "read", { id: keyIdOf(which) });
    return { success: true, key: (await keyRows(parts, owner, [key]))[0]! };
  }
  const filter = /^L-?[0-9]{1,7}$/.test(which) ? { level: which } : { provider: which };
  return listKeys(parts, call, { ...query, ...filter }, set);
}

/** Returns the keys that a query matches, by pages; page or size 0 means all at once, which are sent while they are read. */
export async function listKeys(
  parts: KeysParts,
  { caller }: ManagementCall,
  query: Filter,
  set: Headers,
): Promise<Static<typeof KeyListSchema>> {
  const owner = caller.profile.id;
  const found = matching(await parts.system.ask(actorRef.keyPool(owner), "list", {}), query);
  const { page, size } = pageOf(query, { size: 100, most: 1_000 });
  const paged = page !== 0 && size !== 0;
  Object.assign(set.headers, pageHeaders(found.length, paged ? { page, size } : null));
  if (paged) {
    const shown = found.slice((page - 1) * size, page * size);
    return { success: true, keys: await keyRows(parts, owner, shown) };
  }
  const rows = jsonArray(eachKeyRow(parts, owner, found), (row) => row, ['{"success":true,"keys":', "}"]);
  return rawAnswer<Static<typeof KeyListSchema>>(await streamed(rows));
}

function matching(keys: readonly ProviderKey[], query: Filter): readonly ProviderKey[] {
  const level = query.level === undefined ? null : Number(query.level.replace("L", ""));
  return keys.filter(
    (key) =>
      (query.id === undefined || key.id === Number(query.id)) &&
      (level === null || key.level === level) &&
      (query.provider === undefined || sameProvider(key.provider, query.provider)),
  );
}

/** Compares by the whole URL in any spelling, by the host with its port, or by the host alone, without regard to case. */
function sameProvider(provider: string, asked: string): boolean {
  const { href, host, hostname } = new URL(provider);
  const wanted = asked.toLowerCase();
  return provider === asked || URL.parse(asked)?.href === href || wanted === host || wanted === hostname;
}
