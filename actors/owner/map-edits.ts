// Edits of a map, as the mixed syntax `a=b, -c` or an object of limits expresses them. They describe changes,
// not the resulting map, so two concurrent edits both take effect, and a cascade can apply the same edits to
// other accounts. map-edit-parsers.ts parses them; this file must not depend on a particular map.

/** Sets one entry, or deletes it if `value` is null. */
export interface Edit<T> {
  readonly pattern: string;
  readonly value: T | null;
}

/** A list of edits of one map. */
export interface MapEdits<T> {
  /** Whether the map is emptied first. */
  readonly clear: boolean;
  /** Applied in order; later edits of a pattern override earlier ones. */
  readonly changes: readonly Edit<T>[];
}

/** Returns the map after the edits. The caller checks its bounds with `faultOfMap`. */
export function applyEdits<T>(
  map: Readonly<Record<string, T>>,
  { clear, changes }: MapEdits<T>,
): Readonly<Record<string, T>> {
  const edited = new Map(clear ? [] : Object.entries(map));
  for (const { pattern, value } of changes) {
    if (value === null) edited.delete(pattern);
    else edited.set(pattern, mergeEntry(edited.get(pattern), value));
  }
  return Object.fromEntries(edited);
}

/** Merges objects of limits figure by figure; any other value replaces the former one. */
export function mergeEntry<T>(before: T | null | undefined, given: T): T {
  const isFigures = typeof given === "object" && !Array.isArray(given);
  return isFigures ? { ...before, ...given } : given;
}
