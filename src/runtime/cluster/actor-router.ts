// One try at an actor, wherever it is: a turn here, or a frame to the node that owns it. A node that is asked by another
// never asks on: it answers `not_owner`, and who asked looks at the table.
//
// what the other node does                 the try ends as
// answers                                  its reply
// answers not_owner, is not there          not_owner: not executed; the table is read anew
// does not answer in time, breaks off      unavailable: executed or not; the table is read anew
// decides without a commit (`ungated`)     its reply, if by now nobody owns the actor in a later epoch; else not_owner,
//                                          so that a hold never stands with a former owner alone; likewise if this node
//                                          has another name by now, since what it held under the old one ends with that

import type { Clock } from "../../base/clock.ts";
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
  attempt(to: ActorRef, message: CommandMessage, ms: number): Promise<Reply>;
  /** What another node asks. */
  serve(envelope: Envelope): Promise<Reply>;
  /** Turns of this node that wait. */
  waiting(): number;
}

const NOT_OWNER: Reply = { ok: false, code: "not_owner", epoch: 0 };
const OVERLOADED: Reply = { ok: false, code: "overloaded", retryAfterMs: 1_000 };
const TOO_LARGE: Reply = { ok: false, code: "too_large" };

export function createActorRouter(parts: {
  readonly clock: Clock;
  readonly limits: RuntimeLimits;
  readonly counters: Counters;
  readonly placement: Placement;
  readonly behaviorOf: (ref: ActorRef) => AnyBehavior;
  readonly residents: ActivationCache;
  readonly arrivals: HoldHandoff;
  readonly wire: NodeProtocol;
  /** Nothing new is taken on. */
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
      if (!reply.ok && reply.code === "not_owner") await placement.refresh();
      return reply;
    } catch (error) {
      if (error instanceof TooLarge) return TOO_LARGE;
      await placement.refresh();
      return error instanceof Unreachable ? NOT_OWNER : UNAVAILABLE;
    } finally {
      away--;
    }
  }

  /** Is what was decided in this epoch still its owner's word? */
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
      // Perhaps somebody has it by now, and this node has not seen it.
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
      // Who asks has seen a newer table.
      if (placement.epochOf(shard) < envelope.epoch) await placement.refresh();
      const epoch = placement.epochOf(shard);
      if (epoch === 0 || parts.draining()) {
        return { ok: false, code: "not_owner", epoch: placement.ownerOf(shard)?.epoch ?? 0 };
      }
      return turn({ ...envelope, epoch }, name, shard);
    },
  };
}
