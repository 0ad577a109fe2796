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

import { atMost, type Clock } from "../../base/clock.ts";
import { parseRefusal } from "../../base/errors.ts";
import { TooLarge, Unreachable } from "../../bus/bus.ts";
import type { Activation } from "../activation/activation.ts";
import type { ActivationCache } from "../activation/activation-cache.ts";
import type { CommitBatch } from "../activation/commit-batch.ts";
import {
  type ActorRef,
  type AnyBehavior,
  actorName,
  type Command,
  type Envelope,
  type Reply,
  UNAVAILABLE,
} from "../actor.ts";
import type { RuntimeLimits } from "../limits.ts";
import type { Placement } from "../placement/placement.ts";
import { shardOf } from "../shards.ts";
import type { Counters } from "../stats.ts";
import type { HoldHandoff } from "./hold-handoff.ts";
import type { NodeProtocol } from "./node-protocol.ts";
import type { CommandMessage } from "./retry-client.ts";

const NOT_OWNER = { ok: false, code: "not_owner", epoch: 0 } as const satisfies Reply;
const OVERLOADED: Reply = { ok: false, code: "overloaded", retryAfterMs: 1_000 };
const TOO_LARGE = { ok: false, code: "too_large" } as const satisfies Reply;

type FailedReply = Extract<Reply, { readonly ok: false }>;

/** A turn that was taken on the caller's stack, and whose reply waits for a batch. */
export interface PendingTurn {
  readonly reply: Reply;
  readonly batch: CommitBatch;
  readonly activation: Activation;
}

/** The parts of a node that its router uses. */
export interface ActorRouterParts {
  readonly clock: Clock;
  readonly limits: RuntimeLimits;
  readonly counters: Counters;
  readonly placement: Placement;
  readonly behaviorOf: (ref: ActorRef) => AnyBehavior;
  readonly activations: ActivationCache;
  readonly handoff: HoldHandoff;
  readonly protocol: NodeProtocol;
  /** Returns whether this node takes no more commands. */
  readonly draining: () => boolean;
}

/**
 * The router of a node. It counts attempts in `counters` and refreshes the placement when ownership was
 * wrong.
 */
export class ActorRouter {
  private waitingHere = 0;
  private waitingElsewhere = 0;

  constructor(private readonly parts: ActorRouterParts) {}

  /** Returns the number of turns that wait on this node. */
  waiting(): number {
    return this.waitingHere;
  }

  /** Makes one attempt. `ms` bounds an attempt at another node; a local turn may take longer. */
  async attempt(to: ActorRef, message: CommandMessage, ms: number): Promise<Reply> {
    const elsewhere = this.attemptElsewhere(to, message, ms);
    if (elsewhere !== null) return elsewhere;
    const { clock, placement } = this.parts;
    const name = actorName(to);
    const shard = shardOf(name);
    const epoch = placement.epochOf(shard);
    if (epoch === 0) {
      // The shard may have an owner by now that this node has not seen.
      await placement.refresh();
      return this.notOwner();
    }
    if (this.parts.draining()) return this.notOwner();
    const from = placement.node();
    const envelope: Envelope = { to, from, epoch, expiresAt: clock.wall() + ms, ...message };
    const reply = await this.turn(envelope, name, shard);
    if (reply.ok) return this.ifItStands(shard, from, reply);
    return reply.code === "not_owner" ? this.notOwner() : reply;
  }

  /**
   * Runs a command that another node sent, if this node owns the actor: at once when its turn can be taken on the
   * caller's stack.
   */
  serve(envelope: Envelope): Reply | Promise<Reply> {
    const name = actorName(envelope.to);
    const taken = this.takeNow(envelope, name);
    if (taken === null) return this.serveLater(envelope, name);
    return "batch" in taken ? this.onceDurable(taken) : taken;
  }

  private onceDurable(turn: PendingTurn): Promise<Reply> {
    return turn.batch.durable.then((isDurable) => {
      this.endTurn(turn);
      return isDurable ? turn.reply : UNAVAILABLE;
    });
  }

  private async serveLater(envelope: Envelope, name: string): Promise<Reply> {
    const { placement, draining } = this.parts;
    const shard = shardOf(name);
    // The sender has seen a newer table.
    if (placement.epochOf(shard) < envelope.epoch) await placement.refresh();
    const epoch = placement.epochOf(shard);
    if (epoch === 0 || draining()) {
      return { ok: false, code: "not_owner", epoch: placement.ownerOf(shard)?.epoch ?? 0 };
    }
    return this.turn({ ...envelope, epoch }, name, shard);
  }

  private shed(): Reply {
    const { counters } = this.parts;
    counters.shed++;
    return OVERLOADED;
  }

  private async turn(envelope: Envelope, name: string, shard: number): Promise<Reply> {
    const { limits, placement, activations, handoff } = this.parts;
    if (this.waitingHere >= limits.nodeTurns) return this.shed();
    this.waitingHere++;
    try {
      const gate = handoff.gate(shard);
      if (gate !== null && this.parts.behaviorOf(envelope.to).reliesOnHolds(envelope.command)) {
        await gate;
        if (placement.epochOf(shard) === 0) return NOT_OWNER;
      }
      const activation = activations.getOrCreate(envelope.to, name, shard);
      if (activation === null) return UNAVAILABLE;
      try {
        return await activation.handle(envelope);
      } finally {
        activations.boundEmpty(name, activation);
      }
    } finally {
      this.waitingHere--;
    }
  }

  /**
   * Sends a command to the owner of its shard, and reads the table again by `until`, monotonic ms, if that node was
   * the wrong one.
   */
  private remote(
    node: string,
    shard: number,
    envelope: Envelope,
    tryMs: number,
    until: number,
  ): Promise<Reply> {
    const { limits, counters } = this.parts;
    if (this.waitingElsewhere >= limits.nodeTurns) return Promise.resolve(this.shed());
    this.waitingElsewhere++;
    counters.remoteAsks++;
    return this.parts.protocol.call(node, "command", { envelope }, tryMs).then(
      (reply) => {
        if (!reply.ok) return this.failedElsewhere(reply, reply.code === "not_owner", until);
        this.waitingElsewhere--;
        return this.ifItStands(shard, envelope.from, reply);
      },
      (error) => {
        if (error instanceof TooLarge) return this.failedElsewhere(TOO_LARGE, false, until);
        const reply = error instanceof Unreachable ? NOT_OWNER : UNAVAILABLE;
        return this.failedElsewhere(reply, true, until);
      },
    );
  }

  private async failedElsewhere(reply: FailedReply, isTableOld: boolean, until: number): Promise<Reply> {
    const { clock, placement } = this.parts;
    try {
      // Nothing else bounds an attempt of `askNow`.
      if (isTableOld) await atMost(clock, until - clock.mono(), placement.refresh());
    } finally {
      this.waitingElsewhere--;
    }
    if (reply.code === "refused") return { ...reply, refusal: parseRefusal(reply.refusal) };
    return reply.code === "not_owner" ? this.notOwner() : reply;
  }

  /**
   * Makes one attempt at an actor of another node, within `ms` milliseconds. Returns null when this node owns it, or
   * knows no owner; nothing was sent then.
   */
  attemptElsewhere(to: ActorRef, message: CommandMessage, ms: number): Promise<Reply> | null {
    const { placement, limits, clock } = this.parts;
    const shard = shardOf(actorName(to));
    if (placement.epochOf(shard) > 0) return null;
    const owner = placement.ownerOf(shard);
    const from = placement.node();
    if (owner === null || owner.node === from) return null;
    const tryMs = Math.min(ms, limits.tryMs);
    const expiresAt = clock.wall() + tryMs;
    const envelope: Envelope = { to, from, epoch: owner.epoch, expiresAt, ...message };
    return this.remote(owner.node, shard, envelope, tryMs, clock.mono() + ms);
  }

  /**
   * Runs the command's turn on the caller's stack. Returns null when it cannot run now; it was not executed
   * then. A turn whose reply waits for a commit counts as waiting until the caller ends it with `endTurn`.
   * `retry` means that an earlier attempt may have run.
   */
  attemptNow(
    to: ActorRef,
    id: string,
    bornAt: number,
    retry: boolean,
    command: Command,
  ): Reply | PendingTurn | null {
    const envelope: Envelope = {
      id,
      bornAt,
      to,
      from: this.parts.placement.node(),
      epoch: 0,
      command,
      // It runs now or not at all.
      expiresAt: Number.MAX_SAFE_INTEGER,
      retry,
      hasNoOtherCopy: !retry,
    };
    return this.takeNow(envelope, actorName(to));
  }

  /** As `attemptNow`, for an envelope. Returns null also when its sender knows a later epoch than this node. */
  private takeNow(envelope: Envelope, name: string): Reply | PendingTurn | null {
    const { limits, placement, activations, handoff } = this.parts;
    if (this.waitingHere >= limits.nodeTurns || this.parts.draining()) return null;
    const activation = activations.find(name);
    if (activation === undefined) return null;
    const epoch = placement.epochOf(activation.shard);
    if (epoch === 0 || epoch < envelope.epoch || handoff.gate(activation.shard) !== null) return null;
    const turn = activation.handleNow(envelope);
    if (turn === null) return null;
    const { reply, batch } = turn;
    if (batch === null) {
      activations.boundEmpty(name, activation);
      return reply;
    }
    this.waitingHere++;
    return { reply, batch, activation };
  }

  /** Ends a turn that was taken at once when its batch is durable or will not be. */
  endTurn({ activation }: PendingTurn): void {
    this.waitingHere--;
    activation.endTurn();
  }

  /** Returns whether a decision of this epoch is still the owner's. */
  private stands(shard: number, epoch: number): boolean {
    const { placement } = this.parts;
    const owner = placement.ownerOf(shard);
    if (owner === null || owner.epoch > epoch) return false;
    return owner.node !== placement.node() || placement.epochOf(shard) > 0;
  }

  /** Returns the reply, or `not_owner` when it was decided without a commit and does not count any more. */
  private ifItStands(shard: number, from: string, reply: Extract<Reply, { readonly ok: true }>): Reply {
    if (reply.ungated === undefined) return reply;
    const stands = this.stands(shard, reply.ungated) && from === this.parts.placement.node();
    return stands ? reply : this.notOwner();
  }

  private notOwner(): Reply {
    this.parts.counters.notOwner++;
    return NOT_OWNER;
  }
}
