// What an Owner, or Root, lays upon the maps of every account below: patches by pattern, each stamped with the version of
// the configuration that made it. Nothing is sent to anybody: an account's own map and the cascades meet when they are
// read, and for each pattern the newest word counts. So a cascade costs the same however many accounts there are, takes
// effect for all of them at once, and there is nothing to resume after a crash.
//
// Newer means: made by somebody who knew the other. Stamps are versions, never clocks. An account's entry names the
// versions of its Owner's and of Root's configuration that were in force when it was set; a cascade of a later version is
// newer than it. An Owner's cascade names the version of Root's that it knew, likewise.

import type { AccountId } from "../ids.ts";
import { type MapEdits, mergeEntry } from "./map-edits.ts";

/** Which configurations were in force when an account's own entry was set. */
export interface Seen {
  readonly owner: AccountId;
  /** Versions of the Owner's and of Root's configuration. */
  readonly config: number;
  readonly root: number;
}

/** When a cascade was laid: the version of the configuration that it made, and the one of Root's that it knew. */
export interface CascadedMap {
  readonly at: number;
  /** Of Root's own cascades the same as `at`. */
  readonly root: number;
}

/** One pattern of a cascade. null: whatever was set for the pattern before is deleted. */
export interface CascadedEntry<T> extends CascadedMap {
  readonly value: T | null;
}

export interface Cascade<T> {
  readonly entries: Readonly<Record<string, CascadedEntry<T>>>;
  /** Everything older than this was cleared at once; null: never. */
  readonly cleared: CascadedMap | null;
}

export const NO_CASCADE: Cascade<never> = { entries: {}, cleared: null };

/** The cascade with these edits laid on it. What they clear or delete stays known, as a word against older entries. */
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

/** An account's own map. */
export interface OwnEntry<T> {
  readonly entries: Readonly<Record<string, T>>;
  /**
   * When entries were set. A pattern without an entry was deleted then; an entry without a stamp is older than every
   * cascade.
   */
  readonly stamps: Readonly<Record<string, Seen>>;
}

/** The cascade of an Owner on the accounts below it. */
export interface OwnersCascade<T> {
  readonly owner: AccountId;
  readonly cascade: Cascade<T>;
}

/** An entry in force, and who set it: the account's own map, its Owner, or Root. */
export interface Effective<T> {
  readonly value: T;
  readonly from: "own" | "owner" | "root";
}

/**
 * An account's map with the cascades above it: for each pattern the newest word, and nothing where that word deletes.
 * `owner` is null for an Owner itself, whose cascade lies on its descendants alone; `root` is null for Root itself.
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
 * The patterns on which an account's own word is the newest, or cascades say nothing, with that word; null takes away.
 * Of all others what lies on the account is in force: `effective` without an own map.
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
 * The cascades meet first, then the own entry meets the newer of them: so there is an answer also where an account was
 * moved, or somebody had read versions that did not yet know each other.
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

/** What a cascade says of a pattern; null: nothing. */
const wordOf = <T>({ entries, cleared }: Cascade<T>, pattern: string): CascadedEntry<T> | null =>
  at(entries, pattern) ?? (cleared && { ...cleared, value: null });

/** Patterns may be called like what every object inherits. */
const at = <T>(map: Readonly<Record<string, T>>, pattern: string): T | undefined =>
  Object.hasOwn(map, pattern) ? map[pattern] : undefined;
