// After a move, commands that rely on holds wait until the nodes that are up have reasserted their holds to the new owner, or a
// second has passed; and copies at hand are called old.

import { describe, expect, test } from "bun:test";
import { silent } from "../../../src/base/log.ts";
import { HoldHandoff } from "../../../src/runtime/cluster/hold-handoff.ts";
import type { ShardEpoch } from "../../../src/runtime/cluster/node-protocol.ts";
import type { Placement } from "../../../src/runtime/placement/placement.ts";
import { manualClock, settled } from "../manual-clock.ts";
import { type Nodes, nodesRig, shardOfPurse, type TestNode } from "../nodes.ts";

function rig(others: string[], epoch = 5) {
  const clock = manualClock();
  const sent: [string, readonly ShardEpoch[]][] = [];
  const owners = new Map<number, string>();
  const placement: Pick<Placement, "node" | "others" | "ownerOf"> = {
    node: () => "me",
    others: () => others,
    ownerOf: (shard) => ({ node: owners.get(shard) ?? "me", epoch }),
  };
  const arrivals = new HoldHandoff({
    ...{ clock, log: silent, handoffMs: 1_000, placement },
    announce: (node, terms) => void sent.push([node, terms]),
  });
  return { clock, arrivals, sent, owners };
}

describe("the gate of a gained shard", () => {
  test("opens when every other node has reported it in its epoch", () => {
    const { arrivals } = rig(["x", "y"]);
    arrivals.gained([1, 2]);
    arrivals.reasserted("x", [[1, 5]]);
    expect(arrivals.gate(1)).not.toBeNull();
    arrivals.reasserted("y", [[1, 4]]);
    expect(arrivals.gate(1)).not.toBeNull();
    arrivals.reasserted("y", [[1, 5]]);
    expect(arrivals.gate(1)).toBeNull();
    expect(arrivals.gate(2)).not.toBeNull();
    expect(arrivals.gate(3)).toBeNull();
  });

  test("opens after a second, whichever node is silent, and releases what waits", async () => {
    const { arrivals, clock } = rig(["x"]);
    arrivals.gained([1]);
    let passed = false;
    arrivals.gate(1)!.then(() => {
      passed = true;
    });
    await clock.advance(999);
    expect(passed).toBe(false);
    await clock.advance(1);
    expect([passed, arrivals.gate(1)]).toEqual([true, null]);
  });

  test("is never shut by a node that had reported before the shard was gained", () => {
    const { arrivals } = rig(["x"]);
    arrivals.reasserted("x", [[1, 5]]);
    arrivals.gained([1]);
    expect(arrivals.gate(1)).toBeNull();
  });

  test("is never shut where there is nobody else", () => {
    const { arrivals } = rig([]);
    arrivals.gained([1]);
    expect(arrivals.gate(1)).toBeNull();
  });

  test("waits for this node's own holds too", async () => {
    const { arrivals } = rig([]);
    const { promise, resolve } = Promise.withResolvers<void>();
    arrivals.onMoved(() => promise);
    arrivals.moved([{ shard: 1, epoch: 5, owner: "me" }]);
    arrivals.gained([1]);
    expect(arrivals.gate(1)).not.toBeNull();
    resolve();
    await settled();
    expect(arrivals.gate(1)).toBeNull();
  });

  test("of a shard that is lost again lets go who waits", async () => {
    const { arrivals } = rig(["x"]);
    arrivals.gained([1]);
    const gate = arrivals.gate(1)!;
    arrivals.lost([1]);
    await gate;
    expect(arrivals.gate(1)).toBeNull();
  });
});

describe("the report of a node", () => {
  test("goes to the new owners, each of its shards, once all is reasserted", async () => {
    const { arrivals, sent } = rig(["x", "y"]);
    const { promise, resolve } = Promise.withResolvers<void>();
    let concerned: boolean[] = [];
    arrivals.onMoved((concerns) => {
      concerned = ["p1", "p2"].map((id) => concerns({ kind: "account", id }));
      return promise;
    });
    arrivals.moved([
      { shard: shardOfPurse("p1"), epoch: 6, owner: "x" },
      { shard: 77, epoch: 7, owner: "y" },
    ]);
    await settled();
    expect([concerned, sent]).toEqual([[true, false], []]);
    resolve();
    await settled();
    expect(sent).toEqual([
      ["x", [[shardOfPurse("p1"), 6]]],
      ["y", [[77, 7]]],
    ]);
  });

  test("that failed says nothing: who waits for it waits its second", async () => {
    const { arrivals, sent } = rig(["x"]);
    arrivals.onMoved(async () => {
      throw new Error("no");
    });
    arrivals.moved([{ shard: 1, epoch: 6, owner: "x" }]);
    await settled();
    expect(sent).toEqual([]);
  });

  test("a node that is new says of all shards of others that it holds nothing", () => {
    const { arrivals, sent, owners } = rig(["x"]);
    for (let shard = 1; shard < 256; shard++) owners.set(shard, "x");
    arrivals.announceNoHolds();
    expect(sent.map(([node, terms]) => [node, terms.length, terms[0]])).toEqual([["x", 255, [1, 5]]]);
  });
});

async function three(): Promise<Nodes & { a: TestNode; b: TestNode; c: TestNode }> {
  const nodes = nodesRig();
  const [a, b, c] = [await nodes.start("a"), await nodes.start("b"), await nodes.start("c")];
  await nodes.until(() => nodes.nodes.every(({ system }) => system.stats().shards >= 85));
  await nodes.run(1_500);
  return { ...nodes, a, b, c };
}

describe("in a cluster", () => {
  test("a hold waits at the new owner until all have reported; a command that does not rely on holds does not", async () => {
    const rig = await three();
    const id = rig.idAt(rig.a);
    const { promise, resolve } = Promise.withResolvers<void>();
    let reports = 0;
    for (const node of rig.nodes) {
      node.system.onMoved(async (concerns) => {
        if (!concerns({ kind: "account", id })) return;
        if (node === rig.b || node === rig.c) await promise;
        reports++;
      });
    }
    void rig.a.system.handOff(10_000);
    await rig.until(() => rig.ownerOf(id) === rig.b || rig.ownerOf(id) === rig.c);
    let held: unknown = null;
    rig.a.ask(id, "hold", { open: true }).then((answer) => {
      held = answer;
    });
    await rig.run(100);
    expect(await rig.a.ask(id, "read", {})).toBe(0);
    expect([held, reports]).toEqual([null, 1]);
    resolve();
    await rig.run(10);
    expect([held, reports]).toEqual([1, 3]);
  });

  test("a hold waits a second at most for a node that is silent", async () => {
    const rig = await three();
    const id = rig.idAt(rig.a);
    void rig.a.system.handOff(10_000);
    rig.a.cut = true;
    await rig.until(() => rig.ownerOf(id) !== rig.a && rig.ownerOf(id) !== undefined);
    const owner = rig.ownerOf(id)!;
    let held: unknown = null;
    owner.ask(id, "hold", { open: true }).then((answer) => {
      held = answer;
    });
    await rig.run(900);
    expect(held).toBeNull();
    await rig.run(150);
    expect(held).toBe(1);
  });

  test("without a move nobody waits, nor for a node that has joined long ago", async () => {
    const rig = await three();
    expect(await rig.b.ask(rig.idAt(rig.a), "hold", { open: true })).toBe(1);
  });

  test("a node that joins and gets shards at once waits for no node that has reported, and none waits for it", async () => {
    const rig = await three();
    const d = await rig.start("d");
    const took = await rig.until(() => d.system.stats().shards > 60);
    const id = rig.idAt(d);
    expect(await d.ask(id, "hold", { open: true })).toBe(1);
    expect(took).toBeLessThan(3_000);
  });

  test("a hold decided by who is no more the owner when the answer comes is asked again at the new one", async () => {
    const rig = await three();
    const id = rig.idAt(rig.a);
    const shard = shardOfPurse(id);
    // The answer is on its way when the asker learns of the new owner.
    rig.a.delayAnswersMs = 1_000;
    const asked = rig.b.ask(id, "hold", { open: true });
    await rig.run(10);
    await moveTo(rig, shard, rig.c);
    await rig.run(3_000);
    expect(await asked).toBe(1);
    expect(rig.c.system.stats().counters.turns).toBe(1);
    expect(rig.a.system.stats().counters.turns).toBe(1);
    // A reply that waited for its commit counts, whichever node owns the actor by now.
    const other = rig.idAt(rig.a, "r");
    rig.a.delayAnswersMs = 1_000;
    const read = rig.b.ask(other, "read", {});
    await rig.run(10);
    await moveTo(rig, shardOfPurse(other), rig.c);
    await rig.run(3_000);
    expect(await read).toBe(0);
    expect(rig.c.system.stats().counters.turns).toBe(1);
  });

  test("copies of moved actors are called old on every node, others are not", async () => {
    const rig = await three();
    const [moved, other] = [rig.idAt(rig.a), rig.idAt(rig.b)];
    const received = new Map<TestNode, [boolean, boolean][]>();
    for (const node of rig.nodes) {
      received.set(node, []);
      node.system.onStale((concerns) =>
        received
          .get(node)!
          .push([concerns({ kind: "account", id: moved }), concerns({ kind: "account", id: other })]),
      );
    }
    await moveTo(rig, shardOfPurse(moved), rig.c);
    await rig.run(1_500);
    // What is moved for balance after that concerns neither.
    for (const node of rig.nodes) {
      expect(received.get(node)![0]).toEqual([true, false]);
      expect(received.get(node)!.slice(1).flat()).not.toContain(true);
    }
  });

  test("all copies are called old when the line was down, until nobody wants to hear it", async () => {
    const rig = await three();
    const received: boolean[] = [];
    const stop = rig.a.system.onStale((concerns) => received.push(concerns({ kind: "level", id: "1/2" })));
    rig.a.gap();
    stop();
    rig.a.gap();
    expect(received).toEqual([true]);
  });

  test("one that was frozen and joins anew reasserts all it holds", async () => {
    const rig = await three();
    const reports: string[] = [];
    rig.a.system.onMoved(async (concerns) => {
      if (concerns({ kind: "account", id: rig.idAt(rig.b) })) reports.push(rig.a.placement.node());
    });
    const before = rig.a.placement.node();
    rig.a.freeze();
    await rig.run(9_000);
    rig.a.thaw();
    await rig.run(3_000);
    expect(rig.a.placement.node()).not.toBe(before);
    expect(reports).toContain(rig.a.placement.node());
  });
});

/** By hand, as a plan would. */
async function moveTo(rig: Nodes, shard: number, to: TestNode): Promise<void> {
  const found = (await rig.inner.read("table"))!;
  const table = JSON.parse(found.value);
  const version = table.version + 1;
  const { epoch } = table.shards[shard];
  table.shards[shard] = {
    ...table.shards[shard],
    owner: to.placement.node(),
    epoch: epoch + 1,
    at: version,
  };
  await rig.inner.cas("table", found.rev, JSON.stringify({ ...table, version }));
}
