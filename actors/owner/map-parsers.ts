// Parses whole maps and lists of an Owner's configuration, given as a text or as an object of the same
// entries. A given map replaces the former one, so nothing is merged here, and an entry that deletes is
// refused. map-edit-parsers.ts parses edits, by the same rules for an entry.
// Source: spec, System configuration; contract section 6.

import { codePoints, isLonger } from "../code-points.ts";
import {
  faultOfName,
  MAP_ENTRIES_MAX,
  type ParseResult,
  parseList,
  parseMapper,
  quoted,
} from "../pattern.ts";

/**
 * Characters of all names and values of one map. It is bounded because each change sends the whole
 * configuration.
 */
export const MAP_CHARACTERS_MAX = 131_072;
const BACKUPS_MAX = 16;

/** Parsers of the two sides of an entry. */
export interface Rules<T> {
  readonly name: (given: string) => ParseResult<string>;
  /** A fault's message continues a sentence after the entry's name. */
  readonly target: (given: unknown, name: string) => ParseResult<T>;
}

type Read<T> = (given: unknown) => ParseResult<Readonly<Record<string, T>>>;

/** Parses the left side of an entry as a model name or model pattern. */
export const pattern: Rules<unknown>["name"] = (given) => {
  const fault =
    faultOfName(given) ?? (/[,=]/.test(given) ? `${quoted(given)} has a comma or an equals sign` : null);
  return fault === null ? { ok: true, value: given } : rejected(fault);
};

/** Parses the left side of an entry as a Level, and normalizes its spelling. */
const levelName: Rules<unknown>["name"] = (given) => {
  const level = levelOf(given);
  return level === null
    ? rejected(`${quoted(given)} is no Level: it must be an integer`)
    : accepted(String(level));
};

function model(given: unknown): ParseResult<string> {
  if (typeof given !== "string") return rejected("must lead to the name of a model");
  const name = given.trim();
  const fault = faultOfName(name);
  if (fault !== null) return rejected(`leads to a name that cannot be: ${fault}`);
  // A model name may not contain characters that have a meaning in patterns or lists.
  return /[*,|]/.test(name) ? rejected(`must lead to one model, not to ${quoted(name)}`) : accepted(name);
}

function level(given: unknown): ParseResult<number> {
  const found = levelOf(given);
  return found === null
    ? rejected(`must lead to a Level, which is an integer, not to ${quoted(String(given))}`)
    : accepted(found);
}

function otherLevel(given: unknown, name: string): ParseResult<number> {
  const found = level(given);
  return found.ok && String(found.value) === name ? rejected("must not lead to itself") : found;
}

/** Parses backup models in order of preference. They may include a model that the entry's pattern matches. */
function backups(given: unknown, name: string): ParseResult<readonly string[]> {
  const list = typeof given === "string" ? given.split("|") : given;
  if (!Array.isArray(list) || list.length === 0) return rejected("must lead to a list of models");
  if (list.length > BACKUPS_MAX) return rejected(`must not lead to more than ${BACKUPS_MAX} models`);
  const models: string[] = [];
  for (const one of list as unknown[]) {
    const found = model(one);
    if (!found.ok) return found;
    if (found.value === name) return rejected("must not lead to itself");
    if (models.includes(found.value)) return rejected(`leads to ${quoted(found.value)} twice`);
    models.push(found.value);
  }
  return accepted(models);
}

/** Rules of ModelMapper: `pattern=model`. */
export const MODEL_MAPPER: Rules<string> = { name: pattern, target: model };

/** Rules of LevelMapper: `pattern=level`. */
export const LEVEL_MAPPER: Rules<number> = { name: pattern, target: level };

/**
 * Rules of SwitchOver: `primary=backup`, both Levels. Chains and cycles are allowed: routing visits each
 * Level once.
 */
export const SWITCH_OVER: Rules<number> = { name: levelName, target: otherLevel };

/** Rules of ModelFailover: `primary=backup1|backup2`; the primary may be a pattern. */
export const MODEL_FAILOVER: Rules<readonly string[]> = { name: pattern, target: backups };

/** Parses `pattern=model`, or `{"pattern":"model"}`. */
export const readModelMapper: Read<string> = reading(MODEL_MAPPER);

/** Parses `pattern=level`, or `{"pattern":1}`. */
export const readLevelMapper: Read<number> = reading(LEVEL_MAPPER);

/** Parses `primary=backup`, or `{"1":2}`. */
export const readSwitchOver: Read<number> = reading(SWITCH_OVER);

/** Parses `primary=backup1|backup2`, or `{"primary":["backup1","backup2"]}`. */
export const readModelFailover: Read<readonly string[]> = reading(MODEL_FAILOVER);

/**
 * Returns whether this is a path or path pattern below /v1/, without empty segments and without `.` or `..`.
 */
export const isPath = (path: string): boolean =>
  path.length <= 204 && /^\/v1(\/(?!\.{1,2}(\/|$))[\w\-.*]+)+\/?$/.test(path);

/**
 * Parses paths below /v1/, separated by commas or spaces or given as the names of an object, without
 * duplicates.
 */
export function readResources(given: unknown): ParseResult<readonly string[]> {
  const isObject = typeof given === "object" && given !== null && !Array.isArray(given);
  if (typeof given !== "string" && !isObject) return rejected("must be a text or an object");
  const paths = new Set(typeof given === "string" ? parseList(given) : Object.keys(given as object));
  if (paths.size > MAP_ENTRIES_MAX) return rejected(`more than ${MAP_ENTRIES_MAX} paths`);
  for (const path of paths) {
    if (!isPath(path)) return rejected(`${quoted(path)} is not a path below /v1/`);
  }
  return accepted([...paths]);
}

/** Returns why a map exceeds the bounds of one map multiplied by `times`, or null if it does not. */
export function faultOfMap(map: Readonly<Record<string, unknown>>, times = 1): string | null {
  const entries = Object.entries(map);
  if (entries.length > MAP_ENTRIES_MAX * times) return `more than ${MAP_ENTRIES_MAX * times} entries`;
  let characters = 0;
  for (const [name, value] of entries) {
    characters += codePoints(name) + codePoints(typeof value === "string" ? value : JSON.stringify(value));
  }
  return characters > MAP_CHARACTERS_MAX * times
    ? `more than ${MAP_CHARACTERS_MAX * times} characters`
    : null;
}

function reading<T>(rules: Rules<T>): Read<T> {
  return (given) => {
    const entries = entriesOf(given);
    if (!entries.ok) return entries;
    const read = new Map<string, T>();
    for (const [left, right] of entries.value) {
      const name = rules.name(left);
      if (!name.ok) return name;
      const target = rules.target(right, name.value);
      if (!target.ok) return rejected(`${quoted(left)} ${target.message}`);
      read.set(name.value, target.value);
    }
    const map = Object.fromEntries(read);
    const fault = faultOfMap(map);
    return fault === null ? accepted(map) : rejected(fault);
  };
}

/** Returns the left and right sides of the entries as they were given. */
function entriesOf(given: unknown): ParseResult<readonly (readonly [string, unknown])[]> {
  if (typeof given === "string") return entriesOfText(given);
  if (typeof given !== "object" || given === null || Array.isArray(given))
    return rejected("must be a text or an object");
  const entries = Object.entries(given);
  if (entries.length > MAP_ENTRIES_MAX) return rejected(`more than ${MAP_ENTRIES_MAX} entries`);
  return accepted(entries.map(([left, right]) => [left.trim(), right] as const));
}

function entriesOfText(text: string): ParseResult<readonly (readonly [string, unknown])[]> {
  if (isLonger(text, MAP_CHARACTERS_MAX)) return rejected(`more than ${MAP_CHARACTERS_MAX} characters`);
  const parsed = parseMapper(text);
  if (!parsed.ok) return parsed;
  const deletes = parsed.value.find(({ target }) => target === null);
  if (deletes !== undefined) {
    return rejected(
      `"-${deletes.pattern.slice(0, 80)}" deletes, but here the whole map is replaced: leave it out`,
    );
  }
  return accepted(parsed.value.map((change) => [change.pattern, change.target] as const));
}

/** Parses an integer of at most nine digits, or the text of one. Returns null for anything else. */
function levelOf(given: unknown): number | null {
  if (typeof given !== "string" && typeof given !== "number") return null;
  // Adding 0 makes the -0 that "-0" would be an ordinary 0.
  return /^-?\d{1,9}$/.test(String(given)) ? Number(given) + 0 : null;
}

/** A successful parse result. */
export const accepted = <T>(value: T): ParseResult<T> => ({ ok: true, value });
/** A failed parse result with its message. */
export const rejected = (message: string): ParseResult<never> => ({ ok: false, message });
