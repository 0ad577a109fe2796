// Nodes share out the shards, take over from the dead, hand over when they leave, and never serve one shard twice.

import { afterEach, describe, expect, test } from "bun:test";
import { CLUSTER_LIMITS, type ClusterLimits } from "../../../src/runtime/placement/cluster-placement.ts";
import { OtherProtocolFound } from "../../../src/runtime/placement/live-members.ts";
import { NameTaken } from "../../../src/runtime/placement/node-lease.ts";
import { SHARDS } from "../../../src/runtime/shards.ts";
import { CALM, type Cluster, cluster, type SimNode } from "../cluster-rig.ts";

/** A dead node's shards are served again after this: its row runs out, one look more, and some calls. */
const TAKEOVER_MS = CLUSTER_LIMITS.ttlMs + 2 * CLUSTER_LIMITS.lookMs + 500;
const BALANCED_MS = 40_000;

let running: Cluster[] = [];
afterEach(() => {
  const violations = running.flatMap((one) => one.violations);
  running = [];
  expect(violations).toEqual([]);
});

function started(...names: string[]): { world: Cluster; nodes: SimNode[] } {
  const world = cluster();
  running.push(world);
  const nodes = names.map((name) => {
    const node = world.start(name);
    world.until(() => node.placement.table().members.length > 0 && world.unserved() === 0, 10_000);
    return node;
  });
  world.run(names.length > 1 ? BALANCED_MS : 1_000);
  return { world, nodes };
}

const owned = (node: SimNode): number[] =>
  Array.from({ length: SHARDS }, (_, shard) => shard).filter((shard) => node.placement.epochOf(shard) > 0);

describe("coming", () => {
  test("a node alone owns every shard within a second, each with its first epoch", () => {
    const world = cluster();
    running.push(world);
    const node = world.start("a");
    expect(world.until(() => world.unserved() === 0, 5_000)).toBeLessThan(1_000);
    expect(node.placement.epochOf(0)).toBe(1);
    expect(node.gains.flatMap(({ shards }) => shards)).toHaveLength(SHARDS);
  });

  test("a second one knows every owner at once, and gets its half in time, few shards at a time", () => {
    const { world, nodes } = started("a");
    const b = world.start("b");
    let joined = false;
    b.joined.then(() => {
      joined = true;
    });
    expect(world.until(() => joined, 5_000)).toBeLessThan(1_000);
    expect(b.placement.ownerOf(7)?.node).toBe(nodes[0]!.placement.node());
    let most = 0;
    for (let i = 0; i < BALANCED_MS / 100; i++) {
      world.run(100);
      most = Math.max(most, b.placement.table().shards.filter(({ next }) => next !== null).length);
    }
    expect(most).toBeLessThanOrEqual(CLUSTER_LIMITS.moves);
    expect(world.counts().b).toBeGreaterThan(SHARDS * 0.45);
    expect(world.unserved()).toBe(0);
  });

  test("balance waits until nobody came or went for a while", () => {
    const { world } = started("a");
    const b = world.start("b");
    world.run(CLUSTER_LIMITS.settleMs - 1_000);
    expect(owned(b)).toEqual([]);
  });

  test("five that start at once share all of it", () => {
    const world = cluster(3);
    running.push(world);
    for (const name of ["a", "b", "c", "d", "e"]) world.start(name);
    world.run(60_000);
    expect(world.unserved()).toBe(0);
    const counts = Object.values(world.counts());
    expect(counts).toHaveLength(5);
    expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(6);
  });

  test("once balanced, nothing moves any more", () => {
    const { world, nodes } = started("a", "b", "c");
    const { version } = nodes[0]!.placement.table();
    world.run(60_000);
    expect(nodes[0]!.placement.table().version).toBe(version);
  });

  test("a name that another node lives under is refused", async () => {
    const { world } = started("a");
    const twin = world.start("a");
    world.run(10_000);
    await expect(twin.joined).rejects.toBeInstanceOf(NameTaken);
    expect(world.unserved()).toBe(0);
  });
});

describe("a node of another protocol version", () => {
  test.each([1, 2])(
    "%d is not joined: one line says both and what to do, and nothing moves",
    async (version) => {
      const world = cluster();
      running.push(world);
      const older = world.startOlder("older", version);
      world.until(() => world.unserved() === 0, 10_000);
      const before = older.placement.table().version;
      const newer = world.start("newer");
      world.run(TAKEOVER_MS);
      await expect(newer.joined).rejects.toBeInstanceOf(OtherProtocolFound);
      await expect(newer.joined).rejects.toThrow(
        `node older of this cluster speaks node protocol ${version}, this program 4: stop all nodes of the one version`,
      );
      expect(newer.placement.node()).toBe("");
      expect(older.placement.table().version).toBe(before);
      expect(world.counts()).toEqual({ older: SHARDS });
    },
  );

  test("is no hindrance once it is dead, however it ended", async () => {
    const world = cluster();
    running.push(world);
    const older = world.startOlder("older");
    world.until(() => world.unserved() === 0, 10_000);
    older.crash();
    const newer = world.start("newer");
    world.run(2 * TAKEOVER_MS);
    await newer.joined;
    expect(world.counts()).toEqual({ newer: SHARDS });
  });

  test("that comes at the same time is found once both are there", async () => {
    const world = cluster();
    running.push(world);
    const [older, newer] = [world.startOlder("older"), world.start("newer")];
    world.run(2 * TAKEOVER_MS);
    await expect(newer.joined).rejects.toBeInstanceOf(OtherProtocolFound);
    world.run(TAKEOVER_MS);
    expect(older.alive).toBe(true);
    expect(world.counts()).toEqual({ older: SHARDS });
  });
});

describe("going", () => {
  test("a dead node's shards are served again within the bound, one epoch on", () => {
    const { world, nodes } = started("a", "b", "c");
    const [a, b] = nodes as [SimNode, SimNode];
    const shards = owned(b);
    const epoch = b.placement.epochOf(shards[0]!);
    b.crash();
    expect(world.until(() => world.unserved() === 0, 60_000)).toBeLessThan(TAKEOVER_MS);
    expect(a.placement.ownerOf(shards[0]!)?.epoch).toBe(epoch + 1);
    const gained = world.nodes.flatMap(({ gains }) => gains.at(-1)!.shards).sort((x, y) => x - y);
    for (const shard of shards) expect(gained).toContain(shard);
  });

  test("a dead node's table is forgotten with its last shard", () => {
    const { world, nodes } = started("a", "b");
    nodes[1]!.crash();
    world.run(TAKEOVER_MS);
    expect(nodes[0]!.placement.table().members).toEqual([nodes[0]!.placement.node()]);
  });

  test("of two that die at once one survivor takes all", () => {
    const { world, nodes } = started("a", "b", "c");
    nodes[0]!.crash();
    nodes[1]!.crash();
    expect(world.until(() => world.unserved() === 0, 60_000)).toBeLessThan(TAKEOVER_MS + 2_000);
    expect(world.counts()).toEqual({ c: SHARDS });
  });

  test("a node that crashed and starts again gets its shards after its row has run out, and no sooner", () => {
    const { world, nodes } = started("a");
    const before = nodes[0]!.placement.epochOf(0);
    nodes[0]!.crash();
    const again = world.start("a");
    expect(world.until(() => world.unserved() === 0, 60_000)).toBeLessThan(TAKEOVER_MS + 1_000);
    expect(again.placement.epochOf(0)).toBe(before + 1);
  });

  test("a node that left is followed at once", async () => {
    const { world, nodes } = started("a");
    const left = nodes[0]!.placement.leave();
    world.run(100);
    await left;
    nodes[0]!.crash();
    world.start("a");
    expect(world.until(() => world.unserved() === 0, 60_000)).toBeLessThan(1_000);
  });

  test("who leaves hands over while it serves: no shard is without an owner for longer than a drain", () => {
    const { world, nodes } = started("a", "b", "c");
    const [a] = nodes as [SimNode];
    a.drainMs = 30;
    let done: boolean | undefined;
    a.placement.handOff(10_000).then((all) => {
      done = all;
    });
    const without = new Map<number, number>();
    let longest = 0;
    const tookMs = world.until(() => {
      for (let shard = 0; shard < SHARDS; shard++) {
        if (world.serving(shard).length > 0) without.delete(shard);
        else without.set(shard, without.get(shard) ?? world.timeline.now());
      }
      for (const since of without.values()) longest = Math.max(longest, world.timeline.now() - since);
      return done !== undefined;
    }, 20_000);
    expect(done).toBe(true);
    expect(tookMs).toBeLessThan(5_000);
    expect(longest).toBeLessThan(200);
    expect(owned(a)).toEqual([]);
    expect(a.losses.flat().length).toBeGreaterThan(SHARDS / 4);
    expect(world.until(() => world.unserved() === 0, 1_000)).toBeLessThan(200);
  });

  test("a shard is given away although its drain does not end", () => {
    const { world, nodes } = started("a", "b");
    const [a] = nodes as [SimNode];
    a.drainMs = 1e9;
    void a.placement.handOff(30_000);
    expect(world.until(() => owned(a).length === 0 && world.unserved() === 0, 30_000)).toBeLessThan(10_000);
  });

  test("the last one keeps what nobody can take, says so, and serves on", () => {
    const { world, nodes } = started("a");
    let done: boolean | undefined;
    nodes[0]!.placement.handOff(2_000).then((all) => {
      done = all;
    });
    world.run(3_000);
    expect(done).toBe(false);
    expect(world.unserved()).toBe(0);
  });
});

describe("a node that cannot know", () => {
  test("frozen: it finds itself fenced when it wakes, and comes back as another", () => {
    const { world, nodes } = started("a", "b");
    const [a, b] = nodes as [SimNode, SimNode];
    const before = a.placement.node();
    a.freeze(15_000);
    expect(world.until(() => owned(b).length === SHARDS, 60_000)).toBeLessThan(TAKEOVER_MS);
    world.run(10_000);
    expect(a.logged).toContain("node_fenced");
    expect(a.placement.node()).not.toBe(before);
    world.run(BALANCED_MS);
    expect(owned(a).length).toBeGreaterThan(SHARDS * 0.45);
  });

  test("cut off from the registry: it stops before anybody else may begin", () => {
    const { world, nodes } = started("a", "b");
    const [a, b] = nodes as [SimNode, SimNode];
    const others = owned(b).length;
    a.cut(30_000);
    const stopped = world.until(() => owned(a).length === 0, 60_000);
    expect(stopped).toBeGreaterThan(CLUSTER_LIMITS.holdMs - CLUSTER_LIMITS.heartbeatMs - 100);
    expect(stopped).toBeLessThanOrEqual(CLUSTER_LIMITS.holdMs + 10);
    expect(owned(b).length).toBe(others);
    expect(world.until(() => owned(b).length === SHARDS, 60_000)).toBeLessThan(TAKEOVER_MS);
  });

  test("cut off for a moment: it serves on under the same epoch, and nothing is reported", () => {
    const { world, nodes } = started("a", "b");
    const [a] = nodes as [SimNode];
    const { version } = a.placement.table();
    a.cut(4_500);
    world.run(4_500);
    world.run(3_000);
    expect(a.placement.table().version).toBe(version);
    expect(world.unserved()).toBe(0);
  });

  test("all cut off at once: nobody takes anything, and afterwards each goes on with its own", () => {
    const { world, nodes } = started("a", "b", "c");
    const before = world.counts();
    for (const node of nodes) node.cut(20_000);
    world.run(10_000);
    expect(world.unserved()).toBe(SHARDS);
    world.run(15_000);
    expect(world.unserved()).toBe(0);
    expect(world.counts()).toEqual(before);
  });

  test.each([
    ["forward: it stops until its next beat", 60_000, 0],
    ["back: nothing happens", -60_000, 1],
  ])("a wall clock that is set %s", (_what, stepMs, servesOn) => {
    const { world, nodes } = started("a", "b");
    const [a] = nodes as [SimNode];
    a.stepWall(stepMs);
    expect(owned(a).length > 0 ? 1 : 0).toBe(servesOn);
    world.run(1_500);
    expect(owned(a).length).toBeGreaterThan(0);
  });

  test("a higher epoch: it gives the shard up at once", () => {
    const { nodes } = started("a", "b");
    const [a] = nodes as [SimNode];
    const shard = owned(a)[0]!;
    a.placement.fenced(shard, a.placement.epochOf(shard));
    expect(a.placement.epochOf(shard)).toBe(1);
    a.placement.fenced(shard, 2);
    expect(a.placement.epochOf(shard)).toBe(0);
    expect(a.placement.epochOf(owned(a)[0]!)).toBeGreaterThan(0);
  });

  test("a higher epoch without an owner: it has the shard served again, above it", () => {
    const { world, nodes } = started("a", "b");
    const [a] = nodes as [SimNode];
    const shard = owned(a)[0]!;
    a.placement.fenced(shard, 40);
    world.run(2_000);
    expect(world.serving(shard)).toHaveLength(1);
    expect(world.serving(shard)[0]!.placement.epochOf(shard)).toBe(41);
  });

  test("given up, a shard is served again in another epoch", () => {
    const { world, nodes } = started("a", "b");
    const [a] = nodes as [SimNode];
    const shard = owned(a)[0]!;
    const epoch = a.placement.epochOf(shard);
    a.placement.relinquish(shard);
    expect(a.placement.epochOf(shard)).toBe(0);
    world.run(2_000);
    expect(world.serving(shard)[0]!.placement.epochOf(shard)).toBe(epoch + 1);
  });

  test("however often it learns that its table is old, it reads now and then", async () => {
    const { world, nodes } = started("a", "b");
    const [a] = nodes as [SimNode];
    let reads = 0;
    const { read } = world.registry;
    world.registry.read = (key) => {
      if (key === "table") reads++;
      return read(key);
    };
    let over = false;
    const storm = async () => {
      while (!over) await a.placement.refresh();
    };
    for (let i = 0; i < 100; i++) void storm();
    world.run(1_000);
    over = true;
    world.run(100);
    expect(reads).toBeGreaterThan(10);
    expect(reads).toBeLessThan(30);
  });

  test("of no use to the others it gives its shards away, and gets some back when it is again", () => {
    const { world, nodes } = started("a", "b");
    const [a] = nodes as [SimNode];
    a.fit = false;
    world.run(CLUSTER_LIMITS.unfitMs - 1_500);
    expect(owned(a).length).toBeGreaterThan(0);
    world.run(6_000);
    expect(owned(a)).toEqual([]);
    a.fit = true;
    world.run(BALANCED_MS);
    expect(owned(a).length).toBeGreaterThan(SHARDS * 0.45);
  });

  test("none of any use: all keep what they have", () => {
    const { world, nodes } = started("a", "b");
    for (const node of nodes) node.fit = false;
    world.run(30_000);
    expect(world.unserved()).toBe(0);
  });
});

describe("the others", () => {
  test("are all members but this node, until they are dead", () => {
    const { world, nodes } = started("a", "b", "c");
    const [a, b, c] = nodes as [SimNode, SimNode, SimNode];
    const names = (node: SimNode) => node.placement.others().map((other) => other.slice(0, 1));
    expect([names(a), names(b)]).toEqual([
      ["b", "c"],
      ["a", "c"],
    ]);
    expect(a.placement.members().map(({ name, state }) => [name, state])).toEqual([
      ["a", "up"],
      ["b", "up"],
      ["c", "up"],
    ]);
    const [, incarnation] = b.placement.node().split("#");
    expect(a.placement.members()[1]!.incarnation).toBe(incarnation!);
    expect(a.placement.placed()).toBe(true);
    c.crash();
    world.run(4_500);
    expect(a.placement.placed()).toBe(true);
    world.run(4_500);
    expect([names(a), a.placement.placed()]).toEqual([["b"], true]);
  });

  test("know who is leaving", () => {
    const { world, nodes } = started("a", "b");
    const [a, b] = nodes as [SimNode, SimNode];
    b.fit = false;
    void b.placement.handOff(100);
    world.run(2_000);
    for (const node of [a, b]) {
      expect(node.placement.members().map(({ name, state }) => [name, state])).toContainEqual([
        "b",
        "leaving",
      ]);
    }
  });

  test("are not known to be reached while this node's lease is over", () => {
    const { world, nodes } = started("a", "b");
    const [a] = nodes as [SimNode];
    a.cut(5_000);
    world.run(4_800);
    expect(a.placement.placed()).toBe(false);
  });
});

describe("what a sweep starts from", () => {
  test("a dead node's own watermark", () => {
    const { world, nodes } = started("a", "b");
    const [a, b] = nodes as [SimNode, SimNode];
    a.placement.advance(1_000_000_000_000_000);
    world.run(2_000);
    a.crash();
    world.run(TAKEOVER_MS);
    expect(b.gains.at(-1)!.since).toBe(1_000_000_000_000_000);
  });

  test("no later than where the dead one's unfinished sweep started", () => {
    const world = cluster();
    running.push(world);
    const a = world.start("a");
    a.holdSweeps();
    world.run(1_000);
    const { since } = a.gains[0]!;
    a.placement.advance(1_000_000_000_000_000);
    world.start("b");
    world.run(2_000);
    a.crash();
    world.run(TAKEOVER_MS);
    expect(world.nodes[1]!.gains.at(-1)!.since).toBe(since);
  });

  test("no later than the shard's own, when the owner died before it reported that it had it", () => {
    const { world, nodes } = started("a", "b", "c");
    const [a, b, c] = nodes as [SimNode, SimNode, SimNode];
    b.placement.advance(1_000_000_000_000_000);
    world.run(2_000);
    a.crash();
    const before = b.gains.length;
    world.until(() => b.gains.length > before, TAKEOVER_MS);
    b.crash();
    const { shards, since } = b.gains.at(-1)!;
    expect(since).toBeLessThan(1_000_000_000_000_000);
    world.run(TAKEOVER_MS + 1_000);
    const sinces = new Map(c.gains.flatMap((gain) => gain.shards.map((shard) => [shard, gain.since])));
    for (const shard of shards) expect(sinces.get(shard)).toBe(since);
  });

  test("a restarted node's row still has what the one before had not covered", () => {
    const { world, nodes } = started("a", "b");
    const [a, b] = nodes as [SimNode, SimNode];
    const row = async () => JSON.parse((await world.registry.read("node/a"))!.value);
    a.crash();
    b.freeze(30_000);
    const again = world.start("a");
    world.until(() => again.placement.node() !== "", 20_000);
    again.placement.advance(1_000_000_000_000_000);
    world.run(20_000);
    expect(again.gains.flatMap(({ since }) => since).every((since) => since < 1_000_000_000_000_000)).toBe(
      true,
    );
    expect(row()).resolves.toMatchObject({ state: "up" });
  });
});

describe("under abuse", () => {
  const SEEDS = Number(process.env.PLACEMENT_SEEDS ?? 12);
  const lines = { latencyMs: 5, slow: 0.05, slowMs: 5_000, unsure: 0.05 };

  /** Three nodes through freezes, cuts, steps of the clock and crashes, then in calm. */
  function abused(seed: number, over: Partial<ClusterLimits> = {}): Cluster {
    const faults = { ...lines };
    const world = cluster(seed, faults, 0.001);
    for (const name of ["a", "b", "c"]) world.start(name, over);
    const { random } = world;
    const crash = (node: SimNode) => {
      node.crash();
      world.start(node.name, over);
    };
    const harm: readonly ((node: SimNode) => void)[] = [
      (node) => node.freeze(12_000),
      (node) => node.freeze(12_000),
      (node) => node.cut(15_000),
      (node) => node.cut(15_000),
      (node) => node.stepWall(random.between(-20_000, 20_000)),
      (node) => void node.placement.handOff(3_000).then(() => node.alive && crash(node)),
      crash,
    ];
    for (let i = 0; i < 24; i++) {
      world.run(random.between(2_000, 6_000));
      random.pick(harm)(random.pick(world.nodes.filter(({ alive }) => alive)));
    }
    Object.assign(faults, CALM);
    world.run(60_000);
    return world;
  }

  test("a holder who outlasts the observers is caught serving what is another's", () => {
    const caught = [1, 2, 3, 4].filter((seed) => abused(seed, { holdMs: 9_000 }).violations.length > 0);
    expect(caught.length).toBeGreaterThan(0);
  });

  test.each(Array.from({ length: SEEDS }, (_, i) => i + 1))(
    "seed %p: no shard is served twice, and all are served once it is calm",
    (seed) => {
      const world = abused(seed);
      running.push(world);
      expect(world.unserved()).toBe(0);
    },
  );
});
