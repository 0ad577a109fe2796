// Combines an account's own maps with the cascades of its Owner and of Root: what is in effect, and what an
// edit stores in the account. Each edited pattern is stamped with the configuration versions known at that
// time, so that later cascades are newer than the edit. The caller reads the configurations; nothing here
// does.

import { ownerOf } from "../ids.ts";
import {
  type Cascade,
  type Effective,
  effective,
  type OwnEntry,
  type OwnersCascade,
  ownEntries,
  type Seen,
} from "../owner/cascade.ts";
import type { OwnerConfig } from "../owner/config.ts";
import { applyEdits, type MapEdits } from "../owner/map-edits.ts";
import { isOwner, isRoot, type MapStamps, type Profile } from "./types.ts";

/** The maps to which cascades apply, with the type of their values. */
export interface SharedMaps {
  readonly modelMapper: Profile["modelMapper"][string];
  readonly modelLimits: Profile["modelLimits"][string];
}

/** Name of a map to which cascades apply. */
export type MapName = keyof SharedMaps;

/** The part of a profile on which its maps depend. */
export type MapSource = Pick<Profile, "id" | "parent" | "dna" | "stamps" | MapName>;

/** The configurations that apply to an account: of its Owner (for an Owner its own) and of Root. */
export interface AncestorConfigs {
  readonly owner: Pick<OwnerConfig, "version" | "cascades">;
  readonly root: Pick<OwnerConfig, "version" | "cascades">;
}

const NO_STAMPS: MapStamps = { modelMapper: {}, modelLimits: {} };

interface Layers<T> {
  readonly own: OwnEntry<T>;
  readonly owner: OwnersCascade<T> | null;
  readonly root: Cascade<T> | null;
}

/** An Owner's cascade does not apply to the Owner itself, and no cascade applies to Root. */
function layersOf<F extends MapName>(
  profile: MapSource,
  above: AncestorConfigs,
  name: F,
): Layers<SharedMaps[F]> {
  const { owner, root } = above;
  const layers = {
    own: { entries: profile[name], stamps: (profile.stamps ?? NO_STAMPS)[name] },
    owner: isOwner(profile) ? null : { owner: ownerOf(profile), cascade: owner.cascades[name] },
    root: isRoot(profile) ? null : root.cascades[name],
  };
  // All three have the same value type, which the compiler cannot derive from `name`.
  return layers as unknown as Layers<SharedMaps[F]>;
}

/** Returns a map of an account as it is in effect: its own entries merged with the cascades. */
export function effectiveMap<F extends MapName>(
  profile: MapSource,
  above: AncestorConfigs,
  name: F,
): Readonly<Record<string, Effective<SharedMaps[F]>>> {
  const { own, owner, root } = layersOf(profile, above, name);
  return effective(own, owner, root);
}

const NOTHING: OwnEntry<never> = { entries: {}, stamps: {} };

/**
 * Returns the effect of the cascades alone, which is the same for all accounts below the same two
 * configurations.
 */
export function withCascade<F extends MapName>(
  profile: MapSource,
  above: AncestorConfigs,
  name: F,
): Readonly<Record<string, Effective<SharedMaps[F]>>> {
  const { owner, root } = layersOf(profile, above, name);
  return effective(NOTHING, owner, root);
}

/**
 * Returns the account's own entries that take precedence over the cascades; a null value deletes the pattern.
 */
export function ownOverCascade<F extends MapName>(
  profile: MapSource,
  above: AncestorConfigs,
  name: F,
): ReadonlyMap<string, SharedMaps[F] | null> {
  const { own, owner, root } = layersOf(profile, above, name);
  return ownEntries(own, owner, root);
}

interface Edited<T> {
  readonly entries: OwnEntry<T>["entries"];
  /** The stamps of both maps. */
  readonly stamps: MapStamps;
}

/**
 * Returns the account's own map after an edit of the map in effect. A pattern that the edit deletes although
 * a cascade sets it remains as a stamp without an entry, for as long as a cascade has an entry for it.
 */
export function editOwnMap<F extends MapName>(
  profile: MapSource,
  above: AncestorConfigs,
  name: F,
  edits: MapEdits<SharedMaps[F]>,
): Edited<SharedMaps[F]> {
  const { own, owner, root } = layersOf(profile, above, name);
  const now = Object.entries(effective(own, owner, root)).map(([pattern, { value }]) => [pattern, value]);
  const after = applyEdits<SharedMaps[F]>(Object.fromEntries(now), edits);
  const seen: Seen = {
    owner: ownerOf(profile),
    config: above.owner.version,
    root: above.root.version,
  };
  const cascades = [owner?.cascade, root].filter((one) => one != null);
  const isLaid = (pattern: string) => cascades.some(({ entries }) => Object.hasOwn(entries, pattern));

  const entries = new Map(Object.entries(own.entries));
  const stamps = new Map(Object.entries(own.stamps));
  const touched = new Set(edits.changes.map(({ pattern }) => pattern));
  if (edits.clear)
    for (const layer of [own, ...cascades]) Object.keys(layer.entries).forEach(touched.add, touched);
  for (const pattern of touched) {
    stamps.set(pattern, seen);
    if (Object.hasOwn(after, pattern)) entries.set(pattern, after[pattern]!);
    else entries.delete(pattern);
  }
  for (const pattern of stamps.keys()) {
    if (!entries.has(pattern) && !isLaid(pattern)) stamps.delete(pattern);
  }
  return {
    entries: Object.fromEntries(entries),
    stamps: { ...(profile.stamps ?? NO_STAMPS), [name]: Object.fromEntries(stamps) },
  };
}
