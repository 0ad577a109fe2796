// Empty lists and maps that all accounts share. Most accounts have nothing to put in one, and a node has tens of
// thousands of accounts in memory. They are frozen, because nothing may be added to them.

import { NO_LIMITS, type RateLimits } from "../rate-window.ts";
import type { Profile } from "./types.ts";

/** The empty list of everything that has no list of its own. */
export const NO_LIST: readonly never[] = Object.freeze([]);

/** The empty map of every profile that has none of its own. */
export const NO_MAP: Readonly<Record<string, never>> = Object.freeze({});

const compactLimits = (limits: RateLimits): RateLimits =>
  Object.values(limits).every((limit) => limit === 0) ? NO_LIMITS : limits;

/** Returns an equal profile whose empty lists and maps are the shared ones. */
export const compactProfile = (profile: Profile): Profile => ({
  ...profile,
  limits: compactLimits(profile.limits),
  allowIps: compactList(profile.allowIps),
  allowModels: compactList(profile.allowModels),
  allowLevels: compactList(profile.allowLevels),
  resources: compactList(profile.resources),
  modelLimits: compactMap(profile.modelLimits),
  modelMapper: compactMap(profile.modelMapper),
  levelMapper: compactMap(profile.levelMapper),
});

/** Returns an equal list, which is the shared one if it is empty. */
export const compactList = <T>(list: readonly T[]): readonly T[] => (list.length === 0 ? NO_LIST : list);

const compactMap = <T>(map: Readonly<Record<string, T>>): Readonly<Record<string, T>> =>
  Object.keys(map).length === 0 ? NO_MAP : map;
