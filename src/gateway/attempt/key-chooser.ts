// Choosing an upstream key inside a Level: the usable one with the fewest requests in flight on this node, ties in turn.
// spec: Routing order, step 5; contract section 4. How keys fare is the Level's business: this only reads its view.

import type { ProviderKeyId } from "../../../actors/ids.ts";
import { healthOf, type LevelKey, type LevelView, usability } from "../../../actors/level/view.ts";
import type { Serves } from "../codec/key-support.ts";

/** Who asks for a key. */
export interface Wish {
  readonly model: string;
  readonly serves: Serves;
  /** Wall ms. */
  readonly now: number;
  readonly tried: ReadonlySet<ProviderKeyId>;
  /** Waking keys whose probe is out: better another one, but rather one of these than none. */
  readonly probing: ReadonlySet<ProviderKeyId>;
}

export interface Choice {
  readonly key: LevelKey;
  /** It slept, and nobody is known to be probing it: ask its Level for the right to. */
  readonly probe: boolean;
}

export interface KeyChooser {
  /** The best key not tried yet; null: none is left. It is not taken yet. */
  choose(view: LevelView, wish: Wish): Choice | null;
  /** Counts a request on the key; give it back with `done`. */
  take(key: ProviderKeyId): void;
  done(key: ProviderKeyId): void;
  /** Passes the key over until its Level has said what became of it, at most until `until` (wall ms). */
  avoidUntil(key: ProviderKeyId, version: number, until: number): void;
  inFlight(key: ProviderKeyId): number;
  /** Of all keys together. */
  allInFlight(): number;
}

export function createKeyChooser(): KeyChooser {
  const inFlight = new Map<ProviderKeyId, number>();
  /** When each key was taken last, as a count: a turn of all Levels together would leave one Level's keys out of step. */
  const takenAt = new Map<ProviderKeyId, number>();
  const shunned = new Map<ProviderKeyId, { readonly version: number; readonly until: number }>();
  let taken = 0;
  const load = (key: ProviderKeyId) => inFlight.get(key) ?? 0;
  const goesBefore = (a: ProviderKeyId, b: ProviderKeyId): boolean =>
    load(a) !== load(b) ? load(a) < load(b) : (takenAt.get(a) ?? 0) < (takenAt.get(b) ?? 0);

  function isShunned(key: ProviderKeyId, view: LevelView, now: number): boolean {
    const one = shunned.get(key);
    if (one === undefined) return false;
    if (view.version <= one.version && now < one.until) return true;
    shunned.delete(key);
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
        if (shunned.size > 0 && isShunned(key.id, view, wish.now)) continue;
        if (state === "normal") {
          if (best === null || goesBefore(key.id, best.id)) best = key;
        } else if (!wish.probing.has(key.id)) {
          // Somebody has to be the first, and it may as well be whoever comes first.
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
    avoidUntil: (key, version, until) => void shunned.set(key, { version, until }),
    inFlight: load,
    allInFlight: () => inFlight.values().reduce((sum, count) => sum + count, 0),
  };
}
