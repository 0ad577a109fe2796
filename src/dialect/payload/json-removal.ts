// Removes array elements from a JSON text, each with its comma; every other character stays. The text must be
// valid JSON, which the caller has parsed. Paths that do not exist in the text are ignored.

import { skipSpace, stringEnd, valueEnd } from "./json-fields.ts";
import type { JsonPath } from "./payload.ts";

interface Child {
  readonly name: string | number;
  readonly from: number;
  readonly to: number;
}

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

const CLOSINGS: ReadonlySet<string> = new Set(["]", "}"]);

/**
 * Returns the elements of an array or the fields of an object. Of fields with the same name the last one
 * counts.
 */
function childrenOf(text: string, open: number): Child[] {
  const isArray = text[open] === "[";
  if (!isArray && text[open] !== "{") return [];
  const children: Child[] = [];
  const last = new Map<string | number, number>();
  for (let at = skipSpace(text, open + 1); at < text.length && !CLOSINGS.has(text[at]!); ) {
    const nameTo = isArray ? at : stringEnd(text, at);
    const name = isArray ? children.length : JSON.parse(text.slice(at, nameTo));
    const from = isArray ? at : skipSpace(text, skipSpace(text, nameTo) + 1);
    const to = valueEnd(text, from);
    last.set(name, children.length);
    children.push({ name, from, to });
    at = skipSpace(text, to);
    if (text[at] === ",") at = skipSpace(text, at + 1);
  }
  return isArray ? children : children.filter(({ name }, i) => last.get(name) === i);
}
