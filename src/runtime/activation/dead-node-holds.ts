// What departed nodes hold of an actor is given back: when their end is heard of, and else before the actor's next command.
// It is the actor's own command that does it, so that what follows from it is durable like anything else. It looks at what
// is held only when more nodes have departed since, and knows nothing of what holding means.

import type { AnyBehavior, Command } from "../actor.ts";
import type { DeadNodes } from "../placement/dead-nodes.ts";

/** Called with the actor's state in a moment in which it may decide; `run` lets it decide. */
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
