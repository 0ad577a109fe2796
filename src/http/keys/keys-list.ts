// GET /x-keys: an Owner's provider keys, one of them, or those of a Level or a provider, by pages.

import { type Static, Type } from "@sinclair/typebox";
import { actorRef } from "../../../actors/index.ts";
import type { ProviderKey } from "../../../actors/key-pool/key-pool.ts";
import { answer, endpoint, type ManagementAnswer } from "../endpoint.ts";
import type { ManagementParts } from "../management.ts";
import { keyIdOf, keyShape } from "../provider-keys/key-view.ts";
import { digits, pageHeaders, pageOf, textSchema } from "../schemas.ts";

const level = Type.String({ pattern: "^L?-?[0-9]{1,7}$", description: "must be a Level such as 2 or L2" });
const paging = { page: Type.Optional(digits), size: Type.Optional(digits) };

const ListQuery = Type.Object(
  {
    id: Type.Optional(digits),
    level: Type.Optional(level),
    provider: Type.Optional(textSchema(2_048)),
    ...paging,
  },
  { additionalProperties: false },
);

const Paging = Type.Object(paging, { additionalProperties: false });

/** spec: GET /x-keys. */
export const getKeys = (parts: ManagementParts) =>
  endpoint(parts, { who: "owner", query: ListQuery }, async ({ caller, query }) =>
    listed(await parts.system.ask(actorRef.keyPool(caller.profile.id), "list", {}), query),
  );

/** spec: GET /x-keys/{id}, GET /x-keys/L{n}, GET /x-keys/{provider}: one key, or those of a Level or a provider. */
export const getKey = (parts: ManagementParts) =>
  endpoint(parts, { who: "owner", query: Paging }, async ({ caller, query, params }) => {
    const pool = actorRef.keyPool(caller.profile.id);
    const which = params.key ?? "";
    if (/^[0-9]+$/.test(which)) {
      const key = await parts.system.ask(pool, "read", { id: keyIdOf(params) });
      return answer({ success: true, key: keyShape(key) });
    }
    const asked = /^L-?[0-9]{1,7}$/.test(which) ? { level: which } : { provider: which };
    return listed(await parts.system.ask(pool, "list", {}), { ...query, ...asked });
  });

/** Those of the keys that a query asks for, by pages; page or size 0: all at once. */
function listed(keys: readonly ProviderKey[], query: Static<typeof ListQuery>): ManagementAnswer {
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
  const headers = pageHeaders(found.length, paged ? { page, size } : null);
  return answer({ success: true, keys: shown.map(keyShape) }, headers);
}

/** By the whole URL in any spelling of it, by the host with its port, or by the host alone, whatever their case. */
function sameProvider(provider: string, asked: string): boolean {
  const { href, host, hostname } = new URL(provider);
  const wanted = asked.toLowerCase();
  return provider === asked || URL.parse(asked)?.href === href || wanted === host || wanted === hostname;
}
