// One actor in memory: loads it, runs its turns, gates its replies, hands its commits over and saves its documents.
//
// Its turns are synchronous (command-turns.ts): decide, evolve, into the open batch. The batch becomes one commit when its lane is
// free (commit-pipeline.ts), and every reply waits for the batch that was open when its turn ran: nothing leaves that might not
// have happened.
//
// crash or failure                    what is left, and what happens
// before the commit is durable        nothing; callers get `unavailable` and retry with the same id
// commit durable, reply lost          the retry finds its id (in memory, in the commit, or by its mark in the ledger)
// append lost                         a second writer has the seq: break, load anew, the retry runs on the true state
// append unknown                      break, load anew: the ledger shows whether it was stored
// decide or evolve throws             a bug: break and log; durable state is untouched
//
// Broken means: every parked reply answers `unavailable`, the object is dropped, the next message loads from the store.
// There is no undo. What the broken one knew in memory alone is told again (hold-resync.ts), and what relies on that waits.
// It never reads a clock but the injected one and never decides anything itself.

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

/** Under traffic the second takes the save along; more are for saves that fail. */
const SAVE_TRIES = 4;

export interface ActivationParts {
  readonly behavior: AnyBehavior;
  readonly ref: ActorRef;
  readonly name: string;
  readonly shard: number;
  /** Of the shard, when this was made. */
  readonly epoch: number;
  /** The activation before this one broke: what it sent last may still land in the ledger. */
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
  /** The ledger holds a commit of an epoch above this node's: it owns the actor no more. */
  fenced(epoch: number): void;
  /** A commit is durable. */
  landed(): void;
  /** After the commit: what the state owes to others. */
  owes(effects: readonly Effect[]): void;
  publish(publications: readonly Publication[]): void;
  /** Documents and snapshot at one seq, all of it durable in the ledger. */
  save(save: Save): Promise<void>;
  /** Resolves when nodes have told again what they hold of it, or have had their time. */
  toldAgain(): Promise<void>;
  broken(why: string): void;
}

export interface Activation {
  readonly shard: number;
  /** Of the shard, when this was made. */
  readonly epoch: number;
  handle(envelope: Envelope): Promise<Reply>;
  /** More nodes have departed: gives back what they hold. */
  giveBack(): void;
  /** Resolves when loading ended: true when it can take turns. */
  loaded(): Promise<boolean>;
  /** Asks for a save at the next chance, when something changed since the last. */
  saveSoon(): void;
  /** Saves what is committed by now; true when it is stored. */
  saved(): Promise<boolean>;
  /** Everything decided is durable, and saved if that is possible; or it broke. */
  drained(): Promise<void>;
  /** Wall ms of the oldest commit that no snapshot covers; null = all saved. */
  unsavedSince(): number | null;
  /** May be dropped now without losing anything. */
  idle(): boolean;
  /** Never stored anything and holds nothing: not worth keeping. */
  blank(): boolean;
  /** Its shard is another's: everybody who waits hears `unavailable`, and nothing is written any more. */
  drop(): void;
  /** Messages being answered. */
  parked(): number;
  /** mono ms of the last message. */
  lastUsed(): number;
}

export function activate(parts: ActivationParts): Activation {
  const { behavior, name, shard, store, clock, limits, counters, log } = parts;
  const ids = createDedupTable(limits);
  let loaded: Loaded | null = null;
  let isBroken = false;
  let lastUsed = clock.mono();
  /** Messages being answered. */
  let parked = 0;
  /** Business time of the last turn or commit; never falls. */
  const time = { lastAt: 0 };
  /** Until nodes have told again what they hold. */
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
      // Who does not own it, even for a moment, can keep no former owner from appending to what was loaded here.
      if (epoch === 0) return drop();
      if (fold.position.epoch > epoch) {
        counters.fenced++;
        parts.fenced(fold.position.epoch);
        return fail("fenced", null);
      }
      loaded = { fold, saving, at: clock.wall() };
      time.lastAt = fold.position.at;
      counters.activated++;
      // From the moment this is stored, an owner of an earlier epoch, or a late append of an activation that broke, can
      // append nothing more: what it decided since is refused, and what was loaded here is the whole truth.
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

  /** May its mark stand in the ledger without being remembered here? */
  const isOld = ({ id, bornAt, again }: Envelope, { at }: Loaded): boolean =>
    (again === true || !isFresh(bornAt, clock.wall(), at, limits)) && ids.get(id) === undefined;

  /** Null: the store did not say. That concerns this command alone; the activation and its holds live on. */
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

  /** Loaded, and everything decided is durable. */
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
        // What is under way cannot be saved amid; a batch that waits takes the save along.
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
      // What is decided and not committed yet counts too: its `at` is of now, however late it lands.
      return loaded?.saving.since() ?? outflow.oldestAt();
    },
    idle,
    blank: () => idle() && loaded?.fold.position.seq === 0,
    drop,
    parked: () => parked,
    lastUsed: () => lastUsed,
  };
}
