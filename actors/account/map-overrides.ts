// An account's own maps under the cascades of its Owner and of Root: what is in effect, and what an edit leaves in the
// account. Each pattern that an edit touches is stamped with the configurations that were known then, so that whatever
// they lay on the account later is newer. Who reads the configurations, and when, is the caller's business.

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

/** The maps that an account shares with those above it, and what their entries are. */
export interface SharedMaps {
  readonly modelMapper: Profile["modelMapper"][string];
  readonly modelLimits: Profile["modelLimits"][string];
}

export type MapName = keyof SharedMaps;

/** As much of a profile as its maps depend on. */
export type MapSource = Pick<Profile, "id" | "parent" | "dna" | "stamps" | MapName>;

/** The configurations above an account. An Owner's own is its Owner's. */
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

/** What an Owner lays on others does not lie on itself, and nothing lies on Root. */
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
  // The three agree in what their entries are, which the compiler cannot see through the name.
  return layers as unknown as Layers<SharedMaps[F]>;
}

/** A map of an account as it stands. */
export function effectiveMap<F extends MapName>(
  profile: MapSource,
  above: AncestorConfigs,
  name: F,
): Readonly<Record<string, Effective<SharedMaps[F]>>> {
  const { own, owner, root } = layersOf(profile, above, name);
  return effective(own, owner, root);
}

const NOTHING: OwnEntry<never> = { entries: {}, stamps: {} };

/** What lies on an account, and on all others below the same two configurations alike. */
export function withCascade<F extends MapName>(
  profile: MapSource,
  above: AncestorConfigs,
  name: F,
): Readonly<Record<string, Effective<SharedMaps[F]>>> {
  const { owner, root } = layersOf(profile, above, name);
  return effective(NOTHING, owner, root);
}

/** Where an account's own word goes before what lies on it; null takes away. */
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
  /** Of both maps. */
  readonly stamps: MapStamps;
}

/**
 * The account's own map after an edit of what is in effect. What the edit takes away although a cascade gives it stays as
 * a stamp without an entry, for as long as some cascade has a word on that pattern.
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
