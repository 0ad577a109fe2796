// Maps of routing as entries and as texts in the syntax of the configuration (`a=b, c=d`), and what differs between two. The
// service checks what is saved; here is only what a page must know to show an entry and a difference.

import { compareTried } from "./pattern.ts";

/** The maps, in the order in which a request meets them. */
export const MAP_NAMES = ["MODEL_MAPPER", "LEVEL_MAPPER", "SWITCH_OVER", "MODEL_FAILOVER"] as const;
/** A map of routing. */
export type MapName = (typeof MAP_NAMES)[number];

/** One entry: what it is about, and where it leads. */
export interface MapEntry {
  readonly left: string;
  readonly right: string;
}

/** All maps as entries. */
export type Maps = Readonly<Record<MapName, readonly MapEntry[]>>;

type StatedMap = Readonly<Record<string, string | number | readonly string[]>>;

/** The maps as `/x-config` states them; one that was never set is left out. */
export type StatedMaps = Readonly<Partial<Record<MapName, StatedMap>>>;

/** Returns the maps as entries in the order in which they are tried. */
export const mapsOf = (stated: StatedMaps): Maps => ({
  MODEL_MAPPER: entriesOf(stated.MODEL_MAPPER),
  LEVEL_MAPPER: entriesOf(stated.LEVEL_MAPPER),
  SWITCH_OVER: entriesOf(stated.SWITCH_OVER).toSorted((one, other) => Number(one.left) - Number(other.left)),
  MODEL_FAILOVER: entriesOf(stated.MODEL_FAILOVER),
});

const entriesOf = (map: StatedMap = {}): MapEntry[] =>
  Object.entries(map)
    .map(([left, right]) => ({ left, right: Array.isArray(right) ? right.join("|") : String(right) }))
    .sort((one, other) => compareTried(one.left, other.left));

/** Writes entries as the configuration takes them; one in a line, so that they can be read. */
export const textOf = (entries: readonly MapEntry[]): string =>
  entries
    .filter(({ left, right }) => left.trim() !== "" || right.trim() !== "")
    .map(({ left, right }) => `${left.trim()}=${right.trim()}`)
    .join(",\n");

/** What is wrong with an item of a text: it is no entry, or it deletes where the whole map is replaced. */
export interface ItemFault {
  readonly kind: "no_entry" | "deletes" | "twice";
  readonly item: string;
}

/** Reads a text. Items that are no entries are faults; of two entries with the same left side the later one counts. */
export function readMap(text: string): {
  readonly entries: readonly MapEntry[];
  readonly faults: readonly ItemFault[];
} {
  const entries = new Map<string, MapEntry>();
  const faults: ItemFault[] = [];
  for (const part of text.split(",")) {
    const item = part.trim();
    if (item === "") continue;
    const equals = item.indexOf("=");
    const [left, right] = [item.slice(0, Math.max(0, equals)).trim(), item.slice(equals + 1).trim()];
    if (equals < 0 && item.startsWith("-")) faults.push({ kind: "deletes", item });
    else if (left === "" || right === "") faults.push({ kind: "no_entry", item });
    else {
      if (entries.has(left)) faults.push({ kind: "twice", item: left });
      entries.set(left, { left, right });
    }
  }
  return { entries: [...entries.values()], faults };
}

/** One line of a difference; `before` is null of an entry that comes, `after` of one that goes. */
export interface MapChange {
  readonly left: string;
  readonly before: string | null;
  readonly after: string | null;
}

/** Returns what becomes different, in the order in which entries are tried. */
export function changesBetween(
  before: readonly MapEntry[],
  after: readonly MapEntry[],
): readonly MapChange[] {
  const [was, is] = [before, after].map(
    (entries) => new Map(entries.map(({ left, right }) => [left, right])),
  );
  const lefts = [...new Set([...was!.keys(), ...is!.keys()])].sort(compareTried);
  return lefts.flatMap((left) => {
    const change = { left, before: was!.get(left) ?? null, after: is!.get(left) ?? null };
    return change.before === change.after ? [] : [change];
  });
}
