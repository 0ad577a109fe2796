// Which keys a calling key may make, change, rotate or delete: nobody gives more than it has. Pure rules over settings; the
// account that owns the touched key applies them (actors/account/api-keys.ts).
// Source: contract section 8, "No escalation".

import type { Refusal } from "../../src/base/errors.ts";
import { type AccountId, type ApiKeyId, MAIN_API_KEY } from "../ids.ts";
import { coversAddresses } from "../ip-allow-list.ts";
import { type ApiKeySettings, type CallingKey, capsOf, type RequiredScope, type Scope } from "./api-key.ts";

/** Returns whether a key with these scopes may call what requires `scope`; null stands for the main key. */
export function isInScope(scopes: readonly Scope[] | null, scope: RequiredScope): boolean {
  if (scopes === null || scope === "none") return true;
  return scope !== "main_key" && scopes.includes(scope);
}

/** Returns the refusal `scope_missing` of a call by a named key. */
export const scopeMissing = (scope: RequiredScope, keyName: string): Refusal => ({
  code: "scope_missing",
  message:
    scope === "main_key"
      ? `Only the main key of an account may do this, and not the key ${keyName}.`
      : `The key ${keyName} has not the scope "${scope}", which this call needs. Use another key, or ask for the scope.`,
});

/** Returns why the calling key may not touch this key of `account` at all, or null when it may. */
export function touchRefusal(
  by: CallingKey,
  target: { readonly account: AccountId; readonly id: ApiKeyId; readonly scopes: readonly Scope[] },
): Refusal | null {
  // An Owner that was moved below another has lost `admin`, but not its keys that have it: it must be able to end them.
  if (by.account === target.account && by.apiKey === MAIN_API_KEY) return null;
  if (by.account === target.account && by.apiKey === target.id) {
    return {
      code: "field_not_settable",
      message: `The key ${by.name} may not touch itself: use another key.`,
    };
  }
  return lackedScope(by, target.scopes, "holds");
}

/** Returns why the calling key may not make a key with these settings, or change or rotate one that has them then. */
export function escalation(by: CallingKey, after: ApiKeySettings): Refusal | null {
  return lackedScope(by, after.scopes, "would hold") ?? unbounded(by, after);
}

/** Returns why no key may have these settings, or null when one may. `isOwner` is whether the account is an Owner or Root. */
export function settingsRefusal(settings: ApiKeySettings, isOwner: boolean): Refusal | null {
  const { scopes } = settings;
  if (scopes.includes("admin") && !scopes.includes("manage")) {
    return wrong('"Scopes": "admin" is given only beside "manage".');
  }
  if (scopes.includes("admin") && !isOwner) {
    return wrong('"Scopes": "admin" is the administration of an Owner, which this account is not.');
  }
  if (!scopes.includes("manage")) return null;
  const [cap] = capsOf(settings);
  return cap === undefined
    ? null
    : wrong(`"${cap}" cannot be set on a key with the scope "manage": it could make keys without it.`);
}

function lackedScope(by: CallingKey, scopes: readonly Scope[], verb: string): Refusal | null {
  const lacked = scopes.find((scope) => !by.scopes.includes(scope));
  if (lacked === undefined) return null;
  return {
    code: "scope_missing",
    message: `The key that calls has not the scope "${lacked}", which the key ${verb}.`,
  };
}

/** AllowIPs and ExpiresAt of the calling key bound those of every key that it makes or changes. */
function unbounded(by: CallingKey, after: ApiKeySettings): Refusal | null {
  if (by.expiresAt !== null && (after.expiresAt === null || after.expiresAt > by.expiresAt)) {
    const end = new Date(by.expiresAt).toISOString();
    return wrong(
      `"ExpiresAt": the key that calls ends at ${end}, and so must every key that it makes or changes.`,
    );
  }
  if (by.allowIps.length === 0) return null;
  const isWithin = after.allowIps.length > 0 && coversAddresses(by.allowIps, after.allowIps);
  return isWithin
    ? null
    : wrong(
        `"AllowIPs": the key that calls may be used from ${by.allowIps.join(" ")} only, and so must this one.`,
      );
}

const wrong = (message: string): Refusal => ({ code: "invalid_parameter", message });
