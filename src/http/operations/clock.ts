// PUT /x-clock: moves business time forward on every node, so that tests see credit expire, days end and keys wake without
// waiting. There only with ALLOW_CLOCK_OFFSET=1.

import { Type } from "@sinclair/typebox";
import { CLOCK_OFFSET_MS_MAX } from "../../base/clock.ts";
import { RefusedError } from "../../base/errors.ts";
import { answer, endpoint } from "../endpoint.ts";
import type { ManagementParts } from "../management.ts";

/** Business time as a node may move it. */
export interface MovableClock {
  /** How far ahead of the machine's it is. */
  totalMs(): number;
  /** False: it is further ahead already. */
  moveTo(totalMs: number): Promise<boolean>;
}

export interface ClockParts extends ManagementParts {
  /** The clock to move; null when moving is not allowed. */
  readonly movableClock: MovableClock | null;
}

const Offset = Type.Object(
  {
    offset_ms: Type.Integer({
      minimum: 0,
      maximum: CLOCK_OFFSET_MS_MAX,
      description: `must be an integer from 0 to ${CLOCK_OFFSET_MS_MAX}: milliseconds ahead of the machine's clock`,
    }),
  },
  { additionalProperties: false },
);

/** Answers what the offset is then, and the time that it makes. */
export const putClock = (parts: ClockParts) =>
  endpoint(parts, { who: "root", body: Offset, action: "move_clock" }, async ({ body, journal }) => {
    const { movableClock, clock } = parts;
    if (movableClock === null)
      throw new RefusedError({ code: "not_found", message: "There is nothing here." });
    const before = movableClock.totalMs();
    if (!(await movableClock.moveTo(body.offset_ms))) {
      throw new RefusedError({
        code: "invalid_parameter",
        message: `"offset_ms": the clock moves forward only, and is ${movableClock.totalMs()} ms ahead already.`,
      });
    }
    journal.changed({ offset_ms: body.offset_ms }, { offset_ms: before });
    return answer({
      success: true,
      offset_ms: movableClock.totalMs(),
      now: new Date(clock.wall()).toISOString(),
    });
  });
