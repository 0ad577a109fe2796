// Everything that is written behind the commits, on the writer's connection: the index by which they are found, and what is
// derived of their lines. Both read the ledger for themselves, so neither waits for the other.

import type { Clock } from "../../base/clock.ts";
import type { SqliteConnection } from "./connection.ts";
import { IndexProjection } from "./index-projection.ts";
import { LineProjection } from "./line-projection.ts";
import { ProjectionSchedule } from "./projection-schedule.ts";

export interface Projections {
  /**
   * Begins to project what is stored now within a second. Call it after each append: it takes a step at once where too
   * much waits.
   */
  wake(): void;
  stop(): void;
}

/** Creates the projections of a database. `onError` is called with the reason when a step fails; it is tried again. */
export function sqliteProjections(parts: {
  readonly connection: SqliteConnection;
  readonly clock: Pick<Clock, "after">;
  readonly onError: (error: unknown) => void;
}): Projections {
  const { connection, clock, onError } = parts;
  const index = new IndexProjection(connection);
  const schedules = [index, new LineProjection(connection)].map(
    (projection) => new ProjectionSchedule({ projection, clock, onError }),
  );
  const [indexing] = schedules;
  return {
    wake() {
      if (index.isFull()) indexing!.hurry();
      for (const schedule of schedules) schedule.wake();
    },
    stop() {
      for (const schedule of schedules) schedule.stop();
    },
  };
}
