// Where a request goes next when keys fail (contract section 4), as a pure machine over the legs that routing found:
//
//   3 keys of a Level failed, and it has more of them   the next backup model; without one, along the SWITCH_OVER chain
//   no key left at a Level                              along the chain; at its end the next backup model
//   the hold was refused                                the next backup model
//
// At most 8 attempts in all, of which one is kept for each backup model not tried yet.

import type { RouteCandidate } from "./route.ts";

const KEYS_OF_A_LEVEL = 3;
export const ATTEMPTS_MAX = 8;

export type FailoverReason = "tries" | "exhausted" | "refused";
type Turn = "level" | "model";

const WAYS: Readonly<Record<FailoverReason, readonly Turn[]>> = {
  tries: ["model", "level"],
  exhausted: ["level", "model"],
  refused: ["model"],
};

/** A row for each model, in it its Level and then the chain; see `backups` of route.ts. */
export type CandidateTable = readonly (readonly RouteCandidate[])[];

export interface FailoverPlan {
  readonly leg: RouteCandidate;
  /** The legs behind this one in its chain. */
  readonly behind: readonly RouteCandidate[];
  /** Every leg that was come to, in order; not those whose hold was refused. */
  readonly visited: readonly RouteCandidate[];
  /** Attempts so far. */
  readonly made: number;
  /** May one more key be tried here? */
  mayTry(): boolean;
  /** One was tried. */
  count(): void;
  /** Goes on; says whether the model changed, or that there is nothing further. */
  advance(why: FailoverReason): Turn | null;
}

/** `legs[0][0]` is where it begins; `tries`: keys tried there before the other legs were known. */
export function createFailoverPlan(legs: CandidateTable, tries = 0): FailoverPlan {
  let row = 0;
  let column = 0;
  let here = tries;
  let made = tries;
  const at = () => legs[row]![column]!;
  const visited = [at()];
  const open: Readonly<Record<Turn, () => boolean>> = {
    level: () => column + 1 < legs[row]!.length,
    model: () => row + 1 < legs.length,
  };
  return {
    get leg() {
      return at();
    },
    get behind() {
      return legs[row]!.slice(column + 1);
    },
    visited,
    get made() {
      return made;
    },
    mayTry: () => here < KEYS_OF_A_LEVEL && made < ATTEMPTS_MAX - (legs.length - 1 - row),
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
