// The state of a Level: its keys, the health of each, its recent failures; and the events that change them.
// Values are replaced, never changed in place, so that a decision can publish the resulting view before its
// commit.

import type { ProviderKeyId } from "../ids.ts";
import type { KeyHealth, LevelKey } from "./view.ts";

/**
 * The health of a key: what a view shows, and the times by which the next report is judged. Times are
 * wall-clock ms; 0 means never.
 */
export interface Health extends Omit<KeyHealth, "key"> {
  /** End of the last counted failure. A failed attempt that began before it is not counted again. */
  readonly failedAt: number;
  /** Ends of the newest failed attempts in a row; absent in states that older versions wrote. */
  readonly streak?: readonly number[];
  /** The streak that caused the sleep; null or absent if there is no sleep or it has another cause. */
  readonly sleptBy?: Streak | null;
  /** First answer since the last counted failure while awake; the hour without failure starts here. */
  readonly answeredAt: number;
  /** Rests without a named pause since the last answer. */
  readonly rests: number;
  /**
   * When the key was woken by hand, enabled, or given another secret or address. Earlier attempts are
   * ignored.
   */
  readonly renewedAt: number;
}

/** The events of a Level. Times are wall-clock ms. */
export type LevelEvent =
  | {
      readonly type: "members_changed";
      /** The key pool's version. */
      readonly version: number;
      readonly keys: readonly LevelKey[];
      /** Masks of the keys' secrets, to detect a replaced secret. Absent in events that version 1 wrote. */
      readonly masks?: readonly (readonly [ProviderKeyId, string])[];
    }
  /**
   * A failed attempt. `counted` means that it counts for the key's streak too, not only for the switch-over.
   */
  | {
      readonly type: "failed";
      readonly key: ProviderKeyId;
      readonly counted: boolean;
      /** When the attempt ended; if absent, the time of the commit. */
      readonly endedAt?: number;
    }
  /** A key rests. `named` means that the provider named the pause; otherwise the next rest is longer. */
  | {
      readonly type: "rested";
      readonly key: ProviderKeyId;
      readonly until: number;
      readonly named: boolean;
      readonly reason: string;
    }
  /** A key sleeps; follows a counted failure. */
  | {
      readonly type: "slept";
      readonly key: ProviderKeyId;
      readonly until: number;
      readonly sleepTimes: number;
      readonly reason: string;
      /** Failures in a row that cause a sleep; absent if the sleep has another cause. */
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
  | {
      readonly type: "switched_over";
      readonly until: number;
      /** Name of the last failure, and the backup Level if the reporting node knew one. Older events have neither. */
      readonly reason?: string;
      readonly to?: number;
    };

/** What happened to a key or the Level, as its history says; see history.ts. Times are wall-clock ms. */
export type LevelHappening =
  /** A key is unused until `until`. `reason` is the name of the failure. */
  | { readonly type: "sleep"; readonly key: ProviderKeyId; readonly reason: string; readonly until: number }
  | { readonly type: "wake"; readonly key: ProviderKeyId; readonly reason: WakeReason }
  /** The backup Level is used until `until`. `to` is that Level, where SWITCH_OVER named one. */
  | { readonly type: "switch_over"; readonly reason: string; readonly until: number; readonly to?: number };

/**
 * Why a key that slept is used again: it answered its probe; its Owner woke it, or changed it so that its failures say
 * nothing any more; an answer that was reported late showed that it did not fail in a row.
 */
export type WakeReason = "answered" | "woken" | "changed" | "late_answer";

/** A row of the history, as its document has it. */
export type LevelRow = LevelHappening & {
  readonly owner: number;
  readonly level: number;
  /** Numbers the rows of a Level, from 1. */
  readonly number: number;
  readonly at: number;
};

/** Failures in a row that caused a sleep. The late report of a success between them revokes the sleep. */
export interface Streak {
  readonly ends: readonly number[];
  readonly limit: number;
  /** A success came after all of them, so they no longer count if the sleep is revoked. */
  readonly isOver?: boolean;
}

/** A successful attempt of a key. Times are wall-clock ms. */
export interface Success {
  readonly key: ProviderKeyId;
  readonly startedAt: number;
  readonly endedAt: number;
}

/** The durable state: a fold of the events. */
export interface LevelFold {
  /** Grows with every event. */
  readonly version: number;
  /** The key pool's version that `keys` belong to. */
  readonly members: number;
  readonly keys: readonly LevelKey[];
  readonly masks: ReadonlyMap<ProviderKeyId, string>;
  /** Health by key of this Level; a key without entry is healthy. */
  readonly health: ReadonlyMap<ProviderKeyId, Health>;
  /** Wall-clock ms of failed attempts in the last minute, oldest first; empty while switched over. */
  readonly recentFailures: readonly number[];
  /** Wall-clock ms until which the backup Level is used; 0 means not switched over. */
  readonly switchedUntil: number;
  /** Rows that the history ever had; see history.ts. */
  readonly rows: number;
}

/** A request that may probe a waking key. If it is lost with the activation, one more probe is granted. */
export interface Probe {
  /** Id of the command that got the grant; a repeat of the command gets it again. */
  readonly grant: string;
  readonly at: number;
}

/** State of a Level actor. */
export interface Level {
  /** `<owner>.<level>`. */
  readonly id: string;
  fold: LevelFold;
  readonly volatile: {
    readonly probes: Map<ProviderKeyId, Probe>;
    /** When each key's latest known answer ended; failures that ended before it do not count for a streak. */
    readonly answeredUntil: Map<ProviderKeyId, number>;
    /** Rows of the history whose documents are not taken yet, oldest first. */
    readonly unwrittenRows: LevelRow[];
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
  rows: 0,
};

/** Returns a Level with this fold and empty volatile state. */
export const createLevel = (id: string, fold: LevelFold = EMPTY): Level => ({
  id,
  fold,
  volatile: { probes: new Map(), answeredUntil: new Map(), unwrittenRows: [] },
});

/** Returns the durable state as plain data, which `thawLevel` reads. */
export const freezeLevel = ({ fold }: Level) =>
  structuredClone({ ...fold, masks: [...fold.masks], health: [...fold.health] });

/** Restores a Level from what `freezeLevel` returned. */
export function thawLevel(id: string, frozen: unknown): Level {
  const from = structuredClone(frozen) as ReturnType<typeof freezeLevel>;
  return createLevel(id, { ...from, masks: new Map(from.masks), health: new Map(from.health) });
}
