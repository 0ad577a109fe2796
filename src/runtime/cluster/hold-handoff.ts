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

interface Gate {
  readonly epoch: number;
  /** Nodes that have not sent `holdsReasserted` yet. */
  readonly awaited: Set<string>;
  readonly opened: Promise<void>;
  readonly open: () => void;
}

interface HoldHandoffParts {
  readonly clock: Clock;
  readonly log: Log;
  readonly handoffMs: number;
  readonly placement: Pick<Placement, "node" | "others" | "ownerOf">;
  /** Sends `holdsReasserted` to a node, best effort. */
  readonly announce: (node: string, shards: readonly ShardEpoch[]) => void;
}

/** The handoff of a node. It uses the clock for gates and logs failed handlers. */
export class HoldHandoff {
  private readonly handlers: ((concerns: (actor: ActorRef) => boolean) => Promise<void>)[] = [];
  private readonly gates = new Map<number, Gate>();
  /**
   * The newest epoch in which each shard was gained: a `holdsReasserted` for it concerns its gate, and is
   * ignored once that is open.
   */
  private readonly known = new Map<number, number>();
  /** Nodes that sent `holdsReasserted` for an epoch that is not gained yet. */
  private readonly early = new Map<number, { readonly epoch: number; readonly nodes: Set<string> }>();
  /** Shards of this node to which its own holds are still being re-asserted, with their epochs. */
  private readonly reasserting = new Map<number, number>();

  constructor(private readonly parts: HoldHandoffParts) {}

  /** Registers a handler that re-asserts this node's holds on the actors concerned. */
  onMoved(handle: (concerns: (actor: ActorRef) => boolean) => Promise<void>): void {
    this.handlers.push(handle);
  }

  /** Resolves when commands that rely on holds may run on actors of this shard; null means now. */
  gate(shard: number): Promise<void> | null {
    return this.gates.get(shard)?.opened ?? null;
  }

  /** Called when a node has re-asserted all its holds on these shards. */
  reasserted(node: string, shards: readonly ShardEpoch[]): void {
    for (const [shard, epoch] of shards) {
      const gate = this.gates.get(shard);
      if (gate?.epoch === epoch) {
        gate.awaited.delete(node);
        if (gate.awaited.size === 0) this.open(shard, gate);
      } else if (epoch > (this.known.get(shard) ?? 0)) this.remember(shard, epoch, node);
    }
  }

  private remember(shard: number, epoch: number, node: string): void {
    const before = this.early.get(shard);
    if (before?.epoch === epoch) before.nodes.add(node);
    else if (before === undefined || before.epoch < epoch)
      this.early.set(shard, { epoch, nodes: new Set([node]) });
  }

  private open(shard: number, gate: Gate): void {
    if (this.gates.get(shard) === gate) this.gates.delete(shard);
    gate.open();
  }

  private close(shard: number): Gate | null {
    const epoch = this.parts.placement.ownerOf(shard)?.epoch ?? 0;
    const before = this.early.get(shard);
    const awaited = new Set(this.parts.placement.others());
    if (before?.epoch === epoch) for (const node of before.nodes) awaited.delete(node);
    this.known.set(shard, epoch);
    this.early.delete(shard);
    if (this.reasserting.get(shard) === epoch) awaited.add(this.parts.placement.node());
    if (awaited.size === 0) return null;
    const { promise, resolve } = Promise.withResolvers<void>();
    const gate = { epoch, awaited, opened: promise, open: resolve };
    this.gates.set(shard, gate);
    return gate;
  }

  /** Groups moved shards by their new owner, this node included. */
  private byOwner(moved: readonly ShardMove[]): Map<string, ShardEpoch[]> {
    const byNode = new Map<string, ShardEpoch[]>();
    for (const { owner, shard, epoch } of moved) {
      const list = byNode.get(owner) ?? [];
      byNode.set(owner, list);
      list.push([shard, epoch]);
    }
    return byNode;
  }

  private announceAll(byNode: ReadonlyMap<string, readonly ShardEpoch[]>): void {
    for (const [node, list] of byNode) {
      if (node !== this.parts.placement.node()) this.parts.announce(node, list);
      else {
        for (const [shard, epoch] of list)
          if (this.reasserting.get(shard) === epoch) this.reasserting.delete(shard);
        this.reasserted(node, list);
      }
    }
  }

  /**
   * Closes the gates of gained shards until all nodes have re-asserted their holds, or `handoffMs` have
   * passed.
   */
  gained(shards: readonly number[]): void {
    const closed = shards.flatMap((shard) => {
      const gate = this.close(shard);
      return gate === null ? [] : [[shard, gate] as const];
    });
    if (closed.length === 0) return;
    this.parts.clock.after(this.parts.handoffMs, () => {
      for (const [shard, gate] of closed) this.open(shard, gate);
    });
  }

  /** Opens the gates of lost shards, so that waiting commands end. */
  lost(shards: readonly number[]): void {
    for (const shard of shards) {
      const gate = this.gates.get(shard);
      if (gate !== undefined) this.open(shard, gate);
    }
  }

  /**
   * Re-asserts this node's holds on moved shards by the `onMoved` handlers, then sends `holdsReasserted` to the new
   * owners.
   */
  moved(moved: readonly ShardMove[]): void {
    const byNode = this.byOwner(moved);
    const own = byNode.get(this.parts.placement.node()) ?? [];
    if (this.handlers.length > 0) for (const [shard, epoch] of own) this.reasserting.set(shard, epoch);
    const shards = new Set(moved.map(({ shard }) => shard));
    const concerns = (actor: ActorRef) => shards.has(shardOf(actorName(actor)));
    if (this.handlers.length === 0) {
      this.announceAll(byNode);
      return;
    }
    Promise.all(this.handlers.map((handle) => handle(concerns))).then(
      () => this.announceAll(byNode),
      // No `holdsReasserted` is sent, so the new owners wait for `handoffMs`.
      (error) => this.parts.log("warn", "holds_not_told", { shards: shards.size, error: String(error) }),
    );
  }

  /** Sends to all owners that this node is new and has no holds. */
  announceNoHolds(): void {
    const moved: ShardMove[] = [];
    for (let shard = 0; shard < SHARDS; shard++) {
      const owner = this.parts.placement.ownerOf(shard);
      if (owner !== null && owner.node !== this.parts.placement.node()) {
        moved.push({ shard, epoch: owner.epoch, owner: owner.node });
      }
    }
    this.announceAll(this.byOwner(moved));
  }
}
