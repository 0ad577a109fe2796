// Carries an actor's batches to the store: those that wait, the one commit in flight, and what follows it.
//
//   batch opened by a turn -> lane free: cut into a commit, with the effects and snapshot of that moment
//   -> stored: effects delivered, documents written, publications sent, replies released
//   -> lost or unknown: the activation fails; waiting callers learn that the outcome is unknown
//
// An actor has one commit in flight at a time. The pipeline decides nothing and never changes state.

import type { Clock } from "../../base/clock.ts";
import { assert } from "../../base/errors.ts";
import type { Counters } from "../../base/log.ts";
import type { Commit, Save } from "../../store/store.ts";
import type { AnyBehavior, Effect, Publication } from "../actor.ts";
import type { RuntimeLimits } from "../limits.ts";
import { type CommitBatch, emptyCommitBatch } from "./commit-batch.ts";
import type { Committer, Writer } from "./committer.ts";
import type { DedupTable } from "./dedup-table.ts";
import { type LoadedState, positionOf } from "./replay.ts";
import type { SnapshotWriter } from "./snapshot-writer.ts";

/** A loaded actor: its state, and what of it is not saved yet. */
export interface Loaded {
  readonly fold: LoadedState;
  readonly saving: SnapshotWriter;
  /** Wall-clock ms at which it was loaded. */
  readonly at: number;
}

/**
 * A commit in flight, with the save taken at its moment, or the later batch to which the save is deferred.
 */
interface InFlightCommit {
  readonly batch: CommitBatch;
  readonly commit: Commit;
  /**
   * Effects that the state owed at this commit. Effects of later decisions are not durable yet, so they must
   * not be sent.
   */
  readonly owed: readonly Effect[];
  readonly save: Save | null;
  readonly deferredTo: CommitBatch | null;
}

export interface CommitPipeline {
  /** Returns the open batch while it has room for this many events, else a new one. */
  batchFor(events: number): CommitBatch;
  /** Returns the batch that a reply must wait for; null when everything decided is durable. */
  lastBatch(): CommitBatch | null;
  /** Queues the actor in its lane if it has something to commit. */
  flush(): void;
  /** Returns the wall-clock ms of the oldest event that is not durable; null when all are. */
  oldestAt(): number | null;
  /** Called when the activation failed: releases what was not sent yet as unknown. */
  drop(): void;
}

export interface CommitPipelineParts {
  readonly behavior: AnyBehavior;
  readonly name: string;
  readonly shard: number;
  /** Identifies this activation as the writer of a commit. */
  readonly nonce: string;
  readonly clock: Clock;
  readonly limits: RuntimeLimits;
  readonly counters: Counters;
  readonly committer: Committer;
  readonly ids: DedupTable;
  /** Returns null while the activation loads, and after it failed. */
  loaded(): Loaded | null;
  /** Business time of the last turn or commit; it never decreases. */
  readonly time: { lastAt: number };
  drainEpochOf(shard: number): number;
  /** Called when a commit is durable. */
  landed(): void;
  owes(effects: readonly Effect[]): void;
  publish(publications: readonly Publication[]): void;
  fail(why: string, error: unknown): void;
}

/**
 * Creates the pipeline of one activation. It appends through the committer and calls `fail` after a lost or
 * unknown commit.
 */
export function createCommitPipeline(parts: CommitPipelineParts): CommitPipeline {
  const { behavior, name, shard, clock, limits, counters, ids, time, fail } = parts;
  /** Batches that are decided and not sent. The last one takes new events until it is full. */
  const queue: CommitBatch[] = [];
  let flight: InFlightCommit | null = null;
  /** The actor is in its lane's queue. */
  let queued = false;

  function flush(): void {
    if (queued || flight !== null || queue.length === 0) return;
    queued = true;
    parts.committer.ready(writer);
  }

  const writer: Writer = {
    shard,
    cut() {
      queued = false;
      const batch = queue[0];
      const loaded = parts.loaded();
      if (batch === undefined || loaded === null) return null;
      const epoch = parts.drainEpochOf(shard);
      if (epoch === 0) {
        fail("lease_lost", null);
        return null;
      }
      queue.shift();
      const { fold, saving } = loaded;
      const commit: Commit = {
        actor: name,
        seq: fold.position.seq + 1,
        shard,
        epoch,
        by: parts.nonce,
        at: batch.events.at(-1)?.at ?? Math.max(clock.wall(), time.lastAt),
        v: 1,
        done: batch.done,
        marks: batch.marks,
        linesTo: fold.position.linesTo + batch.lines,
        lines: batch.lines,
        events: batch.events,
      };
      time.lastAt = Math.max(time.lastAt, commit.at);
      // When nothing is decided beyond this commit, the state equals the ledger up to it: the moment for a
      // snapshot.
      const due = queue.length === 0 && (batch.save || saving.due());
      // A save that an administrative reply needs is deferred to a batch that can take one, and the reply
      // waits for it.
      const deferredTo = batch.save && !due ? (queue.at(-1) ?? null) : null;
      if (deferredTo !== null) deferredTo.save = true;
      try {
        const owed = queue.length === 0 ? behavior.pendingEffects(fold.state) : [];
        flight = { batch, commit, owed, save: due ? saving.take(commit) : null, deferredTo };
        return commit;
      } catch (error) {
        fail("snapshot_failed", error);
        batch.release(false);
        return null;
      }
    },
    settle(outcome) {
      assert(flight !== null, `${name}: an append settled that was never sent`);
      const landed = flight;
      flight = null;
      const loaded = parts.loaded();
      if (loaded === null) return landed.batch.release(false);
      const { fold, saving } = loaded;
      if (outcome !== "committed") return lose(outcome, landed.batch);
      fold.position = positionOf(landed.commit);
      saving.committed(landed.commit);
      ids.landed(landed.batch.marked, clock.mono());
      parts.landed();
      counters.commits++;
      counters.events += landed.commit.events.length;
      flush();
      void finish(saving, landed);
    },
  };

  async function finish(
    saving: SnapshotWriter,
    { batch, owed, save, deferredTo }: InFlightCommit,
  ): Promise<void> {
    parts.owes(owed);
    // Publications leave at once and so in the order of commits: a save may take longer than the next commit.
    if (batch.publish.length > 0) parts.publish(batch.publish);
    if (save !== null) {
      const written = saving.write(save);
      if (batch.save) await written;
    }
    if (deferredTo !== null) await deferredTo.durable;
    batch.release(true);
  }

  function lose(outcome: "lost" | "unknown", batch: CommitBatch): void {
    if (outcome === "lost") counters.appendLost++;
    else counters.appendUnknown++;
    fail(outcome === "lost" ? "append_lost" : "append_unknown", null);
    batch.release(false);
  }

  return {
    batchFor(events) {
      const last = queue.at(-1);
      if (last !== undefined && last.events.length + events <= limits.commitEvents) return last;
      const batch = emptyCommitBatch();
      queue.push(batch);
      return batch;
    },
    lastBatch: () => queue.at(-1) ?? flight?.batch ?? null,
    flush,
    oldestAt: () => (flight?.commit.events[0] ?? queue[0]?.events[0])?.at ?? null,
    drop() {
      for (const batch of queue.splice(0)) batch.release(false);
    },
  };
}
