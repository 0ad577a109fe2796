// An actor asked on the caller's stack: what comes at once, what comes with the commit, and every case in which it is an
// ordinary ask with the same id.

import { describe, expect, test } from "bun:test";
import { RefusedError, UnavailableError } from "../../../src/base/errors.ts";
import type { AskOptions } from "../../../src/runtime/system.ts";
import { settled } from "../manual-clock.ts";
import { nodesRig, type Over, shardOfPurse } from "../nodes.ts";
import { type PurseCommands, purse } from "../purse.ts";
import { ledgerOf, rig, type Start } from "../rig.ts";

/** A rig with a purse that is loaded, and asked at once. */
async function loaded(over: Start = {}) {
  const one = await rig(over);
  await one.ask("a", "add", { amount: 1 });
  const now = <N extends keyof PurseCommands & string>(
    type: N,
    input: PurseCommands[N]["input"],
    options: AskOptions = {},
  ): PurseCommands[N]["output"] | Promise<PurseCommands[N]["output"]> =>
    one.system.askNow({ kind: "account", id: "a" }, type, input, options);
  return { ...one, now };
}

/** What became of a promise that waits for the clock. */
async function outcomeOf(asked: unknown): Promise<unknown> {
  expect(asked).toBeInstanceOf(Promise);
  return (asked as Promise<unknown>).catch((error) => {
    if (error instanceof RefusedError) return `refused: ${error.refusal.code}`;
    if (error instanceof UnavailableError) return `unavailable: ${error.reason}`;
    throw error;
  });
}

describe("asked at once", () => {
  test("a reply that waits for no commit is there at once, and sets no timer", async () => {
    const { now, clock, store } = await loaded();
    const open = store.holdAppends();
    void now("add", { amount: 5 });
    const { waiting } = clock;
    expect(now("peek", {})).toBe(6);
    expect(now("hold", { open: true })).toBe(1);
    expect(clock.waiting).toBe(waiting);
    open();
    await settled();
  });

  test("a read is there at once when everything that it shows is stored", async () => {
    const { now } = await loaded();
    expect(now("read", {})).toBe(1);
  });

  test("a refusal that waits for no commit is thrown at once", async () => {
    const { now } = await loaded();
    expect(() => now("refuse", {})).toThrow(RefusedError);
  });

  test("a refusal that may depend on an open commit comes with it", async () => {
    const { now, store } = await loaded();
    const open = store.holdAppends();
    void now("add", { amount: 5 });
    const refused = now("refuse", {});
    open();
    expect(await outcomeOf(refused)).toBe("refused: not_found");
  });

  test("a reply that waits for its commit is a promise of it", async () => {
    const { now, store, clock, system } = await loaded();
    const open = store.holdAppends();
    const { waiting } = clock;
    const added = now("add", { amount: 5 });
    expect(clock.waiting).toBe(waiting);
    let isThere = false;
    void Promise.resolve(added).then(() => {
      isThere = true;
    });
    await settled();
    expect([isThere, system.stats().turnsWaiting, system.stats().mailboxMost]).toEqual([false, 1, 1]);
    open();
    expect(await added).toBe(6);
    expect([system.stats().turnsWaiting, system.stats().mailboxMost]).toEqual([0, 0]);
  });

  test("a repeated id gets its former reply, and runs once", async () => {
    const { now, store } = await loaded();
    expect(await now("add", { amount: 5 }, { id: "x" })).toBe(6);
    expect(await now("add", { amount: 5 }, { id: "x" })).toBe(6);
    expect(await ledgerOf(store, "a")).toHaveLength(2);
  });

  test("an actor that keeps nothing leaves the memory again", async () => {
    const { now, system, ask } = await loaded();
    await ask("blank", "hold", { open: true });
    expect(system.stats().actors).toBe(2);
    expect(system.askNow({ kind: "account", id: "blank" }, "hold", { open: false })).toBe(0);
    expect(system.stats().actors).toBe(1);
    expect(now("peek", {})).toBe(1);
  });
});

/** Two nodes, the id of a purse at the second one, and an ask of it by the first. */
async function elsewhere(over: Over = {}) {
  const nodes = nodesRig();
  const one = await nodes.start("one", over);
  const two = await nodes.start("two", over);
  await nodes.until(() => nodes.nodes.every(({ system }) => system.stats().shards === 128));
  const id = nodes.idAt(two);
  const now = <N extends keyof PurseCommands & string>(
    type: N,
    input: PurseCommands[N]["input"],
    options: AskOptions = {},
  ) => outcomeOf(one.system.askNow({ kind: "account", id }, type, input, options));
  const sent = () => one.system.stats().counters.remoteAsks;
  return { nodes, one, two, id, now, sent };
}

describe("asked of an actor at another node", () => {
  test("one message is sent, and its reply comes back; there the turn is taken at once", async () => {
    const { nodes, two, id, now, sent } = await elsewhere();
    const asked = now("add", { amount: 3 });
    await nodes.run(1_000);
    expect(await asked).toBe(3);
    expect(sent()).toBe(1);
    expect(two.system.askNow({ kind: "account", id }, "peek", {})).toBe(3);
  });

  test("a refusal comes back as one", async () => {
    const { nodes, now, sent } = await elsewhere();
    const asked = now("refuse", {});
    await nodes.run(1_000);
    expect(await asked).toBe("refused: not_found");
    expect(sent()).toBe(1);
  });

  test("a reply that is lost is asked for again with the same id, and nothing is executed twice", async () => {
    const { nodes, two, id, now, sent } = await elsewhere();
    two.loseAnswers = 1;
    const asked = now("add", { amount: 3 });
    await nodes.run(10_000);
    expect(await asked).toBe(3);
    expect(sent()).toBe(2);
    expect((await ledgerOf(nodes.inner, id)).flatMap(({ events }) => events)).toHaveLength(1);
  });

  test("one that cannot be reached within the budget is unavailable", async () => {
    const { nodes, two, now } = await elsewhere();
    two.cut = true;
    const asked = now("peek", {}, { budgetMs: 1_000 });
    await nodes.run(5_000);
    expect(await asked).toBe("unavailable: not_owner");
  });

  test("one that is silent is unavailable when the budget ends", async () => {
    const { nodes, two, now } = await elsewhere();
    two.freeze();
    const asked = now("peek", {}, { budgetMs: 300 });
    await nodes.run(1_000);
    expect(await asked).toBe("unavailable: unavailable");
  });
});

describe("asked of an actor at another node, a failure", () => {
  test("that is final is not asked for again", async () => {
    const { nodes, now, sent } = await elsewhere({ frameLengthMax: 2_000 });
    const asked = now("announce", { word: "x".repeat(3_000) });
    await nodes.run(1_000);
    expect([await asked, sent()]).toEqual(["unavailable: too_large", 1]);
    const echoed = now("echo", { size: 3_000 });
    await nodes.run(1_000);
    expect([await echoed, sent()]).toEqual(["unavailable: too_large", 2]);
  });

  test("of one that is overloaded is followed by a pause", async () => {
    const { nodes, two, id, now, sent } = await elsewhere({ limits: { mailbox: 0 } });
    const asked = now("peek", {}, { budgetMs: 300 });
    await nodes.run(9);
    expect(sent()).toBe(1);
    await nodes.run(1_000);
    expect(await asked).toBe("unavailable: overloaded");
    expect(two.system.stats().counters.shed).toBe(sent());
    expect(await ledgerOf(nodes.inner, id)).toEqual([]);
  });

  test("to encode a command is its caller's alone: as many may wait for the node as before", async () => {
    const { nodes, one, id, now } = await elsewhere({ limits: { nodeTurns: 2 } });
    for (let i = 0; i < 3; i++) {
      const amount = 1n as unknown as number;
      const asked = one.system.askNow({ kind: "account", id }, "add", { amount }, { budgetMs: 100 });
      const failed = Promise.resolve(asked).catch((error: unknown) => error);
      await nodes.run(500);
      expect(await failed).toBeInstanceOf(UnavailableError);
    }
    const asked = now("add", { amount: 3 });
    await nodes.run(1_000);
    expect(await asked).toBe(3);
  });
});

describe("asked at once, it is an ordinary ask", () => {
  test("of an actor that is not in memory", async () => {
    const { system } = await rig();
    expect(await outcomeOf(system.askNow({ kind: "account", id: "a" }, "peek", {}))).toBe(0);
  });

  test("while the actor loads", async () => {
    const { system, store } = await rig();
    const open = store.holdLoads();
    const ask = () => system.askNow({ kind: "account", id: "a" }, "peek", {});
    const first = ask();
    await settled();
    const second = ask();
    open();
    expect([await outcomeOf(first), await outcomeOf(second)]).toEqual([0, 0]);
    expect(store.loads.total).toBe(1);
  });

  test("on a node that drains", async () => {
    const { now, clock, system } = await loaded();
    const drained = system.drain(1_000);
    await clock.advance(2_000);
    await drained;
    expect(await outcomeOf(now("peek", {}, { budgetMs: 0 }))).toBe("unavailable: not_owner");
  });

  test("while a gained shard waits for the holds of others", async () => {
    const nodes = nodesRig();
    const one = await nodes.start("one");
    const two = await nodes.start("two");
    await nodes.until(() => nodes.nodes.every(({ system }) => system.stats().shards === 128));
    const id = nodes.idAt(two);
    // The node is slow to re-assert its own holds, so the gate of what it gains stays closed.
    const { promise, resolve } = Promise.withResolvers<void>();
    one.system.onMoved(() => promise);
    two.crash();
    await nodes.until(() => one.placement.epochOf(shardOfPurse(id)) > 0);
    const load = one.ask(id, "peek", {});
    await nodes.run(20);
    expect(await load).toBe(0);
    const ask = () => one.system.askNow({ kind: "account", id }, "hold", { open: true });
    const gated = ask();
    expect(gated).toBeInstanceOf(Promise);
    resolve();
    await nodes.run(2_000);
    expect(await gated).toBe(1);
    expect(ask()).toBe(2);
  });

  test("while nodes re-assert their holds on an actor that failed", async () => {
    const { now, clock, store, system } = await loaded();
    const { promise, resolve } = Promise.withResolvers<void>();
    system.onResync(() => promise);
    store.faults.push("lost");
    const lost = now("add", { amount: 1 });
    await clock.advance(100);
    await outcomeOf(lost);
    const gated = now("hold", { open: true });
    expect(gated).toBeInstanceOf(Promise);
    resolve();
    await clock.advance(2_000);
    expect(await gated).toBe(1);
    expect(now("hold", { open: true })).toBe(2);
  });

  test.each([
    ["its mailbox", { mailbox: 1 }],
    ["its node", { nodeTurns: 1 }],
  ])("when %s is full", async (_whose, limits) => {
    const { now, store } = await loaded({ limits });
    const open = store.holdAppends();
    const added = now("add", { amount: 5 });
    expect(await outcomeOf(now("peek", {}, { budgetMs: 0 }))).toBe("unavailable: overloaded");
    open();
    expect(await added).toBe(6);
    expect(now("peek", {})).toBe(6);
  });

  test("when the ledger must be searched for the dedup id", async () => {
    const { now, clock, restart } = await loaded();
    const bornAt = clock.wall();
    await now("pay", { mark: "m", amount: 5 }, { id: "p", bornAt });
    const next = await restart();
    await next.ask("a", "read", {});
    const repeated = next.system.askNow(
      { kind: "account", id: "a" },
      "pay",
      { mark: "m", amount: 5 },
      { id: "p", bornAt },
    );
    expect(await outcomeOf(repeated)).toBe(-1);
    expect(await next.ask("a", "read", {})).toBe(6);
  });

  test("when its turn fails", async () => {
    const { now, clock, system } = await loaded();
    const failed = outcomeOf(now("burst", {}, { budgetMs: 0 }));
    await clock.advance(2_000);
    expect(await failed).toBe("unavailable: unavailable");
    expect(system.stats().counters.broken).toBeGreaterThan(0);
  });

  test("when this program does not know the command", async () => {
    const { now } = await loaded();
    const strange = now("multiply" as "add", { amount: 2 }, { budgetMs: 0 });
    expect(await outcomeOf(strange)).toBe("unavailable: overloaded");
  });

  test.each(["lost", "unknown", "stored_unknown", "throws"] as const)(
    "after a commit that ended as %s, with the same id: it runs once",
    async (fault) => {
      const { now, clock, store } = await loaded();
      store.faults.push(fault);
      const paid = outcomeOf(now("pay", { mark: "m", amount: 5 }));
      await clock.advance(5_000);
      expect([6, -1]).toContain((await paid) as number);
      expect(now("peek", {})).toBe(6);
      const events = (await ledgerOf(store, "a")).flatMap((commit) => commit.events);
      expect(events).toHaveLength(2);
    },
  );
});

test("what a behavior is asked is the same either way", async () => {
  const seen: unknown[] = [];
  const { now, ask } = await loaded({
    behavior: {
      ...purse,
      decide(state: never, command, turn) {
        if (command.type === "add")
          seen.push({ command, from: turn.from, done: turn.done, epoch: turn.epoch });
        return purse.decide(state, command as never, turn);
      },
    },
  });
  seen.length = 0;
  await now("add", { amount: 5 });
  await ask("a", "add", { amount: 5 });
  expect(seen[0]).toEqual(seen[1]!);
});
