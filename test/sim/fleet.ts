// The processes of one seed, and how they come and go. Alone: one at a time over the store, as its lock demands; it
// crashes or drains, and the next one starts some time later. Who they are to clients is one word: a node that serves.

import type { Faults } from "./faults.ts";
import type { NodeParts, SimNode } from "./node.ts";
import { startNode } from "./node.ts";
import type { SimRandom } from "./random.ts";

export interface Fleet {
  start(): void;
  /** From now on no node crashes or stands still. */
  calm(): void;
  /** A node that takes requests, rather the one that was asked before; null: none does. */
  pick(before: SimNode | null): SimNode | null;
  /** All that live. */
  nodes(): readonly SimNode[];
}

/** What all nodes of a seed have in common. */
export type Common = Omit<NodeParts, "name" | "spool" | "member" | "random" | "chance">;

export interface FleetParts {
  readonly common: Common;
  readonly faults: Faults;
  /** When who comes and goes. */
  readonly chance: SimRandom;
  readonly nodeRandom: SimRandom;
  readonly lineRandom: SimRandom;
}

export function soloFleet({ common, faults, chance, nodeRandom, lineRandom }: FleetParts): Fleet {
  const { world, trace, timeline } = common;
  const spool: NodeParts["spool"] = new Map();
  let node: SimNode;
  let started = 0;
  let calm = false;

  function start(): void {
    const name = `node-${++started}`;
    trace.step(timeline.now(), `${name} starts`);
    const forks = { random: lineRandom.fork(), chance: nodeRandom.fork() };
    const mine = startNode({ ...common, ...forks, name, spool, member: null });
    node = mine;
    mine.crashed.catch(() => {
      // A supervisor gives a process that does not start some time.
      const down = calm || !mine.served() ? 500 : chance.unit() * faults.restartMs + 1;
      world.after(down, start);
    });
    if (faults.crashEveryMs > 0) {
      world.after(chance.pause(faults.crashEveryMs), () => {
        if (!calm && node === mine) stop(mine, chance.chance.bind(null, faults.graceful), common);
      });
    }
  }

  return {
    start,
    calm() {
      calm = true;
    },
    pick: () => (node.ready() ? node : null),
    nodes: () => (node.alive() ? [node] : []),
  };
}

/** By drain or by crash: only who serves can drain. */
export function stop(node: SimNode, gracefully: () => boolean, { trace, timeline }: Common): void {
  if (node.ready() && gracefully()) {
    trace.count("drains");
    trace.step(timeline.now(), `${node.name} drains`);
    node.drain().catch(() => {});
  } else {
    trace.count("crashes");
    trace.step(timeline.now(), `${node.name} crashes`);
    node.crash();
  }
}
