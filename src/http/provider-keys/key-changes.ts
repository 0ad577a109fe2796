// What changes a provider key: adding, changing, deleting and testing it. Secrets go in, and of them only masks come out.

import type { Static } from "@sinclair/typebox";
import type { AddedKey, NewKey } from "../../admin/add-key.ts";
import type { KeyChanges } from "../../admin/change-key.ts";
import type { KeyTest, KeyTested } from "../../admin/test-key.ts";
import { RefusedError } from "../../base/errors.ts";
import type { Store } from "../../store/store.ts";
import type { ManagementCall, ManagementParts } from "../management.ts";
import { auditFieldsOf, keyIdOf, keyShape, unseenSecrets } from "./key-view.ts";
import { KeyUpdateSchema, type NewProviderKeySchema } from "./schemas.ts";

/** What endpoints of provider keys need. */
export interface KeysParts extends ManagementParts {
  readonly store: Store;
  readonly addKey: (key: NewKey) => Promise<AddedKey>;
  readonly changeKey: KeyChanges;
  readonly testKey: (test: KeyTest) => Promise<KeyTested>;
}

/** Adds a key. Source: specification, `POST /x-keys`. */
export async function addKey(
  parts: KeysParts,
  { caller, audit }: ManagementCall,
  body: Static<typeof NewProviderKeySchema>,
) {
  const { private_key: privateKey = null, ...config } = body.Config ?? {};
  const { key, levelMapper } = await parts.addKey({
    owner: caller.profile.id,
    name: (body.Name ?? "").toWellFormed(),
    level: body.Level,
    provider: body.Provider,
    secret: body.SecretKey,
    privateKey,
    status: body.Status ?? true,
    config,
  });
  audit.setTarget({ type: "key", id: key.id });
  audit.addChanges(auditFieldsOf(key));
  return { success: true as const, Action: "add" as const, key: keyShape(key), LevelMapper: levelMapper };
}

/** Changes the given fields of a key. Source: specification, `PUT /x-keys/{id}`. */
export async function updateKey(
  parts: KeysParts,
  { caller, audit }: ManagementCall,
  key: string,
  body: Static<typeof KeyUpdateSchema>,
) {
  const { Name, Level, Provider, SecretKey, Status, Sleep, Config } = body;
  if (Object.keys(body).length === 0) {
    const fields = Object.keys(KeyUpdateSchema.properties).join(", ");
    throw new RefusedError({ code: "missing_parameter", message: `Give at least one of ${fields}.` });
  }
  const { private_key: privateKey, ...config } = Config ?? {};
  const name = Name?.toWellFormed();
  const settings = Config === undefined ? undefined : config;
  const change = definedFields({ name, level: Level, provider: Provider, status: Status, config: settings });
  const id = keyIdOf(key);
  audit.setTarget({ type: "key", id });
  const wake = Sleep === false;
  const edit = { owner: caller.profile.id, id, change, secret: SecretKey, privateKey, wake };
  const { before, key: after } = await parts.changeKey.edit(edit);
  audit.addChanges(auditFieldsOf(after), auditFieldsOf(before));
  audit.addChanges({ ...unseenSecrets(before, after), ...(wake ? { Sleep } : {}) });
  return { success: true as const, Action: "update" as const, key: keyShape(after) };
}

/** Deletes a key and returns it as it was. */
export async function deleteKey(parts: KeysParts, { caller, audit }: ManagementCall, key: string) {
  const id = keyIdOf(key);
  audit.setTarget({ type: "key", id });
  const deleted = await parts.changeKey.remove(caller.profile.id, id);
  audit.addChanges(auditFieldsOf(deleted));
  return { success: true as const, Action: "delete" as const, key: keyShape(deleted) };
}

/** Makes one real call through the key. A key that does not work is an answer like any other. */
export async function testKey(
  parts: KeysParts,
  { caller, requestId }: ManagementCall,
  key: string,
  model: string | undefined,
) {
  const test = { owner: caller.profile.id, id: keyIdOf(key), model: model?.toWellFormed(), requestId };
  const { latencyMs, ...result } = await parts.testKey(test);
  return { ...result, latency_ms: latencyMs };
}

/** Returns the fields that are not undefined, which are those that were sent. */
const definedFields = <T extends object>(fields: T) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };
