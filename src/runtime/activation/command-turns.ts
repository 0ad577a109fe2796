// The turns of one actor in memory. A turn decides a command, applies its events, and puts both into the open
// batch, all synchronously. A command whose id was executed before gets its former reply. Before each turn
// the holds of nodes that died since the last one are released, by a command of the actor itself, so that its
// consequences are durable like any others.
//
// This file never waits, loads or stores, and does not know what a hold is; what it throws fails the
// activation. A command that this program does not know comes from a newer one and is not executed: a retry
// may find the actor at a node of the newer program.

import { assert, NoCase } from "../../base/errors.ts";
import type { Command, Decision, Envelope, Reply, Turn } from "../actor.ts";
import type { ActorContext } from "./actor-context.ts";
import type { CommitBatch } from "./commit-batch.ts";
import type { CommitPipeline } from "./commit-pipeline.ts";
import type { DedupTable } from "./dedup-table.ts";
import type { LoadedState } from "./replay.ts";

/** A reply, and the batch whose commit it waits for; `batch` is null when it waits for none. */
export type TurnResult = { readonly reply: Reply; readonly batch: CommitBatch | null };

const NOT_OWNER: TurnResult = { reply: { ok: false, code: "not_owner", epoch: 0 }, batch: null };
const OVERLOADED: TurnResult = {
  reply: { ok: false, code: "overloaded", retryAfterMs: 1_000 },
  batch: null,
};
const TOO_OLD: TurnResult = { reply: { ok: false, code: "too_old" }, batch: null };
/**
 * How long the reply of a command that wrote something is remembered: for `dedupMs`, in its commit and in snapshots; for seconds
 * after its commit, since the ledger keeps its dedup id; or until its commit, since no copy of it is under way either.
 */
type Memory = "durable" | "recent" | "until_committed";
/** A command without a dedup id is shed when its caller stopped waiting longer ago than this (ms). */
const SHED_GRACE_MS = 2_000;

function replyOf({ refused, reply, ungated }: Decision<unknown>, epoch: number): Reply {
  if (refused !== undefined) return { ok: false, code: "refused", refusal: refused };
  return ungated ? { ok: true, body: reply, ungated: epoch } : { ok: true, body: reply };
}

/** The turn runner of one activation. A turn changes the actor's state and its open batch. */
export class TurnRunner {
  /** The version of the dead nodes at which holds were last released. */
  private releasedUpTo = 0;

  constructor(
    private readonly actor: ActorContext,
    private readonly ids: DedupTable,
    private readonly pipeline: CommitPipeline,
  ) {}

  /**
   * Runs one turn. `hasDedupId` means that the command writes a dedup id, `done` that the ledger already has
   * it.
   */
  run(fold: LoadedState, envelope: Envelope, hasDedupId: boolean, done: boolean): TurnResult {
    const { actor } = this;
    const { behavior, host } = actor;
    const epoch = actor.servingEpoch();
    if (epoch === 0) return NOT_OWNER;
    this.releaseDeadNodeHolds(fold);
    const opensHold = behavior.holdOwnership?.opensHold(envelope.command) ?? false;
    if (opensHold && host.deadNodes.has(envelope.from)) return NOT_OWNER;
    const before = this.ids.get(envelope.id);
    if (before !== undefined) return { reply: before, batch: this.pipeline.lastBatch() };

    const now = actor.tick();
    if (!hasDedupId && envelope.expiresAt + SHED_GRACE_MS < host.clock.wall()) {
      host.counters.shed++;
      return OVERLOADED;
    }
    if (!hasDedupId && !envelope.effect && envelope.bornAt < now - host.limits.dedupMs) return TOO_OLD;

    const { id, from, command, hasNoOtherCopy = false } = envelope;
    const memory: Memory = !hasDedupId ? "durable" : hasNoOtherCopy ? "until_committed" : "recent";
    try {
      const turn: Turn =
        host.committer.lagMs() > host.limits.behindMs
          ? { id, from, now, epoch, done, behind: true }
          : { id, from, now, epoch, done };
      return this.decide(fold, command, memory, turn);
    } catch (error) {
      if (!(error instanceof NoCase) || error.value !== command) throw error;
      host.log("warn", "command_unknown", { actor: actor.name, type: String(command.type) });
      return OVERLOADED;
    }
  }

  /** Releases the holds of dead nodes, if more nodes died since the last time. */
  releaseDeadNodeHolds(fold: LoadedState): void {
    const { host, behavior } = this.actor;
    const { holdOwnership } = behavior;
    const version = host.deadNodes.version();
    if (this.releasedUpTo === version || holdOwnership === undefined) return;
    const epoch = this.actor.servingEpoch();
    if (epoch === 0) return;
    this.releasedUpTo = version;
    const next = (): Command | null => holdOwnership.release(fold.state, host.deadNodes.has);
    for (let command = next(); command !== null; command = next()) {
      const id = host.random.id();
      this.decide(fold, command, "durable", { id, from: "", now: this.actor.tick(), epoch, done: false });
    }
  }

  private decide(fold: LoadedState, command: Command, memory: Memory, turn: Turn): TurnResult {
    const { behavior, host, name } = this.actor;
    host.counters.turns++;
    const decision: Decision<unknown> = behavior.decide(fold.state, command, turn);
    if (decision.holdsExpired !== undefined) host.counters.holdsExpired += decision.holdsExpired;
    const reply = replyOf(decision, turn.epoch);
    if (decision.events === undefined || decision.events.length === 0) {
      return { reply, batch: decision.ungated ? null : this.pipeline.lastBatch() };
    }
    assert(!decision.ungated, `${name}: ${command.type} writes, so its reply must wait`);
    return { reply, batch: this.record(fold, turn, reply, memory, decision) };
  }

  private record(
    fold: LoadedState,
    { id, now }: Turn,
    reply: Reply,
    memory: Memory,
    decision: Decision<unknown>,
  ): CommitBatch {
    const { behavior, host, name } = this.actor;
    const events = decision.events!;
    assert(events.length <= host.limits.commitEvents, `${name}: ${events.length} events in one turn`);
    const into = this.pipeline.batchFor(events.length);
    for (const e of events) {
      const line = behavior.isLine(e);
      behavior.evolve(fold.state, e, now);
      into.events.push({ at: now, line, e });
      if (line) into.lines++;
      for (const dedupId of behavior.dedupIds(e)) into.dedupIds.push(dedupId);
    }
    if (memory === "durable") {
      this.ids.remember(id, reply, now);
      into.done.push({ id, reply });
    } else {
      this.ids.rememberUntilCommitted(id, reply);
      (memory === "recent" ? into.keptAfterCommit : into.forgottenOnCommit).push(id);
    }
    if (decision.publish) into.publish.push(...decision.publish);
    if (decision.save) into.save = true;
    this.pipeline.flush();
    return into;
  }
}
