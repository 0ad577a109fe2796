// What the endpoints of API keys do: find the account, read the settings, let the account decide, and state the act for the
// operation log. No secret is in a log line.

import { API_KEY_CHANGED, type ByKey } from "../../../actors/account/api-keys.ts";
import type { Profile } from "../../../actors/account/state.ts";
import type { ApiKeyId } from "../../../actors/ids.ts";
import { MAIN_API_KEY } from "../../../actors/ids.ts";
import { actorRef } from "../../../actors/index.ts";
import { addApiKey, rotateApiKey } from "../../admin/api-keys.ts";
import { RefusedError } from "../../base/errors.ts";
import { actorName } from "../../runtime/actor.ts";
import type { Store } from "../../store/store.ts";
import { findAccount } from "../accounts/account-lookup.ts";
import type { ManagementCall, ManagementCaller, ManagementParts } from "../management.ts";
import { positivePageOf } from "../schemas.ts";
import { apiKeyShape, mainKeyShape } from "./key-shape.ts";
import type { ApiKeyFields, ApiKeyShape } from "./schemas.ts";
import { keyChange, newKeySettings } from "./settings.ts";

/** What the endpoints of API keys need. */
export interface ApiKeysParts extends ManagementParts {
  readonly store: Store;
}

/** Keys of a page, and the most of one. */
const PAGE = { size: 100, most: 1_000 };

/** Where a key is: the account that a query names, or the caller's own. */
export interface KeyAccountQuery {
  readonly user?: string;
}

/** Returns the account whose keys a call is about: the caller's own, or a descendant's. Throws as `findAccount` does. */
async function keyAccount(
  parts: ApiKeysParts,
  caller: ManagementCaller,
  { user }: KeyAccountQuery,
): Promise<Profile> {
  if (user === undefined) return caller.profile;
  return (await findAccount(parts, caller, user, "update")).record.profile;
}

/** Lists the keys of an account, the main key first. */
export async function listKeysOf(
  parts: ApiKeysParts,
  { caller }: ManagementCall,
  query: KeyAccountQuery & { readonly page?: string; readonly size?: string },
) {
  const { page, size } = positivePageOf(query, PAGE);
  const { id } = await keyAccount(parts, caller, query);
  const found = await parts.system.ask(actorRef.account(id), "apiKeys", {});
  const total = found.keys.length + 1;
  const from = (page - 1) * size;
  const named = found.keys.slice(Math.max(0, from - 1), from + size - 1).map(apiKeyShape);
  const keys = from === 0 ? [mainKeyShape(found, await mainKeyUsedAt(parts, id)), ...named] : named;
  return { keys, total, page, size, has_more: page * size < total };
}

/** Returns when the main key was last charged: the state of an account says it of named keys only. */
async function mainKeyUsedAt({ store }: ApiKeysParts, id: Profile["id"]): Promise<number | null> {
  const actor = actorName(actorRef.account(id));
  const { lines } = await store.lines({ actor, apiKey: MAIN_API_KEY }, null, 1);
  return lines[0]?.at ?? null;
}

/** Adds a key. Returns its secret, this once. */
export async function addKeyTo(
  parts: ApiKeysParts,
  call: ManagementCall,
  query: KeyAccountQuery,
  body: ApiKeyFields & { readonly Name: string },
) {
  const profile = await keyAccount(parts, call.caller, query);
  // A refused key has no id, so the line is about its account.
  call.audit.setTarget({ type: "user", id: profile.id, dna: profile.dna });
  const settings = newKeySettings(body, parts.clock.wall());
  const order = { settings, ...byOf(call.caller), command: call.command };
  const { row, secret } = await addApiKey(parts, profile.id, order);
  parts.identify.forget(row.hash);
  target(call, profile, row.id);
  call.audit.addChanges(logged(apiKeyShape(row)));
  return { success: true as const, key: apiKeyShape(row), secret };
}

/** Changes a key, all or nothing. */
export async function changeKey(
  parts: ApiKeysParts,
  call: ManagementCall,
  { id, query }: { readonly id: ApiKeyId; readonly query: KeyAccountQuery },
  body: ApiKeyFields,
) {
  const profile = await keyAccount(parts, call.caller, query);
  target(call, profile, id);
  if (Object.keys(body).length === 0) {
    throw new RefusedError({ code: "missing_parameter", message: "Give at least one field to change." });
  }
  const { row, before } = await changed(parts, call, profile, id, body);
  call.audit.addChanges(logged(apiKeyShape(row)), logged(apiKeyShape({ ...row, ...before })));
  return { success: true as const, key: apiKeyShape(row) };
}

/** A list of models is edited item by item, so it is read and edited anew when it has changed meanwhile. */
async function changed(
  parts: ApiKeysParts,
  { caller }: ManagementCall,
  { id: account }: Profile,
  apiKey: ApiKeyId,
  body: ApiKeyFields,
) {
  const at = actorRef.account(account);
  for (;;) {
    const { keys } = await parts.system.ask(at, "apiKeys", {});
    const allowModels = keys.find(({ id }) => id === apiKey)?.allowModels ?? [];
    const change = keyChange(body, { allowModels, now: parts.clock.wall() });
    const editedFrom = body.AllowModels === undefined ? null : allowModels;
    try {
      return await parts.system.ask(at, "changeApiKey", { apiKey, change, editedFrom, ...byOf(caller) });
    } catch (error) {
      if (!(error instanceof RefusedError) || error.refusal.code !== API_KEY_CHANGED) throw error;
    }
  }
}

/** Gives a key another secret, which is returned this once. */
export async function rotateKeyOf(
  parts: ApiKeysParts,
  call: ManagementCall,
  { id, query }: { readonly id: ApiKeyId; readonly query: KeyAccountQuery },
  { OverlapSeconds = 0 }: { readonly OverlapSeconds?: number },
) {
  const profile = await keyAccount(parts, call.caller, query);
  target(call, profile, id);
  const order = {
    apiKey: id,
    overlapMs: OverlapSeconds * 1_000,
    ...byOf(call.caller),
    command: call.command,
  };
  const { row, secret } = await rotateApiKey(parts, profile.id, order);
  parts.identify.forget(row.hash);
  const { public_key, overlap_until } = apiKeyShape(row);
  call.audit.addChanges({ account: profile.id, name: row.name, public_key, overlap_until });
  return { success: true as const, key: apiKeyShape(row), secret };
}

/** Deletes a key at once. */
export async function deleteKeyOf(
  parts: ApiKeysParts,
  call: ManagementCall,
  { id, query }: { readonly id: ApiKeyId; readonly query: KeyAccountQuery },
) {
  const profile = await keyAccount(parts, call.caller, query);
  target(call, profile, id);
  const { row } = await parts.system.ask(actorRef.account(profile.id), "deleteApiKey", {
    apiKey: id,
    ...byOf(call.caller),
  });
  call.audit.addChanges({ account: profile.id, name: row.name });
  return { success: true as const, key: apiKeyShape(row) };
}

const byOf = ({ key, keyHash }: ManagementCaller): ByKey => ({ by: key, byHash: keyHash });

const target = ({ audit }: ManagementCall, { id: account, dna }: Profile, id: ApiKeyId): void =>
  audit.setTarget({ type: "api_key", id, account, dna });

/** Returns what a line of the operation log says of a key: its settings. */
function logged(shape: ApiKeyShape) {
  const { id: _, created_at: __, last_used_at: ___, ...settings } = shape;
  const { cost_today: ____, cost_month: _____, cost_total: ______, created_by: _______, ...shown } = settings;
  return shown;
}
