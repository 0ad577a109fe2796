// Reads the shard table and writes the next one: the node whose turn it is writes what the plan says, and every
// node writes which of its own shards are drained. Losing a race is no error: the winner's table is read instead.

import { type Clock, inTime, sleep } from "../../base/clock.ts";
import { coalesce } from "../../base/coalesce.ts";
import type { Registry } from "../../store/store.ts";
import type { DeadNodes } from "./dead-nodes.ts";
import type { KnownMembers, MemberStates } from "./member-states.ts";
import type { NodeIdentity } from "./node-identity.ts";
import type { ShardOwnership } from "./shard-ownership.ts";
import { addMember, type PlanLimits, plan, type ShardTable, TABLE_KEY } from "./shard-table.ts";

export interface TableWriter {
  /** As `Placement.refresh`. */
  refresh(): Promise<void>;
  /** Reads the table, looks at the other nodes, and writes the next table if it is this node's turn. */
  reconcile(): Promise<void>;
}

/** The input of a plan that changed nothing: the same input need not be planned again. */
interface PlanInput {
  readonly table: ShardTable;
  readonly states: string;
  readonly settled: boolean;
}

/** Creates the writer of a node. `announce` publishes that the table changed; `failed` logs an error. */
export function createTableWriter(parts: {
  readonly registry: Registry;
  readonly clock: Clock;
  readonly limits: PlanLimits & { readonly callMs: number; readonly refreshMs: number };
  readonly ownership: ShardOwnership;
  readonly deadNodes: DeadNodes & { add(nodes: readonly string[]): void };
  readonly identity: NodeIdentity;
  readonly members: MemberStates;
  readonly announce: () => void;
  readonly failed: (error: unknown) => void;
}): TableWriter {
  const { registry, clock, limits, ownership, deadNodes, identity, members, failed } = parts;
  const { table } = ownership;
  const me = identity.node;
  let lastUnchanged: PlanInput | null = null;
  let readMs = Number.NEGATIVE_INFINITY;
  /** Number of looks at which this node saw something to write and left it to others. */
  let overdue = 0;

  const read = coalesce(async () => {
    const found = await inTime(clock, limits.callMs, registry.read(TABLE_KEY));
    if (found !== null && found.rev !== ownership.rev()) adopt(JSON.parse(found.value), found.rev);
  });

  /** Nodes are removed from the members only after they are gone for good. */
  function adopt(next: ShardTable, rev: number): void {
    const before = table();
    ownership.adopt(next, rev);
    if (table() === next) deadNodes.add(before.members.filter((node) => !next.members.includes(node)));
  }

  async function write(next: ShardTable): Promise<void> {
    const stored = registry.cas(TABLE_KEY, ownership.rev(), JSON.stringify(next));
    const rev = await inTime(clock, limits.callMs, stored);
    // Another node was faster. Its table is read at the next look, or at once, because that node publishes.
    if (rev === null) return;
    overdue = 0;
    adopt(next, rev);
    parts.announce();
  }

  /**
   * The first live node by name writes. Each other one waits one look longer, in case those before it are
   * stuck.
   */
  function isTurn(known: KnownMembers): boolean {
    const up = [...known].filter(([, member]) => member.state === "up").map(([node]) => node);
    return overdue++ >= up.sort().indexOf(me());
  }

  return {
    /** The registry is read at most once per `refreshMs`, however many callers there are. */
    refresh: coalesce(async () => {
      const waitMs = readMs + limits.refreshMs - clock.mono();
      if (waitMs > 0) await sleep(clock, waitMs);
      readMs = clock.mono();
      await read().catch(failed);
    }),
    reconcile: coalesce(async () => {
      try {
        await read();
        const known = await members.read();
        // A node that was declared dead meanwhile is no member until it has joined again.
        if (known === null || !known.has(me())) return;
        // There is no await from here to the write, so that the plan starts from the table that the rev
        // stands for.
        const before = table();
        const current = ownership.withoutDrained(before, identity.watermark());
        const { isSettled: settled, states } = members.settled(known);
        if (
          lastUnchanged?.table === current &&
          lastUnchanged.states === states &&
          lastUnchanged.settled === settled
        ) {
          return;
        }
        const joined = identity.wasAskedToLeave() ? current : addMember(current, me());
        const next = plan(joined, known, limits, settled);
        lastUnchanged = next === before ? { table: before, states, settled } : null;
        if (next === before) overdue = 0;
        else if (current !== before || isTurn(known)) await write({ ...next, version: before.version + 1 });
      } catch (error) {
        failed(error);
      }
    }),
  };
}
