// Parses edits of a configuration's or an account's maps: `a=b, -c, d=e`, and for model limits an object, its
// JSON text, or `*` and `-model`. Pure; entries follow the same rules as those of a whole map
// (map-parsers.ts).
// Source: spec, Batch configuration and Mapper syntax; contract section 6.

import { isLonger } from "../code-points.ts";
import { faultOfName, MAP_ENTRIES_MAX, type ParseResult, parseMapper, quoted } from "../pattern.ts";
import type { RateLimits } from "../rate-window.ts";
import type { Edit, MapEdits } from "./map-edits.ts";
import {
  accepted,
  LEVEL_MAPPER,
  MAP_CHARACTERS_MAX,
  MODEL_FAILOVER,
  MODEL_MAPPER,
  pattern,
  type Rules,
  rejected,
  SWITCH_OVER,
} from "./map-parsers.ts";

type Limits = Partial<RateLimits>;

/** Parses edits of ModelMapper: `pattern=model` sets, `-pattern` deletes. */
export const editModelMapper = editing(MODEL_MAPPER);

/** Parses edits of LevelMapper: `pattern=level` sets, `-pattern` deletes. */
export const editLevelMapper = editing(LEVEL_MAPPER);

/**
 * Parses edits of SwitchOver: `primary=backup` sets, `-primary` deletes (`-1` is Level 1, `--1` is Level -1).
 */
export const editSwitchOver = editing(SWITCH_OVER);

/**
 * Parses edits of ModelFailover: `primary=backup1|backup2` sets the whole list of a primary, `-primary`
 * deletes it.
 */
export const editModelFailover = editing(MODEL_FAILOVER);

function editing<T>(rules: Rules<T>): (text: string) => ParseResult<MapEdits<T>> {
  return (text) => {
    if (isLonger(text, MAP_CHARACTERS_MAX)) return rejected(`more than ${MAP_CHARACTERS_MAX} characters`);
    const parsed = parseMapper(text);
    if (!parsed.ok) return parsed;
    const changes: Edit<T>[] = [];
    for (const { pattern, target } of parsed.value) {
      const name = rules.name(pattern);
      if (!name.ok) return name;
      const value = target === null ? accepted(null) : rules.target(target, name.value);
      if (!value.ok) return rejected(`${quoted(pattern)} ${value.message}`);
      changes.push({ pattern: name.value, value: value.value });
    }
    return accepted({ clear: false, changes });
  };
}

/**
 * Parses edits of ModelLimits: an object, or its JSON text, sets figures; `*` clears and `-model, -other`
 * deletes.
 */
export function editModelLimits(given: unknown): ParseResult<MapEdits<Limits>> {
  if (typeof given !== "string") return settingLimits(given, false);
  if (isLonger(given, MAP_CHARACTERS_MAX)) return rejected(`more than ${MAP_CHARACTERS_MAX} characters`);
  return given.trim().startsWith("{") ? settingLimits(fromJson(given), false) : removingLimits(given);
}

/**
 * Parses ModelLimits given as a setting: a text (JSON of an object, or empty) replaces all limits; an object
 * merges.
 */
export function parseModelLimits(given: unknown): ParseResult<MapEdits<Limits>> {
  if (typeof given !== "string") return settingLimits(given, false);
  if (isLonger(given, MAP_CHARACTERS_MAX)) return rejected(`more than ${MAP_CHARACTERS_MAX} characters`);
  return given.trim() === "" ? accepted({ clear: true, changes: [] }) : settingLimits(fromJson(given), true);
}

function settingLimits(given: unknown, clear: boolean): ParseResult<MapEdits<Limits>> {
  if (!isObject(given)) return rejected("must be an object of models, or the JSON text of one");
  const entries = Object.entries(given);
  if (entries.length > MAP_ENTRIES_MAX) return rejected(`more than ${MAP_ENTRIES_MAX} entries`);
  const changes: Edit<Limits>[] = [];
  for (const [left, right] of entries) {
    const name = pattern(left.trim());
    if (!name.ok) return name;
    const fault = faultOfLimits(right);
    if (fault !== null) return rejected(`${quoted(name.value)} ${fault}`);
    changes.push({ pattern: name.value, value: right as Limits });
  }
  return accepted({ clear, changes });
}

function removingLimits(text: string): ParseResult<MapEdits<Limits>> {
  let clear = false;
  let changes: Edit<Limits>[] = [];
  for (const item of text.split(",").map((one) => one.trim())) {
    if (item === "") continue;
    if (item === "*") {
      clear = true;
      changes = [];
      continue;
    }
    if (!item.startsWith("-")) {
      return rejected(`${quoted(item)} is neither * nor -model; limits are set with an object`);
    }
    const name = item.slice(1).trim();
    const fault = faultOfName(name);
    if (fault !== null) return rejected(fault);
    changes.push({ pattern: name, value: null });
    if (changes.length > MAP_ENTRIES_MAX) return rejected(`more than ${MAP_ENTRIES_MAX} entries`);
  }
  return accepted({ clear, changes });
}

const FIGURES: readonly string[] = [
  "rpm",
  "rph",
  "rpd",
  "tpm",
  "tph",
  "tpd",
] satisfies readonly (keyof RateLimits)[];

/** Returns a fault that continues a sentence after the model's name, or null. */
function faultOfLimits(given: unknown): string | null {
  if (!isObject(given)) return `must lead to an object of ${FIGURES.join(", ")}`;
  for (const [figure, limit] of Object.entries(given)) {
    if (!FIGURES.includes(figure)) return `has ${quoted(figure)}, which is none of ${FIGURES.join(", ")}`;
    if (!Number.isSafeInteger(limit) || Number(limit) < 0) {
      return `has ${figure}, which must be an integer of at least 0`;
    }
  }
  return null;
}

/** Returns undefined if the text is not JSON. */
function fromJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const isObject = (given: unknown): given is object =>
  typeof given === "object" && given !== null && !Array.isArray(given);
