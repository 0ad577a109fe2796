// Identification of a caller outside the gateway: the checks that come first, and what the account and its key are. A key
// that only reads or manages writes no ledger line, so its use is recorded here, at most once an hour.

import type { Decision, Turn } from "../../src/runtime/actor.ts";
import { type CallingKey, SCOPES, type Scope } from "../api-key/api-key.ts";
import type { NamedKey } from "../api-key/named-key.ts";
import { MAIN_API_KEY, MAIN_API_KEY_NAME } from "../ids.ts";
import { HOUR_MS } from "../time.ts";
import { type Credentials, entryRefusal, INVALID_KEY, presentedKey } from "./authenticate.ts";
import { NO_LIST } from "./compact-profile.ts";
import { type Account, type AccountEvent, isOwner, openProfile, type Profile } from "./state.ts";
import { type AccountRecord, record } from "./views.ts";

/** Input of the command `identify`. With `suspendedToo` a suspended account may call. */
export interface IdentifyCaller extends Credentials {
  readonly suspendedToo: boolean;
}

/** The caller's account and key. */
export interface IdentifiedCaller extends AccountRecord {
  readonly key: CallingKey;
}

/** Returns the caller. Refuses what `presentedKey` and `entryRefusal` refuse, in the contract's order. */
export function identify(state: Account, input: IdentifyCaller, turn: Turn): Decision<AccountEvent> {
  const profile = openProfile(state);
  const named = presentedKey(state, profile, input.keyHash, turn.now);
  if (profile === null) return { refused: INVALID_KEY };
  if (named !== null && "code" in named) return { refused: named };
  const reader = input.suspendedToo ? { ...profile, suspended: false } : profile;
  const refused = entryRefusal(reader, named, input);
  if (refused !== null) return { refused };
  const reply = { ...record(state, turn.now)!, key: callingKey(profile, named) };
  const isStale = named !== null && turn.now - (named.lastUsedAt ?? 0) >= HOUR_MS;
  if (!isStale || turn.behind) return { reply };
  return { reply, events: [{ type: "api_key_used", apiKey: named.key.id }] };
}

/** The main key may do everything that the account may do. */
export const mainKeyScopes = (profile: Profile): readonly Scope[] =>
  isOwner(profile) ? SCOPES : SCOPES.filter((scope) => scope !== "admin");

/** Returns a key as it calls. */
export function callingKey(profile: Profile, named: NamedKey | null): CallingKey {
  if (named === null) {
    return {
      ...{
        account: profile.id,
        apiKey: MAIN_API_KEY,
        name: MAIN_API_KEY_NAME,
        scopes: mainKeyScopes(profile),
      },
      ...{ allowModels: NO_LIST, resources: NO_LIST, allowIps: NO_LIST, expiresAt: null },
    };
  }
  const { id, name, scopes, allowModels, resources, allowIps, expiresAt } = named.key;
  return { account: profile.id, apiKey: id, name, scopes, allowModels, resources, allowIps, expiresAt };
}
