// The turns of one actor in memory. A turn decides a command, applies its events, and puts both into the open
// batch, all synchronously. A command whose id was executed before gets its former reply.
//
// This file never waits, loads or stores; what it throws fails the activation. A command that this program
// does not know comes from a newer one and is not executed: a retry may find the actor at a node of the newer
// program.

import type { Clock, Random } from "../../base/clock.ts";
import { assert, NoCase } from "../../base/errors.ts";
import type { Counters, Log } from "../../base/log.ts";
import type { AnyBehavior, Command, Decision, Envelope, Reply, Turn } from "../actor.ts";
import type { RuntimeLimits } from "../limits.ts";
import type { DeadNodes } from "../placement/dead-nodes.ts";
import type { CommitBatch } from "./commit-batch.ts";
import type { CommitPipeline } from "./commit-pipeline.ts";
import type { Committer } from "./committer.ts";
import { createDeadNodeRelease } from "./dead-node-holds.ts";
import type { DedupTable } from "./dedup-table.ts";
import type { LoadedState } from "./replay.ts";

/** A reply, and the batch whose commit it waits for; `gate` is null when it waits for none. */
export type TurnResult = { readonly reply: Reply; readonly gate: CommitBatch | null };

export interface TurnRunner {
  /**
   * Runs one turn. `marked` means that the command writes a dedup id, `done` that the ledger already has it.
   */
  take(fold: LoadedState, envelope: Envelope, marked: boolean, done: boolean): TurnResult;
  /** Releases the holds of dead nodes. */
  giveBack(fold: LoadedState): void;
}

export interface TurnsParts {
  readonly behavior: AnyBehavior;
  readonly name: string;
  readonly shard: number;
  readonly clock: Clock;
  readonly random: Random;
  readonly committer: Committer;
  readonly limits: RuntimeLimits;
  readonly counters: Counters;
  readonly log: Log;
  readonly departed: DeadNodes;
  readonly ids: DedupTable;
  readonly outflow: CommitPipeline;
  /** Business time of the last turn or commit; it never decreases. */
  readonly time: { lastAt: number };
  epochOf(shard: number): number;
}

const NOT_OWNER: Reply = { ok: false, code: "not_owner", epoch: 0 };
const OVERLOADED: Reply = { ok: false, code: "overloaded", retryAfterMs: 1_000 };
/** A command without a dedup id is shed when its caller stopped waiting longer ago than this (ms). */
const SHED_GRACE_MS = 2_000;

/** Creates the turn runner of one activation. A turn changes the actor's state and its open batch. */
export function createTurnRunner(parts: TurnsParts): TurnRunner {
  const { behavior, name, shard, clock, limits, counters, ids, outflow, time } = parts;
  const back = createDeadNodeRelease(behavior, parts.departed);

  /** Returns business time, which never decreases. */
  function tick(): number {
    time.lastAt = Math.max(clock.wall(), time.lastAt);
    return time.lastAt;
  }

  function take(fold: LoadedState, envelope: Envelope, marked: boolean, done: boolean): TurnResult {
    const epoch = parts.epochOf(shard);
    if (epoch === 0) return { reply: NOT_OWNER, gate: null };
    giveBack(fold);
    const taking = behavior.holdOwnership?.takes(envelope.command) ?? false;
    if (taking && parts.departed.has(envelope.from)) return { reply: NOT_OWNER, gate: null };
    const before = ids.get(envelope.id);
    if (before !== undefined) return { reply: before, gate: outflow.lastBatch() };

    const now = tick();
    if (!marked && envelope.expiresAt + SHED_GRACE_MS < clock.wall()) {
      counters.shed++;
      return { reply: OVERLOADED, gate: null };
    }
    if (!marked && !envelope.owed && envelope.bornAt < now - limits.dedupMs) {
      return { reply: { ok: false, code: "too_old" }, gate: null };
    }

    const { id, from, command } = envelope;
    try {
      const behind = parts.committer.lagMs() > limits.behindMs;
      const turn = { id, from, now, epoch, done, ...(behind && { behind }) };
      return decide(fold, command, marked, turn);
    } catch (error) {
      if (!(error instanceof NoCase) || error.value !== command) throw error;
      parts.log("warn", "command_unknown", { actor: name, type: String(command.type) });
      return { reply: OVERLOADED, gate: null };
    }
  }

  function giveBack(fold: LoadedState): void {
    const epoch = parts.epochOf(shard);
    if (epoch === 0) return;
    back(fold.state, (command) => {
      const [id, now] = [parts.random.id(), tick()];
      decide(fold, command, false, { id, from: "", now, epoch, done: false });
    });
  }

  function decide(fold: LoadedState, command: Command, marked: boolean, turn: Turn): TurnResult {
    counters.turns++;
    const decision: Decision<unknown> = behavior.decide(fold.state, command, turn);
    counters.holdsExpired += decision.holdsExpired ?? 0;
    const reply: Reply = decision.refused
      ? { ok: false, code: "refused", refusal: decision.refused }
      : { ok: true, body: decision.reply, ...(decision.ungated ? { ungated: turn.epoch } : {}) };
    if (decision.events === undefined || decision.events.length === 0) {
      return { reply, gate: decision.ungated ? null : outflow.lastBatch() };
    }
    assert(!decision.ungated, `${name}: ${command.type} writes, so its reply must wait`);
    return { reply, gate: record(fold, turn, reply, marked, decision) };
  }

  function record(
    fold: LoadedState,
    { id, now }: Turn,
    reply: Reply,
    marked: boolean,
    decision: Decision<unknown>,
  ): CommitBatch {
    const events = decision.events!;
    assert(events.length <= limits.commitEvents, `${name}: ${events.length} events in one turn`);
    const into = outflow.batchFor(events.length);
    for (const e of events) {
      const line = behavior.isLine(e);
      behavior.evolve(fold.state, e, now);
      into.events.push({ at: now, line, e });
      if (line) into.lines++;
      for (const mark of behavior.dedupIds(e)) into.marks.push(mark);
    }
    ids.remember(id, reply, now, marked);
    if (marked) {
      ids.open(id);
      into.marked.push(id);
    } else into.done.push({ id, reply });
    if (decision.publish) into.publish.push(...decision.publish);
    if (decision.save) into.save = true;
    outflow.flush();
    return into;
  }

  return { take, giveBack };
}
