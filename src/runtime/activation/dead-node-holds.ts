// Releases the holds of dead nodes on an actor: when a death becomes known, and otherwise before the actor's
// next command. The release is a command of the actor itself, so its consequences are durable like any
// others. Holds are examined only when more nodes died since the last time. This file does not know what a
// hold is.

import type { AnyBehavior, Command } from "../actor.ts";
import type { DeadNodes } from "../placement/dead-nodes.ts";

/**
 * Returns a function that is called with the actor's state when it may decide, and runs the releasing
 * commands by `run`.
 */
export function createDeadNodeRelease(
  { holdOwnership }: AnyBehavior,
  departed: DeadNodes,
): (state: unknown, run: (command: Command) => void) => void {
  let upTo = 0;
  return (state, run) => {
    const version = departed.version();
    if (upTo === version || holdOwnership === undefined) return;
    upTo = version;
    const next = (): Command | null => holdOwnership.release(state, departed.has);
    for (let command = next(); command !== null; command = next()) run(command);
  };
}
