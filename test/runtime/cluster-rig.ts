// Several nodes' placements over one registry, in virtual time: lines that are slow, cut or unsure, clocks that run apart,
// processes that freeze, crash and come back. It checks after every gain and all along that no shard is served twice.

import { drainMicrotasks } from "bun:jsc";
import type { Clock } from "../../src/base/clock.ts";
import { memoryBus } from "../../src/bus/memory.ts";
import {
  type ClusterLimits,
  type ClusterPlacement,
  createClusterPlacement,
} from "../../src/runtime/placement/cluster-placement.ts";
import { SHARDS } from "../../src/runtime/shards.ts";
import type { Registry } from "../../src/store/store.ts";
import { createTimeline, type ProcessClock, type Timeline } from "../sim/clock.ts";
import { type SimRandom, simRandom } from "../sim/random.ts";
import { memoryStore } from "../store/memory/memory.ts";

export interface Lines {
  /** Mean of each leg of a registry call. */
  readonly latencyMs: number;
  /** Part of the calls that take up to `slowMs` in each leg. */
  readonly slow: number;
  readonly slowMs: number;
  /** Part of the writes whose writer gets no answer: applied, not applied, or applied up to `slowMs` later. */
  readonly unsure: number;
}

export const CALM: Lines = { latencyMs: 2, slow: 0, slowMs: 0, unsure: 0 };

export interface SimNode {
  readonly name: string;
  readonly placement: ClusterPlacement;
  readonly gains: { readonly atMs: number; readonly shards: readonly number[]; readonly since: number }[];
  readonly losses: (readonly number[])[];
  readonly logged: string[];
  fit: boolean;
  /** Its sweeps end only when this is called. */
  holdSweeps(): () => void;
  /** Its drains take so long. */
  drainMs: number;
  /** Stepped by an administrator. */
  stepWall(ms: number): void;
  /** Runs nothing for so long; its clocks go on. */
  freeze(ms: number): void;
  /** No registry for so long. */
  cut(ms: number): void;
  crash(): void;
  readonly joined: Promise<void>;
  readonly alive: boolean;
}

export interface Cluster {
  readonly timeline: Timeline;
  readonly random: SimRandom;
  readonly registry: Registry;
  readonly nodes: SimNode[];
  /** Shards that two nodes served at once, and when. */
  readonly violations: string[];
  start(name: string, over?: Partial<ClusterLimits>): SimNode;
  /** A node of another version of the protocol; the first one's row does not say so. */
  startOlder(name: string, protocol?: number): SimNode;
  /** Lets virtual time pass. */
  run(ms: number): void;
  /** Lets it pass until this holds; the answer is how long it took, or the time allowed when it never did. */
  until(holds: () => boolean, mostMs: number): number;
  /** Who serves the shard now. */
  serving(shard: number): SimNode[];
  counts(): Record<string, number>;
  /** Shards that nobody serves now. */
  unserved(): number;
}

const LOOK_MS = 50;

export function cluster(seed = 1, lines: Lines = CALM, drift = 0): Cluster {
  const timeline = createTimeline();
  const world = timeline.process();
  const random = simRandom(seed);
  const registry = memoryStore({ clock: world });
  const bus = memoryBus();
  const nodes: SimNode[] = [];
  const violations: string[] = [];

  function check(): void {
    const alive = nodes.filter((node) => node.alive);
    for (let shard = 0; shard < SHARDS; shard++) {
      const served = alive.filter(({ placement }) => placement.epochOf(shard) > 0);
      if (served.length > 1) {
        violations.push(
          `${timeline.now()} shard ${shard}: ${served.map(({ placement }) => placement.node())}`,
        );
      }
    }
  }

  function start(name: string, over: Partial<ClusterLimits> = {}, protocol: number | null = null): SimNode {
    const process = timeline.process();
    const own = random.fork();
    const rate = 1 + drift * (own.unit() * 2 - 1);
    let frozenUntil = 0;
    let cutUntil = 0;
    let stepped = 0;
    let sweeps = Promise.resolve();
    const clock = driven(process, {
      rate,
      frozenUntil: () => frozenUntil,
      stepped: () => stepped,
      now: timeline.now,
    });
    const state = { alive: true };
    const gains: SimNode["gains"] = [];
    const losses: SimNode["losses"] = [];
    const logged: string[] = [];

    const placement = createClusterPlacement({
      name,
      clock,
      random: own.fork().forRuntime(clock),
      bus,
      registry: line({
        ...{ world, clock, random: own, lines, isCut: () => timeline.now() < cutUntil },
        registry: protocol === null ? registry : ofProtocol(registry, protocol),
      }),
      log: (_level, event) => void logged.push(event),
      fit: () => node.fit,
      limits: over,
    });
    const node: SimNode = {
      name,
      placement,
      gains,
      losses,
      logged,
      fit: true,
      drainMs: 0,
      holdSweeps() {
        const { promise, resolve } = Promise.withResolvers<void>();
        sweeps = promise;
        return resolve;
      },
      stepWall(ms) {
        stepped += ms;
      },
      freeze(ms) {
        frozenUntil = timeline.now() + ms;
      },
      cut(ms) {
        cutUntil = timeline.now() + ms;
      },
      crash() {
        state.alive = false;
        process.kill();
      },
      get alive() {
        return state.alive;
      },
      joined: Promise.resolve(),
    };
    placement.onGain((shards, since) => {
      gains.push({ atMs: timeline.now(), shards, since });
      check();
      return sweeps;
    });
    placement.onLose(async (shards) => {
      losses.push(shards);
      if (node.drainMs > 0) await new Promise<void>((resolve) => void clock.after(node.drainMs, resolve));
    });
    nodes.push(node);
    Object.assign(node, { joined: placement.join() });
    // A name that is taken is the test's to see; nobody else waits for it.
    node.joined.catch(() => {});
    return node;
  }

  function run(ms: number): void {
    const end = timeline.now() + ms;
    while (timeline.now() < end) {
      timeline.run(Math.min(end, timeline.now() + LOOK_MS));
      check();
    }
  }

  const serving = (shard: number) =>
    nodes.filter(({ alive, placement }) => alive && placement.epochOf(shard) > 0);

  return {
    timeline,
    random,
    registry,
    nodes,
    violations,
    start: (name, over) => start(name, over),
    startOlder: (name, protocol = 1) => start(name, {}, protocol),
    run,
    until(holds, mostMs) {
      const from = timeline.now();
      drainMicrotasks();
      while (!holds() && timeline.now() - from < mostMs) {
        timeline.run(timeline.now() + 5);
        if (Math.round(timeline.now() - from) % LOOK_MS < 5) check();
      }
      return timeline.now() - from;
    },
    serving,
    counts() {
      const counts: Record<string, number> = {};
      for (let shard = 0; shard < SHARDS; shard++) {
        for (const { name } of serving(shard)) counts[name] = (counts[name] ?? 0) + 1;
      }
      return counts;
    },
    unserved: () =>
      Array.from({ length: SHARDS }, (_, shard) => serving(shard)).filter((by) => by.length === 0).length,
  };
}

/** The registry as a node of this protocol version writes it; the first one does not state it. */
export const ofProtocol = (registry: Registry, protocol: number): Registry => ({
  read: registry.read,
  cas(key, rev, value) {
    const stated = protocol === 1 ? "" : `"protocol":${protocol},`;
    const written = key.startsWith("node/") ? value.replace(/"protocol":\d+,/, stated) : value;
    return registry.cas(key, rev, written);
  },
});

/** A process's clocks: they run at their own rate; while it is frozen nothing of it runs. */
function driven(
  process: ProcessClock,
  state: { rate: number; frozenUntil: () => number; stepped: () => number; now: () => number },
): Clock {
  const start = process.wall() - state.now();
  return {
    wall: () => Math.floor(start + state.now() * state.rate + state.stepped()),
    mono: () => state.now() * state.rate,
    after(ms, fn) {
      let cancel = () => {};
      const wait = (forMs: number) => {
        cancel = process.after(forMs, () => {
          const frozenMs = state.frozenUntil() - state.now();
          if (frozenMs > 0) wait(frozenMs);
          else fn();
        });
      };
      wait(ms / state.rate);
      return () => cancel();
    },
    endOfTurn(fn) {
      this.after(0, fn);
    },
  };
}

/** The registry as one node sees it. What was sent may be applied although its sender is gone or got no answer. */
function line(parts: {
  registry: Registry;
  world: Clock;
  clock: Clock;
  random: SimRandom;
  lines: Lines;
  isCut: () => boolean;
}): Registry {
  const { registry, world, clock, random, lines, isCut } = parts;
  const leg = () =>
    random.chance(lines.slow) ? random.unit() * lines.slowMs : random.pause(lines.latencyMs);

  /** The answer comes when both legs are over; the node hears it when it runs. */
  function call<T>(run: () => Promise<T>, answered: boolean, applied: boolean, lateMs: number): Promise<T> {
    return new Promise((resolve, reject) => {
      let answer: Promise<T> | null = null;
      const there = leg();
      if (applied && !isCut()) {
        world.after(there + lateMs, () => {
          answer = run();
          if (answered)
            world.after(leg(), () => void clock.after(0, () => void answer!.then(resolve, reject)));
        });
      }
      if (!answered || isCut()) clock.after(there + leg(), () => reject(new Error("the line is unsure")));
    });
  }

  return {
    read: (key) => call(() => registry.read(key), true, true, 0),
    cas(key, rev, value) {
      const unsure = random.chance(lines.unsure);
      const fate = unsure ? random.below(3) : 0;
      const lateMs = fate === 2 ? random.unit() * lines.slowMs : 0;
      return call(() => registry.cas(key, rev, value), !unsure, fate !== 1, lateMs);
    },
  };
}
