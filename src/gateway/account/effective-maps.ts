// The two effective maps of an account: what the configurations of its Owner and Root impose on it by
// cascades, and its own entries over that. The imposed part is built once and shared by all accounts below a
// configuration, so a request never pays for a merge and an account costs as much as its own map has entries.
// Without cascades the account's own map is used unchanged.

import {
  type AncestorConfigs,
  type MapName,
  type MapSource,
  ownOverCascade,
  type SharedMaps,
  withCascade,
} from "../../../actors/account/map-overrides.ts";
import { isOwner, isRoot } from "../../../actors/account/state.ts";
import type { Cascade, Effective } from "../../../actors/owner/cascade.ts";
import { moreSpecific, pick } from "../../../actors/pattern.ts";

/** One effective map. */
export interface EffectiveMap<T> {
  /** Returns the entry that applies to a name and its origin, or null when none does. */
  find(name: string): (Effective<T> & { readonly pattern: string }) | null;
  /** Returns all entries, for display. */
  all(): Readonly<Record<string, T>>;
}

/** Both effective maps of an account. */
export type EffectiveMaps = { readonly [F in MapName]: EffectiveMap<SharedMaps[F]> };

const MAP_NAMES: readonly MapName[] = ["modelMapper", "modelLimits"];

type Laid = { readonly [F in MapName]: Readonly<Record<string, Effective<SharedMaps[F]>>> };

/** Versions of the configurations; null means that none applies from there. */
interface Versions {
  readonly owner: number | null;
  readonly root: number | null;
}

const known = new WeakMap<object, Versions & { readonly maps: EffectiveMaps }>();
/** Keyed by the nearest configuration that applies. */
const shared = new WeakMap<object, Versions & { readonly laid: Laid }>();

/**
 * Returns the effective maps of a profile. Those with entries are cached by object identity: `profile` and the configurations
 * must never be mutated.
 */
export function effectiveMaps(profile: MapSource, above: AncestorConfigs): EffectiveMaps {
  const owner = isOwner(profile) ? null : above.owner;
  const root = isRoot(profile) ? null : above.root;
  const isLaid = (name: MapName) => [owner, root].some((one) => one !== null && !isEmpty(one.cascades[name]));
  if (MAP_NAMES.every((name) => isBare(profile[name]) && !isLaid(name))) return NO_MAPS;
  const versions: Versions = { owner: owner?.version ?? null, root: root?.version ?? null };
  return keptFor(known, profile, versions, () => {
    const laid = () =>
      keptFor(shared, owner ?? root ?? profile, versions, () => ({
        laid: {
          modelMapper: withCascade(profile, above, "modelMapper"),
          modelLimits: withCascade(profile, above, "modelLimits"),
        },
      })).laid;
    const map = <F extends MapName>(name: F): EffectiveMap<SharedMaps[F]> =>
      isLaid(name)
        ? over(ownOverCascade(profile, above, name), laid()[name])
        : ownMap<SharedMaps[F]>(profile[name] as Readonly<Record<string, SharedMaps[F]>>);
    return { maps: { modelMapper: map("modelMapper"), modelLimits: map("modelLimits") } };
  }).maps;
}

function keptFor<T>(
  kept: WeakMap<object, Versions & T>,
  of: object,
  versions: Versions,
  make: () => T,
): Versions & T {
  const found = kept.get(of);
  if (found !== undefined && found.owner === versions.owner && found.root === versions.root) return found;
  const made = { ...make(), ...versions };
  kept.set(of, made);
  return made;
}

/** An account's own map, where nothing cascades onto it. */
class OwnMap<T> implements EffectiveMap<T> {
  constructor(private readonly own: Readonly<Record<string, T>>) {}

  find(name: string): (Effective<T> & { readonly pattern: string }) | null {
    const hit = pick(this.own, name);
    return hit && { ...hit, from: "own" };
  }

  all(): Readonly<Record<string, T>> {
    return this.own;
  }
}

/** Most accounts have no map of their own: they share this one. */
const NO_ENTRIES = new OwnMap<never>({});

const NO_MAPS: EffectiveMaps = { modelMapper: NO_ENTRIES, modelLimits: NO_ENTRIES };

const ownMap = <T>(own: Readonly<Record<string, T>>): EffectiveMap<T> =>
  isBare(own) ? NO_ENTRIES : new OwnMap(own);

function over<T>(
  words: ReadonlyMap<string, T | null>,
  laid: Readonly<Record<string, Effective<T>>>,
): EffectiveMap<T> {
  const own: Readonly<Record<string, T>> = Object.fromEntries(
    [...words].flatMap(([pattern, value]) => (value === null ? [] : [[pattern, value]])),
  );
  const ownEntries = ownMap(own);
  const isHidden = (pattern: string) => words.has(pattern);
  return {
    find(name) {
      const hit = pick(laid, name, isHidden);
      return moreSpecific(ownEntries.find(name), hit && { pattern: hit.pattern, ...hit.value }, name);
    },
    all() {
      const visible = Object.entries(laid).filter(([pattern]) => !words.has(pattern));
      return Object.fromEntries([...Object.entries(own), ...visible.map(([p, { value }]) => [p, value])]);
    },
  };
}

const isEmpty = ({ entries, cleared }: Cascade<unknown>): boolean => cleared === null && isBare(entries);

/** Returns whether a map has no entries. */
export function isBare(map: object): boolean {
  for (const _ in map) return false;
  return true;
}
