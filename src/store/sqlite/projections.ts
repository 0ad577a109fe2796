// Everything that is written behind the commits, on the writer's connection: the index by which they are found, and what is
// derived of their lines. Both read the ledger for themselves, so neither waits for the other.

import type { Clock } from "../../base/clock.ts";
import type { SqliteConnection } from "./connection.ts";
import { IndexProjection } from "./index-projection.ts";
import { LineProjection } from "./line-projection.ts";
import { ProjectionSchedule } from "./projection-schedule.ts";

export interface Projections {
  /** Begins to project what is stored now within a second. */
  wake(): void;
  /**
   * Called behind each append with the number of its commits and of their dedup ids. Each append advances the index by some steps where too
   * many of them wait for it, so that it keeps up with any load, and those that are not indexed are never many.
   */
  committed(commits: number, ids: number): void;
  stop(): void;
}

/** Steps that index as much as one append brings, also where each of its commits has some dedup ids. */
const APPEND_STEPS = 4;

/** Creates the projections of a database. `onError` is called with the reason when a step fails; it is tried again. */
export function sqliteProjections(parts: {
  readonly connection: SqliteConnection;
  readonly clock: Pick<Clock, "after">;
  readonly onError: (error: unknown) => void;
}): Projections {
  const { connection, clock, onError } = parts;
  const index = new IndexProjection(connection);
  const indexing = new ProjectionSchedule({ projection: index, clock, onError });
  const lines = new ProjectionSchedule({ projection: new LineProjection(connection), clock, onError });
  const wake = () => {
    indexing.wake();
    lines.wake();
  };
  return {
    wake,
    committed(commits, ids) {
      if (index.committed(commits, ids)) for (let step = 0; step < APPEND_STEPS; step++) indexing.stepNow();
      wake();
    },
    stop() {
      indexing.stop();
      lines.stop();
    },
  };
}
