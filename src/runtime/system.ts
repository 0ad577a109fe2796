// The actor system of one node: finds or makes activations, asks them, retries what may be retried, saves, unloads,
// sweeps what an earlier process left behind. It knows no kind of actor.
//
// A caller may repeat a command with the same id as often as it likes: `ask` does so itself inside its budget for
// `unavailable`, `overloaded` and `not_owner`; past the budget it throws, and the outcome is unknown.

import type { Bus } from "../bus/bus.ts";
import { decode, encode } from "../bus/codec.ts";
import type { Save, Store } from "../store/store.ts";
import { type Activation, activate } from "./activation.ts";
import {
  type ActorRef,
  type AnyBehavior,
  actorName,
  type Envelope,
  type Kind,
  type Protocol,
  type Publication,
  type Refusal,
  type Reply,
  refOf,
} from "./actor.ts";
import { atMost, type Clock, type Random, sleep } from "./clock.ts";
import { createCommitter } from "./committer.ts";
import { createOutbox } from "./effects.ts";
import { joined } from "./joined.ts";
import { LIMITS, type Limits } from "./limits.ts";
import { type Counters, freshCounters, type Log } from "./log.ts";
import { permits } from "./permits.ts";
import type { Placement } from "./placement.ts";
import { shardOf } from "./shards.ts";

/** The actor decided against it. Final; `refusal.code` is for the caller. */
export class Refused extends Error {
  constructor(readonly refusal: Refusal) {
    super(refusal.message);
  }
}

/** Not reached inside the budget: for a command that writes, the outcome is unknown; repeat it with the same id. */
export class Unavailable extends Error {
  constructor(
    readonly actor: string,
    readonly reason: string,
  ) {
    super(`${actor}: ${reason}`);
  }
}

export interface AskOptions {
  /** Idempotency key; a fresh one when absent. The same on every repeat. */
  readonly id?: string;
  /** Wall ms at which the id was minted; now when absent. */
  readonly bornAt?: number;
  /** How long to try. Default 5,000 ms. */
  readonly budgetMs?: number;
}

export interface SystemStats {
  readonly counters: Counters;
  readonly actors: number;
  readonly turnsWaiting: number;
  readonly lagMs: number;
  readonly effects: number;
}

export interface ActorSystem<P extends Protocol> {
  ask<K extends Kind & keyof P, N extends keyof P[K] & string>(
    to: { readonly kind: K; readonly id: string },
    type: N,
    input: P[K][N]["input"],
    options?: AskOptions,
  ): Promise<P[K][N]["output"]>;
  /** `changed`: there is news, too large to be told; who wants to know asks the actor. */
  subscribe(
    topic: string,
    handle: (topic: string, body: unknown) => void,
    changed?: (topic: string) => void,
  ): () => void;
  /** Age of the oldest append under way, ms: above 1 s new work is refused at the door. */
  lagMs(): number;
  stats(): SystemStats;
  /** Stores documents and snapshots of all that this node has committed by now; false: `ms` was too short for some. */
  save(ms: number): Promise<boolean>;
  /** Drops what is in memory of an actor, so that the next who asks it has it read from the store. Not while it is busy. */
  reload<K extends Kind & keyof P>(actor: { readonly kind: K; readonly id: string }): Promise<void>;
  start(): Promise<void>;
  /** Stops taking turns once everything decided is durable and saved; gives up after `ms`. */
  drain(ms: number): Promise<void>;
}

export interface SystemParts {
  readonly store: Store;
  readonly bus: Bus;
  readonly clock: Clock;
  readonly random: Random;
  readonly placement: Placement;
  readonly behaviors: readonly AnyBehavior[];
  readonly log: Log;
  readonly limits?: Partial<Limits>;
  /** Told regularly: commits older than this wall ms are all covered by snapshots. */
  readonly saved?: (watermark: number) => void;
}

/** Stands for news that are larger than the bus carries. No encoded body is empty. */
const CHANGED = new Uint8Array();

const UNAVAILABLE: Reply = { ok: false, code: "unavailable" };

/** Commits are swept from this long before the watermark: clocks and commit order differ by less. */
const SWEEP_MARGIN_MS = 10_000;
/** Longer than any append of a dead process can take to land. */
const SWEEP_AGAIN_MS = 30_000;

export function createSystem<P extends Protocol>(parts: SystemParts): ActorSystem<P> {
  const { store, bus, clock, random, placement, log } = parts;
  const limits: Limits = { ...LIMITS, ...parts.limits };
  const behaviors = new Map(parts.behaviors.map((behavior) => [behavior.kind, behavior]));
  const actors = new Map<string, Activation>();
  const counters = freshCounters();
  const loads = permits(limits.loads);
  const sweeps = permits(limits.loads);
  const committer = createCommitter({ store, clock, limits, log });
  const outbox = createOutbox({
    clock,
    random,
    limits,
    deliver: (to, command, id, bornAt) =>
      attempt(to, { id, bornAt, command: command as { type: string }, owed: true }, 5_000),
  });
  let turnsWaiting = 0;
  let draining = false;
  let swept = false;
  /** Broken and not loaded again: they may have left something unsaved. */
  const lost = new Set<string>();
  let stopTimers: (() => void)[] = [];

  // ---- asking

  /** One try at the actor, wherever it is. */
  async function attempt(
    to: ActorRef,
    message: Pick<Envelope, "id" | "bornAt" | "command" | "owed">,
    ms: number,
  ): Promise<Reply> {
    const name = actorName(to);
    const shard = shardOf(name);
    const epoch = placement.epochOf(shard);
    if (epoch === 0 || draining) return { ok: false, code: "not_owner", epoch: 0 };
    if (turnsWaiting >= limits.nodeTurns) {
      counters.shed++;
      return { ok: false, code: "overloaded", retryAfterMs: 1_000 };
    }
    turnsWaiting++;
    const activation = local(to, name, shard);
    try {
      return await activation.handle({ v: 1, to, epoch, expiresAt: clock.wall() + ms, ...message });
    } finally {
      turnsWaiting--;
      if (activation.blank() && actors.get(name) === activation) actors.delete(name);
    }
  }

  function local(ref: ActorRef, name: string, shard: number): Activation {
    const found = actors.get(name);
    if (found !== undefined) return found;
    const behavior = behaviors.get(ref.kind);
    if (behavior === undefined) throw new Error(`no behaviour for actors of kind ${ref.kind}`);
    const activation: Activation = activate({
      behavior,
      ref,
      name,
      shard,
      unsure: lost.has(name),
      store,
      permit: loads,
      clock,
      random,
      committer,
      limits,
      counters,
      log,
      epochOf: placement.epochOf,
      owes: (effects) => {
        if (effects.length > 0) outbox.owes(ref, effects);
      },
      publish,
      save: (save) => saves(save),
      broken: () => {
        if (actors.get(name) === activation) actors.delete(name);
        void rouse(name);
      },
    });
    actors.set(name, activation);
    return activation;
  }

  /** The reply; or `unavailable` when it takes longer, while the work goes on. */
  function within(ms: number, reply: Promise<Reply>): Promise<Reply> {
    return new Promise((resolve, reject) => {
      const cancel = clock.after(ms, () => resolve(UNAVAILABLE));
      reply.then(
        (value) => {
          cancel();
          resolve(value);
        },
        (error) => {
          cancel();
          reject(error);
        },
      );
    });
  }

  async function ask(to: ActorRef, command: { type: string }, options: AskOptions): Promise<unknown> {
    const id = options.id ?? random.id();
    const bornAt = options.bornAt ?? clock.wall();
    const until = clock.mono() + (options.budgetMs ?? 5_000);
    for (let pauseMs = 10; ; pauseMs = Math.min(pauseMs * 2, 500)) {
      const leftMs = Math.max(1, until - clock.mono());
      const reply = await within(leftMs, attempt(to, { id, bornAt, command }, leftMs));
      if (reply.ok) return reply.body;
      if (reply.code === "refused") throw new Refused(reply.refusal);
      const final = reply.code === "too_old" || reply.code === "too_large";
      if (final || clock.mono() + pauseMs > until) throw new Unavailable(actorName(to), reply.code);
      await sleep(clock, pauseMs + random.below(pauseMs));
    }
  }

  // ---- saving: all saves of one turn of the loop go to the store together

  let saving: { saves: Save[]; done: Promise<void> } | null = null;

  function saves(save: Save): Promise<void> {
    if (saving === null) {
      const group: Save[] = [];
      saving = {
        saves: group,
        done: Promise.resolve().then(() => {
          saving = null;
          return store.save(group);
        }),
      };
    }
    saving.saves.push(save);
    return saving.done;
  }

  function saveAll(): void {
    for (const activation of actors.values()) activation.saveSoon();
  }

  /** Many may want it at once, and it is the same for all of them. */
  const saveCommitted = joined(async () => {
    const unsaved = [...actors.values()].filter((actor) => actor.unsavedSince() !== null);
    const saved = await Promise.all(unsaved.map((actor) => actor.saved()));
    return saved.every((one) => one);
  });

  async function reload(name: string): Promise<void> {
    const activation = actors.get(name);
    if (activation === undefined) return;
    await activation.saved();
    if (actors.get(name) === activation && activation.idle()) actors.delete(name);
  }

  /** Everything older than the answer is covered by a snapshot. */
  function watermark(): number {
    let oldest = clock.wall();
    for (const activation of actors.values()) oldest = Math.min(oldest, activation.unsavedSince() ?? oldest);
    return oldest;
  }

  function unload(): void {
    const now = clock.mono();
    const crowd = actors.size - limits.actors;
    const candidates = [...actors].filter(([, actor]) => actor.idle());
    if (crowd > 0) candidates.sort(([, a], [, b]) => a.lastUsed() - b.lastUsed());
    let over = crowd;
    for (const [name, actor] of candidates) {
      if (over-- <= 0 && now - actor.lastUsed() < limits.idleMs) continue;
      actors.delete(name);
      counters.passivated++;
    }
  }

  // ---- what an earlier process left behind

  /** Activating is enough: replay makes the documents right and lists the debts again. */
  async function sweep(shards: readonly number[], since: number): Promise<void> {
    // Twice: what an earlier owner had under way when it died may land after the first look.
    for (const afterMs of [0, SWEEP_AGAIN_MS]) {
      if (afterMs > 0) await sleep(clock, afterMs);
      if (draining) return;
      const names = await dirty(shards, since - SWEEP_MARGIN_MS);
      log("info", "sweep", { actors: names.length });
      await Promise.all(names.map((name) => sweeps(() => wake(name))));
    }
    swept = true;
  }

  /** Asked until the store answers: without it, what is owed and unsaved would wait for the next start. */
  async function dirty(shards: readonly number[], since: number): Promise<readonly string[]> {
    for (;;) {
      try {
        return await store.dirty(shards, since);
      } catch (error) {
        if (draining) throw error;
        log("error", "sweep_failed", { error: String(error) });
        await sleep(clock, 1_000);
      }
    }
  }

  async function wake(name: string): Promise<void> {
    const ref = refOf(name);
    if (!behaviors.has(ref.kind)) throw new Error(`the ledger knows ${name}, but nothing behaves like it`);
    while (!draining && !(await local(ref, name, shardOf(name)).loaded())) await sleep(clock, 1_000);
  }

  /** A broken actor is loaded again although nobody asks: its ledger may hold a debt, or more than its documents. */
  async function rouse(name: string): Promise<void> {
    if (lost.has(name)) return;
    lost.add(name);
    await sleep(clock, 1_000);
    await wake(name);
    lost.delete(name);
  }

  // ---- publications

  function publish(publications: readonly Publication[]): void {
    for (const { topic, body } of publications) {
      const frame = encode(body);
      bus.publish(topic, frame.length > bus.maxNews ? CHANGED : frame);
    }
  }

  function every(ms: number, task: () => void): void {
    let cancel = clock.after(ms, function again() {
      task();
      cancel = clock.after(ms, again);
    });
    stopTimers.push(() => cancel());
  }

  return {
    ask: (to, type, input, options = {}) => ask(to, { type, ...input }, options),
    subscribe: (topic, handle, changed) =>
      bus.subscribe(topic, (at, frame) => (frame.length > 0 ? handle(at, decode(frame)) : changed?.(at))),
    lagMs: committer.lagMs,
    stats: () => ({
      counters,
      actors: actors.size,
      turnsWaiting,
      lagMs: committer.lagMs(),
      effects: outbox.size(),
    }),
    async save(ms) {
      let all = false;
      const saving = saveCommitted().then((done) => {
        all = done;
      });
      await atMost(clock, ms, saving);
      return all;
    },
    reload: (actor) => reload(actorName(actor)),
    async start() {
      placement.onGain((shards, since) =>
        sweep(shards, since).catch((error) => log("error", "sweep_failed", { error: String(error) })),
      );
      await placement.join();
      every(limits.saveMs, saveAll);
      every(limits.saveMs * 5, () => {
        unload();
        if (swept && lost.size === 0) parts.saved?.(watermark());
      });
    },
    async drain(ms) {
      const until = clock.mono() + ms;
      for (const stop of stopTimers) stop();
      stopTimers = [];
      outbox.stop();
      while (turnsWaiting > 0 && clock.mono() < until) await sleep(clock, 5);
      draining = true;
      await atMost(clock, Math.max(0, until - clock.mono()), committer.drained());
      saveAll();
      while (clock.mono() < until && [...actors.values()].some((actor) => actor.unsavedSince() !== null)) {
        await sleep(clock, 5);
      }
      if (swept && lost.size === 0) parts.saved?.(watermark());
      await placement.leave();
    },
  };
}
