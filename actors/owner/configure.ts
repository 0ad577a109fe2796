// One step of a configuration: a change of settings, edits merged into the maps as they are, and what of these is laid on
// the accounts below. Pure: answers all that came out, or why it cannot be; the version is the caller's.

import type { ParseResult } from "../pattern.ts";
import { addCascade } from "./cascade.ts";
import type { Cascades, ConfigChange, Configuring, OwnerConfig } from "./config.ts";
import { applyEdits, type MapEdits } from "./map-edits.ts";
import { faultOfMap } from "./map-parsers.ts";

/** A cascade may have four times what a map may: patterns that were deleted stay in it. */
const CASCADE_TIMES = 4;

/** How maps are called in a refusal, and what helps against a cascade that is full. */
const MAPS = {
  modelMapper: "ModelMapper",
  levelMapper: "LevelMapper",
  switchOver: "SwitchOver",
  modelFailover: "ModelFailover",
  modelLimits: "ModelLimits",
} as const;

const RELIEF: Readonly<Record<keyof Cascades, string>> = {
  modelMapper: "use patterns with *, or go back to a version before it was full",
  modelLimits: 'use patterns with *, or empty it with "*"',
};

type MapField = keyof typeof MAPS;

/**
 * The settings that come out. `version` is the one that they will make; `isRoot`: it is Root's configuration, which knows
 * its own cascades by that same version. The message of a refusal is a whole sentence.
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

/** Of what is changed: what else there is was sound when it was set. */
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
