// What nodes hold of an actor (open holds) lives in memory alone, and goes when the actor gets another owner. Each node
// tells it again to the new owner, who lets commands that rely on it wait until all have, or a second has passed.
//
// table with a move is seen -> holders tell the new owner what they hold, then `told` with shard and epoch
//                           -> the new owner, this node's own holds among them, opens the shard when all others have told
//
// what goes wrong                              what follows
// a node is silent, slow, or its frame lost    the gate opens after `arrivalMs` all the same
// `told` comes before the owner saw the table  it is remembered until the shard is gained
// a node joins                                 it tells at once that it holds nothing
// a node was declared dead and joins anew      it tells everything again, under its new name
//
// It never looks at what is told: that goes to the actors as commands.

import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import { type ActorRef, actorName } from "../actor.ts";
import type { Placement, ShardMove } from "../placement/placement.ts";
import { SHARDS, shardOf } from "../shards.ts";
import type { ShardEpoch } from "./node-protocol.ts";

export interface HoldHandoff {
  /** Resolves when commands that rely on holds may run on actors of this shard; null: now. */
  gate(shard: number): Promise<void> | null;
  gained(shards: readonly number[]): void;
  lost(shards: readonly number[]): void;
  moved(moved: readonly ShardMove[]): void;
  /** A node has told all that it holds of these shards. */
  told(node: string, terms: readonly ShardEpoch[]): void;
  /** This node is new and holds nothing of anybody. */
  nothing(): void;
  onMoved(handle: (concerns: (actor: ActorRef) => boolean) => Promise<void>): void;
}

interface Gate {
  readonly epoch: number;
  /** Nodes that have not told yet. */
  readonly awaited: Set<string>;
  readonly opened: Promise<void>;
  readonly open: () => void;
}

export function createHoldHandoff(parts: {
  readonly clock: Clock;
  readonly log: Log;
  readonly arrivalMs: number;
  readonly placement: Pick<Placement, "node" | "others" | "ownerOf">;
  /** Best effort. */
  readonly tell: (node: string, terms: readonly ShardEpoch[]) => void;
}): HoldHandoff {
  const { clock, log, placement } = parts;
  const handlers: Parameters<HoldHandoff["onMoved"]>[0][] = [];
  const gates = new Map<number, Gate>();
  /** The newest epoch in which each was gained: who tells of it tells its gate, and later nobody. */
  const known = new Map<number, number>();
  /** Who has told of an epoch that is not gained yet. */
  const heard = new Map<number, { readonly epoch: number; readonly nodes: Set<string> }>();
  /** Shards of this node's own of which it is still telling itself. */
  const telling = new Map<number, number>();

  function told(node: string, terms: readonly ShardEpoch[]): void {
    for (const [shard, epoch] of terms) {
      const gate = gates.get(shard);
      if (gate?.epoch === epoch) {
        gate.awaited.delete(node);
        if (gate.awaited.size === 0) open(shard, gate);
      } else if (epoch > (known.get(shard) ?? 0)) remember(shard, epoch, node);
    }
  }

  function remember(shard: number, epoch: number, node: string): void {
    const before = heard.get(shard);
    if (before?.epoch === epoch) before.nodes.add(node);
    else if (before === undefined || before.epoch < epoch)
      heard.set(shard, { epoch, nodes: new Set([node]) });
  }

  function open(shard: number, gate: Gate): void {
    if (gates.get(shard) === gate) gates.delete(shard);
    gate.open();
  }

  function shut(shard: number): Gate | null {
    const epoch = placement.ownerOf(shard)?.epoch ?? 0;
    const before = heard.get(shard);
    const awaited = new Set(placement.others());
    if (before?.epoch === epoch) for (const node of before.nodes) awaited.delete(node);
    known.set(shard, epoch);
    heard.delete(shard);
    if (telling.get(shard) === epoch) awaited.add(placement.node());
    if (awaited.size === 0) return null;
    const { promise, resolve } = Promise.withResolvers<void>();
    const gate = { epoch, awaited, opened: promise, open: resolve };
    gates.set(shard, gate);
    return gate;
  }

  /** By owner: what others are told, and what this node tells itself. */
  function byOwner(moved: readonly ShardMove[]): Map<string, ShardEpoch[]> {
    const terms = new Map<string, ShardEpoch[]>();
    for (const { owner, shard, epoch } of moved) {
      const list = terms.get(owner) ?? [];
      terms.set(owner, list);
      list.push([shard, epoch]);
    }
    return terms;
  }

  function tellAll(terms: ReadonlyMap<string, readonly ShardEpoch[]>): void {
    for (const [node, list] of terms) {
      if (node !== placement.node()) parts.tell(node, list);
      else {
        for (const [shard, epoch] of list) if (telling.get(shard) === epoch) telling.delete(shard);
        told(node, list);
      }
    }
  }

  return {
    told,
    gate: (shard) => gates.get(shard)?.opened ?? null,
    gained(shards) {
      const shutNow = shards.flatMap((shard) => {
        const gate = shut(shard);
        return gate === null ? [] : [[shard, gate] as const];
      });
      if (shutNow.length === 0) return;
      clock.after(parts.arrivalMs, () => {
        for (const [shard, gate] of shutNow) open(shard, gate);
      });
    },
    lost(shards) {
      for (const shard of shards) {
        const gate = gates.get(shard);
        if (gate !== undefined) open(shard, gate);
      }
    },
    moved(moved) {
      const terms = byOwner(moved);
      const own = terms.get(placement.node()) ?? [];
      if (handlers.length > 0) for (const [shard, epoch] of own) telling.set(shard, epoch);
      const shards = new Set(moved.map(({ shard }) => shard));
      const concerns = (actor: ActorRef) => shards.has(shardOf(actorName(actor)));
      if (handlers.length === 0) return tellAll(terms);
      Promise.all(handlers.map((handle) => handle(concerns))).then(
        () => tellAll(terms),
        // Nothing is said: who waits for it waits for its second.
        (error) => log("warn", "holds_not_told", { shards: shards.size, error: String(error) }),
      );
    },
    nothing() {
      const moved: ShardMove[] = [];
      for (let shard = 0; shard < SHARDS; shard++) {
        const owner = placement.ownerOf(shard);
        if (owner !== null && owner.node !== placement.node()) {
          moved.push({ shard, epoch: owner.epoch, owner: owner.node });
        }
      }
      tellAll(byOwner(moved));
    },
    onMoved: (handle) => void handlers.push(handle),
  };
}
