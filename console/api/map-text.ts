// Maps of routing as entries and as texts in the syntax of the configuration (`a=b, c=d`), and what differs between two. The
// service checks what is saved; here is only what a page must know to show an entry and a difference.

import { compareTried } from "./patterns.ts";

/** One entry: what it is about, and where it leads. */
export interface MapEntry {
  readonly left: string;
  readonly right: string;
}

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
