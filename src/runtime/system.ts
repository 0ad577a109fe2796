// The actor system of one node. It connects asks (retry-client.ts, actor-router.ts), requests of other nodes
// (node-protocol.ts), the actors in memory (activation-cache.ts), and what follows when shards move
// (hold-handoff.ts, recovery-scan.ts). It must not know any kind of actor.
//
// event                       what this node does
// shards gained               scans them for recovery; commands that rely on holds wait until the other nodes
//                             have re-asserted theirs
// shards lost                 drains and drops their actors; stops delivering their effects
// shards moved, anywhere      reports copies of their actors as stale; re-asserts its holds on them
// bus connection was down     reports all copies as stale
// a node is dead              releases its holds on actors here
// an activation here failed   reloads the actor and has all nodes re-assert their holds on it; commands
//                             that rely on holds wait for that

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

/** Sends commands to actors and reports what happens to their shards. */
export interface ActorSystem<P extends ActorProtocol<P>> {
  /**
   * Sends a command to an actor and repeats it with the same id until it is answered or the budget ends.
   * Throws RefusedError, or UnavailableError when the outcome is unknown.
   */
  ask<K extends Kind & keyof P, N extends keyof P[K] & string>(
    to: { readonly kind: K; readonly id: string },
    type: N,
    input: P[K][N]["input"],
    options?: AskOptions,
  ): Promise<P[K][N]["output"]>;
  /**
   * Subscribes to publications. `changed` is called in place of `handle` when the body was too large to
   * publish; the subscriber can ask the actor. Returns a function that unsubscribes.
   */
  subscribe(
    topic: string,
    handle: (topic: string, body: unknown) => void,
    changed?: (topic: string) => void,
  ): () => void;
  /**
   * Returns whether this node serves the actor now. Work that must happen once in a cluster is done where
   * this is true.
   */
  owns(actor: ActorRef): boolean;
  /**
   * Reports actors of which local copies may be stale, because their shard moved or publications may have
   * been missed. It is called after the fact, synchronously. Returns a function that unsubscribes.
   */
  onMissed(handle: (concerns: (actor: ActorRef) => boolean) => void): () => void;
  /**
   * Reports actors that have a new owner, so that this node re-asserts its holds to it. The new owner waits
   * for the promise of every live node (at most `arrivalMs`) before it runs commands that rely on holds.
   */
  onMoved(handle: (concerns: (actor: ActorRef) => boolean) => Promise<void>): void;
  /**
   * Reports an actor that was reloaded after its activation failed. It works as `onMoved`, for this actor
   * alone.
   */
  onForgot(handle: (actor: ActorRef) => Promise<void>): void;
  /**
   * Returns the stats of every node of the cluster. `stats` is null for a node that does not answer within
   * `ms`.
   */
  overview(ms: number): Promise<readonly { readonly node: string; readonly stats: SystemStats | null }[]>;
  /** Calls `save` on every node. Returns false when a node was too slow or did not answer. */
  saveEverywhere(ms: number): Promise<boolean>;
  /**
   * Gives all shards to other nodes while this one keeps serving (SIGTERM). Returns false when some are left
   * after `ms`. A single process returns true at once.
   */
  handOver(ms: number): Promise<boolean>;
  /** Returns the age (ms) of the oldest append in flight. Above 1 s the edge refuses new work. */
  lagMs(): number;
  stats(): SystemStats;
  /**
   * Stores documents and snapshots of all that this node has committed by now. Returns false when `ms` was
   * too short for some.
   */
  save(ms: number): Promise<boolean>;
  /**
   * Drops an actor from its owner's memory, so that the next command reads it from the store. A busy actor
   * stays.
   */
  reload<K extends Kind & keyof P>(actor: { readonly kind: K; readonly id: string }): Promise<void>;
  start(): Promise<void>;
  /**
   * Stops taking turns once everything decided is durable and saved, then leaves the cluster. Stops waiting
   * after `ms`.
   */
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
  /** Version of the package, which `stats` reports. */
  readonly version?: string;
  readonly limits?: Partial<RuntimeLimits>;
  /** Gauges of parts outside the runtime, which `stats` reports to other nodes too. */
  readonly figures?: () => Readonly<Record<string, number>>;
  /** Called regularly: commits older than this wall-clock ms are all covered by snapshots. */
  readonly saved?: (watermark: number) => void;
}

/** Published in place of a body that is larger than the bus carries. No encoded body is empty. */
const CHANGED = new Uint8Array();

/** Longest attempt (ms) at delivering an effect. */
const DELIVERY_MS = 5_000;
/** How long (ms) `reload` looks for the actor's owner. */
const RELOAD_MS = 5_000;

type Missed = (concerns: (actor: ActorRef) => boolean) => void;

/** Creates the actor system of one node and registers it with placement and bus. It serves after `start`. */
export function createSystem<P extends ActorProtocol<P>>(parts: SystemParts): ActorSystem<P> {
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
      routing.attempt(to, { id, bornAt, command, owed: true, again: true }, DELIVERY_MS),
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

  // ---- events of placement and bus

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

  /** Returns null when the node failed or did not answer in time. */
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
          // The body may be a newer program's. An exception here would end all deliveries of the bus.
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
