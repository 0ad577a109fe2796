// Makes one attempt at an actor: a turn here, or a message to the node that owns it. A node never forwards
// what another node sent: it answers `not_owner`, and the sender reads the table.
//
// what the other node does          result of the attempt
// replies                           its reply
// replies not_owner, is not there   not_owner: not executed; the table is read again
// does not answer in time, fails    unavailable: executed or not; the table is read again
// replies without a commit          the (`ungated`) reply, if no later epoch has an owner by now and this
//                                   node still has the same name; else not_owner
//
// The last rule ensures that a hold never exists at a former owner alone, nor under a former name of this
// node, whose holds have ended with it.

import type { Clock } from "../../base/clock.ts";
import { parseRefusal } from "../../base/errors.ts";
import type { Counters } from "../../base/log.ts";
import { TooLarge, Unreachable } from "../../bus/bus.ts";
import type { ActivationCache } from "../activation/activation-cache.ts";
import {
  type ActorRef,
  type AnyBehavior,
  actorName,
  type Envelope,
  type Reply,
  UNAVAILABLE,
} from "../actor.ts";
import type { RuntimeLimits } from "../limits.ts";
import type { Placement } from "../placement/placement.ts";
import { shardOf } from "../shards.ts";
import type { HoldHandoff } from "./hold-handoff.ts";
import type { NodeProtocol } from "./node-protocol.ts";
import type { CommandMessage } from "./retry-client.ts";

export interface ActorRouter {
  /** Makes one attempt. `ms` bounds an attempt at another node; a local turn may take longer. */
  attempt(to: ActorRef, message: CommandMessage, ms: number): Promise<Reply>;
  /** Runs a command that another node sent, if this node owns the actor. */
  serve(envelope: Envelope): Promise<Reply>;
  /** Returns the number of turns that wait on this node. */
  waiting(): number;
}

const NOT_OWNER: Reply = { ok: false, code: "not_owner", epoch: 0 };
const OVERLOADED: Reply = { ok: false, code: "overloaded", retryAfterMs: 1_000 };
const TOO_LARGE: Reply = { ok: false, code: "too_large" };

/**
 * Creates the router of a node. It counts attempts in `counters` and refreshes the placement when ownership
 * was wrong.
 */
export function createActorRouter(parts: {
  readonly clock: Clock;
  readonly limits: RuntimeLimits;
  readonly counters: Counters;
  readonly placement: Placement;
  readonly behaviorOf: (ref: ActorRef) => AnyBehavior;
  readonly residents: ActivationCache;
  readonly arrivals: HoldHandoff;
  readonly wire: NodeProtocol;
  /** Returns whether this node takes no more commands. */
  readonly draining: () => boolean;
}): ActorRouter {
  const { clock, limits, counters, placement, residents, arrivals } = parts;
  let here = 0;
  let away = 0;

  function shed(): Reply {
    counters.shed++;
    return OVERLOADED;
  }

  async function turn(envelope: Envelope, name: string, shard: number): Promise<Reply> {
    if (here >= limits.nodeTurns) return shed();
    here++;
    try {
      const gate = arrivals.gate(shard);
      if (gate !== null && parts.behaviorOf(envelope.to).reliesOnHolds(envelope.command)) {
        await gate;
        if (placement.epochOf(shard) === 0) return NOT_OWNER;
      }
      const activation = residents.getOrCreate(envelope.to, name, shard);
      if (activation === null) return UNAVAILABLE;
      try {
        return await activation.handle(envelope);
      } finally {
        residents.evictIfEmpty(name, activation);
      }
    } finally {
      here--;
    }
  }

  async function remote(node: string, envelope: Envelope, ms: number): Promise<Reply> {
    if (away >= limits.nodeTurns) return shed();
    away++;
    counters.remoteAsks++;
    try {
      const reply = await parts.wire.call(node, "command", { envelope }, ms);
      if (reply.ok) return reply;
      if (reply.code === "not_owner") await placement.refresh();
      return reply.code === "refused" ? { ...reply, refusal: parseRefusal(reply.refusal) } : reply;
    } catch (error) {
      if (error instanceof TooLarge) return TOO_LARGE;
      await placement.refresh();
      return error instanceof Unreachable ? NOT_OWNER : UNAVAILABLE;
    } finally {
      away--;
    }
  }

  /** Returns whether a decision of this epoch is still the owner's. */
  function stands(shard: number, epoch: number): boolean {
    const owner = placement.ownerOf(shard);
    if (owner === null || owner.epoch > epoch) return false;
    return owner.node !== placement.node() || placement.epochOf(shard) > 0;
  }

  async function route(to: ActorRef, message: CommandMessage, ms: number): Promise<Reply> {
    const name = actorName(to);
    const shard = shardOf(name);
    const epoch = placement.epochOf(shard);
    const owner = placement.ownerOf(shard);
    const isOwn = epoch > 0;
    if (!isOwn && (owner === null || owner.node === placement.node())) {
      // The shard may have an owner by now that this node has not seen.
      await placement.refresh();
      return NOT_OWNER;
    }
    if (isOwn && parts.draining()) return NOT_OWNER;
    const tryMs = isOwn ? ms : Math.min(ms, limits.tryMs);
    const envelope: Envelope = {
      v: 1,
      to,
      from: placement.node(),
      epoch: isOwn ? epoch : owner!.epoch,
      expiresAt: clock.wall() + tryMs,
      ...message,
    };
    const reply = await (isOwn ? turn(envelope, name, shard) : remote(owner!.node, envelope, tryMs));
    if (!reply.ok || reply.ungated === undefined) return reply;
    return stands(shard, reply.ungated) && envelope.from === placement.node() ? reply : NOT_OWNER;
  }

  return {
    waiting: () => here,
    async attempt(to, message, ms) {
      const reply = await route(to, message, ms);
      if (!reply.ok && reply.code === "not_owner") counters.notOwner++;
      return reply;
    },
    async serve(envelope) {
      const name = actorName(envelope.to);
      const shard = shardOf(name);
      // The sender has seen a newer table.
      if (placement.epochOf(shard) < envelope.epoch) await placement.refresh();
      const epoch = placement.epochOf(shard);
      if (epoch === 0 || parts.draining()) {
        return { ok: false, code: "not_owner", epoch: placement.ownerOf(shard)?.epoch ?? 0 };
      }
      return turn({ ...envelope, epoch }, name, shard);
    },
  };
}
