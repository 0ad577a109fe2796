// Shards that move while actors are asked: handed over without a failed ask, taken over from the dead with all they had
// begun, lost by one that froze and wakes. Nothing is lost, nothing executed twice, and no loop outlives its shard.

import { describe, expect, test } from "bun:test";
import { type Nodes, nodesRig, shardOfPurse, type TestNode } from "./nodes.ts";
import { ledgerOf, totalOf } from "./rig.ts";

async function started<N extends string>(...names: N[]): Promise<Nodes & Record<N, TestNode>> {
  const rig = nodesRig();
  const made: Partial<Record<string, TestNode>> = {};
  for (const name of names) made[name] = await rig.start(name);
  const least = Math.floor(256 / names.length);
  await rig.until(() => rig.nodes.every(({ system }) => system.stats().shards >= least));
  await rig.run(1_500);
  return { ...rig, ...(made as Record<N, TestNode>) };
}

/** Asks without pause until it is stopped; returns the replies. */
function traffic(rig: Nodes, by: TestNode, ids: readonly string[]): { stop(): Promise<unknown[]> } {
  let over = false;
  const answers: unknown[] = [];
  const done = Promise.all(
    ids.map(async (id) => {
      while (!over) {
        answers.push(await by.ask(id, "add", { amount: 1 }));
        await new Promise<void>((resolve) => void rig.clock.after(3, resolve));
      }
    }),
  );
  return {
    async stop() {
      over = true;
      let ended = false;
      done.then(() => {
        ended = true;
      });
      await rig.until(() => ended);
      return answers;
    },
  };
}

const events = (node: TestNode): string[] => node.logged.map(({ event }) => event);

describe("a hand-over", () => {
  test("under traffic fails no ask, loses nothing and breaks nothing", async () => {
    const rig = await started("a", "b");
    const ids = Array.from({ length: 20 }, (_, i) => rig.idAt(rig.a, `q${i}-`));
    const sending = [rig.a, rig.b].map((node) => traffic(rig, node, ids));
    await rig.run(200);
    const given = rig.a.system.handOff(10_000);
    await rig.until(() => rig.a.system.stats().shards === 0);
    await rig.run(500);
    expect(await given).toBe(true);
    const answers = (await Promise.all(sending.map((one) => one.stop()))).flat();
    expect(answers.filter((answer) => typeof answer !== "number")).toEqual([]);
    const totals = await Promise.all(ids.map((id) => totalOf(rig.inner, id)));
    expect(totals.reduce((sum, total) => sum + total, 0)).toBe(answers.length);
    for (const { system } of rig.nodes) {
      expect(system.stats().counters).toMatchObject({
        appendLost: 0,
        appendUnknown: 0,
        fenced: 0,
        broken: 0,
      });
    }
  });

  test("leaves nothing behind: all is saved, and the actors are gone from memory", async () => {
    const rig = await started("a", "b");
    const id = rig.idAt(rig.a);
    await rig.a.ask(id, "add", { amount: 5 });
    void rig.a.system.handOff(10_000);
    await rig.until(() => rig.b.system.stats().shards === 256);
    expect(await rig.inner.loadSnapshot(`account/${id}`)).toMatchObject({ seq: 1, state: { total: 5 } });
    expect(rig.a.system.stats().actors).toBe(0);
    expect(await rig.a.ask(id, "read", {})).toBe(5);
  });

  test("makes durable what is decided, in the old epoch, before the next owner has it", async () => {
    const rig = await started("a", "b");
    const id = rig.idAt(rig.a);
    const epoch = rig.a.placement.epochOf(shardOfPurse(id));
    const open = rig.a.store.holdAppends();
    const first = rig.a.ask(id, "add", { amount: 1 });
    await rig.run(1);
    const second = rig.a.ask(id, "add", { amount: 2 });
    await rig.run(1);
    void rig.a.system.handOff(10_000);
    await rig.run(500);
    expect(rig.a.system.owns({ kind: "account", id })).toBe(false);
    expect(rig.ownerOf(id)).toBeUndefined();
    open();
    expect([await first, await second]).toEqual([1, 3]);
    await rig.until(() => rig.ownerOf(id) === rig.b);
    expect((await ledgerOf(rig.inner, id)).map((commit) => commit.epoch)).toEqual([epoch, epoch]);
    expect(rig.a.system.stats().counters.broken).toBe(0);
  });

  test("does not wait for a drain that hangs; nothing is appended in that epoch afterwards", async () => {
    const rig = await started("a", "b");
    const id = rig.idAt(rig.a);
    const open = rig.a.store.holdAppends();
    const first = rig.a.ask(id, "add", { amount: 1 }, { id: "one" });
    await rig.run(1);
    const second = rig.a.ask(id, "add", { amount: 2 }, { id: "two" });
    await rig.run(1);
    void rig.a.system.handOff(10_000);
    await rig.until(() => rig.ownerOf(id) === rig.b);
    expect(await rig.b.ask(id, "add", { amount: 10 })).toBe(10);
    const before = rig.a.store.appends.length;
    open();
    await rig.run(3_000);
    expect(rig.a.store.appends.slice(before)).toEqual([]);
    await Promise.all([first, second]);
    expect(await totalOf(rig.inner, id)).toBe(13);
  });

  test("that hangs until the shard has come back: what began in the old epoch appends nothing in the new one", async () => {
    const rig = await started("a", "b");
    const id = rig.idAt(rig.a);
    const open = rig.a.store.holdAppends();
    const first = rig.a.ask(id, "add", { amount: 1 }, { id: "one" });
    await rig.run(1);
    const second = rig.a.ask(id, "add", { amount: 2 }, { id: "two" });
    await rig.run(1);
    void rig.a.system.handOff(3_000);
    await rig.until(() => rig.ownerOf(id) === rig.b);
    rig.b.crash();
    await rig.until(() => rig.a.system.owns({ kind: "account", id }));
    open();
    await rig.run(2_000);
    const ledger = await ledgerOf(rig.inner, id);
    expect(new Set(ledger.map(({ by, epoch }) => `${by} ${epoch}`)).size).toBe(
      new Set(ledger.map(({ by }) => by)).size,
    );
    await Promise.all([first, second]);
    for (const [name, amount] of [
      ["one", 1],
      ["two", 2],
    ] as const) {
      const again = rig.a.ask(id, "add", { amount }, { id: name });
      await rig.run(2_000);
      expect(await again).toBeNumber();
    }
    expect(await totalOf(rig.inner, id)).toBe(3);
  });

  test("alone it is over at once", async () => {
    const rig = await started("a");
    const given = rig.a.system.handOff(100);
    await rig.run(200);
    expect(await given).toBe(false);
    expect(rig.a.system.stats().shards).toBe(256);
  });
});

describe("a crash", () => {
  test("is taken over within 8 s, and a debt that was left is delivered although nobody asks", async () => {
    const rig = await started("a", "b", "c");
    const [from, to] = [rig.idAt(rig.a), rig.idAt(rig.b, "to")];
    await rig.a.ask(from, "add", { amount: 10 });
    rig.b.cut = true;
    await rig.a.ask(from, "give", { mark: "x", to, amount: 3 }, { id: "x" });
    await rig.run(50);
    rig.a.crash();
    rig.b.cut = false;
    expect(
      await rig.until(() => rig.ownerOf(from) !== rig.a && rig.ownerOf(from) !== undefined),
    ).toBeLessThan(8_001);
    await rig.run(2_000);
    expect([await totalOf(rig.inner, from), await totalOf(rig.inner, to)]).toEqual([7, 3]);
    expect(rig.b.system.stats().effects + rig.c.system.stats().effects).toBe(0);
  });

  test("of the receiver's node delays a debt no longer than its takeover, and it arrives once", async () => {
    const rig = await started("a", "b");
    const [from, to] = [rig.idAt(rig.a), rig.idAt(rig.b, "to")];
    await rig.a.ask(from, "add", { amount: 10 });
    rig.b.crash();
    await rig.a.ask(from, "give", { mark: "x", to, amount: 3 }, { id: "x" });
    await rig.until(() => rig.ownerOf(to) === rig.a);
    await rig.run(500);
    expect(await totalOf(rig.inner, to)).toBe(3);
    await rig.run(60_000);
    expect([await totalOf(rig.inner, from), await totalOf(rig.inner, to)]).toEqual([7, 3]);
  });
});

describe("a node that was frozen", () => {
  test("finds its late append refused, its callers hear unavailable, and their repeats succeed once", async () => {
    const rig = await started("a", "b");
    const id = rig.idAt(rig.a);
    await rig.b.ask(id, "add", { amount: 1 });
    const open = rig.a.store.holdAppends();
    const late = rig.a.ask(id, "add", { amount: 100 }, { id: "late", budgetMs: 0 });
    await rig.run(1);
    rig.a.freeze();
    await rig.until(() => rig.ownerOf(id) === rig.b);
    expect(await rig.b.ask(id, "add", { amount: 10 })).toBe(11);
    open();
    await rig.run(10);
    rig.a.thaw();
    await rig.run(50);
    expect(await late).toBe("unavailable: unavailable");
    expect(await totalOf(rig.inner, id)).toBe(11);
    await rig.run(1_000);
    expect(await rig.a.ask(id, "add", { amount: 100 }, { id: "late" })).toBe(111);
    expect(await rig.a.ask(id, "add", { amount: 100 }, { id: "late" })).toBe(111);
    expect(await totalOf(rig.inner, id)).toBe(111);
  });

  test("answers nothing from what it knew: it is another incarnation", async () => {
    const rig = await started("a", "b");
    const id = rig.idAt(rig.a);
    await rig.a.ask(id, "add", { amount: 1 });
    const before = rig.a.placement.node();
    rig.a.freeze();
    await rig.until(() => rig.ownerOf(id) === rig.b);
    await rig.b.ask(id, "add", { amount: 10 });
    rig.a.thaw();
    const asked = rig.a.ask(id, "read", {});
    await rig.run(3_000);
    expect(await asked).toBe(11);
    expect(rig.a.placement.node()).not.toBe(before);
  });
});

describe("loops", () => {
  test("about actors of a lost shard end: waking, rousing, sweeping, delivering", async () => {
    const rig = await started("a", "b");
    const id = rig.idAt(rig.a);
    const to = rig.idAt(rig.b, "to");
    const quiet = rig.a.waiting();
    await rig.a.ask(id, "add", { amount: 10 });
    // A debt that cannot be delivered, and an actor that breaks and cannot be loaded.
    rig.b.cut = true;
    await rig.a.ask(id, "give", { mark: "x", to, amount: 1 }, { id: "x" });
    rig.a.store.faults.push("unknown");
    const broken = rig.a.ask(id, "add", { amount: 1 }, { budgetMs: 0 });
    await rig.run(10);
    await broken;
    expect(rig.a.system.stats().effects).toBe(1);
    rig.b.cut = false;
    const given = rig.a.system.handOff(10_000);
    await rig.until(() => rig.a.system.stats().shards === 0);
    await rig.run(5_000);
    expect(await given).toBe(true);
    const loads = rig.a.store.loads.total;
    await rig.run(60_000);
    expect(rig.a.system.stats()).toMatchObject({ effects: 0, actors: 0 });
    expect(rig.a.store.loads.total).toBe(loads);
    expect(rig.a.waiting()).toBeLessThanOrEqual(quiet);
    expect([await totalOf(rig.inner, id), await totalOf(rig.inner, to)]).toEqual([9, 1]);
  });

  test("the watermark counts only what is owned here", async () => {
    const rig = await started("a", "b");
    const id = rig.idAt(rig.a);
    await rig.run(35_000);
    const save = rig.a.store.failSaves();
    await rig.a.ask(id, "add", { amount: 1 });
    const at = rig.clock.wall();
    await rig.run(15_000);
    expect(rig.a.watermarks.at(-1)).toBeLessThanOrEqual(at);
    void rig.a.system.handOff(10_000);
    await rig.until(() => rig.b.system.stats().shards === 256);
    save();
    await rig.run(45_000);
    expect(rig.a.watermarks.at(-1)).toBeGreaterThan(at + 10_000);
    // The next owner has looked from where it was not saved, and made it right.
    expect(await rig.inner.loadSnapshot(`account/${id}`)).toMatchObject({ state: { total: 1 } });
  });

  test("the watermark goes on when what was not saved comes back to the same node", async () => {
    const rig = await started("b");
    // No save looks at the watermark while the shard is away.
    const a = await rig.start("a", { limits: { saveMs: 60_000 } });
    await rig.until(() => a.system.stats().shards > 0);
    await rig.run(35_000);
    const id = rig.idAt(a);
    const save = a.store.failSaves();
    await a.ask(id, "add", { amount: 1 });
    const at = rig.clock.wall();
    a.freeze();
    await rig.until(() => rig.ownerOf(id)?.name === "b");
    a.thaw();
    save();
    await rig.until(() => a.system.stats().shards > 0, 60_000);
    void rig.nodes[0]!.system.handOff(10_000);
    await rig.until(() => a.system.stats().shards === 256);
    await rig.run(700_000);
    expect(a.watermarks.at(-1)).toBeGreaterThan(at + 60_000);
  });
});

describe("appends that are lost", () => {
  test("again and again: loaded anew after longer and longer pauses, then the shard is given up with an alarm", async () => {
    const rig = await started("a", "b");
    const id = rig.idAt(rig.a);
    const shard = shardOfPurse(id);
    const epoch = rig.a.placement.epochOf(shard);
    await rig.a.ask(id, "add", { amount: 1 });
    for (let i = 0; i < 12; i++) rig.a.store.faults.push("lost");
    const asked = rig.a.ask(id, "add", { amount: 2 }, { budgetMs: 30_000 });
    await rig.until(() => events(rig.a).includes("shard_given_up"), 20_000);
    const { fields } = rig.a.logged.find(({ event }) => event === "shard_given_up")!;
    expect(fields).toEqual({ actor: `account/${id}`, shard, lost: 10 });
    rig.a.store.faults.length = 0;
    await rig.until(() => rig.ownerOf(id) !== undefined);
    expect(rig.ownerOf(id)!.placement.epochOf(shard)).toBeGreaterThan(epoch);
    await rig.run(2_000);
    expect(await asked).toBe(3);
  });

  test("once or twice are forgotten with the next that is stored", async () => {
    const rig = await started("a");
    const id = rig.idAt(rig.a);
    for (let i = 0; i < 15; i++) {
      rig.a.store.faults.push("lost");
      const asked = rig.a.ask(id, "add", { amount: 1 });
      await rig.run(100);
      expect(await asked).toBe(i + 1);
    }
    expect(events(rig.a)).not.toContain("shard_given_up");
  });
});

describe("a commit of a higher epoch", () => {
  test("that is met when an actor is loaded takes the shard from this node, and its next owner stands above it", async () => {
    const rig = await started("a", "b");
    const id = rig.idAt(rig.a);
    const shard = shardOfPurse(id);
    await rig.a.ask(id, "add", { amount: 1 });
    const [first] = await ledgerOf(rig.inner, id);
    await rig.a.system.save(100);
    const foreign = {
      ...first!,
      seq: 2,
      epoch: 40,
      by: "another",
      events: [],
      lines: 0,
      done: [],
      marks: [],
    };
    expect(await rig.inner.append([foreign])).toEqual(["committed"]);
    const asked = rig.a.ask(id, "add", { amount: 2 }, { budgetMs: 20_000 });
    await rig.until(() => rig.a.system.stats().counters.fenced > 0);
    await rig.until(() => rig.ownerOf(id) !== undefined);
    expect(rig.ownerOf(id)!.placement.epochOf(shard)).toBeGreaterThan(40);
    await rig.run(2_000);
    expect(await asked).toBe(3);
  });
});
