// One process under test: the real system, placement, actors, creation and settling of this project, on simulated
// clock, chance and store. A crash drops the object, its timers and its answers; what it sent to the store goes on.

import { behaviors, type Protocol } from "../../actors/index.ts";
import { type Created, type Creation, createAccounts } from "../../src/admin/create-account.ts";
import { foundRoot } from "../../src/admin/root.ts";
import { startSweeps } from "../../src/admin/sweeps.ts";
import type { Bus } from "../../src/bus/bus.ts";
import { createSettle, type Settle } from "../../src/gateway/money/settle.ts";
import type { Late } from "../../src/gateway/money/spool.ts";
import type { AnyBehavior } from "../../src/runtime/actor.ts";
import { type Random, sleep } from "../../src/runtime/clock.ts";
import type { Limits } from "../../src/runtime/limits.ts";
import type { Log } from "../../src/runtime/log.ts";
import { soloPlacement } from "../../src/runtime/solo.ts";
import { type ActorSystem, createSystem, Unavailable } from "../../src/runtime/system.ts";
import { numbers } from "../../src/store/numbers.ts";
import type { Store } from "../../src/store/store.ts";
import type { Checkers } from "./checkers.ts";
import type { ProcessClock, Timeline } from "./clock.ts";
import type { SimRandom } from "./random.ts";
import { type SimDisk, SimFault, storeLine } from "./store.ts";
import type { Trace } from "./trace.ts";

export interface SimNode {
  readonly system: ActorSystem<Protocol>;
  readonly settle: Settle;
  create(creation: Creation): Promise<Created>;
  /** Claims and the like by hand, over this node's line. */
  readonly store: Store;
  readonly clock: ProcessClock;
  readonly random: Random;
  /** True once it serves. */
  readonly ready: () => boolean;
  /** Did it ever serve? */
  readonly served: () => boolean;
  readonly crashed: Promise<never>;
  crash(): void;
  drain(): Promise<void>;
}

/** Parts that a test may replace by broken ones, to prove that the checkers see it. */
export interface Plants {
  readonly behavior?: (behavior: AnyBehavior) => AnyBehavior;
  readonly store?: (store: Store) => Store;
  readonly limits?: Partial<Limits>;
}

export interface NodeParts {
  readonly name: string;
  readonly disk: SimDisk;
  /** Late charges, fsynced: they survive a crash. */
  readonly spool: Map<string, Late>;
  readonly bus: Bus;
  readonly timeline: Timeline;
  readonly world: ProcessClock;
  /** Fates of store calls. */
  readonly random: SimRandom;
  /** What the node itself draws. */
  readonly chance: SimRandom;
  readonly trace: Trace;
  readonly checkers: Checkers;
  readonly limits: Partial<Limits>;
  readonly chargeWaitMs: number;
  readonly plants: Plants;
}

export class Crashed extends Error {}

export function startNode(parts: NodeParts): SimNode {
  const { spool, timeline, trace, checkers, plants } = parts;
  const clock = timeline.process();
  const random = parts.chance.forRuntime(clock);
  let dead = false;
  let ready = false;
  let served = false;
  let kill: (error: Crashed) => void = () => {};
  const crashed = new Promise<never>((_, reject) => {
    kill = reject;
  });
  crashed.catch(() => {});

  const line = storeLine({ ...parts, node: clock, dead: () => dead });
  const loaded = new Map<string, number>();
  const seen: Store = {
    ...line,
    async load(actor) {
      const snapshot = await line.load(actor);
      loaded.set(actor, snapshot?.seq ?? 0);
      return snapshot;
    },
  };
  const store = plants.store?.(seen) ?? seen;

  const log: Log = (level, event, fields) => {
    trace.step(timeline.now(), `${parts.name} ${level} ${event} ${fields?.actor ?? ""} ${fields?.why ?? ""}`);
    if (event === "activation_broken") trace.count(`broken: ${fields?.why}`);
    else trace.count(`log ${event}`);
    const error = String(fields?.error ?? "");
    if (/Assertion|TypeError|RangeError|ReferenceError/.test(error)) {
      trace.violate("0 errors", `${event} ${fields?.actor ?? ""}: ${error}`);
    }
  };

  const placement = soloPlacement({ registry: store, node: parts.name });
  const system = createSystem<Protocol>({
    store,
    bus: parts.bus,
    clock,
    random,
    placement,
    behaviors: behaviors.map((behavior) =>
      checkers.holds.watch(plants.behavior?.(behavior) ?? behavior, (actor) => loaded.get(actor) ?? 0),
    ),
    log,
    limits: { ...parts.limits, ...plants.limits },
    saved: (watermark) => {
      placement
        .advance(watermark)
        .catch((error) => log("warn", "watermark_failed", { error: String(error) }));
    },
  });
  const settle = createSettle({
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
  let stopSweeps = () => {};

  async function start(): Promise<void> {
    await system.start();
    await foundRoot({ system, store, clock, random, chosen: "root-key-of-the-simulation-000001" });
    await settle.replay();
    stopSweeps = startSweeps({ system, store, clock, random, log, logDays: 365 });
    ready = true;
    served = true;
  }

  function crash(): void {
    if (dead) return;
    dead = true;
    ready = false;
    clock.kill();
    kill(new Crashed());
  }

  start().catch((error: unknown) => {
    trace.step(timeline.now(), `${parts.name} does not start`);
    trace.count("starts failed");
    if (!(error instanceof SimFault) && !(error instanceof Unavailable)) {
      trace.violate(
        "0 errors",
        `${parts.name} does not start: ${error instanceof Error ? error.stack : error}`,
      );
    }
    crash();
  });

  return {
    system,
    settle,
    create: createAccounts({ system, store, clock, random, nextId: numbers(store, "account") }),
    store,
    clock,
    random,
    ready: () => ready,
    served: () => served,
    crashed,
    crash,
    async drain() {
      ready = false;
      stopSweeps();
      await system.drain(5_000);
      crash();
    },
  };
}
