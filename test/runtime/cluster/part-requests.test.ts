// What parts outside the runtime keep beside the actors of a node: they ask each other from node to node, and learn of the
// commits and shards of their own.

import { describe, expect, test } from "bun:test";
import type { ActorRef } from "../../../src/runtime/actor.ts";
import { type Nodes, nodesRig, shardOfPurse, type TestNode } from "../nodes.ts";

interface Seen {
  readonly committed: string[];
  readonly gained: Set<number>;
  readonly lost: Set<number>;
}

async function two(): Promise<Nodes & { a: TestNode; b: TestNode; seen: Record<"a" | "b", Seen> }> {
  const rig = nodesRig();
  const fresh = (): Seen => ({ committed: [], gained: new Set(), lost: new Set() });
  const seen = { a: fresh(), b: fresh() };
  const observer = ({ committed, gained, lost }: Seen) => ({
    committed: ({ kind, id }: ActorRef) => void committed.push(`${kind}/${id}`),
    gained: (shards: readonly number[]) => {
      for (const shard of shards) gained.add(shard);
    },
    lost: (shards: readonly number[]) => {
      for (const shard of shards) lost.add(shard);
    },
  });
  const a = await rig.start("a", { observer: observer(seen.a) });
  const b = await rig.start("b", { observer: observer(seen.b) });
  await rig.until(() => rig.nodes.every(({ system }) => system.stats().shards === 128));
  await rig.run(1_500);
  return { ...rig, a, b, seen };
}

describe("a part", () => {
  test("is asked at the node that owns an actor, and answers there", async () => {
    const rig = await two();
    const actor = { kind: "account", id: rig.idAt(rig.b) } as const;
    expect(rig.b.system.otherOwnerOf(actor)).toBeNull();
    const owner = rig.a.system.otherOwnerOf(actor)!;
    expect(owner).toBe(rig.b.placement.node());
    rig.b.system.servePart("sums", (body) => ({ sum: (body as number[]).reduce((a, b) => a + b) }));
    expect(await rig.a.system.askPart(owner, "sums", [1, 2, 3], 1_000)).toEqual({ sum: 6 });
    rig.b.system.servePart("sums", () => null);
    expect(await rig.a.system.askPart(owner, "sums", [], 1_000)).toBeNull();
    expect(rig.b.system.stats().counters.turns).toBe(0);
  });

  test("that nobody serves, that fails, and that cannot be reached, fail the question", async () => {
    const rig = await two();
    const owner = rig.b.placement.node();
    rig.b.system.servePart("breaks", () => {
      throw new Error("inside");
    });
    for (const topic of ["nobody", "breaks"]) {
      await expect(rig.a.system.askPart(owner, topic, null, 1_000)).rejects.toThrow();
    }
    rig.b.cut = true;
    await expect(rig.a.system.askPart(owner, "nobody", null, 1_000)).rejects.toThrow();
  });
});

describe("an observer", () => {
  test("learns of the commits of its own node's actors, once they are durable", async () => {
    const rig = await two();
    const id = rig.idAt(rig.b);
    await rig.a.ask(id, "add", { amount: 5 });
    await rig.b.ask(id, "read", {});
    expect(rig.seen.a.committed).toEqual([]);
    expect(rig.seen.b.committed).toEqual([`account/${id}`]);
  });

  test("learns of the shards that its node serves and gives away", async () => {
    const rig = await two();
    const shard = shardOfPurse(rig.idAt(rig.b));
    expect([rig.seen.a.gained.size, rig.seen.a.lost.has(shard), rig.seen.b.gained.has(shard)]).toEqual([
      256,
      true,
      true,
    ]);
    rig.b.crash();
    await rig.until(() => rig.a.placement.epochOf(shard) > 0);
    expect(rig.seen.a.gained.has(shard)).toBe(true);
  });
});
