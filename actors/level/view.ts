// The view that a Level publishes for routing: its keys, their health, and whether its backup Level is used.
// Nodes choose keys by their copy of it; the Level itself is authoritative. Types and pure functions only.

import type { ProviderKeyId } from "../ids.ts";
import type { ProviderKey } from "../key-pool/key-pool.ts";

/** A key as the gateway needs it. */
export interface LevelKey {
  readonly id: ProviderKey["id"];
  readonly level: number;
  readonly provider: string;
  readonly secret: ProviderKey["secret"];
  /** Private key of a service account; absent if there is none. */
  readonly privateKey?: ProviderKey["secret"];
  readonly config: ProviderKey["config"];
  readonly state: "normal" | "disabled";
}

/** The health of a key. A key without it is healthy. Times are wall-clock ms; 0 means never. */
export interface KeyHealth {
  readonly key: ProviderKeyId;
  /** Counted failures in a row. */
  readonly failures: number;
  /** Number of sleeps that make the next sleep longer. */
  readonly sleepTimes: number;
  readonly sleepsUntil: number;
  readonly restsUntil: number;
  /** Name of the failure that caused the sleep or rest; empty means none. */
  readonly reason: string;
  /** The key slept and has not answered since, so its next request is a probe. */
  readonly waking: boolean;
  /** Models that the key does not have, and until when they are passed over. */
  readonly passedOver: readonly { readonly model: string; readonly until: number }[];
}

/** The complete view of a Level. */
export interface LevelView {
  /** `<owner>.<level>`. */
  readonly id: string;
  /** Grows with every change. */
  readonly version: number;
  /** The key pool's version that `keys` belong to. */
  readonly members: number;
  readonly keys: readonly LevelKey[];
  /** Only keys that are not entirely healthy. */
  readonly health: readonly KeyHealth[];
  /** Wall-clock ms until which SWITCH_OVER's backup Level is used; 0 means not switched over. */
  readonly switchedUntil: number;
}

/** Publication body: the complete view if the keys changed, otherwise all but the keys. */
export type LevelChanged = LevelView | Omit<LevelView, "keys">;

/** Whether a key can be used for a model, and if not, why and until when. */
export type Usability =
  | { readonly state: "normal" | "waking" }
  | {
      readonly state: "disabled" | "sleeping" | "resting" | "passed_over";
      /** Wall-clock ms from which it may be used; 0 means that it must be enabled by hand. */
      readonly until: number;
      readonly reason: string;
    };

/** Returns whether a key may be used for a model at `now` (wall-clock ms). `waking` means yes, as a probe. */
export function usability(
  key: LevelKey,
  health: Omit<KeyHealth, "key"> | undefined,
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

// Cached because every request needs it; a view keeps the same array of rows.
const byKey = new WeakMap<readonly KeyHealth[], ReadonlyMap<ProviderKeyId, KeyHealth>>();

/** Returns the health of a view's keys by id, or undefined if all are healthy. */
export function healthOf(view: LevelView): ReadonlyMap<ProviderKeyId, KeyHealth> | undefined {
  if (view.health.length === 0) return undefined;
  let found = byKey.get(view.health);
  if (found === undefined) {
    found = new Map(view.health.map((one) => [one.key, one]));
    byKey.set(view.health, found);
  }
  return found;
}
