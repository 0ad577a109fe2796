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
/** Where the plan has moved: to another Level, or to another model. */
export type FailoverStep = "level" | "model";

const STEPS: Readonly<Record<FailoverReason, readonly FailoverStep[]>> = {
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
export class FailoverPlan {
  /** Every candidate that was reached, in order, without those whose hold was refused. */
  readonly visited: RouteCandidate[];
  /** The number of attempts so far. */
  made: number;
  private row = 0;
  private column = 0;
  private atCandidate: number;

  /**
   * Begins at `candidates[0][0]`. `tries` is the number of keys that were tried there before the other
   * candidates were known.
   */
  constructor(
    private readonly candidates: CandidateTable,
    tries = 0,
  ) {
    this.made = tries;
    this.atCandidate = tries;
    this.visited = [this.candidate];
  }

  /** The current candidate. */
  get candidate(): RouteCandidate {
    return this.candidates[this.row]![this.column]!;
  }

  /** The candidates after the current one in its row. */
  get behind(): readonly RouteCandidate[] {
    return this.candidates[this.row]!.slice(this.column + 1);
  }

  /** Returns whether one more key may be tried at the current candidate. */
  mayTry(): boolean {
    const reserved = this.candidates.length - 1 - this.row;
    return this.atCandidate < KEYS_OF_A_LEVEL && this.made < ATTEMPTS_MAX - reserved;
  }

  /** Counts an attempt. */
  count(): void {
    this.atCandidate++;
    this.made++;
  }

  /** Moves to the next candidate. Returns where that is, or null when there is none. */
  advance(reason: FailoverReason): FailoverStep | null {
    if (reason === "refused") this.visited.pop();
    const step = this.made < ATTEMPTS_MAX ? STEPS[reason].find((one) => this.hasNext(one)) : undefined;
    if (step === undefined) return null;
    if (step === "level") this.column++;
    else {
      this.row++;
      this.column = 0;
    }
    this.atCandidate = 0;
    this.visited.push(this.candidate);
    return step;
  }

  private hasNext(step: FailoverStep): boolean {
    return step === "level"
      ? this.column + 1 < this.candidates[this.row]!.length
      : this.row + 1 < this.candidates.length;
  }
}
