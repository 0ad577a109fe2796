// Keeps what is read of a provider key, because it is needed for every key of every request. A key's Config is the same
// object as long as the key is unchanged. It knows nothing of what it keeps.

import type { LevelKey } from "../../../actors/level/view.ts";

/** Base URL and Config of a provider key. */
export type ProviderTarget = Pick<LevelKey, "provider" | "config">;

/** Returns `read`, which is called once for each Config and base URL. */
export function keptPerKey<T>(read: (key: ProviderTarget) => T): (key: ProviderTarget) => T {
  const known = new WeakMap<ProviderTarget["config"], { readonly provider: string; readonly value: T }>();
  return (key) => {
    let found = known.get(key.config);
    if (found === undefined || found.provider !== key.provider) {
      found = { provider: key.provider, value: read(key) };
      known.set(key.config, found);
    }
    return found.value;
  };
}
