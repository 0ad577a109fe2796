// What is kept beside the actors of a node: it learns of loads, commits and shards.

import { describe, expect, test } from "bun:test";
import type { ActorRef } from "../../../src/runtime/actor.ts";
import { type Nodes, nodesRig, shardOfPurse, type TestNode } from "../nodes.ts";

interface Seen {
  readonly loaded: [name: string, state: unknown][];
  readonly committed: string[];
  readonly gained: Set<number>;
  readonly lost: Set<number>;
}

async function two(): Promise<Nodes & { a: TestNode; b: TestNode; seen: Record<"a" | "b", Seen> }> {
  const rig = nodesRig();
  const fresh = (): Seen => ({ loaded: [], committed: [], gained: new Set(), lost: new Set() });
  const seen = { a: fresh(), b: fresh() };
  const observer = ({ loaded, committed, gained, lost }: Seen) => ({
    loaded: ({ kind, id }: ActorRef, state: unknown) => void loaded.push([`${kind}/${id}`, state]),
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

describe("an observer", () => {
  test("learns of the commits of its own node's actors, once they are durable", async () => {
    const rig = await two();
    const id = rig.idAt(rig.b);
    await rig.a.ask(id, "add", { amount: 5 });
    await rig.b.ask(id, "read", {});
    expect(rig.seen.a.committed).toEqual([]);
    expect(rig.seen.b.committed).toEqual([`account/${id}`]);
  });

  test("learns of the actors that its own node loads, with the state that their turns change", async () => {
    const rig = await two();
    const id = rig.idAt(rig.b);
    await rig.a.ask(id, "add", { amount: 5 });
    expect(rig.seen.a.loaded).toEqual([]);
    const [[name, state]] = rig.seen.b.loaded as [Seen["loaded"][number]];
    expect(name).toBe(`account/${id}`);
    const before = JSON.stringify(state);
    await rig.a.ask(id, "add", { amount: 5 });
    expect(rig.seen.b.loaded).toHaveLength(1);
    expect(JSON.stringify(state)).not.toBe(before);
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
