// Carries an actor's batches to the store: those that wait, the one commit in flight, and what follows it.
//
//   batch opened by a turn -> committer ready: cut into a commit, with the effects and the save of that moment
//   -> stored: effects delivered, documents written, publications sent, replies released
//   -> lost or unknown: the activation fails; waiting callers learn that the outcome is unknown
//
// An actor has one commit in flight at a time, because two could be stored out of order. The pipeline decides nothing
// and never changes state.

import { assert } from "../../base/errors.ts";
import type { Appended, Commit } from "../../store/store.ts";
import type { Effect } from "../actor.ts";
import type { ActorContext } from "./actor-context.ts";
import { CommitBatch } from "./commit-batch.ts";
import type { CommitSource } from "./committer.ts";
import type { DedupTable } from "./dedup-table.ts";
import { advance } from "./replay.ts";
import type { SnapshotWriter, TakenSave } from "./snapshot-writer.ts";

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
  readonly effects: readonly Effect[];
  readonly save: TakenSave | null;
  readonly deferredTo: CommitBatch | null;
}

const NO_BATCHES: readonly CommitBatch[] = [];

/**
 * The pipeline of one activation. It appends through the committer and calls `fail` after a lost or unknown
 * commit.
 */
export class CommitPipeline implements CommitSource {
  /** Identifies this activation as the writer of a commit. */
  private readonly nonce: string;
  /** Batches that are decided and not sent. The last one takes new events until it is full. */
  private queue = NO_BATCHES;
  private inFlight: InFlightCommit | null = null;
  /** The actor waits in the committer's queue. */
  private isQueued = false;

  constructor(
    private readonly actor: ActorContext,
    private readonly ids: DedupTable,
    private readonly snapshots: SnapshotWriter,
    private readonly activation: { fail(why: string, error: unknown): void },
  ) {
    this.nonce = actor.host.random.id();
  }

  /** Returns the open batch while it has room for this many events, else a new one. */
  batchFor(events: number): CommitBatch {
    const last = this.queue.at(-1);
    if (last !== undefined && last.events.length + events <= this.actor.host.limits.commitEvents) return last;
    const batch = new CommitBatch();
    this.queue = [...this.queue, batch];
    return batch;
  }

  /** Returns the batch that a reply must wait for; null when everything decided is durable. */
  lastBatch(): CommitBatch | null {
    return this.queue.at(-1) ?? this.inFlight?.batch ?? null;
  }

  /** Queues the actor at the committer if it has something to commit and nothing in flight. */
  flush(): void {
    if (this.isQueued || this.inFlight !== null || this.queue.length === 0) return;
    this.isQueued = true;
    this.actor.host.committer.ready(this);
  }

  /** Returns the wall-clock ms of the oldest event that is not durable; null when all are. */
  oldestAt(): number | null {
    return (this.inFlight?.commit.events[0] ?? this.queue[0]?.events[0])?.at ?? null;
  }

  /** Called when the activation failed: releases what was not sent yet as unknown. */
  drop(): void {
    const unsent = this.queue;
    this.queue = NO_BATCHES;
    for (const batch of unsent) batch.release(false);
  }

  cut(): Commit | null {
    const { actor, snapshots } = this;
    this.isQueued = false;
    const [batch, ...queue] = this.queue;
    const loaded = actor.current();
    if (batch === undefined || loaded === null) return null;
    const epoch = actor.appendEpoch();
    if (epoch === 0) {
      this.activation.fail("lease_lost", null);
      return null;
    }
    this.queue = queue.length === 0 ? NO_BATCHES : queue;
    const commit: Commit = {
      actor: actor.name,
      seq: loaded.seq + 1,
      shard: actor.shard,
      epoch,
      by: this.nonce,
      at: batch.events.at(-1)?.at ?? Math.max(actor.host.clock.wall(), actor.lastAt),
      v: 1,
      done: batch.done,
      marks: batch.dedupIds,
      linesTo: loaded.linesTo + batch.lines,
      lines: batch.lines,
      events: batch.events,
    };
    actor.lastAt = Math.max(actor.lastAt, commit.at);
    // When nothing is decided beyond this commit, the state equals the ledger up to it: the moment for a save.
    const isSaveDue = queue.length === 0 && (batch.save || snapshots.due(loaded.state));
    // A save that an administrative reply needs is deferred to a batch that can take one, and the reply
    // waits for it.
    const deferredTo = batch.save && !isSaveDue ? (queue.at(-1) ?? null) : null;
    if (deferredTo !== null) deferredTo.save = true;
    try {
      const effects = queue.length === 0 ? actor.behavior.pendingEffects(loaded.state) : [];
      const save = isSaveDue ? snapshots.take(loaded.state, commit) : null;
      this.inFlight = { batch, commit, effects, save, deferredTo };
      return commit;
    } catch (error) {
      this.activation.fail("snapshot_failed", error);
      batch.release(false);
      return null;
    }
  }

  settle(outcome: Appended): void {
    const { actor, inFlight } = this;
    assert(inFlight !== null, `${actor.name}: an append settled that was never sent`);
    this.inFlight = null;
    const { batch, commit } = inFlight;
    const loaded = actor.current();
    if (loaded === null) {
      batch.release(false);
      return;
    }
    if (outcome !== "committed") {
      this.lose(outcome, batch);
      return;
    }
    const { counters, clock } = actor.host;
    advance(loaded, commit);
    this.snapshots.committed(commit);
    this.ids.forget(batch.forgottenOnCommit);
    this.ids.committed(batch.keptAfterCommit, clock.mono());
    actor.host.committed(actor, commit);
    counters.commits++;
    counters.events += commit.events.length;
    this.flush();
    actor.host.enqueue(actor, inFlight.effects);
    // Publications leave at once and so in the order of commits: a save may take longer than the next commit.
    if (batch.publish.length > 0) actor.host.publish(batch.publish);
    if (inFlight.save === null && inFlight.deferredTo === null) batch.release(true);
    else void this.releaseSaved(inFlight);
  }

  /** Writes the save of a commit and releases its batch, after the save when a reply needs that. */
  private async releaseSaved({ batch, save, deferredTo }: InFlightCommit): Promise<void> {
    if (save !== null) {
      const written = this.snapshots.write(save);
      if (batch.save) await written;
    }
    if (deferredTo !== null) await deferredTo.durable;
    batch.release(true);
  }

  private lose(outcome: "lost" | "unknown", batch: CommitBatch): void {
    const { counters } = this.actor.host;
    if (outcome === "lost") counters.appendLost++;
    else counters.appendUnknown++;
    this.activation.fail(outcome === "lost" ? "append_lost" : "append_unknown", null);
    batch.release(false);
  }
}
