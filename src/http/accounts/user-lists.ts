// Reads the lists and maps of an account from requests: allow lists, mappers, limits of models. Each reader returns the new value,
// made from the present one, or the edits of a map that cascades change too; it throws with the field's name. Nothing is changed
// here. Source: specification, rules 2 and 3 of `PUT /x-users` and mapper syntax; contract section 3.

import type { Profile } from "../../../actors/account/state.ts";
import { parseAddresses } from "../../../actors/ip-allow-list.ts";
import { editLevelMapper, editModelLimits, editModelMapper } from "../../../actors/owner/map-edit-parsers.ts";
import { applyEdits, type MapEdits } from "../../../actors/owner/map-edits.ts";
import { faultOfMap, isPath } from "../../../actors/owner/map-parsers.ts";
import {
  faultOfName,
  MAP_ENTRIES_MAX,
  type ParseResult,
  parseList,
  quoted,
} from "../../../actors/pattern.ts";
import { RefusedError } from "../../base/errors.ts";

type Limits = Profile["modelLimits"];

/** Throws `invalid_parameter` for a field with the rule that its value breaks. */
export const refuseField = (field: string, rule: string): never => {
  throw new RefusedError({ code: "invalid_parameter", message: `"${field}": ${rule}.` });
};

/** Reads AllowIPs, which replaces the list. */
export function readAddresses(text: string): readonly string[] {
  const addresses = parseAddresses(text);
  if (addresses.ok) return bounded("AllowIPs", addresses.value);
  return refuseField("AllowIPs", `${quoted(addresses.item)} is neither an address nor a CIDR range`);
}

/** Reads Resources, which replaces the list. */
export function readPaths(text: string): readonly string[] {
  const paths = parseList(text);
  const bad = paths.find((path) => !isPath(path));
  return bad === undefined
    ? bounded("Resources", paths)
    : refuseField("Resources", `${quoted(bad)} is not a path below /v1/`);
}

/** Reads AllowLevels, which replaces the list. */
export function readLevels(text: string): readonly number[] {
  const levels = parseList(text);
  const bad = levels.find((level) => !/^-?\d{1,7}$/.test(level));
  if (bad !== undefined)
    return refuseField("AllowLevels", `${quoted(bad)} is no Level: it must be an integer`);
  // Adding 0 makes the -0 that "-0" would be an ordinary 0.
  return bounded("AllowLevels", [...new Set(levels.map((level) => Number(level) + 0))]);
}

/**
 * Reads AllowModels, which changes the list item by item: `*` allows every model, `-pattern` removes a pattern, any other
 * pattern is added. Removing the last pattern is refused, because only `*` allows all; so is removing from `*`.
 */
export function readModels(text: string, now: readonly string[]): readonly string[] {
  const list = new Set(now);
  let opened = now.length === 0;
  for (const item of parseList(text)) {
    const removes = item.startsWith("-");
    const pattern = removes ? item.slice(1) : item;
    const fault = faultOfName(pattern);
    if (fault !== null) return refuseField("AllowModels", fault);
    if (item === "*") {
      list.clear();
      opened = true;
    } else if (!removes) {
      list.add(pattern);
      opened = false;
    } else if (opened) {
      return refuseField("AllowModels", `every model is allowed, so ${quoted(pattern)} cannot be taken away`);
    } else list.delete(pattern);
  }
  if (list.size === 0 && !opened) {
    return refuseField("AllowModels", 'the last pattern cannot be taken away; "*" allows every model');
  }
  return bounded("AllowModels", [...list]);
}

/** Reads ModelMapper: `pattern=model` and `-pattern`. */
export const readModelMap = (text: string): MapEdits<string> => readOr("ModelMapper", editModelMapper(text));

/** Reads ModelLimits: an object of limits whose figures merge one by one, or as text `*` and `-model, -other`. */
export const readModelLimits = (given: Limits | string): MapEdits<Limits[string]> =>
  readOr("ModelLimits", editModelLimits(given));

/** Reads LevelMapper: merges `pattern=level` and `-pattern` into the map. */
export const readLevelMap = (text: string, now: Profile["levelMapper"]): Profile["levelMapper"] =>
  checkedMap("LevelMapper", applyEdits(now, readOr("LevelMapper", editLevelMapper(text))));

/** Returns a map after an edit, or throws when it has become too large. */
export function checkedMap<M extends Readonly<Record<string, unknown>>>(field: string, map: M): M {
  const fault = faultOfMap(map);
  return fault === null ? map : refuseField(field, fault);
}

const readOr = <T>(field: string, found: ParseResult<T>): T =>
  found.ok ? found.value : refuseField(field, found.message);

function bounded<T>(field: string, list: readonly T[]): readonly T[] {
  return list.length > MAP_ENTRIES_MAX ? refuseField(field, `more than ${MAP_ENTRIES_MAX} entries`) : list;
}
