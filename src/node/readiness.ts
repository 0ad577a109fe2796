// Should this node get requests now, and which other may be at work? What it knows of that without asking anybody: whether it is leaving, hears the
// others, has the right time, and whether every actor has an owner. /readyz tells the reason.

import type { Placement } from "../runtime/placement/placement.ts";
import { nodeId } from "../runtime/placement/shard-table.ts";
import { CLOCK_SKEW_MS_MAX, type NodeHealth } from "./node-health.ts";

/** Is there a node beside this one that could serve in its place? */
export const othersUp = ({ members, node }: Pick<Placement, "members" | "node">): boolean =>
  members().some(({ name, incarnation, state }) => state === "up" && nodeId(name, incarnation) !== node());

/** May that incarnation be at work? Who joined a moment ago is in no table that was read before: it is read anew. */
export const upByNow =
  ({ others, refresh }: Pick<Placement, "others" | "refresh">) =>
  async (incarnation: string): Promise<boolean> => {
    if (others().includes(incarnation)) return true;
    await refresh();
    return others().includes(incarnation);
  };

export interface ReadinessCheckParts {
  readonly placement: Pick<Placement, "placed" | "members" | "node">;
  readonly connected: () => boolean;
  readonly fitness: Pick<NodeHealth, "skewMs" | "isStoreUnresponsive"> | null;
  readonly leaving: () => boolean;
}

/** Null: it should, as far as this node knows. */
export function createReadinessCheck(parts: ReadinessCheckParts): () => string | null {
  const { placement, connected, fitness, leaving } = parts;
  // A wrong clock is of no use beside a right one. Where all are as wrong they agree, and go on.
  const othersAreFit = () => othersUp(placement);
  const reasons: readonly (readonly [holds: () => boolean, reason: () => string])[] = [
    [leaving, () => "the process is stopping"],
    [() => !connected(), () => "NATS cannot be reached"],
    [() => fitness?.isStoreUnresponsive() ?? false, () => "the store answers nothing that requests need"],
    [() => !placement.placed(), () => "not every shard has an owner that is known to live"],
    [
      () => Math.abs(fitness?.skewMs() ?? 0) > CLOCK_SKEW_MS_MAX && othersAreFit(),
      () => `the clock is ${Math.round(fitness!.skewMs())} ms from the store's`,
    ],
  ];
  return () => reasons.find(([holds]) => holds())?.[1]() ?? null;
}
