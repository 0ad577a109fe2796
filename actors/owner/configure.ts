// Computes one version of a configuration: a change of settings, edits merged into the current maps, and the
// edits that cascade to the accounts below. Pure: returns the resulting settings or a fault; the caller
// assigns the version.

import type { ParseResult } from "../pattern.ts";
import { addCascade } from "./cascade.ts";
import type { Cascades, ConfigChange, Configuring, OwnerConfig } from "./config.ts";
import { applyEdits, type MapEdits } from "./map-edits.ts";
import { faultOfMap } from "./map-parsers.ts";

/** A cascade may have this many times the bounds of a map, because deleted patterns stay in it. */
const CASCADE_TIMES = 4;

/** Names of the maps in refusals. */
const MAPS = {
  modelMapper: "ModelMapper",
  levelMapper: "LevelMapper",
  switchOver: "SwitchOver",
  modelFailover: "ModelFailover",
  modelLimits: "ModelLimits",
} as const;

/** Advice in the refusal of a cascade that is full. */
const RELIEF: Readonly<Record<keyof Cascades, string>> = {
  modelMapper: "use patterns with *, or go back to a version before it was full",
  modelLimits: 'use patterns with *, or empty it with "*"',
};

type MapField = keyof typeof MAPS;

/**
 * Returns the settings of the new version `version`. `isRoot` says that this is Root's configuration, whose
 * cascades are stamped with that same version. Fails with a message, a whole sentence, if a map or cascade
 * becomes too large.
 */
export function applyConfiguration(
  config: OwnerConfig,
  { change, edits = {}, cascade }: Configuring,
  { version, isRoot }: { readonly version: number; readonly isRoot: boolean },
): ParseResult<ConfigChange> {
  const given = { ...config, ...change };
  const maps: Partial<Record<MapField, unknown>> = {};
  for (const field of fieldsOf(MAPS)) {
    const edit: MapEdits<unknown> | undefined = edits[field];
    if (edit !== undefined) maps[field] = applyEdits<unknown>(given[field], edit);
  }
  const cascades: Partial<Record<keyof Cascades, unknown>> = {};
  for (const field of cascade?.fields ?? []) {
    const edit: MapEdits<unknown> | undefined = edits[field];
    const laid = { at: version, root: isRoot ? version : (cascade?.root ?? 0) };
    if (edit !== undefined) cascades[field] = addCascade<unknown>(given.cascades[field], edit, laid);
  }
  const isLaid = Object.keys(cascades).length > 0;
  const result = {
    ...change,
    ...maps,
    ...(isLaid ? { cascades: { ...given.cascades, ...cascades } } : {}),
  } as ConfigChange;
  const fault = faultOf(result);
  return fault === null ? { ok: true, value: result } : { ok: false, message: fault };
}

/**
 * Checks only what changes, since everything else was checked when it was set. Returns null if there is no
 * fault.
 */
function faultOf(change: ConfigChange): string | null {
  for (const field of fieldsOf(MAPS)) {
    const fault = faultOfMap(change[field] ?? {});
    if (fault !== null) return `"${MAPS[field]}" would have ${fault}: delete some first.`;
  }
  for (const field of fieldsOf(RELIEF)) {
    const fault = faultOfMap(change.cascades?.[field].entries ?? {}, CASCADE_TIMES);
    if (fault !== null) {
      return `The cascade of "${MAPS[field]}" would have ${fault}, deleted ones included: ${RELIEF[field]}.`;
    }
  }
  return null;
}

const fieldsOf = <T extends object>(table: T) => Object.keys(table) as (keyof T)[];
