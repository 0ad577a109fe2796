// One process under test: the real system, placement, actors, creation and settling of this project, on simulated
// clock, chance, store and bus. A crash drops the object, its timers and its answers; what it sent goes on.

import { behaviors, type Protocol } from "../../actors/index.ts";
import { type Created, type Creation, createAccounts } from "../../src/admin/create-account.ts";
import { createRootAccount, RootMissing } from "../../src/admin/create-root.ts";
import { startSweeps } from "../../src/admin/periodic-sweeps.ts";
import { atMost, type Random, sleep } from "../../src/base/clock.ts";
import { UnavailableError } from "../../src/base/errors.ts";
import type { Log } from "../../src/base/log.ts";
import { memoryBus } from "../../src/bus/memory.ts";
import { type ConfigCache, createConfigCache } from "../../src/gateway/account/config-cache.ts";
import type { SpooledCharge } from "../../src/gateway/admission/charge-spool.ts";
import { createSettlement, type Settlement } from "../../src/gateway/admission/settlement.ts";
import { createNodeHealth } from "../../src/node/node-health.ts";
import type { AnyBehavior } from "../../src/runtime/actor.ts";
import type { RuntimeLimits } from "../../src/runtime/limits.ts";
import { type ClusterLimits, createClusterPlacement } from "../../src/runtime/placement/cluster-placement.ts";
import { NameTaken } from "../../src/runtime/placement/node-lease.ts";
import type { Placement } from "../../src/runtime/placement/placement.ts";
import { createSingleNodePlacement } from "../../src/runtime/placement/single-node.ts";
import { type ActorSystem, createSystem } from "../../src/runtime/system.ts";
import { numbers } from "../../src/store/id-allocator.ts";
import type { Store } from "../../src/store/store.ts";
import type { Net, SimLine } from "./bus.ts";
import type { Checkers } from "./checkers.ts";
import type { Drift, ProcessClock, Timeline } from "./clock.ts";
import { mixedAsks } from "./mixed-asks.ts";
import type { SimRandom } from "./random.ts";
import { type SimDisk, SimFault, storeLine } from "./store.ts";
import type { Trace } from "./trace.ts";

export interface SimNode {
  readonly name: string;
  readonly system: ActorSystem<Protocol>;
  readonly settle: Settlement;
  create(creation: Creation): Promise<Created>;
  /** Claims and the like by hand, over this node's line. */
  readonly store: Store;
  readonly clock: ProcessClock;
  readonly random: Random;
  /** What it keeps of others' actors; null: it is alone. */
  readonly configs: ConfigCache | null;
  /** Its line to the other nodes; null: it is alone. */
  readonly line: SimLine | null;
  /** The store hears nothing of it, nor it of the store, until this virtual ms. */
  cutStore(untilMs: number): void;
  /** True once it serves. */
  readonly ready: () => boolean;
  /** It has not crashed: what began here can go on here. */
  readonly alive: () => boolean;
  /** Did it ever serve? */
  readonly served: () => boolean;
  readonly crashed: Promise<never>;
  crash(): void;
  /** As on SIGTERM: it gives its shards away while it serves on, ends what is under way, and stops. */
  drain(): Promise<void>;
}

/** What makes a process one of many. */
export interface Membership {
  readonly net: Net;
  readonly limits: Partial<ClusterLimits>;
  readonly drift: Drift;
}

/** Parts that a test may replace by broken ones, to prove that the checkers see it. */
export interface InjectedParts {
  readonly behavior?: (behavior: AnyBehavior) => AnyBehavior;
  readonly store?: (store: Store) => Store;
  readonly limits?: Partial<RuntimeLimits>;
}

export interface NodeParts {
  readonly name: string;
  readonly disk: SimDisk;
  /** Late charges, fsynced: they survive a crash. */
  readonly spool: Map<string, SpooledCharge>;
  /** null: it is alone, and the store's lock is its own. */
  readonly member: Membership | null;
  readonly timeline: Timeline;
  readonly world: ProcessClock;
  /** Fates of store calls. */
  readonly random: SimRandom;
  /** What the node itself draws. */
  readonly chance: SimRandom;
  readonly trace: Trace;
  readonly checkers: Checkers;
  readonly limits: Partial<RuntimeLimits>;
  readonly chargeWaitMs: number;
  readonly injected: InjectedParts;
}

export class Crashed extends Error {}

/** What a node that goes waits for: that its shards are gone, then that its requests have ended. */
const HAND_OVER_MS = 10_000;
const REQUESTS_END_MS = 120_000;

export function startNode(parts: NodeParts): SimNode {
  const { spool, timeline, trace, checkers, injected, member } = parts;
  const clock = timeline.process(member?.drift);
  const random = parts.chance.forRuntime(clock);
  let dead = false;
  let cutUntil = 0;
  let ready = false;
  let served = false;
  let kill: (error: Crashed) => void = () => {};
  const crashed = new Promise<never>((_, reject) => {
    kill = reject;
  });
  crashed.catch(() => {});

  const isCut = () => timeline.now() < cutUntil;
  const line = storeLine({ ...parts, node: clock, dead: () => dead, isCut, locked: member === null });
  const loaded = new Map<string, number>();
  const seen: Store = {
    ...line,
    async loadSnapshot(actor) {
      const snapshot = await line.loadSnapshot(actor);
      loaded.set(actor, snapshot?.seq ?? 0);
      return snapshot;
    },
  };
  const store = injected.store?.(seen) ?? seen;

  const log: Log = (level, event, fields) => {
    trace.step(timeline.now(), `${parts.name} ${level} ${event} ${fields?.actor ?? ""} ${fields?.why ?? ""}`);
    if (event === "activation_broken") trace.count(`broken: ${fields?.why}`);
    else trace.count(`log ${event}`);
    const error = String(fields?.error ?? "");
    if (/Assertion|TypeError|RangeError|ReferenceError/.test(error)) {
      trace.violate("0 errors", `${event} ${fields?.actor ?? ""}: ${error}`);
    }
  };

  const bus = member?.net.plug({ name: parts.name, clock, dead: () => dead }) ?? null;
  const fitness = bus && createNodeHealth({ store, connected: bus.connected, clock, log });
  const { placement, advance } = place();
  const inner = createSystem<Protocol>({
    store,
    bus: bus ?? memoryBus(),
    clock,
    random,
    placement,
    behaviors: behaviors.map((behavior) =>
      checkers.holds.watch(injected.behavior?.(behavior) ?? behavior, (actor) => loaded.get(actor) ?? 0),
    ),
    log,
    limits: { ...parts.limits, ...injected.limits },
    saved: advance,
  });

  const system = mixedAsks(inner, parts.chance.fork());

  function place(): { placement: Placement; advance(watermark: number): void } {
    if (member === null || bus === null || fitness === null) {
      const solo = createSingleNodePlacement({ registry: store, node: parts.name });
      const failed = (error: unknown) => log("warn", "watermark_failed", { error: String(error) });
      return { placement: solo, advance: (watermark) => void solo.advance(watermark).catch(failed) };
    }
    const { fit } = fitness;
    const { name } = parts;
    const cluster = createClusterPlacement({
      registry: store,
      bus,
      clock,
      random,
      log,
      name,
      fit,
      limits: member.limits,
    });
    return { placement: checkers.placement.watch(name, cluster, () => dead), advance: cluster.advance };
  }

  const settle = createSettlement({
    system,
    clock,
    log,
    chargeWaitMs: parts.chargeWaitMs,
    spool: {
      async keep(late) {
        await sleep(clock, 1);
        spool.set(late.facts.id, late);
      },
      async forget(id) {
        spool.delete(id);
      },
      all: async () => [...spool.values()],
    },
  });
  settle.onSettled(checkers.holds.ended);
  let stopSweeps = () => {};

  async function start(): Promise<void> {
    await system.start();
    await createRootAccount({ system, store, clock, random, chosen: "root-key-of-the-simulation-000001" });
    await settle.replay();
    stopSweeps = startSweeps({ system, store, clock, random, log, logDays: 365, claimsSwept: () => {} });
    ready = true;
    served = true;
  }

  function crash(): void {
    if (dead) return;
    dead = true;
    ready = false;
    clock.kill();
    fitness?.stop();
    kill(new Crashed());
  }

  start().catch((error: unknown) => {
    trace.step(timeline.now(), `${parts.name} does not start`);
    trace.count("starts failed");
    const isMade = error instanceof SimFault || error instanceof UnavailableError;
    if (!isMade && !(member !== null && isOfOthers(error))) {
      trace.violate(
        "0 errors",
        `${parts.name} does not start: ${error instanceof Error ? error.stack : error}`,
      );
    }
    crash();
  });

  return {
    name: parts.name,
    system,
    settle,
    create: createAccounts({ system, store, clock, random, log, nextId: numbers(store, "account") }),
    store,
    clock,
    random,
    configs: member && createConfigCache({ system, clock }),
    line: bus,
    cutStore(untilMs) {
      cutUntil = untilMs;
    },
    ready: () => ready,
    alive: () => !dead,
    served: () => served,
    crashed,
    crash,
    async drain() {
      if (member !== null) await system.handOff(HAND_OVER_MS);
      ready = false;
      if (member !== null) await atMost(clock, REQUESTS_END_MS, settle.idle());
      stopSweeps();
      await system.drain(5_000);
      crash();
    },
  };
}

/** What a late write of an earlier process, or a slow founder, makes of a start: its supervisor tries again. */
const isOfOthers = (error: unknown): boolean => error instanceof NameTaken || error instanceof RootMissing;
