// One actor in memory: loads it, runs its turns, delays replies until their commit, passes commits on and
// saves documents.
//
// Turns are synchronous (command-turns.ts): decide, evolve, into the open batch. The batch becomes one commit
// when its lane is free (commit-pipeline.ts). Every reply waits for the batch that was open when its turn
// ran, so no reply depends on something that may not have happened.
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

import type { Clock, Random } from "../../base/clock.ts";
import type { Counters, Log } from "../../base/log.ts";
import type { Semaphore } from "../../base/semaphore.ts";
import type { Save, Store } from "../../store/store.ts";
import {
  type ActorRef,
  type AnyBehavior,
  type Effect,
  type Envelope,
  type Publication,
  type Reply,
  UNAVAILABLE,
} from "../actor.ts";
import type { RuntimeLimits } from "../limits.ts";
import type { DeadNodes } from "../placement/dead-nodes.ts";
import { createTurnRunner } from "./command-turns.ts";
import { createCommitPipeline, type Loaded } from "./commit-pipeline.ts";
import type { Committer } from "./committer.ts";
import { createDedupTable, isFresh } from "./dedup-table.ts";
import { loadState } from "./replay.ts";
import { createSnapshotWriter } from "./snapshot-writer.ts";

/** Under traffic the second try carries the save; the others are for saves that fail. */
const SAVE_TRIES = 4;

export interface ActivationParts {
  readonly behavior: AnyBehavior;
  readonly ref: ActorRef;
  readonly name: string;
  readonly shard: number;
  /** The shard's epoch when this activation was created. */
  readonly epoch: number;
  /** The previous activation failed, so its last append may still reach the ledger. */
  readonly unsure: boolean;
  readonly store: Store;
  /** Bounds how many actors load at once. */
  readonly loads: Semaphore;
  readonly clock: Clock;
  readonly random: Random;
  readonly committer: Committer;
  readonly limits: RuntimeLimits;
  readonly counters: Counters;
  readonly log: Log;
  epochOf(shard: number): number;
  drainEpochOf(shard: number): number;
  readonly departed: DeadNodes;
  /** Called when the ledger has a commit of a higher epoch: this node no longer owns the actor. */
  fenced(epoch: number): void;
  /** Called when a commit is durable. */
  landed(): void;
  /** Called after a commit with the effects that the state owes. */
  owes(effects: readonly Effect[]): void;
  publish(publications: readonly Publication[]): void;
  /** Stores documents and a snapshot of one seq, all of it durable in the ledger. */
  save(save: Save): Promise<void>;
  /** Resolves when all nodes have re-asserted their holds on the actor, or their time is up. */
  toldAgain(): Promise<void>;
  broken(why: string): void;
}

/** A loaded or loading actor; it is discarded when it fails. */
export interface Activation {
  readonly shard: number;
  /** The shard's epoch when this activation was created. */
  readonly epoch: number;
  handle(envelope: Envelope): Promise<Reply>;
  /** Called when more nodes are dead: releases their holds. */
  giveBack(): void;
  /** Resolves when loading ended, to whether the actor can take turns. */
  loaded(): Promise<boolean>;
  /** Requests a save at the next chance if something changed since the last one. */
  saveSoon(): void;
  /** Saves what is committed by now. Returns whether it is stored. */
  saved(): Promise<boolean>;
  /** Resolves when everything decided is durable, and saved if possible, or when the activation failed. */
  drained(): Promise<void>;
  /** Returns the wall-clock ms of the oldest commit that no snapshot covers; null when all are covered. */
  unsavedSince(): number | null;
  /** Returns whether dropping it now loses nothing. */
  idle(): boolean;
  /** Returns whether it is idle and never stored anything, so that keeping it is useless. */
  blank(): boolean;
  /**
   * Called when the shard is lost for good: waiting callers get `unavailable`, and nothing more is written.
   */
  drop(): void;
  /** Returns the number of commands that are being answered. */
  parked(): number;
  /** Returns the monotonic ms of the last command. */
  lastUsed(): number;
}

/** Starts to load an actor and returns its activation. Load failures end in `broken`. */
export function activate(parts: ActivationParts): Activation {
  const { behavior, name, shard, store, clock, limits, counters, log } = parts;
  const ids = createDedupTable(limits);
  let loaded: Loaded | null = null;
  let isBroken = false;
  let lastUsed = clock.mono();
  /** Commands that are being answered. */
  let parked = 0;
  /** Business time of the last turn or commit; it never decreases. */
  const time = { lastAt: 0 };
  /** Pending while nodes re-assert their holds; null otherwise. */
  let untold: Promise<void> | null = null;
  const outflow = createCommitPipeline({
    behavior,
    name,
    shard,
    nonce: parts.random.id(),
    clock,
    limits,
    counters,
    committer: parts.committer,
    ids,
    time,
    loaded: () => (isBroken ? null : loaded),
    drainEpochOf: parts.drainEpochOf,
    landed: parts.landed,
    owes: parts.owes,
    publish: parts.publish,
    fail,
  });
  const turns = createTurnRunner({ ...parts, ids, outflow, time });

  const loading = parts.loads.run(load);

  async function load(): Promise<void> {
    try {
      const fold = await loadState({ store, behavior, ref: parts.ref, name, ids, page: limits.replayPage });
      const saving = createSnapshotWriter({
        behavior,
        actor: { name, shard },
        fold,
        ids,
        everyCommits: limits.saveCommits,
        save: parts.save,
        failed: (error) => log("warn", "save_failed", { actor: name, error: String(error) }),
      });
      if (isBroken) return;
      const epoch = parts.epochOf(shard);
      // A node that does not own the shard, even for a moment, cannot stop a former owner from appending to
      // what was loaded here.
      if (epoch === 0) return drop();
      if (fold.position.epoch > epoch) {
        counters.fenced++;
        parts.fenced(fold.position.epoch);
        return fail("fenced", null);
      }
      loaded = { fold, saving, at: clock.wall() };
      time.lastAt = fold.position.at;
      counters.activated++;
      // Once this commit is stored, an owner of an earlier epoch, or a late append of a failed activation,
      // can append nothing more. Whatever it decided since is refused, and what was loaded here is the whole
      // truth.
      if (fold.position.seq > 0 && (parts.unsure || epoch > fold.position.epoch)) {
        outflow.batchFor(0);
        outflow.flush();
      }
      if (parts.unsure) {
        untold = parts.toldAgain().then(() => {
          untold = null;
        });
      }
      parts.owes(behavior.pendingEffects(fold.state));
    } catch (error) {
      fail("load_failed", error);
    }
  }

  async function handle(envelope: Envelope): Promise<Reply> {
    lastUsed = clock.mono();
    if (parked >= limits.mailbox) {
      counters.shed++;
      return { ok: false, code: "overloaded", retryAfterMs: 1_000 };
    }
    parked++;
    try {
      if (loaded === null) await loading;
      if (untold !== null && behavior.reliesOnHolds(envelope.command)) await untold;
      if (isBroken || loaded === null) return UNAVAILABLE;
      const mark = behavior.dedupIdOf(envelope.command);
      const done = mark !== undefined && isOld(envelope, loaded) ? await inLedger(loaded, mark) : false;
      if (isBroken || done === null) return UNAVAILABLE;
      const { reply, gate } = turns.take(loaded.fold, envelope, mark !== undefined, done);
      if (gate === null) return reply;
      return (await gate.durable) ? reply : UNAVAILABLE;
    } catch (error) {
      fail("turn_failed", error);
      return UNAVAILABLE;
    } finally {
      parked--;
    }
  }

  /** Returns whether the ledger may have the command's dedup id although it is not remembered here. */
  const isOld = ({ id, bornAt, again }: Envelope, { at }: Loaded): boolean =>
    (again === true || !isFresh(bornAt, clock.wall(), at, limits)) && ids.get(id) === undefined;

  /**
   * Returns null when the store cannot answer. Only this command fails; the activation and its holds stay.
   */
  async function inLedger({ fold }: Loaded, mark: string): Promise<boolean | null> {
    if (fold.position.seq === 0) return false;
    try {
      return await store.hasDedupId(name, mark);
    } catch (error) {
      log("warn", "lookup_failed", { actor: name, error: String(error) });
      return null;
    }
  }

  function fail(why: string, error: unknown): void {
    if (isBroken) return;
    isBroken = true;
    counters.broken++;
    log(error === null ? "warn" : "error", "activation_broken", {
      actor: name,
      shard,
      seq: loaded?.fold.position.seq ?? 0,
      why,
      ...(error === null
        ? {}
        : { error: error instanceof Error ? (error.stack ?? error.message) : String(error) }),
    });
    outflow.drop();
    parts.broken(why);
  }

  function drop(): void {
    if (isBroken) return;
    isBroken = true;
    outflow.drop();
    parts.broken("dropped");
  }

  /** Returns the loaded state when everything decided is durable, else null. */
  const quiet = (): Loaded | null => (isBroken || outflow.lastBatch() !== null ? null : loaded);

  function idle(): boolean {
    const settled = quiet();
    if (settled === null || parked > 0 || untold !== null || settled.saving.since() !== null) return false;
    const { state } = settled.fold;
    return behavior.idle(state) && behavior.pendingEffects(state).length === 0;
  }

  async function write({ fold, saving }: Loaded): Promise<void> {
    try {
      await saving.write(saving.take(fold.position));
    } catch (error) {
      fail("snapshot_failed", error);
    }
  }

  async function saved(): Promise<boolean> {
    await loading;
    if (loaded === null) return false;
    const { fold, saving } = loaded;
    const to = fold.position.seq;
    for (let tries = 0; tries < SAVE_TRIES && !isBroken && saving.covered() < to; tries++) {
      const newest = outflow.lastBatch();
      if (newest === null) await write(loaded);
      else {
        // A commit in flight cannot take a save; a batch that waits can.
        newest.save = true;
        await newest.durable;
      }
    }
    return saving.covered() >= to;
  }

  return {
    shard,
    epoch: parts.epoch,
    handle,
    giveBack() {
      try {
        if (loaded !== null && !isBroken) turns.giveBack(loaded.fold);
      } catch (error) {
        fail("turn_failed", error);
      }
    },
    loaded: () => loading.then(() => loaded !== null && !isBroken),
    saveSoon() {
      const settled = quiet();
      if (settled === null) loaded?.saving.want();
      else if (settled.saving.since() !== null) void write(settled);
    },
    saved,
    async drained() {
      await loading;
      for (let newest = outflow.lastBatch(); newest !== null && !isBroken; newest = outflow.lastBatch()) {
        await newest.durable;
      }
      if (!isBroken) await saved();
    },
    unsavedSince() {
      // What is decided but not committed counts too: its `at` is the time of the decision, however late it
      // is stored.
      return loaded?.saving.since() ?? outflow.oldestAt();
    },
    idle,
    blank: () => idle() && loaded?.fold.position.seq === 0,
    drop,
    parked: () => parked,
    lastUsed: () => lastUsed,
  };
}
