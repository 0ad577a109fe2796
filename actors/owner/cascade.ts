// What an Owner, or Root, lays upon the maps of every account below: patches by pattern, each stamped with the version of
// the configuration that made it. Nothing is sent to anybody: an account's own map and the cascades meet when they are
// read, and for each pattern the newest word counts. So a cascade costs the same however many accounts there are, takes
// effect for all of them at once, and there is nothing to resume after a crash.
//
// Newer means: made by somebody who knew the other. Stamps are versions, never clocks. An account's entry names the
// versions of its Owner's and of Root's configuration that were in force when it was set; a cascade of a later version is
// newer than it. An Owner's cascade names the version of Root's that it knew, likewise.

import type { AccountId } from "../ids.ts";

/** Which configurations were in force when an account's own entry was set. */
export interface Seen {
  readonly owner: AccountId;
  /** Versions of the Owner's and of Root's configuration. */
  readonly config: number;
  readonly root: number;
}

/** When a cascade was laid: the version of the configuration that it made, and the one of Root's that it knew. */
export interface Laid {
  readonly at: number;
  /** Of Root's own cascades the same as `at`. */
  readonly root: number;
}

/** One pattern of a cascade. null: whatever was set for the pattern before is deleted. */
export interface CascadedEntry<T> extends Laid {
  readonly value: T | null;
}

export interface Cascade<T> {
  readonly entries: Readonly<Record<string, CascadedEntry<T>>>;
  /** Everything older than this was cleared at once; null: never. */
  readonly cleared: Laid | null;
}

export const NO_CASCADE: Cascade<never> = { entries: {}, cleared: null };
