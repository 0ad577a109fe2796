// Holds on an actor are in its owner's memory only, and are lost when the actor gets another owner. Each node
// re-asserts its holds to the new owner. There, commands that rely on holds wait until all nodes have done
// so, for `handoffMs` at most.
//
//   a node sees a move in the table -> re-asserts its holds to the new owner, then sends it `holdsReasserted`
//   the new owner -> opens the shard's gate when all nodes have sent `holdsReasserted` for this epoch, itself included
//
// situation                                    recovery
// a node is silent or slow, or its frame lost  the gate opens after `handoffMs` all the same
// `holdsReasserted` comes before the owner saw the table  it is remembered until the shard is gained
// a node joins                                 it sends at once that it has no holds
// a node was declared dead and joins again     it re-asserts all its holds under its new name
//
// This file does not look at holds: they go to the actors as commands.

import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import { type ActorRef, actorName } from "../actor.ts";
import type { Placement, ShardMove } from "../placement/placement.ts";
import { SHARDS, shardOf } from "../shards.ts";
import type { ShardEpoch } from "./node-protocol.ts";

export interface HoldHandoff {
  /** Resolves when commands that rely on holds may run on actors of this shard; null means now. */
  gate(shard: number): Promise<void> | null;
  /**
   * Closes the gates of gained shards until all nodes have re-asserted their holds, or `handoffMs` have
   * passed.
   */
  gained(shards: readonly number[]): void;
  /** Opens the gates of lost shards, so that waiting commands end. */
  lost(shards: readonly number[]): void;
  /**
   * Re-asserts this node's holds on moved shards by the `onMoved` handlers, then sends `holdsReasserted` to the new
   * owners.
   */
  moved(moved: readonly ShardMove[]): void;
  /** Called when a node has re-asserted all its holds on these shards. */
  reasserted(node: string, shards: readonly ShardEpoch[]): void;
  /** Sends to all owners that this node is new and has no holds. */
  announceNoHolds(): void;
  /** Registers a handler that re-asserts this node's holds on the actors concerned. */
  onMoved(handle: (concerns: (actor: ActorRef) => boolean) => Promise<void>): void;
}

interface Gate {
  readonly epoch: number;
  /** Nodes that have not sent `holdsReasserted` yet. */
  readonly awaited: Set<string>;
  readonly opened: Promise<void>;
  readonly open: () => void;
}

/** Creates the handoff of a node. It uses the clock for gates and logs failed handlers. */
export function createHoldHandoff(parts: {
  readonly clock: Clock;
  readonly log: Log;
  readonly handoffMs: number;
  readonly placement: Pick<Placement, "node" | "others" | "ownerOf">;
  /** Sends `holdsReasserted` to a node, best effort. */
  readonly announce: (node: string, shards: readonly ShardEpoch[]) => void;
}): HoldHandoff {
  const { clock, log, placement } = parts;
  const handlers: Parameters<HoldHandoff["onMoved"]>[0][] = [];
  const gates = new Map<number, Gate>();
  /**
   * The newest epoch in which each shard was gained: a `holdsReasserted` for it concerns its gate, and is ignored once
   * that is open.
   */
  const known = new Map<number, number>();
  /** Nodes that sent `holdsReasserted` for an epoch that is not gained yet. */
  const early = new Map<number, { readonly epoch: number; readonly nodes: Set<string> }>();
  /** Shards of this node to which its own holds are still being re-asserted, with their epochs. */
  const reasserting = new Map<number, number>();

  function reasserted(node: string, shards: readonly ShardEpoch[]): void {
    for (const [shard, epoch] of shards) {
      const gate = gates.get(shard);
      if (gate?.epoch === epoch) {
        gate.awaited.delete(node);
        if (gate.awaited.size === 0) open(shard, gate);
      } else if (epoch > (known.get(shard) ?? 0)) remember(shard, epoch, node);
    }
  }

  function remember(shard: number, epoch: number, node: string): void {
    const before = early.get(shard);
    if (before?.epoch === epoch) before.nodes.add(node);
    else if (before === undefined || before.epoch < epoch)
      early.set(shard, { epoch, nodes: new Set([node]) });
  }

  function open(shard: number, gate: Gate): void {
    if (gates.get(shard) === gate) gates.delete(shard);
    gate.open();
  }

  function close(shard: number): Gate | null {
    const epoch = placement.ownerOf(shard)?.epoch ?? 0;
    const before = early.get(shard);
    const awaited = new Set(placement.others());
    if (before?.epoch === epoch) for (const node of before.nodes) awaited.delete(node);
    known.set(shard, epoch);
    early.delete(shard);
    if (reasserting.get(shard) === epoch) awaited.add(placement.node());
    if (awaited.size === 0) return null;
    const { promise, resolve } = Promise.withResolvers<void>();
    const gate = { epoch, awaited, opened: promise, open: resolve };
    gates.set(shard, gate);
    return gate;
  }

  /** Groups moved shards by their new owner, this node included. */
  function byOwner(moved: readonly ShardMove[]): Map<string, ShardEpoch[]> {
    const byNode = new Map<string, ShardEpoch[]>();
    for (const { owner, shard, epoch } of moved) {
      const list = byNode.get(owner) ?? [];
      byNode.set(owner, list);
      list.push([shard, epoch]);
    }
    return byNode;
  }

  function announceAll(byNode: ReadonlyMap<string, readonly ShardEpoch[]>): void {
    for (const [node, list] of byNode) {
      if (node !== placement.node()) parts.announce(node, list);
      else {
        for (const [shard, epoch] of list) if (reasserting.get(shard) === epoch) reasserting.delete(shard);
        reasserted(node, list);
      }
    }
  }

  return {
    reasserted,
    gate: (shard) => gates.get(shard)?.opened ?? null,
    gained(shards) {
      const closed = shards.flatMap((shard) => {
        const gate = close(shard);
        return gate === null ? [] : [[shard, gate] as const];
      });
      if (closed.length === 0) return;
      clock.after(parts.handoffMs, () => {
        for (const [shard, gate] of closed) open(shard, gate);
      });
    },
    lost(shards) {
      for (const shard of shards) {
        const gate = gates.get(shard);
        if (gate !== undefined) open(shard, gate);
      }
    },
    moved(moved) {
      const byNode = byOwner(moved);
      const own = byNode.get(placement.node()) ?? [];
      if (handlers.length > 0) for (const [shard, epoch] of own) reasserting.set(shard, epoch);
      const shards = new Set(moved.map(({ shard }) => shard));
      const concerns = (actor: ActorRef) => shards.has(shardOf(actorName(actor)));
      if (handlers.length === 0) return announceAll(byNode);
      Promise.all(handlers.map((handle) => handle(concerns))).then(
        () => announceAll(byNode),
        // No `holdsReasserted` is sent, so the new owners wait for `handoffMs`.
        (error) => log("warn", "holds_not_told", { shards: shards.size, error: String(error) }),
      );
    },
    announceNoHolds() {
      const moved: ShardMove[] = [];
      for (let shard = 0; shard < SHARDS; shard++) {
        const owner = placement.ownerOf(shard);
        if (owner !== null && owner.node !== placement.node()) {
          moved.push({ shard, epoch: owner.epoch, owner: owner.node });
        }
      }
      announceAll(byOwner(moved));
    },
    onMoved: (handle) => void handlers.push(handle),
  };
}
