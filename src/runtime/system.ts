// The actor system of one node, put together: asking (retry-client.ts, actor-router.ts), what other nodes ask (node-protocol.ts), the actors in
// memory (activation-cache.ts), what moves between nodes (hold-handoff.ts, recovery-scan.ts). It knows no kind of actor.
//
// event                         what follows here
// shards gained                 swept; commands that rely on holds wait until the other nodes have told theirs
// shards lost                   their actors are drained and dropped, their debts and loops end
// shards moved, anywhere        copies of their actors are called old; what this node holds of them is told again
// the line to others was down   all copies are called old
// a node is over                what it held of the actors here is given back
// an actor here broke           loaded anew, it is told again what nodes hold of it; what relies on that waits

import { atMost, type Clock, inTime, type Random, sleep } from "../base/clock.ts";
import { freshCounters, type Log, type SystemStats } from "../base/log.ts";
import type { Bus } from "../bus/bus.ts";
import { decode, encode } from "../bus/codec.ts";
import type { Store } from "../store/store.ts";
import { createActivationCache } from "./activation/activation-cache.ts";
import { createCommitter } from "./activation/committer.ts";
import { createEffectOutbox } from "./activation/effect-outbox.ts";
import {
  type ActorProtocol,
  type ActorRef,
  type AnyBehavior,
  actorName,
  type Kind,
  type Publication,
} from "./actor.ts";
import { createActorRouter } from "./cluster/actor-router.ts";
import { createHoldHandoff } from "./cluster/hold-handoff.ts";
import { createHoldResync } from "./cluster/hold-resync.ts";
import { createNodeProtocol } from "./cluster/node-protocol.ts";
import { createRecoveryScan } from "./cluster/recovery-scan.ts";
import { type AskOptions, createRetryClient } from "./cluster/retry-client.ts";
import { LIMITS, type RuntimeLimits } from "./limits.ts";
import type { Placement } from "./placement/placement.ts";
import { SHARDS, shardOf } from "./shards.ts";

export type { SystemStats } from "../base/log.ts";
export type { AskOptions } from "./cluster/retry-client.ts";

export interface ActorSystem<P extends ActorProtocol> {
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
  /** Is this actor served by this node now? Work that must happen once in a cluster is done where it answers true. */
  owns(actor: ActorRef): boolean;
  /**
   * Actors of which copies at hand may be old: their shard has moved, or news may have been missed. Called after the
   * fact, synchronously. The answer ends it.
   */
  onMissed(handle: (concerns: (actor: ActorRef) => boolean) => void): () => void;
  /**
   * These actors have another owner than before: what this node holds of them is to be told to it again. Their new owner
   * waits for the promise (of every node that is up, at most `arrivalMs`) before it runs commands that rely on holds.
   */
  onMoved(handle: (concerns: (actor: ActorRef) => boolean) => Promise<void>): void;
  /** This actor's activation broke, and it was loaded anew: as `onMoved`, for it alone. */
  onForgot(handle: (actor: ActorRef) => Promise<void>): void;
  /** How every node of the cluster is: its own figures, and those that others answer within `ms`; null where one does not. */
  overview(ms: number): Promise<readonly { readonly node: string; readonly stats: SystemStats | null }[]>;
  /** As `save`, on every node; false: somewhere it was too slow, or a node did not answer. */
  saveEverywhere(ms: number): Promise<boolean>;
  /** Gives all shards away while it serves on (SIGTERM); false: some are left. Alone: true at once. */
  handOver(ms: number): Promise<boolean>;
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
  /** Of the package; `stats` tells it. */
  readonly version?: string;
  readonly limits?: Partial<RuntimeLimits>;
  /** What parts outside the runtime count, told to other nodes as well. */
  readonly figures?: () => Readonly<Record<string, number>>;
  /** Told regularly: commits older than this wall ms are all covered by snapshots. */
  readonly saved?: (watermark: number) => void;
}

/** Stands for news that are larger than the bus carries. No encoded body is empty. */
const CHANGED = new Uint8Array();

/** One try of a debt's delivery. */
const DELIVERY_MS = 5_000;
/** An actor's owner is looked for so long when it is to be reloaded. */
const RELOAD_MS = 5_000;

type Missed = (concerns: (actor: ActorRef) => boolean) => void;

export function createSystem<P extends ActorProtocol>(parts: SystemParts): ActorSystem<P> {
  const { store, bus, clock, random, placement, log } = parts;
  const limits: RuntimeLimits = { ...LIMITS, ...parts.limits };
  const behaviors = new Map(parts.behaviors.map((behavior) => [behavior.kind, behavior]));
  const counters = freshCounters();
  const committer = createCommitter({ store, clock, limits, log });
  const missed = new Set<Missed>();
  let isDraining = false;
  let stopTimers: (() => void)[] = [];
  const draining = () => isDraining;

  function behaviorOf(ref: ActorRef): AnyBehavior {
    const behavior = behaviors.get(ref.kind);
    if (behavior === undefined) throw new Error(`nothing behaves like ${actorName(ref)}`);
    return behavior;
  }

  const outbox = createEffectOutbox({
    clock,
    random,
    limits,
    deliver: (to, command, id, bornAt) =>
      routing.attempt(
        to,
        { id, bornAt, command: command as { type: string }, owed: true, again: true },
        DELIVERY_MS,
      ),
  });
  const residents = createActivationCache({
    ...{ store, clock, random, placement, committer, limits, counters, log, behaviorOf, publish, draining },
    owes: outbox.owes,
    toldAgain: (actor) => toldAgain.from(actor),
  });
  const sweeps = createRecoveryScan({ store, clock, limits, log, placement, wake: residents.wake, draining });
  const wire = createNodeProtocol(bus, {
    command: ({ envelope }) => routing.serve(envelope),
    async told({ node, terms }) {
      arrivals.told(node, terms);
      return null;
    },
    async forgot({ actor }) {
      await toldAgain.here(actor);
      return null;
    },
    stats: async () => stats(),
    save: ({ ms }) => save(ms),
    async reload({ actor }) {
      if (!owns(actor)) return false;
      await residents.reload(actorName(actor));
      return true;
    },
  });
  const arrivals = createHoldHandoff({
    clock,
    log,
    placement,
    arrivalMs: limits.arrivalMs,
    tell(node, terms) {
      const from = placement.node();
      wire
        .call(node, "told", { node: from, terms }, limits.arrivalMs)
        .catch((error) => log("debug", "not_told", { node, error: String(error) }));
    },
  });
  const toldAgain = createHoldResync({
    ...{ clock, log, placement, arrivalMs: limits.arrivalMs },
    ask: (node, actor) => wire.call(node, "forgot", { actor }, limits.arrivalMs),
  });
  const routing = createActorRouter({
    ...{ clock, limits, counters, placement, behaviorOf, residents, arrivals, wire, draining },
  });
  const ask = createRetryClient({ clock, random, attempt: routing.attempt });

  // ---- what placement tells

  const owns = (actor: ActorRef): boolean => placement.epochOf(shardOf(actorName(actor))) > 0;

  function among(shards: readonly number[]): (actor: ActorRef) => boolean {
    const these = new Set(shards);
    return (actor) => these.has(shardOf(actorName(actor)));
  }

  function listen(): void {
    placement.onJoin(wire.serve);
    placement.deadNodes.onMore(residents.releaseDeadNodeHolds);
    placement.onMoved((moved) => {
      const concerns = among(moved.map(({ shard }) => shard));
      for (const handle of missed) handle(concerns);
      arrivals.moved(moved);
      outbox.hasten(concerns);
    });
    placement.onGain((shards, since) => {
      arrivals.gained(shards);
      const swept = sweeps.sweep(shards, since);
      swept.catch((error) => log("error", "sweep_failed", { error: String(error) }));
      return swept;
    });
    placement.onLose((shards) => {
      arrivals.lost(shards);
      outbox.forget(among(shards));
      return residents.lose(shards);
    });
    bus.onGap(() => {
      for (const handle of missed) handle(() => true);
    });
  }

  // ---- the whole cluster

  const stats = (): SystemStats => ({
    counters,
    actors: residents.size(),
    turnsWaiting: routing.waiting(),
    lagMs: committer.lagMs(),
    effects: outbox.size(),
    mailboxMost: residents.mailboxMost(),
    node: placement.node(),
    version: parts.version ?? "",
    shards: Array.from({ length: SHARDS }, (_, shard) => placement.epochOf(shard)).filter(
      (epoch) => epoch > 0,
    ).length,
    figures: parts.figures?.() ?? {},
  });

  async function save(ms: number): Promise<boolean> {
    let all = false;
    const saving = residents.save().then((done) => {
      all = done;
    });
    await atMost(clock, ms, saving);
    return all;
  }

  /** Null: it did not answer in time. */
  const fromOther = <T>(ms: number, call: Promise<T>): Promise<T | null> =>
    inTime(clock, ms, call).catch(() => null);

  async function reload(actor: ActorRef): Promise<void> {
    const until = clock.mono() + RELOAD_MS;
    while (clock.mono() < until) {
      if (owns(actor)) return residents.reload(actorName(actor));
      const owner = placement.ownerOf(shardOf(actorName(actor)));
      if (owner === null || owner.node === placement.node()) await placement.refresh();
      else if (await fromOther(limits.tryMs, wire.call(owner.node, "reload", { actor }, limits.tryMs)))
        return;
      else await placement.refresh();
      await sleep(clock, 20);
    }
  }

  function publish(publications: readonly Publication[]): void {
    for (const { topic, body } of publications) {
      const frame = encode(body);
      bus.publish(topic, frame.length > bus.maxNews ? CHANGED : frame);
    }
  }

  // ---- time

  function every(ms: number, task: () => void): void {
    let cancel = clock.after(ms, function again() {
      task();
      cancel = clock.after(ms, again);
    });
    stopTimers.push(() => cancel());
  }

  function tellWatermark(): void {
    const watermark = sweeps.unfinished() ? null : residents.watermark();
    if (watermark !== null) parts.saved?.(watermark);
  }

  listen();
  return {
    ask: (to, type, input, options = {}) => ask(to, { type, ...input }, options),
    subscribe: (topic, handle, changed) =>
      bus.subscribe(topic, (at, frame) => {
        try {
          if (frame.length > 0) handle(at, decode(frame));
          else changed?.(at);
        } catch (error) {
          // Of a newer program, or nobody's: a bus hears no more of anything when its listener fails.
          log("error", "news_failed", { topic: at, error: String(error) });
        }
      }),
    owns,
    onMissed(handle) {
      const one: Missed = (concerns) => handle(concerns);
      missed.add(one);
      return () => void missed.delete(one);
    },
    onMoved: arrivals.onMoved,
    onForgot: toldAgain.onForgot,
    async overview(ms) {
      const others = placement.others().map(async (node) => {
        return { node, stats: await fromOther(ms, wire.call(node, "stats", {}, ms)) };
      });
      return [{ node: placement.node(), stats: stats() }, ...(await Promise.all(others))];
    },
    async saveEverywhere(ms) {
      const others = placement.others().map((node) => fromOther(ms, wire.call(node, "save", { ms }, ms)));
      return (await Promise.all([save(ms), ...others])).every((saved) => saved === true);
    },
    handOver: placement.handOver,
    lagMs: committer.lagMs,
    stats,
    save,
    reload,
    async start() {
      await placement.join();
      arrivals.nothing();
      every(limits.saveMs, residents.saveSoon);
      every(limits.saveMs * 5, () => {
        residents.unload();
        tellWatermark();
      });
    },
    async drain(ms) {
      const until = clock.mono() + ms;
      for (const stop of stopTimers) stop();
      stopTimers = [];
      outbox.stop();
      while (routing.waiting() > 0 && clock.mono() < until) await sleep(clock, 5);
      isDraining = true;
      await atMost(clock, Math.max(0, until - clock.mono()), committer.drained());
      residents.saveSoon();
      while (clock.mono() < until && residents.unsaved()) await sleep(clock, 5);
      tellWatermark();
      committer.stop();
      await placement.leave();
    },
  };
}
