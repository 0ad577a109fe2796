// Series by the number of a Level, over all Owners. Their number is bounded: Levels beyond the bound share the series `other`.

import { OTHER_LABEL } from "../model-label.ts";

/** Levels that have a series of their own. */
const LEVEL_SERIES_MAX = 50;

/** Returns the number of a Level from its actor's id, `<owner>.<level>`. */
export const levelNumberOf = (id: string): string => id.slice(id.indexOf(".") + 1);

/** Returns the series of a Level, which `make` makes when there is none, or that of all others. */
export function seriesOfLevel<S>(all: Map<string, S>, number: string, make: (level: string) => S): S {
  const own = all.get(number);
  if (own !== undefined) return own;
  const level = all.size < LEVEL_SERIES_MAX ? number : OTHER_LABEL;
  const known = all.get(level);
  if (known !== undefined) return known;
  const fresh = make(level);
  all.set(level, fresh);
  return fresh;
}
