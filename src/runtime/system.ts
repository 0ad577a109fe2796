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

import { atMost, sleep } from "../base/clock.ts";
import { ActivationCache } from "./activation/activation-cache.ts";
import { createCommitter } from "./activation/committer.ts";
import { createEffectOutbox } from "./activation/effect-outbox.ts";
import { type ActorProtocol, type ActorRef, type AnyBehavior, actorName } from "./actor.ts";
import type { ActorSystem, SystemParts } from "./actor-system.ts";
import { ActorRouter } from "./cluster/actor-router.ts";
import { createAskNow } from "./cluster/ask-now.ts";
import { HoldHandoff } from "./cluster/hold-handoff.ts";
import { createHoldResync } from "./cluster/hold-resync.ts";
import { createNodeOperations, type NodeOperations } from "./cluster/node-operations.ts";
import { createNodeProtocol, type NodeProtocol } from "./cluster/node-protocol.ts";
import { NodeQueries } from "./cluster/node-queries.ts";
import { createRecoveryScan } from "./cluster/recovery-scan.ts";
import { createRetryClient } from "./cluster/retry-client.ts";
import { LIMITS, type RuntimeLimits } from "./limits.ts";
import { createPublications } from "./publications.ts";
import { shardOf } from "./shards.ts";
import { freshCounters } from "./stats.ts";

export type { ActorSystem, SystemParts } from "./actor-system.ts";
export type { AskOptions } from "./cluster/retry-client.ts";
export type { SystemStats } from "./stats.ts";

/** Longest attempt (ms) at delivering an effect. */
const DELIVERY_MS = 5_000;

/** Creates the actor system of one node and registers it with placement and bus. It serves after `start`. */
export function createSystem<P extends ActorProtocol<P>>(parts: SystemParts): ActorSystem<P> {
  const node = connectParts(parts);
  const { placement } = parts;
  const stale = followPlacement(parts, node);
  const lifecycle = createLifecycle(parts, node);
  return {
    // The spread stands first, because the engine then copies the input in one piece.
    ask: (to, type, input, options = NO_OPTIONS) => node.ask(to, { ...input, type }, options),
    askNow: (to, type, input, options = NO_OPTIONS) => node.askNow(to, { ...input, type }, options),
    subscribe: node.publications.subscribe,
    owns: node.operations.owns,
    onStale(handle) {
      // A handler that is registered twice is called twice.
      const own: StaleHandler = (concerns) => handle(concerns);
      stale.add(own);
      return () => void stale.delete(own);
    },
    onMoved: (handle) => node.handoff.onMoved(handle),
    onResync: node.resync.onResync,
    overview: node.operations.overview,
    saveEverywhere: node.operations.saveEverywhere,
    serveQuery: (name, answer) => node.queries.serve(name, answer),
    queryNode: (to, query, ms) => node.queries.send(to, query, ms),
    queryNodes: (query, ms) => node.queries.queryNodes(query, ms),
    queryOwner: (actor, query, ms) => node.queries.queryOwner(actor, query, ms),
    otherOwnerOf: (actor) => node.queries.otherOwnerOf(actor),
    ownerNameOf: (actor) => node.queries.ownerNameOf(actor),
    handOff: placement.handOff,
    lagMs: node.committer.lagMs,
    commitSeconds: node.committer.commitSeconds,
    stats: node.operations.stats,
    save: node.operations.save,
    reload: node.operations.reload,
    ...lifecycle,
  };
}

const NO_OPTIONS = {};

type StaleHandler = (concerns: (actor: ActorRef) => boolean) => void;
type NodeParts = ReturnType<typeof connectParts>;

/** Creates the parts of a node. Those that need each other get it when they are first called. */
function connectParts(parts: SystemParts) {
  const { store, bus, clock, random, placement, log } = parts;
  const limits: RuntimeLimits = { ...LIMITS, ...parts.limits };
  const behaviors = new Map(parts.behaviors.map((behavior) => [behavior.kind, behavior]));
  const counters = freshCounters();
  const state = { isDraining: false };
  const draining = () => state.isDraining;

  function behaviorOf(ref: ActorRef): AnyBehavior {
    const behavior = behaviors.get(ref.kind);
    if (behavior === undefined) throw new Error(`nothing behaves like ${actorName(ref)}`);
    return behavior;
  }

  const committer = createCommitter({ store, clock, limits, log });
  const publications = createPublications(bus, log);
  const outbox = createEffectOutbox({
    ...{ clock, random, limits },
    deliver: (to, command, id, bornAt): ReturnType<ActorRouter["attempt"]> =>
      router.attempt(to, { id, bornAt, command, effect: true, retry: true }, DELIVERY_MS),
  });
  const resync = createHoldResync({
    ...{ clock, log, placement, handoffMs: limits.handoffMs },
    ask: (node, actor): Promise<unknown> => protocol.call(node, "reassertHolds", { actor }, limits.handoffMs),
  });
  const activations = new ActivationCache({
    ...{ store, clock, random, placement, committer, limits, counters, log, behaviorOf, draining },
    publish: publications.publish,
    enqueue: outbox.enqueue,
    resyncHolds: resync.resync,
    observer: parts.observer,
  });
  const ensureLoaded = (name: string) => activations.ensureLoaded(name);
  const scan = createRecoveryScan({ store, clock, limits, log, placement, ensureLoaded, draining });
  const handoff = new HoldHandoff({
    ...{ clock, log, placement, handoffMs: limits.handoffMs },
    announce(node, shards) {
      const from = placement.node();
      protocol
        .call(node, "holdsReasserted", { node: from, shards }, limits.handoffMs)
        .catch((error) => log("debug", "not_told", { node, error: String(error) }));
    },
  });
  const operations: NodeOperations = createNodeOperations({
    ...{ clock, limits, counters, placement, committer, activations, outbox },
    router: () => router,
    protocol: () => protocol,
    version: parts.version ?? "",
    figures: () => parts.figures?.() ?? {},
  });
  const queries = new NodeQueries(clock, placement, () => protocol);
  const protocol: NodeProtocol = createNodeProtocol(bus, log, {
    command: ({ envelope }) => router.serve(envelope),
    async holdsReasserted({ node, shards }) {
      handoff.reasserted(node, shards);
      return null;
    },
    async reassertHolds({ actor }) {
      await resync.reassertHere(actor);
      return null;
    },
    stats: async () => operations.stats(),
    save: ({ ms }) => operations.save(ms),
    reload: ({ actor }) => operations.reloadHere(actor),
    query: (query) => queries.answer(query),
  });
  const router: ActorRouter = new ActorRouter({
    ...{ clock, limits, counters, placement, behaviorOf, activations, handoff, protocol, draining },
  });
  const ask = createRetryClient({
    clock,
    random,
    attempt: (to, message, ms) => router.attempt(to, message, ms),
  });
  const askNow = createAskNow({ clock, random, router, ask });
  return {
    ...{ limits, state, log, placement, committer, publications, outbox, resync, activations, scan, handoff },
    ...{ operations, queries, protocol, router, ask, askNow },
  };
}

/** Registers what follows when shards move. Returns the handlers that learn of stale copies. */
function followPlacement(
  { bus, observer }: Pick<SystemParts, "bus" | "observer">,
  node: NodeParts,
): Set<StaleHandler> {
  const { placement, handoff, outbox, scan, activations, log } = node;
  const stale = new Set<StaleHandler>();

  function among(shards: readonly number[]): (actor: ActorRef) => boolean {
    const these = new Set(shards);
    return (actor) => these.has(shardOf(actorName(actor)));
  }

  placement.onJoin(node.protocol.serve);
  placement.deadNodes.onMore(() => activations.releaseDeadNodeHolds());
  placement.onMoved((moved) => {
    const concerns = among(moved.map(({ shard }) => shard));
    for (const handle of stale) handle(concerns);
    handoff.moved(moved);
    outbox.retryNow(concerns);
  });
  placement.onGain((shards, since) => {
    handoff.gained(shards);
    observer?.gained(shards);
    const scanned = scan.scan(shards, since);
    scanned.catch((error) => log("error", "sweep_failed", { error: String(error) }));
    return scanned;
  });
  placement.onLose((shards) => {
    handoff.lost(shards);
    observer?.lost(shards);
    outbox.forget(among(shards));
    return activations.dropShards(shards);
  });
  bus.onGap(() => {
    for (const handle of stale) handle(() => true);
  });
  return stale;
}

/** Pause (ms) after which a node that leaves saves again what is not saved yet. */
const SAVE_AGAIN_MS = 500;

/** Start, periodic saves and evictions, and the end of a node. */
function createLifecycle(
  { clock, saved }: SystemParts,
  node: NodeParts,
): Pick<ActorSystem<never>, "start" | "drain"> {
  const { placement, activations, committer, router, limits } = node;
  let stopTimers: (() => void)[] = [];

  function every(ms: number, task: () => void): void {
    let cancel = clock.after(ms, function again() {
      task();
      cancel = clock.after(ms, again);
    });
    stopTimers.push(() => cancel());
  }

  function reportWatermark(): void {
    const watermark = node.scan.isUnfinished() ? null : activations.watermark();
    if (watermark !== null) saved?.(watermark);
  }

  return {
    async start() {
      await placement.join();
      node.handoff.announceNoHolds();
      every(limits.saveMs, () => void activations.saveSoon());
      every(limits.saveMs * 5, () => {
        activations.evictIdle();
        reportWatermark();
      });
    },
    async drain(ms) {
      const until = clock.mono() + ms;
      for (const stop of stopTimers) stop();
      stopTimers = [];
      node.outbox.stop();
      while (router.waiting() > 0 && clock.mono() < until) await sleep(clock, 5);
      node.state.isDraining = true;
      await atMost(clock, until - clock.mono(), committer.drained());
      let triedAt = Number.NEGATIVE_INFINITY;
      while (clock.mono() < until && activations.hasUncovered()) {
        if (clock.mono() - triedAt >= SAVE_AGAIN_MS) {
          triedAt = clock.mono();
          void activations.saveWhole();
        }
        await sleep(clock, 5);
      }
      reportWatermark();
      committer.stop();
      await placement.leave();
    },
  };
}
