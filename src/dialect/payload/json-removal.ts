// Removes array elements from a JSON text, each with its comma; every other character stays. The text must be
// valid JSON, which the caller has parsed. Paths that do not exist in the text are ignored.

import { type Child, childrenOf } from "./json-children.ts";
import { skipSpace } from "./json-fields.ts";
import type { JsonPath } from "./payload.ts";

/** Returns the text without the elements at `places`, none of which may contain another. */
export function withoutPlaces(text: string, places: readonly JsonPath[]): string {
  let kept = "";
  let at = 0;
  for (const [from, to] of cutsIn(text, skipSpace(text, 0), places)) {
    kept += text.slice(at, from);
    at = to;
  }
  return kept + text.slice(at);
}

/** Returns the ranges to remove from the value that begins at `at`, in the order of the text. */
function cutsIn(
  text: string,
  at: number,
  places: readonly JsonPath[],
): (readonly [from: number, to: number])[] {
  const below = Map.groupBy(places, ([step]) => step);
  const children = childrenOf(text, at);
  const isCut = ({ name }: Child) => typeof name === "number" && (below.get(name)?.[0]?.length ?? 0) === 1;
  const kept = children.findLastIndex((child) => !isCut(child)) + 1;
  const cuts = children.slice(0, kept).flatMap((child, i) => {
    if (isCut(child)) return [[child.from, children[i + 1]!.from] as const];
    const further = below.get(child.name)?.map((place) => place.slice(1)) ?? [];
    return further.length === 0 ? [] : cutsIn(text, child.from, further);
  });
  const first = children[kept];
  if (first !== undefined) cuts.push([kept > 0 ? children[kept - 1]!.to : first.from, children.at(-1)!.to]);
  return cuts;
}
