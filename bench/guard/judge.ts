// Judges the rounds of one kind of request by the ratio that the baseline has. It is pure: it measures and prints nothing.

import { median } from "../figures.ts";

/** A ratio that is greater than the baseline's by more than this share is worse. */
export const WORSE_SHARE = 0.25;

/** A round in which other processes used more than this many cores does not count. */
export const OTHER_CORES_MAX = 0.25;

/** With fewer rounds that count there is no judgment. */
export const QUIET_ROUNDS_MIN = 3;

export interface GuardRound {
  /** CPU time of the service per request, as a ratio to the pass-through's. */
  readonly ratio: number;
  /** Cores that processes outside of the benchmark used meanwhile. */
  readonly otherCores: number;
  /** Requests that the service refused because its store was slow. Their CPU time would count as that of the others. */
  readonly refused: number;
}

export type Judgment =
  | { readonly verdict: "kept" | "worse"; readonly ratio: number; readonly change: number }
  /** Too few rounds count, because the machine was busy with something else. */
  | { readonly verdict: "busy"; readonly quiet: number; readonly rounds: number }
  /** The baseline has no ratio of this kind. */
  | { readonly verdict: "unknown"; readonly ratio: number };

/** Whether a round counts. */
export const isQuiet = ({ otherCores, refused }: GuardRound): boolean =>
  otherCores <= OTHER_CORES_MAX && refused === 0;

/**
 * Compares the median ratio of the quiet rounds with the baseline's ratio, which is undefined when it has none.
 * `change` is the difference as a share of the baseline: 0.1 is 10 % worse.
 */
export function judge(rounds: readonly GuardRound[], baseline: number | undefined): Judgment {
  const ratios = rounds.filter(isQuiet).map(({ ratio }) => ratio);
  if (ratios.length < QUIET_ROUNDS_MIN)
    return { verdict: "busy", quiet: ratios.length, rounds: rounds.length };
  const ratio = median(ratios);
  if (baseline === undefined) return { verdict: "unknown", ratio };
  const change = ratio / baseline - 1;
  return { verdict: change > WORSE_SHARE ? "worse" : "kept", ratio, change };
}

/**
 * The verdict on one kind after its first judgment and, where that was "worse", a second one of new processes; null is a
 * second one that was not made. Only what is worse twice in a row fails.
 */
export function finalVerdict(first: Judgment, second: Judgment | null): "passed" | "failed" | "not judged" {
  const last = first.verdict === "worse" ? second : first;
  if (last === null) return "not judged";
  switch (last.verdict) {
    case "kept":
      return "passed";
    case "worse":
      return "failed";
    case "busy":
    case "unknown":
      return "not judged";
  }
}
