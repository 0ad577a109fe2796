// One actor in memory: loads it, runs its turns, gates its replies, hands its commits over and saves its documents.
//
// A turn is synchronous: decide, evolve, into the open batch. The batch becomes one commit when its lane is free, and
// every reply waits for the batch that was open when its turn ran: nothing leaves that might not have happened.
//
// crash or failure                    what is left, and what happens
// before the commit is durable        nothing; callers get `unavailable` and retry with the same id
// commit durable, reply lost          the retry finds its id (in memory, in the commit, or by its mark in the ledger)
// append lost                         a second writer has the seq: break, load anew, the retry runs on the true state
// append unknown                      break, load anew: the ledger shows whether it was stored
// decide or evolve throws             a bug: break and log; durable state is untouched
//
// Broken means: every parked reply answers `unavailable`, the object is dropped, the next message loads from the store.
// There is no undo. It never reads a clock but the injected one and never decides anything itself.

import type { Commit, Save, Snapshot, Store, StoredDocument } from "../store/store.ts";
import type { ActorRef, AnyBehavior, Decision, Effect, Envelope, Publication, Reply } from "./actor.ts";
import { assert } from "./assert.ts";
import type { Clock, Random } from "./clock.ts";
import type { Committer, Writer } from "./committer.ts";
import type { Limits } from "./limits.ts";
import type { Counters, Log } from "./log.ts";
import { idMemory } from "./memory-of-ids.ts";
import type { Permits } from "./permits.ts";

const UNAVAILABLE: Reply = { ok: false, code: "unavailable" };
const NOT_OWNER: Reply = { ok: false, code: "not_owner", epoch: 0 };
/** A caller that stopped waiting may still want the work done when it is only this late. */
const SHED_GRACE_MS = 2_000;
/** A command minted this shortly before the load may already stand in the ledger (clocks differ that much). */
const SKEW_MS = 2_000;

export interface ActivationParts {
  readonly behavior: AnyBehavior;
  readonly ref: ActorRef;
  readonly name: string;
  readonly shard: number;
  readonly store: Store;
  /** Bounds how many actors load at once. */
  readonly permit: Permits;
  readonly clock: Clock;
  readonly random: Random;
  readonly committer: Committer;
  readonly limits: Limits;
  readonly counters: Counters;
  readonly log: Log;
  epochOf(shard: number): number;
  /** After the commit: what the state owes to others. */
  owes(effects: readonly Effect[]): void;
  publish(publications: readonly Publication[]): void;
  /** Documents and snapshot at one seq, all of it durable in the ledger. */
  save(save: Save): Promise<void>;
  broken(): void;
}

export interface Activation {
  handle(envelope: Envelope): Promise<Reply>;
  /** Resolves when loading ended: true when it can take turns. */
  loaded(): Promise<boolean>;
  /** Asks for a save at the next chance, when something changed since the last. */
  saveSoon(): void;
  /** Wall ms of the oldest commit that no snapshot covers; null = all saved. */
  unsavedSince(): number | null;
  /** May be dropped now without losing anything. */
  idle(): boolean;
  /** Never stored anything and holds nothing: not worth keeping. */
  blank(): boolean;
  /** mono ms of the last message. */
  lastUsed(): number;
}

interface Batch {
  readonly events: { at: number; line: boolean; e: unknown }[];
  readonly done: { id: string; reply: Reply }[];
  readonly marks: string[];
  readonly publish: Publication[];
  lines: number;
  save: boolean;
  readonly gate: Promise<boolean>;
  readonly release: (committed: boolean) => void;
}

export function activate(parts: ActivationParts): Activation {
  const { behavior, name, shard, store, clock, limits, counters, log } = parts;
  const nonce = parts.random.id();
  let phase: "loading" | "open" | "broken" = "loading";
  let state = behavior.empty(parts.ref.id);
  const ids = idMemory(limits);
  let seq = 0;
  let lastAt = 0;
  let lastEpoch = 0;
  let linesTo = 0;
  let loadedAt = 0;
  let lastUsed = clock.mono();
  let parked = 0;

  /** Decided and not sent yet. The last one takes new events until it is full. */
  const queue: Batch[] = [];
  let flying: { batch: Batch; commit: Commit; save: Save | null; heir: Batch | null } | null = null;
  /** In the lane's waiting list. */
  let queued = false;

  let wantSave = false;
  let unsavedSince: number | null = null;
  let commitsSinceSave = 0;
  /** Documents taken from the behaviour and not stored yet, by table and id. */
  const unsaved = new Map<string, StoredDocument>();

  const loading = parts.permit(load);

  // ---- loading

  async function load(): Promise<void> {
    try {
      const snapshot = await store.load(name);
      if (snapshot !== null && snapshot.v === behavior.version) restore(snapshot);
      for (;;) {
        const page = await store.tail(name, seq, limits.replayPage);
        for (const commit of page) replay(commit);
        if (page.length < limits.replayPage) break;
      }
      loadedAt = clock.wall();
      const epoch = parts.epochOf(shard);
      phase = "open";
      counters.activated++;
      // From the moment this is stored, an owner of an earlier epoch can append nothing more: what it decided since
      // is refused, and what was loaded here is the whole truth.
      if (seq > 0 && epoch > lastEpoch) {
        openBatch();
        flush();
      }
      parts.owes(behavior.pending(state));
    } catch (error) {
      shatter("load_failed", error);
    }
  }

  function restore(snapshot: Snapshot): void {
    state = behavior.thaw(parts.ref.id, snapshot.state);
    seq = snapshot.seq;
    lastAt = snapshot.at;
    lastEpoch = snapshot.epoch;
    linesTo = snapshot.linesTo;
    for (const { id, at, reply } of snapshot.done) ids.remember(id, reply as Reply, at, false);
  }

  function replay(commit: Commit): void {
    assert(commit.seq === seq + 1, `${name}: commit ${commit.seq} follows ${seq}`);
    assert(commit.epoch >= lastEpoch, `${name}: the epoch falls at commit ${commit.seq}`);
    assert(commit.at >= lastAt, `${name}: time falls at commit ${commit.seq}`);
    assert(
      commit.linesTo === linesTo + commit.lines,
      `${name}: ledger lines are missing at commit ${commit.seq}`,
    );
    for (const { at, e } of commit.events) behavior.evolve(state, e, at);
    for (const { id, reply } of commit.done) ids.remember(id, reply as Reply, commit.at, false);
    seq = commit.seq;
    lastAt = commit.at;
    lastEpoch = commit.epoch;
    linesTo = commit.linesTo;
    commitsSinceSave++;
    unsavedSince ??= commit.at;
    wantSave = true;
  }

  // ---- turns

  async function handle(envelope: Envelope): Promise<Reply> {
    lastUsed = clock.mono();
    if (parked >= limits.mailbox) {
      counters.shed++;
      return { ok: false, code: "overloaded", retryAfterMs: 1_000 };
    }
    parked++;
    try {
      if (phase === "loading") await loading;
      const mark = behavior.mark(envelope.command);
      const old = envelope.bornAt < Math.max(clock.wall() - limits.lookupMs, loadedAt + SKEW_MS);
      const done = mark !== undefined && old && ids.get(envelope.id) === undefined && (await inLedger(mark));
      if (phase === "broken") return UNAVAILABLE;
      const { reply, gate } = turn(envelope, mark !== undefined, done);
      if (gate === null) return reply;
      return (await gate.gate) ? reply : UNAVAILABLE;
    } catch (error) {
      shatter("turn_failed", error);
      return UNAVAILABLE;
    } finally {
      parked--;
    }
  }

  async function inLedger(mark: string): Promise<boolean> {
    return seq > 0 && (await store.marked(name, mark));
  }

  function turn(envelope: Envelope, marked: boolean, done: boolean): { reply: Reply; gate: Batch | null } {
    const epoch = parts.epochOf(shard);
    if (epoch === 0) return { reply: NOT_OWNER, gate: null };
    const before = ids.get(envelope.id);
    if (before !== undefined) return { reply: before, gate: newest() };

    const now = Math.max(clock.wall(), lastAt);
    if (!marked && envelope.expiresAt + SHED_GRACE_MS < clock.wall()) {
      counters.shed++;
      return { reply: { ok: false, code: "overloaded", retryAfterMs: 1_000 }, gate: null };
    }
    if (!marked && !envelope.owed && envelope.bornAt < now - limits.dedupMs) {
      return { reply: { ok: false, code: "too_old" }, gate: null };
    }

    counters.turns++;
    const decision: Decision<unknown> = behavior.decide(state, envelope.command, {
      id: envelope.id,
      now,
      epoch,
      done,
    });
    const reply: Reply = decision.refused
      ? { ok: false, code: "refused", refusal: decision.refused }
      : { ok: true, body: decision.reply };
    const events = decision.events ?? [];
    if (events.length === 0) {
      return { reply, gate: decision.ungated ? null : newest() };
    }
    assert(!decision.ungated, `${name}: ${envelope.command.type} writes, so its reply must wait`);
    return { reply, gate: record(envelope.id, reply, marked, now, decision) };
  }

  function record(
    id: string,
    reply: Reply,
    marked: boolean,
    now: number,
    decision: Decision<unknown>,
  ): Batch {
    const events = decision.events!;
    assert(events.length <= limits.commitEvents, `${name}: ${events.length} events in one turn`);
    const last = queue.at(-1);
    const fits = last !== undefined && last.events.length + events.length <= limits.commitEvents;
    const into = fits ? last : openBatch();
    for (const e of events) {
      const line = behavior.isLine(e);
      behavior.evolve(state, e, now);
      into.events.push({ at: now, line, e });
      if (line) into.lines++;
      for (const mark of behavior.marks(e)) into.marks.push(mark);
    }
    lastAt = now;
    ids.remember(id, reply, now, marked);
    if (!marked) into.done.push({ id, reply });
    if (decision.publish) into.publish.push(...decision.publish);
    if (decision.save) into.save = true;
    flush();
    return into;
  }

  // ---- committing

  const newest = (): Batch | null => queue.at(-1) ?? flying?.batch ?? null;

  function openBatch(): Batch {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const batch: Batch = {
      events: [],
      done: [],
      marks: [],
      publish: [],
      lines: 0,
      save: false,
      gate: promise,
      release: resolve,
    };
    queue.push(batch);
    return batch;
  }

  function flush(): void {
    if (queued || flying !== null || queue.length === 0) return;
    queued = true;
    parts.committer.ready(writer);
  }

  const writer: Writer = {
    shard,
    cut() {
      queued = false;
      const cut = queue[0];
      if (phase === "broken" || cut === undefined) return null;
      const epoch = parts.epochOf(shard);
      if (epoch === 0) {
        shatter("lease_lost", null);
        return null;
      }
      queue.shift();
      const commit: Commit = {
        actor: name,
        seq: seq + 1,
        shard,
        epoch,
        by: nonce,
        at: cut.events.at(-1)?.at ?? Math.max(clock.wall(), lastAt),
        v: 1,
        done: cut.done,
        marks: cut.marks,
        linesTo: linesTo + cut.lines,
        lines: cut.lines,
        events: cut.events,
      };
      lastAt = Math.max(lastAt, commit.at);
      // With nothing decided beyond it, state equals the fold up to this commit: the moment to take a snapshot.
      const due = queue.length === 0 && (cut.save || wantSave || commitsSinceSave >= limits.saveCommits);
      // A save owed to an administrative reply passes to the batch that can take one, and the reply waits for that.
      const heir = cut.save && !due ? (queue.at(-1) ?? null) : null;
      if (heir !== null) heir.save = true;
      flying = { batch: cut, commit, save: due ? snapshot(commit) : null, heir };
      return commit;
    },
    settle(outcome) {
      assert(flying !== null, `${name}: an append settled that was never sent`);
      const { batch, commit, save, heir } = flying;
      flying = null;
      if (phase === "broken") return batch.release(false);
      if (outcome !== "committed") return lose(outcome, batch);
      seq = commit.seq;
      lastEpoch = commit.epoch;
      linesTo = commit.linesTo;
      counters.commits++;
      counters.events += commit.events.length;
      commitsSinceSave++;
      unsavedSince ??= commit.at;
      flush();
      void finish(batch, save, heir);
    },
  };

  async function finish(batch: Batch, save: Save | null, heir: Batch | null): Promise<void> {
    parts.owes(behavior.pending(state));
    if (save !== null) {
      const saved = persist(save);
      if (batch.save) await saved;
    }
    if (heir !== null) await heir.gate;
    if (batch.publish.length > 0) parts.publish(batch.publish);
    batch.release(true);
  }

  function lose(outcome: "lost" | "unknown", batch: Batch): void {
    if (outcome === "lost") counters.appendLost++;
    else counters.appendUnknown++;
    shatter(outcome === "lost" ? "append_lost" : "append_unknown", null);
    batch.release(false);
  }

  function shatter(why: string, error: unknown): void {
    if (phase === "broken") return;
    phase = "broken";
    counters.broken++;
    log(error === null ? "warn" : "error", "activation_broken", {
      actor: name,
      shard,
      seq,
      why,
      ...(error === null
        ? {}
        : { error: error instanceof Error ? (error.stack ?? error.message) : String(error) }),
    });
    for (const batch of queue.splice(0)) batch.release(false);
    parts.broken();
  }

  // ---- saving

  function snapshot(at: { seq: number; at: number; epoch: number; linesTo: number }): Save {
    for (const document of behavior.materialise(state)) {
      unsaved.set(`${document.table}/${document.id}`, { ...document, seq: at.seq });
    }
    return {
      documents: [...unsaved.values()],
      snapshot: {
        actor: name,
        shard,
        seq: at.seq,
        at: at.at,
        epoch: at.epoch,
        linesTo: at.linesTo,
        v: behavior.version,
        state: behavior.freeze(state),
        done: ids.durable(),
        pending: behavior.pending(state).length > 0,
      },
    };
  }

  /** A failed save is not a failure: the ledger has it all, and the next save carries the same documents again. */
  async function persist(save: Save): Promise<void> {
    wantSave = false;
    try {
      await parts.save(save);
      for (const document of save.documents) {
        const key = `${document.table}/${document.id}`;
        if (unsaved.get(key)?.seq === document.seq) unsaved.delete(key);
      }
      if (seq === save.snapshot.seq) unsavedSince = null;
      else unsavedSince = save.snapshot.at;
      commitsSinceSave = Math.max(0, seq - save.snapshot.seq);
    } catch (error) {
      wantSave = true;
      log("warn", "save_failed", { actor: name, error: String(error) });
    }
  }

  const quiet = () => phase === "open" && queue.length === 0 && flying === null;

  return {
    handle,
    loaded: () => loading.then(() => phase === "open"),
    saveSoon() {
      if (unsavedSince === null) return;
      if (quiet()) void persist(snapshot({ seq, at: lastAt, epoch: lastEpoch, linesTo }));
      else wantSave = true;
    },
    unsavedSince: () => unsavedSince,
    idle: () =>
      quiet() &&
      parked === 0 &&
      unsavedSince === null &&
      behavior.idle(state) &&
      behavior.pending(state).length === 0,
    blank: () => quiet() && parked === 0 && seq === 0 && behavior.idle(state),
    lastUsed: () => lastUsed,
  };
}
