// A provider key as responses and the operation log show it, with masks in place of secrets, and how a path names one.

import type { ProviderKeyId } from "../../../actors/ids.ts";
import type { ProviderKey } from "../../../actors/key-pool/key-pool.ts";
import { RefusedError } from "../../base/errors.ts";

/** Returns a key as responses show it. */
export const keyShape = (key: ProviderKey) => ({
  ID: key.id,
  Name: key.name,
  Level: key.level,
  Provider: key.provider,
  SecretKey: key.mask,
  Status: key.status,
  Config: key.privateKey ? { ...key.config, private_key: key.privateKey.mask } : key.config,
  CreatedAt: new Date(key.createdAt).toISOString(),
  UpdatedAt: new Date(key.updatedAt).toISOString(),
});

/** Returns what the operation log shows of a key: all that a caller may set, with secrets masked. */
export function auditFieldsOf(key: ProviderKey) {
  const { Name, Level, Provider, SecretKey, Status, Config } = keyShape(key);
  return { Name, Level, Provider, SecretKey, Status, Config };
}

/** Returns secrets that were replaced by others with the same mask, which a comparison of masks would not show. */
export function unseenSecrets(was: ProviderKey, is: ProviderKey): Readonly<Record<string, string>> {
  const pairs = {
    SecretKey: [was, is],
    "Config.private_key": [was.privateKey, is.privateKey],
  } as const;
  return Object.fromEntries(
    Object.entries(pairs)
      .filter(([, [old, now]]) => old && now && old.mask === now.mask && old.secret.box !== now.secret.box)
      .map(([field]) => [field, "another of the same mask"]),
  );
}

/** Reads a key's number from a path. Throws `key_not_found` for what no key can be called. */
export function keyIdOf(text: string): ProviderKeyId {
  if (/^[0-9]{1,15}$/.test(text)) return Number(text) as ProviderKeyId;
  throw new RefusedError({
    code: "key_not_found",
    message: "There is no such key: a key is called by its number, which GET /x-keys shows as ID.",
  });
}
