// One seed from start to rest: traffic under faults, then calm, then every checker at rest. The door of the simulator.
//
// One node for now. A cluster joins here: several nodes over one disk, and a bus that loses frames in place of the
// memory bus; clients, checkers and disk do not care how many nodes there are.

import { behaviors } from "../../actors/index.ts";
import { memoryBus } from "../../src/bus/memory.ts";
import type { Late } from "../../src/gateway/money/spool.ts";
import type { Limits } from "../../src/runtime/limits.ts";
import { createAdministration } from "./administration.ts";
import { createCheckers } from "./checkers.ts";
import { createClients } from "./clients.ts";
import { createTimeline } from "./clock.ts";
import { createConfiguring } from "./configuring.ts";
import { createFailingKeys } from "./failing-keys.ts";
import { drawFaults, drawLimits, type Faults, NO_FAULTS } from "./faults.ts";
import { drawLoad, type Load } from "./load.ts";
import { type Plants, type SimNode, startNode } from "./node.ts";
import { simRandom } from "./random.ts";
import { createDisk } from "./store.ts";
import { createTrace, type Trace } from "./trace.ts";
import { createTree } from "./tree.ts";
import { createWorkload } from "./workload.ts";

export interface Options {
  /** Each step as it happens. */
  readonly print?: (line: string) => void;
  /** Instead of what the seed draws. */
  readonly faults?: Partial<Faults>;
  readonly load?: Partial<Load>;
  readonly limits?: Partial<Limits>;
  readonly plants?: Plants;
}

export interface Outcome {
  readonly seed: number;
  readonly hash: string;
  readonly virtualMs: number;
  readonly counts: ReadonlyMap<string, number>;
  readonly violations: Trace["violations"];
}

/** Faults have stopped: so long may the last ask, transfer and save take. */
const SETTLE_MS = 120_000;
/** Then holds that nobody ended expire, and what stood under them; forgotten claims are swept twice. */
const REST_MS = 240_000;

export async function simulate(seed: number, options: Options = {}): Promise<Outcome> {
  const random = simRandom(seed);
  const faults: Faults = { ...drawFaults(random.fork()), ...options.faults };
  const limits = { ...drawLimits(random.fork()), ...options.limits };
  const load: Load = { ...drawLoad(random.fork()), ...options.load };
  const trace = createTrace(options.print ?? null);
  options.print?.(JSON.stringify({ seed, faults, limits, load }));

  const timeline = createTimeline();
  const world = timeline.process();
  const disk = createDisk(world, faults);
  const checkers = createCheckers({ disk, timeline, trace, behaviors, orderly: load.orderly });
  const spool = new Map<string, Late>();
  const chance = random.fork();
  const nodeRandom = random.fork();
  const lineRandom = random.fork();
  const chargeWaitMs = Math.round(chance.spread(50, 5_000));
  let calm = false;
  let node: SimNode;
  let started = 0;

  // ---- the node, its crashes and restarts

  function start(): void {
    const name = `node-${++started}`;
    trace.step(timeline.now(), `${name} starts`);
    const mine = startNode({
      name,
      disk,
      spool,
      bus: memoryBus(),
      timeline,
      world,
      random: lineRandom.fork(),
      trace,
      checkers,
      limits,
      chargeWaitMs,
      plants: options.plants ?? {},
      chance: nodeRandom.fork(),
    });
    node = mine;
    mine.crashed.catch(() => {
      // Whoever restarts what does not start leaves it some time.
      const down = calm || !mine.served() ? 500 : chance.unit() * faults.restartMs + 1;
      world.after(down, start);
    });
    if (faults.crashEveryMs > 0) {
      world.after(chance.pause(faults.crashEveryMs), () => {
        if (calm || node !== mine) return;
        if (mine.ready() && chance.chance(faults.graceful)) {
          trace.count("drains");
          trace.step(timeline.now(), `${name} drains`);
          mine.drain().catch(() => {});
        } else {
          trace.count("crashes");
          trace.step(timeline.now(), `${name} crashes`);
          mine.crash();
        }
      });
    }
  }

  function repeat(everyMs: number, run: () => void): void {
    if (everyMs === 0) return;
    world.after(chance.pause(everyMs), () => {
      if (calm) return;
      run();
      repeat(everyMs, run);
    });
  }

  repeat(faults.outageEveryMs, () => {
    trace.count("outages");
    disk.downUntil = timeline.now() + chance.pause(faults.outageMs);
  });
  repeat(faults.stepEveryMs, () => {
    trace.count("wall steps");
    timeline.step(chance.pick([1_000, 30_000, 3_600_000, 86_400_000, 31 * 86_400_000]));
  });

  // ---- traffic

  start();
  const clients = createClients({
    node: () => (node.ready() ? node : null),
    world,
    random: random.fork(),
    trace,
  });
  const common = { clients, world, trace, load, checkers };
  const tree = createTree({ ...common, random: random.fork() });
  const errands = createAdministration({ ...common, tree, random: random.fork() });
  const traffic = random.fork();
  const configuring = {
    ...createConfiguring({ ...common, tree, random: random.fork() }),
    ...createFailingKeys({ ...common, tree, random: random.fork() }),
  };
  createWorkload({ ...common, tree, errands, configuring, random: traffic }).start();

  const failed = () => trace.violations.length > 0;
  timeline.run(load.durationMs, failed);

  // ---- calm, then rest

  calm = true;
  disk.faults = NO_FAULTS;
  disk.downUntil = 0;
  trace.step(timeline.now(), "faults stop");
  const answered = () => clients.open().every((what) => what === "duplicate");
  timeline.run(timeline.now() + SETTLE_MS, () => failed() || answered());
  if (!failed() && !answered()) {
    trace.violate("7 liveness", `without an answer: ${[...new Set(clients.open())].join(", ")}`);
  }
  timeline.run(timeline.now() + SETTLE_MS, failed);
  const repeats = () => clients.open().length === 0;
  if (!failed()) timeline.run(timeline.now() + 1_300_000, () => failed() || repeats());
  timeline.run(timeline.now() + REST_MS, failed);
  if (!failed()) await checkers.atRest(world.wall());

  return {
    seed,
    hash: trace.hash(),
    virtualMs: timeline.now(),
    counts: trace.counts,
    violations: trace.violations,
  };
}
