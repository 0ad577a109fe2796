// Cascades: changes by an Owner or by Root to the maps of every account below, one entry per pattern, each
// stamped with the version of the configuration that made it. Nothing is written to the accounts: an
// account's own map and the cascades are merged when they are read, and for each pattern the newest entry
// wins. So a cascade costs the same for any number of accounts, takes effect for all of them at once, and
// needs no recovery after a crash.
//
// An entry is newer than another if its author knew the other. Stamps are versions, never clock times. An
// account's entry names the versions of its Owner's and of Root's configuration that were in force when it
// was set; a cascade of a later version is newer. In the same way an Owner's cascade names the version of
// Root's configuration that it knew.

import type { AccountId } from "../ids.ts";
import { type MapEdits, mergeEntry } from "./map-edits.ts";

/** The configurations that were in force when an account's own entry was set. */
export interface Seen {
  readonly owner: AccountId;
  /** Version of the Owner's configuration. */
  readonly config: number;
  /** Version of Root's configuration. */
  readonly root: number;
}

/** The stamp of a cascade. */
export interface CascadedMap {
  /** Version of the configuration that made the cascade. */
  readonly at: number;
  /** Version of Root's configuration that its author knew; for Root's own cascades this equals `at`. */
  readonly root: number;
}

/** One pattern of a cascade. A null value deletes older entries of the pattern. */
export interface CascadedEntry<T> extends CascadedMap {
  readonly value: T | null;
}

/** The cascade of one map in one configuration. */
export interface Cascade<T> {
  readonly entries: Readonly<Record<string, CascadedEntry<T>>>;
  /** Stamp of the last clearing, which deletes all older entries; null means never. */
  readonly cleared: CascadedMap | null;
}

/** A cascade that changes nothing. */
export const NO_CASCADE: Cascade<never> = { entries: {}, cleared: null };

/**
 * Returns the cascade with the edits added. Deletions and clearings are kept, because they override older
 * entries.
 */
export function addCascade<T>(
  cascade: Cascade<T>,
  { clear, changes }: MapEdits<T>,
  laid: CascadedMap,
): Cascade<T> {
  const entries = new Map(clear ? [] : Object.entries(cascade.entries));
  for (const { pattern, value } of changes) {
    const before = entries.get(pattern)?.value;
    entries.set(pattern, { ...laid, value: value === null ? null : mergeEntry(before, value) });
  }
  return { entries: Object.fromEntries(entries), cleared: clear ? laid : cascade.cleared };
}

/** An account's own map with its stamps. */
export interface OwnEntry<T> {
  readonly entries: Readonly<Record<string, T>>;
  /**
   * The stamps of the patterns. A stamped pattern without an entry was deleted; an entry without a stamp is
   * older than every cascade.
   */
  readonly stamps: Readonly<Record<string, Seen>>;
}

/** An Owner's cascade on the accounts below it. */
export interface OwnersCascade<T> {
  readonly owner: AccountId;
  readonly cascade: Cascade<T>;
}

/** An entry in effect, and who set it: the account itself, its Owner, or Root. */
export interface Effective<T> {
  readonly value: T;
  readonly from: "own" | "owner" | "root";
}

/**
 * Returns an account's map merged with the cascades: the newest entry of each pattern, without those that are
 * deleted. `owner` is null for an Owner itself, whose cascade applies only to its descendants; `root` is null
 * for Root itself.
 */
export function effective<T>(
  own: OwnEntry<T>,
  owner: OwnersCascade<T> | null,
  root: Cascade<T> | null,
): Readonly<Record<string, Effective<T>>> {
  const found = new Map<string, Effective<T>>();
  for (const layer of [own, owner?.cascade, root]) {
    for (const pattern of Object.keys(layer?.entries ?? {})) {
      if (found.has(pattern)) continue;
      const word = newest(pattern, own, owner, root);
      if (word !== null) found.set(pattern, word);
    }
  }
  return Object.fromEntries(found);
}

/**
 * Returns the patterns of the account's own map that no cascade's value overrides; a null value means that the
 * pattern has no value. For all other patterns the cascades are in effect, as `effective` returns them without
 * an own map.
 */
export function ownEntries<T>(
  own: OwnEntry<T>,
  owner: OwnersCascade<T> | null,
  root: Cascade<T> | null,
): ReadonlyMap<string, T | null> {
  const words = new Map<string, T | null>();
  for (const pattern of [...Object.keys(own.entries), ...Object.keys(own.stamps)]) {
    const word = newest(pattern, own, owner, root);
    if (word === null || word.from === "own") words.set(pattern, word?.value ?? null);
  }
  return words;
}

/**
 * Compares the two cascades first, then the own entry with the newer cascade. This order gives a result even
 * if the account was moved, or if an author had read versions that did not know each other.
 */
function newest<T>(
  pattern: string,
  own: OwnEntry<T>,
  owner: OwnersCascade<T> | null,
  root: Cascade<T> | null,
): Effective<T> | null {
  const seen = at(own.stamps, pattern);
  const owners = owner && wordOf(owner.cascade, pattern);
  const roots = root && wordOf(root, pattern);
  const isOwners = owners !== null && (roots === null || roots.at <= owners.root);
  const cascaded = isOwners ? owners : roots;
  const isOwn =
    cascaded === null ||
    (seen !== undefined &&
      (isOwners ? seen.owner === owner?.owner && cascaded.at <= seen.config : cascaded.at <= seen.root));
  const value = isOwn ? at(own.entries, pattern) : cascaded.value;
  return value === undefined || value === null
    ? null
    : { value, from: isOwn ? "own" : isOwners ? "owner" : "root" };
}

/** Returns a cascade's entry for a pattern, or null if it has none. */
const wordOf = <T>({ entries, cleared }: Cascade<T>, pattern: string): CascadedEntry<T> | null =>
  at(entries, pattern) ?? (cleared && { ...cleared, value: null });

/** Reads own properties only, because a pattern may have the name of an inherited one. */
const at = <T>(map: Readonly<Record<string, T>>, pattern: string): T | undefined =>
  Object.hasOwn(map, pattern) ? map[pattern] : undefined;
