// An actor whose activation failed: its holds are reasserted by the nodes before commands that rely on holds run, and all
// others do not wait; a node that cannot answer delays no command for longer than a second.

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
  /** Nodes that do not answer. */
  const silentOnes = new Set<string>();
  const broken = new Set<string>();
  const holdResync = createHoldResync({
    ...{ clock, log: silent, handoffMs: 1_000 },
    placement: { node: () => "me", others: () => others },
    ask: (node) => answer(node),
  });
  holdResync.onResync(() => answer("me"));

  async function answer(node: string): Promise<void> {
    asked.push(node);
    if (broken.has(node)) throw new Error("no line");
    if (silentOnes.has(node)) await new Promise(() => {});
  }

  /** The ms that it took, once it is over. */
  function from(actor: ActorRef): { took: number | null } {
    const since = clock.mono();
    const one: { took: number | null } = { took: null };
    void holdResync.resync(actor).then(() => {
      one.took = clock.mono() - since;
    });
    return one;
  }
  return { clock, asked, silentOnes, broken, others, holdResync, from };
}

describe("an actor that forgot", () => {
  test("is asked of every node at once, this one included", async () => {
    const { asked, from } = rig("x", "y");
    const wait = from(SEVEN);
    await settled();
    expect([asked, wait.took]).toEqual([["me", "x", "y"], 0]);
  });

  test.each(["me", "x"])("waits a second for %s that says nothing", async (node) => {
    const { clock, silentOnes, from } = rig("x");
    silentOnes.add(node);
    const wait = from(SEVEN);
    await clock.advance(999);
    expect(wait.took).toBeNull();
    await clock.advance(1);
    expect(wait.took).toBe(1_000);
  });

  test("is asked of a node that can be reached again, also when no command waits any more", async () => {
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
    const wait = from(SEVEN);
    await clock.advance(100);
    others.pop();
    await clock.advance(500);
    expect(wait.took).toBeLessThan(600);
  });

  test("is not asked for ever of a node that never answers", async () => {
    const { clock, asked, broken, from } = rig("x");
    broken.add("x");
    from(SEVEN);
    await clock.advance(60_000);
    const tries = asked.length;
    await clock.advance(60_000);
    expect([asked.length, clock.waiting]).toEqual([tries, 0]);
  });

  test("that fails with every try is asked once a second, and each time waits for an answer that began afterwards", async () => {
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
    const wait = from({ kind: "account", id: "8" });
    await settled();
    expect(wait.took).toBe(0);
  });
});

describe("on nodes", () => {
  /** Two nodes; the purse's append gets lost, and it is loaded anew. `answerOther` ends the answer of the other node. */
  async function broken() {
    const rig = nodesRig();
    const [owner, front] = [await rig.start("a"), await rig.start("b")];
    await rig.until(() => rig.nodes.every(({ system }) => system.stats().shards === 128));
    await rig.run(1_500);
    const id = rig.idAt(owner);
    const forgot: string[] = [];
    const { promise, resolve: answerOther } = Promise.withResolvers<void>();
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
    return { rig, owner, front, id, forgot, before, answerOther };
  }

  test("each node reasserts once, and none while nothing failed", async () => {
    const { id, forgot, before } = await broken();
    expect([before, forgot]).toEqual([[], [`a ${id}`, `b ${id}`]]);
  });

  test("what relies on holds waits until all have reasserted; anything else does not", async () => {
    const { rig, owner, front, id, answerOther } = await broken();
    let held: unknown = null;
    void owner.ask(id, "hold", { open: true }).then((answer) => {
      held = answer;
    });
    await rig.run(100);
    expect([held, await front.ask(id, "add", { amount: 1 })]).toEqual([null, 3]);
    answerOther();
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

  test("it stays in memory while holds are reasserted, however idle it is", async () => {
    const { owner, id } = await broken();
    await owner.system.save(100);
    await owner.system.reload({ kind: "account", id });
    expect(owner.system.stats().actors).toBe(1);
  });
});
