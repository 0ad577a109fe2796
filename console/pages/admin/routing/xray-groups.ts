// The keys of an explanation, grouped by where they are tried: a model at a Level, in the order of the answer.

import type { ExplainedRoute } from "../../../components/explained-route.tsx";

/** A key that could be tried, or a count of keys in the same state. */
export type Candidate = ExplainedRoute["candidates"][number];

/** A model at a Level with its keys. */
export interface Place {
  readonly model: string;
  readonly level: number;
  readonly candidates: readonly Candidate[];
  /** Where requests go first; `backup`: only when the places before it fail. */
  readonly role: "first" | "backup";
}

/** States in which a key takes requests. */
const TAKES: ReadonlySet<string> = new Set(["normal", "waking"]);

/** Whether a key takes requests at this moment. */
export const takesRequests = ({ state }: Pick<Candidate, "state">): boolean => TAKES.has(state);

/** Returns the places in the order in which they are tried. Those before the first one are switched over. */
export function placesOf({ candidates, decision }: Pick<ExplainedRoute, "candidates" | "decision">): Place[] {
  const byPlace = Map.groupBy(candidates, ({ model, level }) => `${level} ${model}`);
  return [...byPlace.values()].map((group) => {
    const { model, level } = group[0]!;
    const isFirst = decision.admitted && decision.level === level && decision.model === model;
    return { model, level, candidates: group, role: isFirst ? "first" : "backup" };
  });
}
