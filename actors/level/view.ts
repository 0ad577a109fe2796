// What a Level shows to those who route: its keys, how they fare, and whether its backup is used. Front ends choose by
// their copy; the Level itself has the last word. Types and pure reading only.

import type { ProviderKeyId } from "../ids.ts";
import type { ProviderKey } from "../key-pool/key-pool.ts";

/** A key as the gateway needs it. */
export interface LevelKey {
  readonly id: ProviderKey["id"];
  readonly level: number;
  readonly provider: string;
  readonly secret: ProviderKey["secret"];
  /** Of a service account; absent: it has none. */
  readonly privateKey?: ProviderKey["secret"];
  readonly config: ProviderKey["config"];
  readonly state: "normal" | "disabled";
}

/** How a key fares. A key without one is well. Times are wall ms; 0: never. */
export interface KeyHealth {
  readonly key: ProviderKeyId;
  /** Counted failures in a row. */
  readonly failures: number;
  /** How often it fell asleep; the next sleep is the longer for it. */
  readonly sleepTimes: number;
  readonly sleepsUntil: number;
  readonly restsUntil: number;
  /** The signal that put it to sleep or to rest; empty: none. */
  readonly reason: string;
  /** It slept and has not answered since: its next request is a probe. */
  readonly waking: boolean;
  /** Models that it said it does not have. */
  readonly passedOver: readonly { readonly model: string; readonly until: number }[];
}

export interface LevelView {
  /** `<owner>.<level>`. */
  readonly id: string;
  /** Grows with every change. */
  readonly version: number;
  /** The key pool's version of `keys`. */
  readonly members: number;
  readonly keys: readonly LevelKey[];
  /** Only keys that are not simply well. */
  readonly health: readonly KeyHealth[];
  /** Until then SWITCH_OVER's backup Level is used; 0: not switched over. */
  readonly switchedUntil: number;
}

/** What is published: all of it when the keys changed, else everything but the keys. */
export type LevelChanged = LevelView | Omit<LevelView, "keys">;

export type Usability =
  | { readonly state: "normal" | "waking" }
  | {
      readonly state: "disabled" | "sleeping" | "resting" | "passed_over";
      /** Wall ms from which it may be used; 0: by hand only. */
      readonly until: number;
      readonly reason: string;
    };

/** May this key be used for this model now (wall ms)? `waking`: yes, and its next request is its probe. */
export function usability(
  key: LevelKey,
  health: KeyHealth | undefined,
  model: string,
  now: number,
): Usability {
  if (key.state === "disabled") return { state: "disabled", until: 0, reason: "Status is false" };
  if (health === undefined) return NORMAL;
  if (health.sleepsUntil > now)
    return { state: "sleeping", until: health.sleepsUntil, reason: health.reason };
  if (health.restsUntil > now) return { state: "resting", until: health.restsUntil, reason: health.reason };
  const passed = health.passedOver.find((one) => one.model === model && one.until > now);
  if (passed !== undefined) return { state: "passed_over", until: passed.until, reason: "model_unavailable" };
  return health.waking ? WAKING : NORMAL;
}

const NORMAL: Usability = { state: "normal" };
const WAKING: Usability = { state: "waking" };

// Asked for every request: the rows of a view stay the same array as long as it is the same view.
const byKey = new WeakMap<readonly KeyHealth[], ReadonlyMap<ProviderKeyId, KeyHealth>>();

/** The health of a view's keys by id; undefined: all are well. */
export function healthOf(view: LevelView): ReadonlyMap<ProviderKeyId, KeyHealth> | undefined {
  if (view.health.length === 0) return undefined;
  let found = byKey.get(view.health);
  if (found === undefined) {
    found = new Map(view.health.map((one) => [one.key, one]));
    byKey.set(view.health, found);
  }
  return found;
}
