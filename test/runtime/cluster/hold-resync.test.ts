// An actor whose activation broke: what nodes hold of it is told again before commands that rely on holds run, and all
// others do not wait; who cannot tell keeps nobody waiting for longer than a second.

import { describe, expect, test } from "bun:test";
import { silent } from "../../../src/base/log.ts";
import type { ActorRef } from "../../../src/runtime/actor.ts";
import { createHoldResync } from "../../../src/runtime/cluster/hold-resync.ts";
import { manualClock, settled } from "../manual-clock.ts";
import { nodesRig } from "../nodes.ts";

const SEVEN: ActorRef = { kind: "account", id: "7" };

function rig(...others: string[]) {
  const clock = manualClock();
  const asked: string[] = [];
  /** Nodes that do not tell. */
  const silentOnes = new Set<string>();
  const broken = new Set<string>();
  const toldAgain = createHoldResync({
    ...{ clock, log: silent, handoffMs: 1_000 },
    placement: { node: () => "me", others: () => others },
    ask: (node) => answer(node),
  });
  toldAgain.onResync(() => answer("me"));

  async function answer(node: string): Promise<void> {
    asked.push(node);
    if (broken.has(node)) throw new Error("no line");
    if (silentOnes.has(node)) await new Promise(() => {});
  }

  /** The ms that it took, once it is over. */
  function from(actor: ActorRef): { took: number | null } {
    const since = clock.mono();
    const one: { took: number | null } = { took: null };
    void toldAgain.resync(actor).then(() => {
      one.took = clock.mono() - since;
    });
    return one;
  }
  return { clock, asked, silentOnes, broken, others, toldAgain, from };
}

describe("an actor that forgot", () => {
  test("is told at once by every node, this one included", async () => {
    const { asked, from } = rig("x", "y");
    const told = from(SEVEN);
    await settled();
    expect([asked, told.took]).toEqual([["me", "x", "y"], 0]);
  });

  test.each(["me", "x"])("waits a second for %s that says nothing", async (node) => {
    const { clock, silentOnes, from } = rig("x");
    silentOnes.add(node);
    const told = from(SEVEN);
    await clock.advance(999);
    expect(told.took).toBeNull();
    await clock.advance(1);
    expect(told.took).toBe(1_000);
  });

  test("is told by a node whose line is there again, also when nobody waits any more", async () => {
    const { clock, asked, broken, from } = rig("x");
    broken.add("x");
    from(SEVEN);
    await clock.advance(4_000);
    broken.clear();
    const before = asked.length;
    await clock.advance(10_000);
    expect(asked.slice(before)).toEqual(["x"]);
  });

  test("waits for no node that is over meanwhile", async () => {
    const { clock, broken, others, from } = rig("x");
    broken.add("x");
    const told = from(SEVEN);
    await clock.advance(100);
    others.pop();
    await clock.advance(500);
    expect(told.took).toBeLessThan(600);
  });

  test("is not asked about for ever where a node never tells", async () => {
    const { clock, asked, broken, from } = rig("x");
    broken.add("x");
    from(SEVEN);
    await clock.advance(60_000);
    const tries = asked.length;
    await clock.advance(60_000);
    expect([asked.length, clock.waiting]).toEqual([tries, 0]);
  });

  test("with every try is told once a second, and each time waits for a telling that began afterwards", async () => {
    const { clock, asked, from } = rig("x");
    const all = [];
    for (let i = 0; i < 50; i++) {
      all.push(from(SEVEN));
      await clock.advance(100);
    }
    await clock.advance(2_000);
    expect(asked.filter((node) => node === "x").length).toBeGreaterThanOrEqual(5);
    expect(asked.filter((node) => node === "x").length).toBeLessThanOrEqual(6);
    expect(all.map(({ took }) => took).slice(0, 3)).toEqual([0, 900, 800]);
    expect(clock.waiting).toBe(0);
  });

  test("keeps no other waiting", async () => {
    const { from } = rig();
    from(SEVEN);
    const told = from({ kind: "account", id: "8" });
    await settled();
    expect(told.took).toBe(0);
  });
});

describe("on nodes", () => {
  /** Two nodes; the purse's append gets lost, and it is loaded anew. `tell` ends the telling of the other node. */
  async function broken() {
    const rig = nodesRig();
    const [owner, front] = [await rig.start("a"), await rig.start("b")];
    await rig.until(() => rig.nodes.every(({ system }) => system.stats().shards === 128));
    await rig.run(1_500);
    const id = rig.idAt(owner);
    const forgot: string[] = [];
    const { promise, resolve: tell } = Promise.withResolvers<void>();
    owner.system.onResync(async (actor) => void forgot.push(`a ${actor.id}`));
    front.system.onResync((actor) => {
      forgot.push(`b ${actor.id}`);
      return promise;
    });
    await owner.ask(id, "add", { amount: 1 });
    const before = [...forgot];
    owner.store.faults.push("unknown");
    const added = owner.ask(id, "add", { amount: 1 });
    await rig.run(50);
    await added;
    return { rig, owner, front, id, forgot, before, tell };
  }

  test("each tells once, and none while nothing broke", async () => {
    const { id, forgot, before } = await broken();
    expect([before, forgot]).toEqual([[], [`a ${id}`, `b ${id}`]]);
  });

  test("what relies on holds waits until all have told; anything else does not", async () => {
    const { rig, owner, front, id, tell } = await broken();
    let held: unknown = null;
    void owner.ask(id, "hold", { open: true }).then((answer) => {
      held = answer;
    });
    await rig.run(100);
    expect([held, await front.ask(id, "add", { amount: 1 })]).toEqual([null, 3]);
    tell();
    await rig.run(1);
    expect(held).toBe(1);
  });

  test("nor longer than a second for a node that is frozen", async () => {
    const { rig, owner, front, id } = await broken();
    front.freeze();
    const since = rig.clock.mono();
    let took: number | null = null;
    void owner.ask(id, "hold", { open: true }).then(() => {
      took = rig.clock.mono() - since;
    });
    await rig.run(1_500);
    expect(took).toBeLessThanOrEqual(1_000);
    expect(took).toBeGreaterThan(500);
  });

  test("it stays in memory while it is told, however idle it is", async () => {
    const { owner, id } = await broken();
    await owner.system.save(100);
    await owner.system.reload({ kind: "account", id });
    expect(owner.system.stats().actors).toBe(1);
  });
});
