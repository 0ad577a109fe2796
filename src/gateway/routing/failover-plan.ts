// The order in which the candidates of a request are tried when keys fail (contract section 4), as a pure
// state machine:
//
//   reason                               next candidate
//   3 keys of a Level failed, more left  the next backup model, or without one the next Level of SWITCH_OVER
//   no key is left at a Level            the next Level of SWITCH_OVER, or without one the next backup model
//   the hold was refused                 the next backup model
//
// A request has at most 8 attempts, of which one is reserved for each backup model that was not tried yet.

import type { RouteCandidate } from "./route.ts";

const KEYS_OF_A_LEVEL = 3;
/** The largest number of attempts of one request. */
export const ATTEMPTS_MAX = 8;

/** Why the plan moves on: three keys failed, no key is left, or the account refused the hold. */
export type FailoverReason = "tries" | "exhausted" | "refused";
type Turn = "level" | "model";

const WAYS: Readonly<Record<FailoverReason, readonly Turn[]>> = {
  tries: ["model", "level"],
  exhausted: ["level", "model"],
  refused: ["model"],
};

/**
 * One row per model, the primary first; a row holds the model's Level, then the Levels of SWITCH_OVER. Built
 * by `failoverCandidates`.
 */
export type CandidateTable = readonly (readonly RouteCandidate[])[];

/** The position of one request in its candidate table. */
export interface FailoverPlan {
  /** The current candidate. */
  readonly candidate: RouteCandidate;
  /** The candidates after the current one in its row. */
  readonly behind: readonly RouteCandidate[];
  /** Every candidate that was reached, in order, without those whose hold was refused. */
  readonly visited: readonly RouteCandidate[];
  /** The number of attempts so far. */
  readonly made: number;
  /** Returns whether one more key may be tried at the current candidate. */
  mayTry(): boolean;
  /** Counts an attempt. */
  count(): void;
  /**
   * Moves to the next candidate. Returns whether that is another Level or another model, or null when there
   * is none.
   */
  advance(why: FailoverReason): Turn | null;
}

/**
 * Creates a plan that begins at `candidates[0][0]`. `tries` is the number of keys that were tried there before the
 * other candidates were known.
 */
export function createFailoverPlan(candidates: CandidateTable, tries = 0): FailoverPlan {
  let row = 0;
  let column = 0;
  let here = tries;
  let made = tries;
  const at = () => candidates[row]![column]!;
  const visited = [at()];
  const open: Readonly<Record<Turn, () => boolean>> = {
    level: () => column + 1 < candidates[row]!.length,
    model: () => row + 1 < candidates.length,
  };
  return {
    get candidate() {
      return at();
    },
    get behind() {
      return candidates[row]!.slice(column + 1);
    },
    visited,
    get made() {
      return made;
    },
    mayTry: () => here < KEYS_OF_A_LEVEL && made < ATTEMPTS_MAX - (candidates.length - 1 - row),
    count() {
      here++;
      made++;
    },
    advance(why) {
      if (why === "refused") visited.pop();
      const turn = made < ATTEMPTS_MAX ? WAYS[why].find((way) => open[way]()) : undefined;
      if (turn === undefined) return null;
      if (turn === "level") column++;
      else {
        row++;
        column = 0;
      }
      here = 0;
      visited.push(at());
      return turn;
    },
  };
}
