// Chooses a provider key of a Level: the usable one with the fewest requests in flight on this node, round
// robin among equals. spec: Routing order, step 5; contract section 4. It only reads the Level's view, and
// changes no key's health.

import type { ProviderKeyId } from "../../../actors/ids.ts";
import { healthOf, type LevelKey, type LevelView, usability } from "../../../actors/level/view.ts";
import type { Serves } from "../codec/key-support.ts";

/** The request that needs a key. */
export interface Wish {
  readonly model: string;
  readonly serves: Serves;
  /** Wall-clock milliseconds. */
  readonly now: number;
  readonly tried: ReadonlySet<ProviderKeyId>;
  /** Waking keys whose probe another request has. They are chosen only when no other key is left. */
  readonly probing: ReadonlySet<ProviderKeyId>;
}

/** The chosen key. */
export interface Choice {
  readonly key: LevelKey;
  /**
   * The key has slept and no probe of it is known: the caller must first ask its Level for the right to
   * probe.
   */
  readonly probe: boolean;
}

/** Chooses keys, and counts the requests in flight per key on this node. */
export interface KeyChooser {
  /** Returns the best key that was not tried yet, or null when none is left. It does not call `take`. */
  choose(view: LevelView, wish: Wish): Choice | null;
  /** Counts a request on the key until `done` is called. */
  take(key: ProviderKeyId): void;
  /** Ends the count of a request on the key. */
  done(key: ProviderKeyId): void;
  /** Avoids the key until a view newer than `version` arrives, at most until `until` (wall-clock ms). */
  avoidUntil(key: ProviderKeyId, version: number, until: number): void;
  /** Returns the requests in flight on the key on this node. */
  inFlight(key: ProviderKeyId): number;
  /** Returns the requests in flight on this node, summed over all keys. */
  allInFlight(): number;
}

/** Creates the chooser of this node. */
export function createKeyChooser(): KeyChooser {
  const inFlight = new Map<ProviderKeyId, number>();
  /**
   * When each key was taken last, as a count. One round-robin position for all Levels would skip keys of a
   * single Level.
   */
  const takenAt = new Map<ProviderKeyId, number>();
  const avoided = new Map<ProviderKeyId, { readonly version: number; readonly until: number }>();
  let taken = 0;
  const load = (key: ProviderKeyId) => inFlight.get(key) ?? 0;
  const goesBefore = (a: ProviderKeyId, b: ProviderKeyId): boolean =>
    load(a) !== load(b) ? load(a) < load(b) : (takenAt.get(a) ?? 0) < (takenAt.get(b) ?? 0);

  function isAvoided(key: ProviderKeyId, view: LevelView, now: number): boolean {
    const one = avoided.get(key);
    if (one === undefined) return false;
    if (view.version <= one.version && now < one.until) return true;
    avoided.delete(key);
    return false;
  }

  return {
    choose(view, wish) {
      const health = healthOf(view);
      let best: LevelKey | null = null;
      let spare: LevelKey | null = null;
      for (const key of view.keys) {
        if (wish.tried.has(key.id) || wish.serves(key, wish.model) !== "served") continue;
        const { state } = usability(key, health?.get(key.id), wish.model, wish.now);
        if (state !== "normal" && state !== "waking") continue;
        if (avoided.size > 0 && isAvoided(key.id, view, wish.now)) continue;
        if (state === "normal") {
          if (best === null || goesBefore(key.id, best.id)) best = key;
        } else if (!wish.probing.has(key.id)) {
          // The first request that finds the key probes it.
          return { key, probe: true };
        } else if (spare === null || goesBefore(key.id, spare.id)) spare = key;
      }
      const key = best ?? spare;
      return key === null ? null : { key, probe: false };
    },
    take(key) {
      inFlight.set(key, load(key) + 1);
      takenAt.set(key, ++taken);
    },
    done(key) {
      const left = (inFlight.get(key) ?? 0) - 1;
      if (left > 0) inFlight.set(key, left);
      else inFlight.delete(key);
    },
    avoidUntil: (key, version, until) => void avoided.set(key, { version, until }),
    inFlight: load,
    allInFlight: () => inFlight.values().reduce((sum, count) => sum + count, 0),
  };
}
