// Applies the events of an account's named API keys. One case per event, the same live and on replay; the fold itself is
// NamedKeys. Nothing is decided here.

import { assert, unreachable } from "../../src/base/errors.ts";
import { NamedKeys } from "../api-key/named-keys.ts";
import { ancestorsOf } from "../ids.ts";
import type { ApiKeyEvent } from "./events.ts";
import type { Account, Profile } from "./state.ts";

/** Applies an event to `state` in place; `at` is the wall-clock time of the commit. */
export function evolveApiKeys(state: Account, event: ApiKeyEvent, at: number): void {
  // The account's document says when a secret is due to be forgotten.
  state.volatile.profileDirty = true;
  if (event.type === "api_key_added") {
    state.apiKeys ??= new NamedKeys();
    state.apiKeys.add(event.key, at);
    return;
  }
  const { apiKeys } = state;
  assert(apiKeys !== null, `account ${state.id} has no named keys, but ${event.type}`);
  switch (event.type) {
    case "api_key_updated":
      apiKeys.update(event.apiKey, event.change);
      return;
    case "api_key_rotated":
      apiKeys.rotate(event.apiKey, event, at);
      return;
    case "api_key_deleted":
      apiKeys.delete(event.apiKey, at);
      return;
    case "api_key_used":
      apiKeys.get(event.apiKey)?.use(at);
      return;
    case "api_key_secrets_forgotten":
      apiKeys.forget(event.hashes);
      return;
    default:
      unreachable(event);
  }
}

/** The accounts that may have a secret of an account's: itself and its ancestors. */
export const keyMakersOf = ({ id, dna }: Pick<Profile, "id" | "dna">): ReadonlySet<Profile["id"]> =>
  new Set([id, ...ancestorsOf(dna)]);

/** Disables the keys that were made by, or whose secret was shown to, an account that is no longer itself or an ancestor. */
export function disableForeignKeys(state: Account, profile: Pick<Profile, "id" | "dna">): void {
  for (const { id } of state.apiKeys?.madeByOthers(keyMakersOf(profile)) ?? []) {
    state.apiKeys?.update(id, { status: false });
  }
}
