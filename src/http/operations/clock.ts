// PUT /x-clock: moves business time forward on every node, so that tests see credit expire, days end and keys wake without
// waiting. The endpoint exists only with ALLOW_CLOCK_OFFSET=1.

import type { Static } from "@sinclair/typebox";
import { assert, RefusedError } from "../../base/errors.ts";
import type { ManagementCall, ManagementParts } from "../management.ts";
import type { ClockMoveSchema } from "./schemas.ts";

/** Business time as a node may move it. */
export interface MovableClock {
  /** Returns how many milliseconds it is ahead of the machine's clock. */
  totalMs(): number;
  /** Resolves to false when it is further ahead already. */
  moveTo(totalMs: number): Promise<boolean>;
}

/** What the clock's endpoint needs. */
export interface ClockParts extends ManagementParts {
  /** The clock to move; null when moving is not allowed. */
  readonly movableClock: MovableClock | null;
}

/** Moves the clock, and returns its offset afterwards with the time that it makes. Throws `RefusedError` for a step back. */
export async function moveClock(
  { movableClock, clock }: ClockParts,
  { audit }: ManagementCall,
  { offset_ms }: Static<typeof ClockMoveSchema>,
) {
  assert(movableClock !== null, "a clock that may not be moved has no endpoint");
  const before = movableClock.totalMs();
  if (!(await movableClock.moveTo(offset_ms))) {
    throw new RefusedError({
      code: "invalid_parameter",
      message: `"offset_ms": the clock moves forward only, and is ${movableClock.totalMs()} ms ahead already.`,
    });
  }
  audit.addChanges({ offset_ms }, { offset_ms: before });
  return {
    success: true as const,
    offset_ms: movableClock.totalMs(),
    now: new Date(clock.wall()).toISOString(),
  };
}
