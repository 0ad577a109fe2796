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
  let turn = 0;
  return {
    take(view, tried) {
      turn++;
      let best: LevelKey | null = null;
      let fewest = Number.POSITIVE_INFINITY;
      for (let i = 0; i < view.keys.length; i++) {
        const key = view.keys[(i + turn) % view.keys.length]!;
        if (key.state !== "normal" || tried.has(key.id)) continue;
        const load = inFlight.get(key.id) ?? 0;
        if (load >= fewest) continue;
        best = key;
        fewest = load;
      }
      if (best !== null) inFlight.set(best.id, fewest + 1);
      return best;
    },
    done(key) {
      const left = (inFlight.get(key) ?? 0) - 1;
      if (left > 0) inFlight.set(key, left);
      else inFlight.delete(key);
    },
    inFlight: (key) => inFlight.get(key) ?? 0,
  };
}
