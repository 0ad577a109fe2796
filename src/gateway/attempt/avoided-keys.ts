// Provider keys that this node avoids after a failure, until a newer view of their Level says how they are. It chooses no key.

import type { ProviderKeyId } from "../../../actors/ids.ts";

/** Keys that are avoided at a time; at the bound the one that was added first is used again. */
export const AVOIDED_MAX = 10_000;

interface Avoided {
  readonly version: number;
  /** Wall-clock milliseconds. */
  readonly until: number;
}

/** The avoided keys of this node. */
export class AvoidedKeys {
  /** Those added last come last. */
  private readonly keys = new Map<ProviderKeyId, Avoided>();

  /** The number of keys, with those whose time is over and that were not removed yet. */
  get size(): number {
    return this.keys.size;
  }

  /** Avoids the key until a view newer than `version` arrives, at most until `until` (wall-clock ms). */
  add(key: ProviderKeyId, version: number, until: number): void {
    const { keys } = this;
    keys.delete(key);
    if (keys.size >= AVOIDED_MAX) keys.delete(keys.keys().next().value!);
    keys.set(key, { version, until });
  }

  /** Returns whether the key is avoided at `now` (wall-clock ms), in a view of this version. */
  has(key: ProviderKeyId, version: number, now: number): boolean {
    if (this.keys.size === 0) return false;
    const avoided = this.keys.get(key);
    if (avoided === undefined) return false;
    if (version <= avoided.version && now < avoided.until) return true;
    this.keys.delete(key);
    return false;
  }
}
