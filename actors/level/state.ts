// What a Level is: its keys, what it remembers of each, its recent failures; and the events that change them. All of it
// is replaced, never changed in place, so that what a decision will lead to can be shown before it has happened.

import type { ProviderKeyId } from "../ids.ts";
import type { KeyHealth, LevelKey } from "./view.ts";

/** What is remembered of a key: what a view shows, and the times by which the next signal is judged (wall ms; 0: never). */
export interface Health extends Omit<KeyHealth, "key"> {
  /** End of the last counted failure. Attempts that began before it have failed with it. */
  readonly failedAt: number;
  /** When the attempts of the streak ended, the newest of them; left out in what older versions wrote. */
  readonly streak?: readonly number[];
  /** The streak that put it to sleep; null or left out: something else did, or it does not sleep. */
  readonly sleptBy?: Streak | null;
  /** First answer since the last counted failure, given awake: from here on an hour without failure is measured. */
  readonly answeredAt: number;
  /** Rests of unknown length since the last answer, and when the last of them began. */
  readonly rests: number;
  readonly restedAt: number;
  /** Woken by hand, enabled, or given another secret or address: earlier attempts say nothing about it any more. */
  readonly renewedAt: number;
}

export type LevelEvent =
  | {
      readonly type: "members_changed";
      /** The key pool's version. */
      readonly version: number;
      readonly keys: readonly LevelKey[];
      /** Of each key's secret, to notice another one. Absent in what version 1 wrote. */
      readonly masks?: readonly (readonly [ProviderKeyId, string])[];
    }
  /** A failed attempt. `counted`: in the key's streak too, not only towards the switch-over. */
  | {
      readonly type: "failed";
      readonly key: ProviderKeyId;
      readonly counted: boolean;
      /** When the attempt ended; left out: when this was decided. */
      readonly endedAt?: number;
    }
  /** `named`: the provider said how long; else the next rest is the longer for it. */
  | {
      readonly type: "rested";
      readonly key: ProviderKeyId;
      readonly until: number;
      readonly named: boolean;
      readonly reason: string;
    }
  /** Follows a counted failure. */
  | {
      readonly type: "slept";
      readonly key: ProviderKeyId;
      readonly until: number;
      readonly sleepTimes: number;
      readonly reason: string;
      /** The failures in a row that are too many; left out: it sleeps for another reason. */
      readonly limit?: number;
    }
  | {
      readonly type: "passed_over";
      readonly key: ProviderKeyId;
      readonly model: string;
      readonly until: number;
    }
  | { readonly type: "recovered"; readonly keys: readonly Success[] }
  | { readonly type: "woken"; readonly keys: readonly ProviderKeyId[] }
  | { readonly type: "switched_over"; readonly until: number };

/** Failures in a row that ended in a sleep: an answer between them, of which word comes late, ends the sleep. */
export interface Streak {
  readonly ends: readonly number[];
  readonly limit: number;
  /** An answer came after all of them: they count no more when the sleep turns out to be none. */
  readonly isOver?: boolean;
}

/** An attempt that its key answered. Wall ms. */
export interface Success {
  readonly key: ProviderKeyId;
  readonly startedAt: number;
  readonly endedAt: number;
}

/** The durable half: a fold of the events. */
export interface LevelFold {
  /** Grows with every event. */
  readonly version: number;
  /** The key pool's version of `keys`. */
  readonly members: number;
  readonly keys: readonly LevelKey[];
  readonly masks: ReadonlyMap<ProviderKeyId, string>;
  /** Members only, and only those of which there is something to remember. */
  readonly health: ReadonlyMap<ProviderKeyId, Health>;
  /** Failed attempts of the last minute; empty while switched over. Wall ms, oldest first. */
  readonly recentFailures: readonly number[];
  readonly switchedUntil: number;
}

/** A request that was let through to a waking key. Lost with the process: that costs one more probe. */
export interface Probe {
  /** The command that got it: the same command gets it again. */
  readonly grant: string;
  readonly at: number;
}

export interface Level {
  /** `<owner>.<level>`. */
  readonly id: string;
  fold: LevelFold;
  readonly volatile: {
    readonly probes: Map<ProviderKeyId, Probe>;
    /** When each key's newest known answer ended: failures that ended before it are no part of a streak any more. */
    readonly answeredUntil: Map<ProviderKeyId, number>;
  };
}

const EMPTY: LevelFold = {
  version: 0,
  members: 0,
  keys: [],
  masks: new Map(),
  health: new Map(),
  recentFailures: [],
  switchedUntil: 0,
};

export const createLevel = (id: string, fold: LevelFold = EMPTY): Level => ({
  id,
  fold,
  volatile: { probes: new Map(), answeredUntil: new Map() },
});

/** As plain data; `thawLevel` reads it back. */
export const freezeLevel = ({ fold }: Level) =>
  structuredClone({ ...fold, masks: [...fold.masks], health: [...fold.health] });

export function thawLevel(id: string, frozen: unknown): Level {
  const from = structuredClone(frozen) as ReturnType<typeof freezeLevel>;
  return createLevel(id, { ...from, masks: new Map(from.masks), health: new Map(from.health) });
}
