// One actor in memory: loads it, runs its turns, delays replies until their commit, passes commits on and
// saves documents.
//
// Turns are synchronous (command-turns.ts): decide, evolve, into the open batch. The batch becomes one commit
// at the end of the event loop's turn (commit-pipeline.ts). Every reply waits for the batch that was open when
// its turn ran, so no reply depends on something that may not have happened.
//
// crash or failure               state found and recovery
// before the commit is durable   nothing was stored; callers get `unavailable` and retry with the same id
// commit durable, reply lost     the retry finds its id: in memory, in the commit, or as a dedup id
// append lost                    another writer has the seq: fail, reload; the retry runs on the true state
// append unknown                 fail, reload: the ledger shows whether the commit was stored
// decide or evolve throws        a bug: fail and log; durable state is untouched
//
// To fail means: every waiting caller gets `unavailable`, the object is dropped, and the next command loads
// the actor from the store. There is no undo. Nodes re-assert the holds that only the failed activation knew
// (hold-resync.ts), and commands that rely on holds wait for that. An activation reads only the injected
// clock and decides nothing itself.

import { stackOf } from "../../base/errors.ts";
import { type Envelope, type Reply, UNAVAILABLE } from "../actor.ts";
import type { ActorContext } from "./actor-context.ts";
import { type TurnResult, TurnRunner } from "./command-turns.ts";
import { CommitPipeline } from "./commit-pipeline.ts";
import { DedupTable, isFresh } from "./dedup-table.ts";
import { type LoadedState, loadState } from "./replay.ts";
import { type SaveExtent, SnapshotWriter } from "./snapshot-writer.ts";

/** The result of a turn that failed the activation. */
const FAILED: TurnResult = { reply: UNAVAILABLE, batch: null };
/** Under traffic the second try carries the save; the others are for saves that fail. */
const SAVE_TRIES = 4;

/** A loading, loaded or failed actor. It begins to load when it is constructed; a failure ends it. */
export class Activation {
  private readonly ids: DedupTable;
  private readonly snapshots: SnapshotWriter;
  private readonly pipeline: CommitPipeline;
  private readonly turns: TurnRunner;
  /** Null once it has ended. */
  private loading: Promise<void> | null;
  /** Commands that are being answered. */
  private answering = 0;
  /** Monotonic ms of the last command. */
  private usedAt: number;
  /** Pending while nodes re-assert their holds; null otherwise. */
  private resync: Promise<void> | null = null;

  /** `mayBeAppended`: the previous activation failed, so its last append may still reach the ledger. */
  constructor(
    readonly actor: ActorContext,
    readonly mayBeAppended: boolean,
  ) {
    const { host } = actor;
    this.ids = new DedupTable(host.limits);
    this.usedAt = host.clock.mono();
    this.snapshots = new SnapshotWriter(actor, this.ids);
    this.pipeline = new CommitPipeline(actor, this.ids, this.snapshots, this);
    this.turns = new TurnRunner(actor, this.ids, this.pipeline);
    this.loading = host.loads.run(() => this.load());
  }

  get shard(): number {
    return this.actor.shard;
  }

  /** The shard's epoch when this activation was created. */
  get epoch(): number {
    return this.actor.epoch;
  }

  private async load(): Promise<void> {
    const { actor, ids, mayBeAppended } = this;
    const { host, behavior, ref, name } = actor;
    const { store, limits, counters } = host;
    try {
      const replayed = await loadState({ store, behavior, ref, name, ids, page: limits.replayPage });
      const { state, position, uncovered } = replayed;
      if (actor.hasEnded) return;
      const epoch = actor.servingEpoch();
      // A node that does not own the shard, even for a moment, cannot stop a former owner from appending to
      // what was loaded here.
      if (epoch === 0) return this.drop();
      if (position.epoch > epoch) {
        counters.fenced++;
        host.fenced(actor.shard, position.epoch);
        return this.fail("fenced", null);
      }
      actor.loaded = { state, loadedAt: host.clock.wall(), ...position };
      actor.lastAt = position.at;
      this.snapshots.begin(position.seq, uncovered);
      counters.activated++;
      host.loaded(ref, state);
      // Once this commit is stored, an owner of an earlier epoch, or a late append of a failed activation,
      // can append nothing more. Whatever it decided since is refused, and what was loaded here is the whole
      // truth.
      if (position.seq > 0 && (mayBeAppended || epoch > position.epoch)) {
        this.pipeline.batchFor(0);
        this.pipeline.flush();
      }
      if (mayBeAppended) {
        this.resync = host.resyncHolds(ref).then(() => {
          this.resync = null;
        });
      }
      host.enqueue(actor, behavior.pendingEffects(state));
    } catch (error) {
      this.fail("load_failed", error);
    } finally {
      this.loading = null;
    }
  }

  /** Answers a command: waits until it is loaded, takes the turn, and waits for the commit. Never rejects. */
  async handle(envelope: Envelope): Promise<Reply> {
    const { actor } = this;
    const { host, behavior } = actor;
    this.usedAt = host.clock.mono();
    if (this.answering >= host.limits.mailbox) {
      host.counters.shed++;
      return { ok: false, code: "overloaded", retryAfterMs: 1_000 };
    }
    this.answering++;
    try {
      if (actor.loaded === null) await this.loading;
      if (this.resync !== null && behavior.reliesOnHolds(envelope.command)) await this.resync;
      const loaded = actor.current();
      if (loaded === null) return UNAVAILABLE;
      const dedupId = behavior.dedupIdOf(envelope.command);
      const done =
        dedupId !== undefined && this.isOld(envelope, loaded) ? await this.inLedger(loaded, dedupId) : false;
      if (actor.hasEnded || done === null) return UNAVAILABLE;
      const { reply, batch } = this.turns.run(loaded, envelope, dedupId !== undefined, done);
      if (batch === null) return reply;
      return (await batch.durable) ? reply : UNAVAILABLE;
    } catch (error) {
      this.fail("turn_failed", error);
      return UNAVAILABLE;
    } finally {
      this.answering--;
    }
  }

  /**
   * Takes the turn on the caller's stack. Returns null, and executes nothing, when something must be waited
   * for first: loading, holds, room in the mailbox, a lookup in the ledger. A turn whose reply waits for a
   * batch counts as being answered until `endTurn`.
   */
  handleNow(envelope: Envelope): TurnResult | null {
    const { actor } = this;
    const { host, behavior } = actor;
    const loaded = actor.current();
    if (loaded === null || this.resync !== null || this.answering >= host.limits.mailbox) return null;
    try {
      const dedupId = behavior.dedupIdOf(envelope.command);
      if (dedupId !== undefined && this.isOld(envelope, loaded)) return null;
      this.usedAt = host.clock.mono();
      const turn = this.turns.run(loaded, envelope, dedupId !== undefined, false);
      if (turn.batch !== null) this.answering++;
      return turn;
    } catch (error) {
      this.fail("turn_failed", error);
      return FAILED;
    }
  }

  /** Ends a turn of `handleNow` whose reply waited for a batch. */
  endTurn(): void {
    this.answering--;
  }

  /** Returns whether the ledger may have the command's dedup id although it is not remembered here. */
  private isOld({ id, bornAt, retry, hasNoOtherCopy }: Envelope, { loadedAt }: LoadedState): boolean {
    // No node can have executed it before, whatever the clocks say.
    if (hasNoOtherCopy === true) return false;
    const { clock, limits } = this.actor.host;
    return (
      (retry === true || !isFresh(bornAt, clock.wall(), loadedAt, limits)) && this.ids.get(id) === undefined
    );
  }

  /**
   * Returns null when the store cannot answer. Only this command fails; the activation and its holds stay.
   */
  private async inLedger({ seq }: LoadedState, dedupId: string): Promise<boolean | null> {
    if (seq === 0) return false;
    const { host, name } = this.actor;
    try {
      return await host.store.hasDedupId(name, dedupId);
    } catch (error) {
      host.log("warn", "lookup_failed", { actor: name, error: String(error) });
      return null;
    }
  }

  /** Called when more nodes are dead: releases their holds. */
  releaseDeadNodeHolds(): void {
    const loaded = this.actor.current();
    if (loaded === null) return;
    try {
      this.turns.releaseDeadNodeHolds(loaded);
    } catch (error) {
      this.fail("turn_failed", error);
    }
  }

  /** Forgets what is remembered for too long. Called now and then while the actor is idle. */
  forgetOld(): void {
    const loaded = this.actor.current();
    if (loaded === null) return;
    const { clock } = this.actor.host;
    try {
      this.ids.forgetOld(clock.mono());
      this.actor.behavior.forgetOld?.(loaded.state, clock.wall());
    } catch (error) {
      this.fail("turn_failed", error);
    }
  }

  /** Ends the activation after an error: waiting callers get `unavailable`, and the actor is loaded anew. */
  fail(why: string, error: unknown): void {
    const { actor } = this;
    if (actor.hasEnded) return;
    actor.hasEnded = true;
    actor.host.counters.broken++;
    actor.host.log(error === null ? "warn" : "error", "activation_broken", {
      actor: actor.name,
      shard: actor.shard,
      seq: actor.loaded?.seq ?? 0,
      why,
      ...(error === null ? {} : { error: stackOf(error) }),
    });
    this.pipeline.drop();
    actor.host.ended(actor, why);
  }

  /**
   * Called when the shard is lost for good: waiting callers get `unavailable`, and nothing more is written.
   */
  drop(): void {
    const { actor } = this;
    if (actor.hasEnded) return;
    actor.hasEnded = true;
    this.pipeline.drop();
    actor.host.ended(actor, "dropped");
  }

  /** Resolves when loading ended, to whether the actor can take turns. */
  async untilLoaded(): Promise<boolean> {
    await this.loading;
    return this.actor.current() !== null;
  }

  /** Returns the loaded actor when everything decided is durable, else null. */
  private settled(): LoadedState | null {
    return this.pipeline.lastBatch() !== null ? null : this.actor.current();
  }

  /**
   * Requests a save at the next chance if it would write something. Returns the save when the chance is now, which never
   * rejects; else null.
   */
  saveSoon(extent: SaveExtent): Promise<void> | null {
    const loaded = this.actor.current();
    if (loaded === null || !this.snapshots.request(extent, loaded.state)) return null;
    return this.settled() === null ? null : this.write(loaded);
  }

  private async write(loaded: LoadedState): Promise<void> {
    const { snapshots } = this;
    try {
      await snapshots.write(snapshots.take(loaded.state, loaded));
    } catch (error) {
      this.fail("snapshot_failed", error);
    }
  }

  /** Saves what is committed by now, all of it or its documents. Returns whether it is stored. */
  async save(extent: SaveExtent): Promise<boolean> {
    const { actor, snapshots } = this;
    await this.loading;
    const { loaded } = actor;
    if (loaded === null) return false;
    const to = loaded.seq;
    const isStored = () => snapshots.savedTo(extent) >= to;
    for (let tries = 0; tries < SAVE_TRIES && !actor.hasEnded && !isStored(); tries++) {
      snapshots.request(extent, loaded.state);
      const last = this.pipeline.lastBatch();
      if (last === null) await this.write(loaded);
      else {
        // A commit in flight cannot take a save; a batch that waits can.
        last.save = true;
        await last.durable;
      }
    }
    return isStored();
  }

  /** Resolves when everything decided is durable, and saved if possible, or when the activation failed. */
  async drain(): Promise<void> {
    await this.loading;
    for (;;) {
      const last = this.pipeline.lastBatch();
      if (last === null || this.actor.hasEnded) break;
      await last.durable;
    }
    if (!this.actor.hasEnded) await this.save("whole");
  }

  /**
   * Returns the wall-clock ms of the oldest commit that no snapshot covers; null when all are covered. What
   * is decided but not committed counts too, with the time of the decision.
   */
  uncoveredSince(): number | null {
    return this.snapshots.since() ?? this.pipeline.oldestAt();
  }

  /** Returns whether everything decided is committed and in stored documents. */
  isDocumented(): boolean {
    return this.snapshots.isDocumented() && this.pipeline.oldestAt() === null;
  }

  /** Returns whether dropping it now loses nothing. */
  isIdle(): boolean {
    const settled = this.settled();
    if (settled === null || this.answering > 0 || this.resync !== null) return false;
    if (this.snapshots.since() !== null) return false;
    const { behavior } = this.actor;
    const { state } = settled;
    return behavior.idle(state) && behavior.pendingEffects(state).length === 0;
  }

  /** Returns whether it is idle and never stored anything, so that only its next load would miss it. */
  isEmpty(): boolean {
    return this.actor.loaded?.seq === 0 && this.isIdle();
  }

  /** Returns the number of commands that are being answered. */
  mailboxSize(): number {
    return this.answering;
  }

  /** Returns the monotonic ms of the last command. */
  lastUsedAt(): number {
    return this.usedAt;
  }
}
