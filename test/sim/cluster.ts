// Several processes over one store and one bus, and what befalls them: they crash, restart and join, are drained one after
// another, stand still, are cut off from store or bus, are parted from each other, lose their sense of time.
//
// Every name has a spool of its own, which outlives its process, and is started again whenever it is down.

import type { Net } from "./bus.ts";
import type { ClusterFaults } from "./cluster-faults.ts";
import { type Fleet, type FleetParts, stop } from "./fleet.ts";
import { type Membership, type NodeParts, type SimNode, startNode } from "./node.ts";

export function clusterFleet(
  parts: FleetParts & {
    readonly nodes: number;
    readonly cluster: ClusterFaults;
    readonly limits: Membership["limits"];
    readonly net: Net;
    /** Virtual ms at which all faults have ended. */
    readonly untilMs: number;
  },
): Fleet {
  const { common, faults, cluster, chance, nodeRandom, lineRandom, net, limits, untilMs } = parts;
  const { world, trace, timeline } = common;
  const slots = Array.from({ length: parts.nodes }, (_, i) => ({
    name: `n${i + 1}`,
    spool: new Map() as NodeParts["spool"],
    drift: {
      rate: 1 + cluster.drift * (2 * chance.unit() - 1),
      skewMs: Math.round(cluster.skewMs * (2 * chance.unit() - 1)),
    },
    node: null as SimNode | null,
    stopping: false,
  }));
  type Slot = (typeof slots)[number];
  const wrong = new Set<SimNode>();
  let calm = false;

  function start(slot: Slot): void {
    const { name, spool, drift } = slot;
    trace.step(timeline.now(), `${name} starts`);
    const forks = { random: lineRandom.fork(), chance: nodeRandom.fork() };
    const node = startNode({ ...common, ...forks, name, spool, member: { net, limits, drift } });
    slot.node = node;
    slot.stopping = false;
    node.crashed.catch(() => {
      slot.node = null;
      world.after(calm || !node.served() ? 500 : chance.unit() * faults.restartMs + 1, () => start(slot));
    });
  }

  /** Again and again until faults stop. */
  function repeat(everyMs: number, run: () => void): void {
    if (everyMs === 0) return;
    world.after(chance.pause(everyMs), () => {
      if (calm) return;
      run();
      repeat(everyMs, run);
    });
  }

  const alive = () => slots.flatMap(({ node }) => (node === null ? [] : [node]));
  const ready = () => alive().filter((node) => node.ready());
  const leftMs = (ms: number) => Math.max(1, Math.min(ms, untilMs - timeline.now()));

  function harm(everyMs: number, what: (node: SimNode) => void): void {
    repeat(everyMs, () => {
      const some = alive();
      if (some.length > 0) what(chance.pick(some));
    });
  }

  function stopOne(): void {
    const slot = chance.pick(slots);
    // One at a time where all goes as it should: the next one only when this one is back.
    const others = slots.filter((other) => other !== slot && other.node?.ready() && !other.stopping);
    if (slot.node === null || slot.stopping || (cluster.kind && others.length < slots.length - 1)) return;
    const gracefully = () => {
      slot.stopping = chance.chance(faults.graceful);
      return slot.stopping;
    };
    if (!cluster.kind || slot.node.ready()) stop(slot.node, gracefully, common);
  }

  function cut(node: SimNode): void {
    const ms = leftMs(chance.pause(cluster.cutMs));
    const what = chance.below(3);
    trace.step(
      timeline.now(),
      `${node.name} is cut off from ${["the store", "the bus", "both"][what]} for ${ms}`,
    );
    if (what !== 1) node.cutStore(timeline.now() + ms);
    if (what !== 0) node.line?.cut(ms);
    if (what !== 1) trace.count("store lines cut");
  }

  function freeze(node: SimNode): void {
    const ms = leftMs(chance.pause(cluster.freezeMs));
    const asleep = chance.chance(cluster.asleep) && !wrong.has(node);
    trace.step(timeline.now(), `${node.name} stands still for ${ms}`);
    trace.count(asleep ? "nodes asleep" : "nodes frozen");
    node.clock.freeze(ms, asleep);
  }

  function part(): void {
    if (slots.length < 2) return;
    const [a, b] = [chance.pick(slots).name, chance.pick(slots).name];
    if (a === b) return;
    const ms = leftMs(chance.pause(cluster.partMs));
    trace.step(timeline.now(), `${a} and ${b} are parted for ${ms}`);
    net.part(a, b, ms);
    if (!chance.chance(cluster.oneWay)) net.part(b, a, ms);
  }

  /** Too far ahead for a while. Nobody is set back while it sleeps: then no clock at all would count its lease. */
  function misset(node: SimNode): void {
    const slot = slots.find((one) => one.node === node)!;
    if (wrong.has(node) || node.clock.frozen()) return;
    wrong.add(node);
    trace.count("clocks wrong");
    node.clock.skew(chance.between(2_500, 20_000));
    const right = (): void => {
      if (node.clock.frozen()) return void world.after(100, right);
      node.clock.skew(slot.drift.skewMs);
      wrong.delete(node);
    };
    world.after(leftMs(chance.pause(15_000)), right);
  }

  return {
    start() {
      for (const [i, slot] of slots.entries()) {
        const isLate = i >= slots.length - Math.min(cluster.late, slots.length - 1);
        if (!isLate) start(slot);
        else world.after(chance.unit() * untilMs, () => start(slot));
      }
      repeat(faults.crashEveryMs, stopOne);
      harm(cluster.freezeEveryMs, freeze);
      harm(cluster.cutEveryMs, cut);
      harm(cluster.wrongEveryMs, misset);
      repeat(cluster.partEveryMs, part);
      repeat(cluster.allDownEveryMs, () => {
        trace.count("all down at once");
        for (const node of alive()) node.crash();
      });
    },
    calm() {
      calm = true;
    },
    pick(before) {
      if (before?.ready() && chance.chance(cluster.sticky)) return before;
      const some = ready();
      return some.length === 0 ? null : chance.pick(some);
    },
    nodes: alive,
  };
}
