// Choosing an upstream key inside a Level: the usable one with the fewest requests in flight on this node, ties in turn.
// spec: Routing order, step 5. Knows nothing of failures: the Level's view says which keys are usable.

import type { KeyId } from "../../actors/ids.ts";
import type { LevelKey, LevelView } from "../../actors/level/level.ts";

export interface KeyChooser {
  /** A key not tried yet, taken at once; null: none is left. Give it back with `done`. */
  take(view: LevelView, tried: ReadonlySet<KeyId>): LevelKey | null;
  done(key: KeyId): void;
  inFlight(key: KeyId): number;
}

export function createKeyChooser(): KeyChooser {
  const inFlight = new Map<KeyId, number>();
  /** When each key was taken last, as a count: a turn of all Levels together would leave one Level's keys out of step. */
  const takenAt = new Map<KeyId, number>();
  let taken = 0;
  const load = (key: KeyId) => inFlight.get(key) ?? 0;
  const goesBefore = (a: KeyId, b: KeyId): boolean =>
    load(a) !== load(b) ? load(a) < load(b) : (takenAt.get(a) ?? 0) < (takenAt.get(b) ?? 0);
  return {
    take(view, tried) {
      let best: LevelKey | null = null;
      for (const key of view.keys) {
        if (key.state !== "normal" || tried.has(key.id)) continue;
        if (best === null || goesBefore(key.id, best.id)) best = key;
      }
      if (best === null) return null;
      inFlight.set(best.id, load(best.id) + 1);
      takenAt.set(best.id, ++taken);
      return best;
    },
    done(key) {
      const left = (inFlight.get(key) ?? 0) - 1;
      if (left > 0) inFlight.set(key, left);
      else inFlight.delete(key);
    },
    inFlight: load,
  };
}
