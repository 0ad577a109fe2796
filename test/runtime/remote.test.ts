// Asking actors of other nodes: answers, refusals and failures are those of a local call; a repeat executes once; what is
// too large is said; what one node must not do for another it does not do.

import { describe, expect, test } from "bun:test";
import { UnavailableError } from "../../src/base/errors.ts";
import type { SystemStats } from "../../src/runtime/system.ts";
import { type Nodes, nodesRig, shardOfPurse, type TestNode } from "./nodes.ts";
import { ledgerOf, totalOf } from "./rig.ts";

async function two(over = {}): Promise<Nodes & { a: TestNode; b: TestNode }> {
  const rig = nodesRig();
  const a = await rig.start("a", over);
  const b = await rig.start("b", over);
  await rig.until(() => rig.nodes.every(({ system }) => system.stats().shards === 128));
  await rig.run(1_500);
  return { ...rig, a, b };
}

/** What an ask answers, while time passes. */
async function outcome(rig: Nodes, asked: Promise<unknown>): Promise<unknown> {
  let over = false;
  asked.finally(() => {
    over = true;
  });
  await rig.until(() => over);
  return asked;
}

describe("an actor of another node", () => {
  test("answers as one of this node, and its turn is the other's", async () => {
    const rig = await two();
    const id = rig.idAt(rig.b);
    expect(await rig.a.ask(id, "add", { amount: 5 })).toBe(5);
    expect(await rig.b.ask(id, "read", {})).toBe(5);
    expect([rig.a.system.owns({ kind: "account", id }), rig.b.system.owns({ kind: "account", id })]).toEqual([
      false,
      true,
    ]);
    expect(rig.a.system.stats().counters).toMatchObject({ turns: 0, remoteAsks: 1, notOwner: 0 });
  });

  test("refuses as one of this node", async () => {
    const rig = await two();
    const refusals = [rig.a, rig.b].map((at) =>
      rig.a.system.ask({ kind: "account", id: rig.idAt(at) }, "refuse", {}).catch((error) => error.refusal),
    );
    const [here, there] = await Promise.all(refusals);
    expect(here).toMatchObject({ code: "not_found", details: { left: [1, null] } });
    expect(there).toStrictEqual(here);
  });

  test("whose answer is lost is asked again with the same id, and executes once", async () => {
    const rig = await two();
    const id = rig.idAt(rig.b);
    rig.b.loseAnswers = 1;
    const asked = rig.a.ask(id, "add", { amount: 5 });
    await rig.run(1_900);
    expect(await totalOf(rig.inner, id)).toBe(5);
    expect(await outcome(rig, asked)).toBe(5);
    expect(await totalOf(rig.inner, id)).toBe(5);
    expect((await ledgerOf(rig.inner, id)).flatMap(({ events }) => events)).toHaveLength(1);
  });

  test("that cannot be reached inside the budget is unavailable; with a line again it answers", async () => {
    const rig = await two();
    const id = rig.idAt(rig.b);
    rig.b.cut = true;
    const asked = rig.a.ask(id, "read", {}, { budgetMs: 1_000 });
    expect(await outcome(rig, asked)).toBe("unavailable: not_owner");
    const later = rig.a.ask(id, "read", {});
    await rig.run(500);
    rig.b.cut = false;
    expect(await outcome(rig, later)).toBe(0);
  });

  test("whose node is silent is unavailable: whether it was executed nobody knows", async () => {
    const rig = await two();
    const id = rig.idAt(rig.b);
    rig.b.freeze();
    expect(await outcome(rig, rig.a.ask(id, "read", {}, { budgetMs: 300 }))).toBe("unavailable: unavailable");
  });

  test("that has moved is found: the one who had it says so, and the table is read at once", async () => {
    const rig = await two({ cluster: { lookMs: 60_000 } });
    const id = rig.idAt(rig.b);
    await rig.a.ask(id, "add", { amount: 5 });
    const table = rig.a.placement.table();
    const shards = table.shards.map((shard, i) =>
      i === shardOfPurse(id)
        ? { ...shard, owner: rig.a.placement.node(), epoch: shard.epoch + 1, at: table.version + 1 }
        : shard,
    );
    const found = await rig.inner.read("table");
    const moved = { ...table, version: table.version + 1, shards };
    await rig.inner.cas("table", found!.rev, JSON.stringify(moved));
    // Neither has seen it yet. The one who has it by now is asked by the other.
    await rig.b.placement.refresh();
    expect(rig.b.placement.epochOf(shardOfPurse(id))).toBe(0);
    expect(rig.a.placement.ownerOf(shardOfPurse(id))?.node).toBe(rig.b.placement.node());
    expect(await outcome(rig, rig.a.ask(id, "read", {}))).toBe(5);
    expect(rig.a.system.stats().counters.notOwner).toBe(1);
    expect(rig.a.system.owns({ kind: "account", id })).toBe(true);
  });

  test("that gained its shard unseen looks at the table before it answers not_owner", async () => {
    const rig = await two({ cluster: { lookMs: 60_000 } });
    const id = rig.idAt(rig.a);
    const table = rig.a.placement.table();
    const shards = table.shards.map((shard, i) =>
      i === shardOfPurse(id)
        ? { ...shard, owner: rig.b.placement.node(), epoch: shard.epoch + 1, at: table.version + 1 }
        : shard,
    );
    const found = await rig.inner.read("table");
    await rig.inner.cas(
      "table",
      found!.rev,
      JSON.stringify({ ...table, version: table.version + 1, shards }),
    );
    await rig.a.placement.refresh();
    expect(await outcome(rig, rig.a.ask(id, "read", {}))).toBe(0);
    expect(rig.a.system.stats().counters.notOwner).toBe(0);
  });

  test("is not asked on by a node that is asked and does not own it", async () => {
    const rig = await two();
    const id = rig.idAt(rig.a);
    const before = rig.b.system.stats().counters.remoteAsks;
    rig.a.cut = true;
    await outcome(rig, rig.b.ask(id, "read", {}, { budgetMs: 100 }));
    expect(rig.b.system.stats().counters.remoteAsks).toBeGreaterThan(before);
    expect(rig.a.system.stats().counters.remoteAsks).toBe(0);
  });
});

describe("what is too large", () => {
  test("to be sent is too_large at once, and not executed", async () => {
    const rig = await two({ frameLengthMax: 2_000 });
    const id = rig.idAt(rig.b);
    const word = "x".repeat(3_000);
    expect(await rig.a.ask(id, "announce", { word })).toBe("unavailable: too_large");
    expect(await ledgerOf(rig.inner, id)).toEqual([]);
  });

  test("to be answered is too_large, not silence", async () => {
    const rig = await two({ frameLengthMax: 2_000 });
    const id = rig.idAt(rig.b);
    expect(await rig.a.ask(id, "echo", { size: 3_000 })).toBe("unavailable: too_large");
    expect(await rig.a.ask(id, "echo", { size: 10 })).toBe("x".repeat(10));
  });
});

describe("bounds", () => {
  test("as many asks to others as there may be turns are under way; one more is overloaded", async () => {
    const rig = await two({ limits: { nodeTurns: 2 } });
    const id = rig.idAt(rig.b);
    rig.b.freeze();
    const waiting = [1, 2].map(() => rig.a.ask(id, "read", {}, { budgetMs: 1_000 }));
    expect(await outcome(rig, rig.a.ask(id, "read", {}, { budgetMs: 0 }))).toBe("unavailable: overloaded");
    // Its own actors go on.
    expect(await rig.a.ask(rig.idAt(rig.a), "read", {})).toBe(0);
    rig.b.thaw();
    await Promise.all(waiting.map((one) => outcome(rig, one)));
    expect(await outcome(rig, rig.a.ask(id, "read", {}))).toBe(0);
  });
});

describe("the whole cluster", () => {
  test("is returned node by node; one that is silent is null", async () => {
    const rig = await two();
    const id = rig.idAt(rig.b);
    await rig.a.ask(id, "add", { amount: 5 });
    const [own, other] = await rig.a.system.overview(500);
    expect([own!.node, other!.node]).toEqual([rig.a.placement.node(), rig.b.placement.node()]);
    expect(own!.stats).toMatchObject({ node: own!.node, version: "1.2.3", shards: 128, mailboxMost: 0 });
    expect(other!.stats).toMatchObject({ actors: 1, shards: 128 } satisfies Partial<SystemStats>);
    rig.b.freeze();
    const asked = rig.a.system.overview(500);
    await rig.run(600);
    expect((await asked).map(({ stats }) => stats === null)).toEqual([false, true]);
  });

  test("is asked node by node what a part outside knows; one that is silent or knows nothing of it answers null", async () => {
    const rig = await two();
    const [a, b] = [rig.a.placement.node(), rig.b.placement.node()];
    for (const [name, node] of [
      ["a", rig.a],
      ["b", rig.b],
    ] as const) {
      node.system.serveQuery("who", async (input) => ({ name, input }));
    }
    rig.b.system.serveQuery("never", () => {
      throw new Error("not now");
    });
    const who = { name: "who", input: { keys: [1] } };
    expect(await rig.a.system.queryNodes(who, 500)).toEqual([
      { node: a, answer: { name: "a", input: { keys: [1] } } },
      { node: b, answer: { name: "b", input: { keys: [1] } } },
    ]);
    for (const name of ["what", "never"]) {
      const answers = await rig.a.system.queryNodes({ name, input: null }, 500);
      expect(answers.map(({ answer }) => answer)).toEqual([null, null]);
    }
    expect(await rig.a.system.queryNode(b, who, 500)).toMatchObject({ name: "b" });
    await expect(rig.a.system.queryNode(b, { name: "never", input: null }, 500)).rejects.toThrow();
    rig.b.freeze();
    const asked = rig.a.system.queryNodes(who, 500);
    await rig.run(600);
    expect((await asked).map(({ answer }) => answer === null)).toEqual([false, true]);
  });

  test("is asked where an actor is owned; a silent owner is unavailable", async () => {
    const rig = await two();
    for (const [name, node] of [
      ["a", rig.a],
      ["b", rig.b],
    ] as const) {
      node.system.serveQuery("who", () => name);
    }
    const ownedBy = (node: typeof rig.a) => ({ kind: "account" as const, id: rig.idAt(node) });
    const who = { name: "who", input: null };
    expect(await rig.a.system.queryOwner(ownedBy(rig.a), who, 500)).toBe("a");
    expect(await rig.a.system.queryOwner(ownedBy(rig.b), who, 500)).toBe("b");
    expect(rig.a.system.otherOwnerOf(ownedBy(rig.a))).toBeNull();
    expect(rig.a.system.otherOwnerOf(ownedBy(rig.b))).toBe(rig.b.placement.node());
    // A name is without the incarnation, on the owner as elsewhere.
    const names = [rig.a, rig.b].map(({ system }) => system.ownerNameOf(ownedBy(rig.b)));
    expect(names).toEqual(["b", "b"]);
    rig.b.freeze();
    const asked = rig.a.system.queryOwner(ownedBy(rig.b), who, 500).catch((error) => error);
    await rig.run(600);
    expect(await asked).toBeInstanceOf(UnavailableError);
  });

  test("returns how many wait on the busiest actor", async () => {
    const rig = await two();
    const id = rig.idAt(rig.b);
    const open = rig.b.store.holdAppends();
    const asked = [1, 2, 3].map((amount) => rig.a.ask(id, "add", { amount }));
    await rig.run(1);
    expect(rig.b.system.stats().mailboxMost).toBe(3);
    open();
    await Promise.all(asked);
  });

  test("saves on every node", async () => {
    const rig = await two();
    for (const node of [rig.a, rig.b]) await node.ask(rig.idAt(node), "add", { amount: 1 });
    expect(await rig.a.system.saveEverywhere(1_000)).toBe(true);
    for (const node of [rig.a, rig.b]) {
      expect(await rig.inner.loadSnapshot(`account/${rig.idAt(node)}`)).toMatchObject({ seq: 1 });
    }
  });

  test("is not saved where a node is too slow or silent", async () => {
    const rig = await two();
    rig.b.freeze();
    const asked = rig.a.system.saveEverywhere(300);
    await rig.run(400);
    expect(await asked).toBe(false);
    rig.b.thaw();
    await rig.b.ask(rig.idAt(rig.b), "add", { amount: 1 });
    const held = rig.b.store.holdSaves();
    const again = rig.a.system.saveEverywhere(300);
    await rig.run(400);
    expect(await again).toBe(false);
    held();
  });

  test("an actor of another node is read anew from the store when it is to be reloaded", async () => {
    const rig = await two();
    const id = rig.idAt(rig.b);
    await rig.a.ask(id, "add", { amount: 1 });
    const before = rig.b.store.loads.total;
    await rig.a.system.reload({ kind: "account", id });
    expect(await rig.a.ask(id, "read", {})).toBe(1);
    expect(rig.b.store.loads.total).toBe(before + 1);
  });
});
