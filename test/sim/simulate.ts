// One seed from start to rest: traffic under faults, then calm, then every checker at rest. The door of the simulator.
//
// The seed draws how many nodes there are. What one node alone draws is not shifted by what a cluster draws besides.

import { behaviors } from "../../actors/index.ts";
import { sleep } from "../../src/base/clock.ts";
import { RefusedError } from "../../src/base/errors.ts";
import type { RuntimeLimits } from "../../src/runtime/limits.ts";
import type { ClusterLimits } from "../../src/runtime/placement/cluster-placement.ts";
import { createAdministration } from "./administration.ts";
import { createApiKeyTraffic } from "./api-keys.ts";
import { createBrimming } from "./brimming.ts";
import { createNet } from "./bus.ts";
import { checkCopies } from "./check-copies.ts";
import { checkCredit } from "./check-credit.ts";
import { createCheckers } from "./checkers.ts";
import { createClients } from "./clients.ts";
import { createTimeline } from "./clock.ts";
import { clusterFleet } from "./cluster.ts";
import {
  CALM_BUS,
  type ClusterFaults,
  clustered,
  drawClusterFaults,
  drawClusterLimits,
  drawManyLimits,
  drawNodes,
  lightened,
} from "./cluster-faults.ts";
import { createConfiguring } from "./configuring.ts";
import { createFailingKeys } from "./failing-keys.ts";
import { drawFaults, drawLimits, type Faults, NO_FAULTS } from "./faults.ts";
import { createFlappingKeys } from "./flapping-keys.ts";
import { type Fleet, soloFleet } from "./fleet.ts";
import { drawLoad, type Load } from "./load.ts";
import type { InjectedParts } from "./node.ts";
import { simRandom } from "./random.ts";
import { createDisk } from "./store.ts";
import { createTrace, type Trace } from "./trace.ts";
import { createTree } from "./tree.ts";
import { createWorkload } from "./workload.ts";

export interface Options {
  /** Each step as it happens. */
  readonly print?: (line: string) => void;
  /** Instead of what the seed draws. */
  readonly nodes?: number;
  readonly cluster?: Partial<ClusterFaults>;
  readonly placement?: Partial<ClusterLimits>;
  readonly faults?: Partial<Faults>;
  readonly load?: Partial<Load> & {
    /** Some accounts are filled up to the bound of a balance. */
    readonly brims?: boolean;
  };
  readonly limits?: Partial<RuntimeLimits>;
  readonly injected?: InjectedParts;
}

export interface Outcome {
  readonly seed: number;
  readonly nodes: number;
  readonly hash: string;
  readonly virtualMs: number;
  readonly counts: ReadonlyMap<string, number>;
  readonly violations: Trace["violations"];
}

/** What named keys draw shifts nothing of what is drawn besides. */
const API_KEYS = 0x5ec2e7;
/** Faults have stopped: so long may the last ask, transfer and save take. */
const SETTLE_MS = 120_000;
/** In a cluster so many keys fail and answer by turns. */
const FLAPPING_KEYS = 4;
/** ms between accounts that are filled, mean. */
const BRIM_MS = 15_000;
/** Accounts whose credit is tried at rest, and the time that takes: a deletion that waits takes a minute. */
const CREDIT_ACCOUNTS_MAX = 2;
const CREDIT_MS = 400_000;
const DRAINS = 4;
const DRAIN_MS = 20_000;
/** At rest the table of shards stays as it is. */
const STEADY_MS = 30_000;
/** So long after the faults every shard has an owner. */
const PLACED_MS = 20_000;
/** Then holds that nobody ended expire, and what stood under them; forgotten claims are swept twice. */
const REST_MS = 240_000;

export async function simulate(seed: number, options: Options = {}): Promise<Outcome> {
  const random = simRandom(seed);
  const beside = simRandom(~seed);
  const drawn = { nodes: drawNodes(beside.fork()), faults: drawFaults(random.fork()) };
  const nodes = options.nodes ?? drawn.nodes;
  const cluster = { ...drawClusterFaults(beside.fork(), nodes, options.cluster?.kind), ...options.cluster };
  const faults = { ...(nodes > 1 ? clustered(drawn.faults, cluster) : drawn.faults), ...options.faults };
  const ofMany = nodes > 1 ? drawManyLimits(beside.fork(), cluster) : {};
  const limits = { ...drawLimits(random.fork()), ...ofMany, ...options.limits };
  const drawnLoad = drawLoad(random.fork());
  const load: Load = { ...(nodes > 1 ? lightened(drawnLoad) : drawnLoad), ...options.load };
  const trace = createTrace(options.print ?? null);
  let calm = false;
  options.print?.(JSON.stringify({ seed, nodes, faults, limits, load, ...(nodes > 1 ? { cluster } : {}) }));

  const timeline = createTimeline();
  const world = timeline.process();
  const disk = createDisk(world, faults);
  const checkers = createCheckers({
    ...{ disk, timeline, trace, behaviors },
    orderly: load.orderly,
    kind: () => nodes > 1 && cluster.kind,
  });
  const chance = random.fork();
  const nodeRandom = random.fork();
  const lineRandom = random.fork();
  const chargeWaitMs = Math.round(chance.spread(50, 5_000));
  const injected = options.injected ?? {};
  const common = { disk, timeline, world, trace, checkers, limits, chargeWaitMs, injected };
  const net = createNet({ timeline, world, random: beside.fork(), trace, faults: cluster.bus });
  const fleet: Fleet = fleetOf();

  function fleetOf(): Fleet {
    if (nodes === 1) return soloFleet({ common, faults, chance, nodeRandom, lineRandom });
    return clusterFleet({
      ...{ common, faults, cluster, nodes, net, nodeRandom, lineRandom },
      chance: beside.fork(),
      limits: { ...drawClusterLimits(beside.fork()), ...options.placement },
      untilMs: load.durationMs,
    });
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

  fleet.start();
  const clients = createClients({ pick: fleet.pick, homes: nodes > 1, world, random: random.fork(), trace });
  const users = { clients, world, trace, load, checkers };
  const tree = createTree({ ...users, random: random.fork() });
  const apiKeys = createApiKeyTraffic({ ...users, tree, random: simRandom(seed ^ API_KEYS) });
  const errands = createAdministration({ ...users, tree, apiKeys, random: random.fork() });
  const traffic = random.fork();
  const configuring = {
    ...createConfiguring({ ...users, tree, random: random.fork() }),
    ...createFailingKeys({ ...users, tree, random: random.fork() }),
  };
  createWorkload({ ...users, tree, errands, configuring, apiKeys, random: traffic }).start();

  if (nodes > 1) {
    const chanceOfKeys = beside.fork();
    const flap = createFlappingKeys({ ...users, tree, random: chanceOfKeys, kind: () => cluster.kind });
    for (let i = 0; i < FLAPPING_KEYS; i++) {
      world.after(chanceOfKeys.unit() * load.durationMs, () => clients.spawn("flap", flap));
    }
  }
  const full = beside.fork();
  const brimming = createBrimming({ ...users, tree, disk, random: full.fork() });
  const isRefused = (error: unknown) => {
    if (!(error instanceof RefusedError)) throw error;
  };
  const brims = options.load?.brims ?? full.chance(0.3);
  for (let at = full.pause(BRIM_MS); brims && at < load.durationMs; at += full.pause(BRIM_MS)) {
    world.after(at, () => {
      if (tree.known.length > 1) clients.spawn("fill", () => brimming.fill().catch(isRefused));
    });
  }

  const failed = () => trace.violations.length > 0;
  timeline.run(load.durationMs, failed);

  // ---- calm, then rest

  calm = true;
  fleet.calm();
  net.faults = {
    ...CALM_BUS,
    frameLengthMax: cluster.bus.frameLengthMax,
    publicationLengthMax: cluster.bus.publicationLengthMax,
  };
  disk.faults = NO_FAULTS;
  disk.downUntil = 0;
  trace.step(timeline.now(), "faults stop");
  const answered = () => clients.open().every((what) => what === "duplicate");
  timeline.run(timeline.now() + SETTLE_MS, () => failed() || answered());
  if (!failed() && !answered()) {
    trace.violate("7 liveness", `without an answer: ${[...new Set(clients.open())].join(", ")}`);
  }
  if (nodes > 1 && !failed()) {
    const accounts = tree.known.slice(1, 4);
    const look = () => checkCopies({ nodes: fleet.nodes(), accounts, world, trace });
    // What a dead node owned has found another owner by then.
    world.after(PLACED_MS, () => clients.spawn("copies", look));
  }
  if (!failed()) {
    const accounts = tree.known.filter(({ depth }) => depth > 1).slice(0, CREDIT_ACCOUNTS_MAX);
    const examined = { accounts: accounts.map(({ id }) => id), brimming, disk, world, trace };
    const random = full.fork();
    // The nodes that are up by then: one that crashed last may still be starting now.
    const look = () => checkCredit({ ...examined, nodes: fleet.nodes(), random });
    world.after(2 * PLACED_MS, () => {
      clients.spawn("credit", async () => {
        await look();
        // What waits for room ends now.
        for (let round = 0; round < DRAINS; round++) {
          await brimming.drain();
          await sleep(world, DRAIN_MS);
        }
      });
    });
  }
  timeline.run(timeline.now() + SETTLE_MS, failed);
  if (!failed())
    timeline.run(timeline.now() + CREDIT_MS, () => failed() || !clients.open().includes("credit"));
  const repeats = () => clients.open().length === 0;
  if (!failed()) timeline.run(timeline.now() + 1_300_000, () => failed() || repeats());
  timeline.run(timeline.now() + REST_MS, failed);
  if (nodes > 1 && !failed()) {
    await checkers.placement.atRest(disk, world.wall());
    timeline.run(timeline.now() + STEADY_MS, failed);
    await checkers.placement.atRest(disk, world.wall());
  }
  if (!failed()) await checkers.atRest(world.wall());

  return {
    seed,
    nodes,
    hash: trace.hash(),
    virtualMs: timeline.now(),
    counts: trace.counts,
    violations: trace.violations,
  };
}
