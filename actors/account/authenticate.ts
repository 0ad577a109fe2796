// Authentication of a request at its account: which API key it presents, and whether account and key let it in. The checks
// are those that every endpoint makes first, in the contract's order:
//
//   key, flags, IP (the account's, then the key's), scope
//
// Which instant counts for an expiry or the end of an overlap is decided here, by the account's own time.

import type { Refusal } from "../../src/base/errors.ts";
import type { CallingKey, DeletedApiKey, RequiredScope } from "../api-key/api-key.ts";
import { isInScope, scopeMissing } from "../api-key/confinement.ts";
import type { NamedKey } from "../api-key/named-key.ts";
import { allowsAddress } from "../ip-allow-list.ts";
import { allows } from "../pattern.ts";
import type { Account, Profile } from "./state.ts";

/** The refusal of a key that belongs to no account, or no longer to this one. */
export const INVALID_KEY: Refusal = {
  code: "invalid_api_key",
  message: "The API key is not valid. Check the key, or ask for a new one.",
};

/** What a request presents. */
export interface Credentials {
  /** SHA-256 of the API key, hex. */
  readonly keyHash: string;
  /** The client's address; null when addresses are not judged, in a dry run alone. */
  readonly ip: string | null;
  readonly scope: RequiredScope;
}

/**
 * Returns the key whose secret has this hash: null for the main key. Returns the refusal (`invalid_api_key`) of a hash that
 * is none, and of a named key that is deleted, disabled, expired or rotated away, which its message states.
 */
export function presentedKey(
  state: Account,
  profile: Profile | null,
  keyHash: string,
  now: number,
): NamedKey | null | Refusal {
  if (profile === null) return INVALID_KEY;
  if (profile.keyHash === keyHash) return null;
  const found = state.apiKeys?.findSecret(keyHash);
  if (found === undefined) return INVALID_KEY;
  if ("deleted" in found) return deleted(found.deleted);
  const { named, secret } = found;
  const { name, status, expiresAt } = named.key;
  if (secret.until !== null && secret.until <= now) {
    return invalid(
      `This secret of the key ${name} was replaced, and its overlap has ended. Use the new one.`,
    );
  }
  if (!status) return invalid(`The key ${name} is disabled. Ask for it to be enabled, or use another one.`);
  if (expiresAt !== null && expiresAt <= now) {
    return invalid(`The key ${name} expired at ${new Date(expiresAt).toISOString()}. Ask for a new one.`);
  }
  return named;
}

/**
 * Checks the flags, addresses and scope for a key that `presentedKey` has returned. Returns the refusal, or null if the
 * caller may proceed.
 */
export function entryRefusal(
  profile: Profile,
  named: NamedKey | null,
  { ip, scope }: Pick<Credentials, "ip" | "scope">,
): Refusal | null {
  if (!profile.status) return DISABLED;
  if (profile.suspended) return SUSPENDED;
  if (ip !== null && !allowsAddress(profile.allowIps, ip)) return addressRefusal(ip, "this account");
  if (named === null) return null;
  const { name, allowIps, scopes } = named.key;
  if (ip !== null && !allowsAddress(allowIps, ip)) return addressRefusal(ip, `the key ${name}`);
  return isInScope(scopes, scope) ? null : scopeMissing(scope, name);
}

/** Refusals of routing that come after the path, and those of them that come after the model. */
const BEHIND_PATH: ReadonlySet<string> = new Set([
  ...["model_not_allowed", "model_not_found", "level_not_allowed", "model_not_priced"],
]);
const BEHIND_MODEL: ReadonlySet<string> = new Set([
  "model_not_found",
  "level_not_allowed",
  "model_not_priced",
]);

/**
 * Returns routing's refusal or that of the key's own lists, whichever comes first in the order of path, model, level. `model`
 * is the mapped name, "" where a path has none. A `path` of null is not judged.
 */
export function keyListRefusal(
  { name, resources, allowModels }: Pick<CallingKey, "name" | "resources" | "allowModels">,
  {
    routing,
    path,
    model,
  }: { readonly routing: Refusal | null; readonly path: string | null; readonly model: string },
): Refusal | null {
  if (path !== null && (routing === null || BEHIND_PATH.has(routing.code)) && !allows(resources, path)) {
    const message = `The path ${path.slice(0, 256).toWellFormed()} is not among the Resources of the key ${name}.`;
    return { code: "path_not_allowed", message };
  }
  if ((routing === null || BEHIND_MODEL.has(routing.code)) && model !== "" && !allows(allowModels, model)) {
    const message = `The model ${model} is not among the models allowed to the key ${name}.`;
    return { code: "model_not_allowed", message };
  }
  return routing;
}

const DISABLED: Refusal = {
  code: "account_disabled",
  message: "This account is disabled. Ask its parent account to enable it.",
};

const SUSPENDED: Refusal = {
  code: "account_suspended",
  message: "This account is suspended: only its dashboard can be read. Ask its parent account to lift it.",
};

const addressRefusal = (ip: string, whose: string): Refusal => ({
  code: "ip_not_allowed",
  message: `Requests from ${ip} are not allowed by the AllowIPs of ${whose}.`,
});

const invalid = (message: string): Refusal => ({ code: INVALID_KEY.code, message });

const deleted = ({ name, at }: DeletedApiKey): Refusal =>
  invalid(`The key ${name} was deleted at ${new Date(at).toISOString()}. Use another one.`);
