// The two maps of an account as they stand, made once of its profile and the configurations above it and kept with them:
// a request never pays for a merge. Where nothing is laid on an account its own maps are the answer, as they are; accounts
// without maps of their own share what lies on all of them.

import {
  type Above,
  inEffect,
  type MapName,
  type Mapped,
  type SharedMaps,
} from "../../actors/account/own-maps.ts";
import { isOwner, isRoot } from "../../actors/account/state.ts";
import type { Cascade, Effective } from "../../actors/owner/cascade.ts";

/** One map as it stands. */
export interface InEffect<T> {
  readonly map: Readonly<Record<string, T>>;
  /** Whose an entry is that is not the account's own. */
  readonly laid: ReadonlyMap<string, "owner" | "root">;
}

export type Maps = { readonly [F in MapName]: InEffect<SharedMaps[F]> };

interface Kept {
  /** Versions; null: nothing is laid from there. */
  readonly owner: number | null;
  readonly root: number | null;
  readonly maps: Maps;
}

/** By the profile; and for those without maps of their own, by the configuration that lies on them. */
const kept = new WeakMap<object, Kept>();

/** `profile` and the configurations must never change in place. */
export function mapsInEffect(profile: Mapped, above: Above): Maps {
  const owner = isOwner(profile) ? null : above.owner;
  const root = isRoot(profile) ? null : above.root;
  const isOf = (found: Kept | undefined): found is Kept =>
    found !== undefined && found.owner === (owner?.version ?? null) && found.root === (root?.version ?? null);

  const known = kept.get(profile);
  if (isOf(known)) return known.maps;
  const shared = hasNone(profile) ? (owner ?? root ?? profile) : profile;
  const found = kept.get(shared);
  const now = isOf(found) ? found : made(profile, above, owner, root);
  kept.set(shared, now).set(profile, now);
  return now.maps;
}

const made = (
  profile: Mapped,
  above: Above,
  owner: Above["owner"] | null,
  root: Above["root"] | null,
): Kept => ({
  owner: owner?.version ?? null,
  root: root?.version ?? null,
  maps: {
    modelMapper: joined(profile, above, "modelMapper"),
    modelLimits: joined(profile, above, "modelLimits"),
  },
});

const NOTHING_LAID: InEffect<never>["laid"] = new Map();

function joined<F extends MapName>(profile: Mapped, above: Above, name: F): InEffect<SharedMaps[F]> {
  const layers = [
    ...(isOwner(profile) ? [] : [above.owner.cascades[name]]),
    ...(isRoot(profile) ? [] : [above.root.cascades[name]]),
  ];
  if (layers.every(isEmpty)) {
    return { map: profile[name] as InEffect<SharedMaps[F]>["map"], laid: NOTHING_LAID };
  }
  const found = Object.entries<Effective<SharedMaps[F]>>(inEffect(profile, above, name));
  const laid = new Map<string, "owner" | "root">();
  for (const [pattern, { from }] of found) if (from !== "own") laid.set(pattern, from);
  return { map: Object.fromEntries(found.map(([pattern, { value }]) => [pattern, value])), laid };
}

const isEmpty = ({ entries, cleared }: Cascade<unknown>): boolean => cleared === null && isBare(entries);

const hasNone = ({ modelMapper, modelLimits, stamps }: Mapped): boolean =>
  isBare(modelMapper) &&
  isBare(modelLimits) &&
  (stamps === undefined || (isBare(stamps.modelMapper) && isBare(stamps.modelLimits)));

function isBare(map: object): boolean {
  for (const _ in map) return false;
  return true;
}
