// Edits of a map: what the mixed syntax `a=b, -c` and an object of limits mean, and what comes of them. They say what was
// done, not what the map is then, so two of them made at once both count, and a cascade lays the same ones on others.
// How they are written is map-edit-parsers.ts; nothing here knows a map's name.

/** One entry set, or (value null) deleted. */
export interface Edit<T> {
  readonly pattern: string;
  readonly value: T | null;
}

export interface MapEdits<T> {
  /** The map is emptied first. */
  readonly clear: boolean;
  /** In order; a later one of the same pattern counts. */
  readonly changes: readonly Edit<T>[];
}

/** The map after the edits. Its bounds are its keeper's to check (`faultOfMap`). */
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

/** Limits are merged, figure by figure; of everything else the new word takes the place of the old one. */
export function mergeEntry<T>(before: T | null | undefined, given: T): T {
  const isFigures = typeof given === "object" && !Array.isArray(given);
  return isFigures ? { ...before, ...given } : given;
}
