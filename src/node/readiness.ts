// Decides, without I/O, whether this node should get requests: whether it is stopping, is connected, has the
// right time, and whether every shard has an owner. /readyz shows the reason. Also tells which other nodes
// may be running.

import type { Placement } from "../runtime/placement/placement.ts";
import { nodeId } from "../runtime/placement/shard-table.ts";
import { CLOCK_SKEW_MS_MAX, type NodeHealth } from "./node-health.ts";

/** Whether another node is up that could serve instead of this one. */
export const othersUp = ({ members, node }: Pick<Placement, "members" | "node">): boolean =>
  members().some(({ name, incarnation, state }) => state === "up" && nodeId(name, incarnation) !== node());

/**
 * Returns a check whether an incarnation may be running. One that joined a moment ago is missing in the table
 * read before, so the table is read again before the answer is no.
 */
export const upByNow =
  ({ others, refresh }: Pick<Placement, "others" | "refresh">) =>
  async (incarnation: string): Promise<boolean> => {
    if (others().includes(incarnation)) return true;
    await refresh();
    return others().includes(incarnation);
  };

/** What the readiness check looks at. */
export interface ReadinessCheckParts {
  readonly placement: Pick<Placement, "placed" | "members" | "node">;
  readonly connected: () => boolean;
  readonly health: Pick<NodeHealth, "skewMs" | "isStoreUnresponsive"> | null;
  readonly leaving: () => boolean;
}

/** Creates a check that returns why this node should get no requests; null when it should. */
export function createReadinessCheck(parts: ReadinessCheckParts): () => string | null {
  const { placement, connected, health, leaving } = parts;
  // A node with a wrong clock stays out only if another node can serve. If all clocks are equally wrong, the
  // nodes agree and continue.
  const othersAreFit = () => othersUp(placement);
  const reasons: readonly (readonly [holds: () => boolean, reason: () => string])[] = [
    [leaving, () => "the process is stopping"],
    [() => !connected(), () => "NATS cannot be reached"],
    [() => health?.isStoreUnresponsive() ?? false, () => "the store answers nothing that requests need"],
    [() => !placement.placed(), () => "not every shard has an owner that is known to live"],
    [
      () => Math.abs(health?.skewMs() ?? 0) > CLOCK_SKEW_MS_MAX && othersAreFit(),
      () => `the clock is ${Math.round(health!.skewMs())} ms from the store's`,
    ],
  ];
  return () => reasons.find(([holds]) => holds())?.[1]() ?? null;
}
